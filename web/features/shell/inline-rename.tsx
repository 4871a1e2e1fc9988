import { useLayoutEffect, useRef, useState } from 'react'
import { messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import styles from './table-tree.module.css'

export interface InlineRenameProps {
  title: string
  /** Saves; what it throws is shown under the input, with the text kept. */
  onRename: (title: string) => Promise<void>
  onClose: () => void
}

/** Edits a title in place: Enter or leaving saves, Escape leaves it as it was. */
export function InlineRename({ title, onRename, onClose }: InlineRenameProps) {
  const [text, setText] = useState(title)
  const [problem, setProblem] = useState<string | null>(null)
  const input = useRef<HTMLInputElement>(null)
  const isDone = useRef(false)

  useLayoutEffect(() => {
    input.current?.focus()
    input.current?.select()
  }, [])

  async function save() {
    if (isDone.current) return
    if (text.trim() === '' || text.trim() === title) return close()
    isDone.current = true
    try {
      await onRename(text.trim())
      onClose()
    } catch (error) {
      isDone.current = false
      setProblem(messageOf(error))
      input.current?.focus()
    }
  }

  function close() {
    isDone.current = true
    onClose()
  }

  return (
    <span className={styles.rename}>
      <input
        ref={input}
        dir="auto"
        aria-label={m.shell_new_name()}
        aria-invalid={problem ? true : undefined}
        maxLength={255}
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          setProblem(null)
        }}
        onBlur={() => problem === null && void save()}
        // The line around it is dragged and has keys of its own.
        onPointerDown={(event) => event.stopPropagation()}
        onKeyDown={(event) => {
          event.stopPropagation()
          if (event.nativeEvent.isComposing) return
          if (event.key === 'Enter') void save()
          if (event.key === 'Escape') {
            event.preventDefault()
            close()
          }
        }}
      />
      {problem && (
        <span className={styles.problem} role="alert">
          {problem}
        </span>
      )}
    </span>
  )
}
