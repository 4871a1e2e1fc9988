import { useImperativeHandle, useLayoutEffect, useRef } from 'react'
import { lazyPart } from '../navigation/lazy-screen.ts'
import { showError } from '../ui/attempt.ts'
import { focusOnMount } from '../ui/composite.tsx'
import styles from './rich-text.module.css'
import type { RichTextEditorProps } from './text-editor.tsx'

const RichText = lazyPart(() => import('./rich-text.tsx'), 'RichText')
const TextEditor = lazyPart(
  () => import('./text-editor.tsx'),
  'TextEditor',
  LoadingText,
  (loading) => void loading.catch(showError),
)

/**
 * An editor for Markdown that shows its formatting. Its code loads on first use: until then the text shows, and an
 * editor that takes the focus is a text area, so that slow networks lose no keystroke.
 */
export function RichTextEditor(props: RichTextEditorProps) {
  const draft = useRef(props.value)
  return <TextEditor {...props} draft={draft} />
}

function LoadingText(props: RichTextEditorProps) {
  return (
    <div className={styles.editor} aria-busy>
      {props.autoFocus ? (
        <LoadingEditor {...props} />
      ) : (
        <RichText text={props.value} className={styles.loading} />
      )}
    </div>
  )
}

function LoadingEditor({ label, value, placeholder, maxLength, draft, ref, onCommit }: RichTextEditorProps) {
  const area = useRef<HTMLTextAreaElement>(null)
  useImperativeHandle(ref, () => ({
    read: () => draft?.current ?? value,
    focus: () => area.current?.focus(),
  }))
  // Once: it stays when the editor cannot be loaded, and further renders must not move the caret.
  useLayoutEffect(() => {
    const element = area.current
    focusOnMount(element)
    element?.setSelectionRange(element.value.length, element.value.length)
  }, [])
  return (
    <textarea
      ref={area}
      className={styles.loadingArea}
      dir="auto"
      aria-label={label}
      placeholder={placeholder}
      maxLength={maxLength}
      defaultValue={value}
      onChange={(event) => {
        if (draft) draft.current = event.target.value
      }}
      onBlur={(event) => {
        if (event.target.value !== value) onCommit?.(event.target.value)
      }}
    />
  )
}
