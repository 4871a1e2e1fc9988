import { lazy, Suspense } from 'react'
import styles from './rich-text.module.css'
import { RichText } from './rich-text.tsx'
import type { RichTextEditorProps } from './text-editor.tsx'

const TextEditor = lazy(() => import('./text-editor.tsx').then((module) => ({ default: module.TextEditor })))

/** An editor for Markdown that shows its formatting. Its code loads on first use; the text shows until then. */
export function RichTextEditor(props: RichTextEditorProps) {
  return (
    <Suspense
      fallback={
        <div className={styles.editor} aria-busy>
          <RichText text={props.value} className={styles.loading} />
        </div>
      }
    >
      <TextEditor {...props} />
    </Suspense>
  )
}
