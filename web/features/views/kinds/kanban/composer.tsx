import { X } from 'lucide-react'
import { useEffect, useId, useRef, useState } from 'react'
import { m } from '../../../../messages.gen.ts'
import { Button, IconButton } from '../../../../ui/button.tsx'
import { type ComposerState, useParts } from './board-context.ts'
import styles from './kanban.module.css'

/** Names new cards of a stack, one after the other: Enter saves and goes on, Escape ends. */
export function Composer({ composer }: { composer: ComposerState }) {
  const { onName, onCompose, onTyped, titleOf } = useParts()
  const [text, setText] = useState(composer.text)
  const [problem, setProblem] = useState<string | null>(null)
  const input = useRef<HTMLTextAreaElement>(null)
  const problemId = useId()

  useEffect(() => {
    input.current?.focus()
    input.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [])

  function save() {
    if (text.trim() === '') return
    const refusal = onName(composer.key, composer.at, text.trim())
    setProblem(refusal)
    if (refusal === null) setText('')
    input.current?.focus()
  }

  return (
    <div className={styles.composer} data-testid="kanban-composer">
      <textarea
        ref={input}
        dir="auto"
        rows={2}
        className={styles.composerInput}
        placeholder={m.kanban_record_name()}
        aria-label={m.kanban_new_record_in_stack({ stack: titleOf(composer.key) })}
        aria-invalid={problem !== null || undefined}
        aria-describedby={problem === null ? undefined : problemId}
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          onTyped(event.target.value)
          setProblem(null)
        }}
        onKeyDown={(event) => {
          event.stopPropagation()
          if (event.nativeEvent.isComposing) return
          if (event.key === 'Enter' && !event.shiftKey) {
            event.preventDefault()
            save()
          } else if (event.key === 'Escape') {
            event.preventDefault()
            onCompose(null)
          }
        }}
        onBlur={() => {
          // What was typed waits; an empty line goes of itself.
          if (text.trim() === '') onCompose(null)
        }}
      />
      {problem !== null && (
        <p id={problemId} role="alert" className={styles.problem}>
          {problem}
        </p>
      )}
      <div className={styles.composerFoot}>
        <Button
          size="small"
          variant="primary"
          onPointerDown={(event) => event.preventDefault()}
          onClick={save}
        >
          {m.common_add()}
        </Button>
        <IconButton
          icon={X}
          size="small"
          label={m.common_cancel()}
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => onCompose(null)}
        />
      </div>
    </div>
  )
}
