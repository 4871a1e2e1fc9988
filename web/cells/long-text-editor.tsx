import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useImperativeHandle,
  useRef,
  useState,
} from 'react'
import { longText, MAX_TEXT_LENGTH } from '../../src/core/fields/text.ts'
import { m } from '../messages.gen.ts'
import { RichTextEditor } from '../rich-text/rich-text-editor.tsx'
import type { RichTextHandle } from '../rich-text/text-editor.tsx'
import { ControlGroup } from '../ui/composite.tsx'
import { useTextHeight } from '../ui/effects.ts'
import type { Draft, EditorProps } from './cell.ts'
import styles from './editor.module.css'
import { EditorPopover } from './editor-popover.tsx'
import { draftOf, useFocusAtEnd, withLineFeeds } from './text-input.tsx'
import { RichTextView } from './text-view.tsx'

type LongTextProps = EditorProps<{ rich: boolean }>

/** The editor of multi-line text, plain or rich. */
export function LongTextEditor(props: LongTextProps): ReactNode {
  return props.options.rich ? <RichTextCellEditor {...props} /> : <TextArea {...props} />
}

/** The rich text editor: a popover in a grid, inline in a record. Ctrl+Enter and blur save. */
function RichTextCellEditor(props: LongTextProps): ReactNode {
  const { value, typed, variant, ref, options } = props
  const initial = String(value ?? '')
  const draft = useRef(typed ?? initial)
  const editor = useRef<RichTextHandle>(null)
  const read = (): Draft => {
    const text = editor.current?.read() ?? draft.current
    if (text === initial) return { ok: true, value }
    return draftOf(text, longText.parse(text, options), m.cells_this_text_is_too_long())
  }
  useImperativeHandle(ref, () => ({ read, focus: () => editor.current?.focus() }))
  const onKeyDownCapture = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    event.stopPropagation()
    const now = read()
    if (now.ok) props.commit(now.value, 'stay')
  }
  if (variant === 'record') {
    return (
      <ControlGroup data-cell-popover onKeyDownCapture={onKeyDownCapture}>
        <RichTextBox {...props} draft={draft} editor={editor} />
      </ControlGroup>
    )
  }
  return (
    <EditorPopover
      label={props.label}
      draft={draft}
      preview={<RichTextView {...props} lines={1} />}
      previewClassName={styles.input}
      className={styles.richPopover}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && !event.ctrlKey && !event.metaKey) breakLine(event)
      }}
      onKeyDownCapture={onKeyDownCapture}
    >
      <RichTextBox {...props} draft={draft} editor={editor} />
    </EditorPopover>
  )
}

interface RichTextBoxProps extends LongTextProps {
  draft: RefObject<string>
  editor: RefObject<RichTextHandle | null>
}

/** Passes the draft to the editor once, when it mounts. */
function RichTextBox({ draft, editor, label, autoFocus }: RichTextBoxProps): ReactNode {
  const [opened] = useState(() => draft.current)
  return (
    <RichTextEditor
      ref={editor}
      label={label}
      value={opened}
      maxLength={MAX_TEXT_LENGTH}
      autoFocus={autoFocus}
    />
  )
}

/** Maximum height of the text area in a grid. */
const MOST_PX = 320

/** A text area that grows with its text. Shift+Enter and Alt+Enter insert a line break; in a record, Enter does too. */
function TextArea(props: LongTextProps): ReactNode {
  const { value, typed, variant, ref, options, autoFocus } = props
  const initial = withLineFeeds(String(value ?? ''))
  const area = useRef<HTMLTextAreaElement>(null)
  const [text, setText] = useState(typed ?? initial)
  useImperativeHandle(ref, () => ({
    read: () => {
      const now = area.current?.value ?? text
      if (now === initial) return { ok: true, value }
      return draftOf(now, longText.parse(now, options), m.cells_this_text_is_too_long())
    },
    focus: () => area.current?.focus(),
  }))
  useFocusAtEnd(area, autoFocus)
  useTextHeight(area, text, variant === 'grid' ? MOST_PX : undefined)
  return (
    <textarea
      ref={area}
      id={props.id}
      className={variant === 'grid' ? styles.area : styles.recordArea}
      dir="auto"
      rows={variant === 'grid' ? 1 : 3}
      value={text}
      aria-label={props.label}
      aria-invalid={props.invalid || undefined}
      aria-describedby={props.describedBy}
      onChange={(event) => setText(event.target.value)}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || event.nativeEvent.isComposing) return
        const breaksLine =
          variant === 'record' ? !(event.ctrlKey || event.metaKey) : event.shiftKey || event.altKey
        if (breaksLine) breakLine(event)
      }}
    />
  )
}

/** Inserts a line break at the caret through the browser's command, which supports undo. */
function breakLine(event: KeyboardEvent<HTMLTextAreaElement>): void {
  event.preventDefault()
  document.execCommand('insertText', false, '\n')
}
