import { X } from 'lucide-react'
import { useEffect, useId, useRef, useState } from 'react'
import { fieldType } from '../../../../../src/core/fields/index.ts'
import type { Field } from '../../../../../src/core/model.ts'
import { m } from '../../../../messages.gen.ts'
import { type StackBy, type StackKey, stackValues } from '../../../../records/layouts/stack-by.ts'
import { Button, IconButton } from '../../../../ui/button.tsx'
import { toast } from '../../../../ui/toast.ts'
import { nameValue } from '../../../records/commands/link-reads.ts'
import type { GetContext } from '../../../records/context/table-context.ts'
import { openNewRecord } from '../../../records/panel/new-record.tsx'
import type { MoveContext } from './card-moves.ts'
import styles from './kanban.module.css'
import { type ComposerState, useKanbanContext } from './kanban-context.ts'

/** Input for the names of new cards in a stack: Enter saves and continues, Escape closes it. */
export function Composer({ composer }: { composer: ComposerState }) {
  const { onName, onCompose, onTyped, titleOf } = useKanbanContext()
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
          // Keeps an unsaved name; closes an empty composer.
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

interface NewCardInput {
  get: GetContext
  move: MoveContext
  onCreated: (id: string | number) => void
}

/** Creation of cards: by name in their stack, or in a dialog if a name is not enough. */
export function useNewCard({ get, move, onCreated }: NewCardInput) {
  const [composer, setComposer] = useState<ComposerState | null>(null)
  /** Current text of the composer, read after a save fails. */
  const typed = useRef('')
  const { layout, by, titleOf } = move

  const open = (next: ComposerState | null) => {
    typed.current = next?.text ?? ''
    setComposer(next)
  }

  return {
    composer,
    open,
    onTyped: (text: string) => {
      typed.current = text
    },

    add(key: StackKey, at: 'top' | 'bottom'): void {
      if (isNameEnough(get().schema.fields, by)) {
        open({ key, at, text: '' })
        return
      }
      const before = at === 'top' ? (layout.loaded.stack(key).segments.idAt(0) ?? null) : null
      openNewRecord(get, { values: stackValues(by, key, titleOf(key)), before, onCreated })
    },

    /** Creates a card; returns an error message for an invalid name. */
    name(key: StackKey, at: 'top' | 'bottom', text: string): string | null {
      const { schema, store } = get()
      const display = schema.fields.find(({ isDisplay }) => isDisplay)
      const value = display ? nameValue(display, text) : null
      if (!display || value === null) {
        return m.kanban_text_not_valid_value_field({ text, field: display?.title ?? '' })
      }
      const values = { ...stackValues(by, key, titleOf(key)), [display.id]: value }
      const before = at === 'top' ? (layout.loaded.stack(key).segments.idAt(0) ?? null) : null
      typed.current = ''
      void store.insertRows([values], before, { rollsBack: true }).then((written) => {
        if (written) return
        const again = () => open({ key, at, text })
        // Keeps the name being typed, and offers to edit the rejected one.
        if (typed.current === '') again()
        else
          toast.error({
            text: m.kanban_text_not_added({ text }),
            action: { label: m.common_try_again(), run: again },
          })
      })
      return null
    },
  }
}

/** True if a record needs only a name: the display field is text, and no other field is required. */
function isNameEnough(fields: readonly Field[], by: StackBy): boolean {
  const display = fields.find(({ isDisplay }) => isDisplay)
  if (!display || fieldType(display.type).naming === undefined) return false
  return !fields.some((field) => {
    const isGiven = field === display || field.id === by.field.id || field.id === by.keyField.id
    const isFilled = field.defaultValue !== null || (fieldType(field.type).initial ?? null) !== null
    return (
      field.required &&
      !field.isSystem &&
      !field.isPrimaryKey &&
      !fieldType(field.type).readOnly &&
      !isGiven &&
      !isFilled
    )
  })
}
