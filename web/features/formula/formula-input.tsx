import { type KeyboardEvent, type Ref, useImperativeHandle, useRef } from 'react'
import type { Problem } from '../../../src/core/formula/index.ts'
import { coloured } from '../../cells/coloured.ts'
import look from '../../cells/formula-look.module.css'
import styles from './formula.module.css'

/** Edits and selections from outside: choosing an offer, jumping to a problem. */
export interface FormulaInputHandle {
  /** Puts text in the place of a stretch, so that the browser's own undo takes it back. */
  insert(text: string, from: number, to: number, caret: number): void
  /** Selects a stretch and takes the focus. */
  select(from: number, to: number): void
}

interface FormulaInputProps {
  value: string
  problems: readonly Problem[]
  onChange: (text: string, caret: number) => void
  /** The caret has moved; null: the input has lost the focus. */
  onCaret: (caret: number | null) => void
  /** Gets each key first; true: it was used. */
  onKey: (event: KeyboardEvent) => boolean
  ref: Ref<FormulaInputHandle>
  label: string
  describedBy: string
  /** The list of offers, and the one that Enter would take. */
  listId: string
  activeId: string | undefined
}

/**
 * A text area whose text is drawn by a coloured copy below it. Typing, input methods, selection, undo and screen
 * readers use the native text area.
 */
export function FormulaInput(props: FormulaInputProps) {
  const { value, problems, onChange, onCaret, onKey, ref, label, describedBy, listId, activeId } = props
  const area = useRef<HTMLTextAreaElement>(null)

  useImperativeHandle(ref, () => ({
    insert(text, from, to, caret) {
      const element = area.current
      if (!element) return
      element.focus()
      element.setSelectionRange(from, to)
      // The only way to insert text with native undo; without it, the text is set directly.
      const isDone = document.execCommand('insertText', false, text)
      if (!isDone) element.setRangeText(text, from, to, 'end')
      element.setSelectionRange(caret, caret)
      onChange(element.value, caret)
    },
    select(from, to) {
      area.current?.focus()
      area.current?.setSelectionRange(from, to)
    },
  }))

  const caretOf = (element: HTMLTextAreaElement) =>
    element.selectionStart === element.selectionEnd ? element.selectionEnd : null
  return (
    <div className={styles.input} data-invalid={problems.length > 0 || undefined}>
      {/* Left to right like all code; titles in other scripts stand in it as they are. */}
      <div className={styles.sheet} dir="ltr">
        <pre aria-hidden className={`${styles.mirror} ${look.coloured}`}>
          {coloured(value, problems).map(({ text, kind, isWrong, from }) => (
            <span key={from} data-kind={kind} data-wrong={isWrong || undefined}>
              {text}
            </span>
          ))}
          {/* A last line without letters has a height too. */}
          {'\u200b'}
        </pre>
        <textarea
          ref={area}
          className={styles.area}
          value={value}
          aria-label={label}
          aria-describedby={describedBy}
          aria-invalid={problems.length > 0 || undefined}
          aria-autocomplete="list"
          aria-controls={listId}
          aria-activedescendant={activeId}
          data-testid="formula-input"
          spellCheck={false}
          autoCapitalize="off"
          autoCorrect="off"
          autoComplete="off"
          rows={1}
          onChange={(event) => onChange(event.target.value, event.target.selectionEnd)}
          onSelect={(event) => onCaret(caretOf(event.currentTarget))}
          onBlur={() => onCaret(null)}
          onKeyDown={(event) => {
            // While an input method composes, every key is its own.
            if (!event.nativeEvent.isComposing && onKey(event)) event.preventDefault()
          }}
        />
      </div>
    </div>
  )
}
