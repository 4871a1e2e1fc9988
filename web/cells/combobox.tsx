import { type KeyboardEvent, type ReactNode, type RefObject, useId, useState } from 'react'
import { ControlGroup, Option } from '../ui/composite.tsx'
import { Popover } from '../ui/overlays.ts'
import type { EditorProps } from './cell.ts'
import styles from './combobox.module.css'
import editor from './editor.module.css'
import { useFocusAtEnd } from './text-input.tsx'

/** Lines per PageUp or PageDown. */
const PAGE_LINES = 8

/** A line of the list. */
export interface ComboboxLine extends ListLine {
  content: ReactNode
  /** Absent: the line is an action, not a selectable value. */
  isChosen?: boolean
  testId: string
  /** Draws a separator above the line. */
  isParted?: boolean
}

interface ComboboxProps<L extends ComboboxLine> {
  editor: Pick<EditorProps<never>, 'variant' | 'label' | 'id' | 'invalid' | 'describedBy' | 'autoFocus'>
  input: RefObject<HTMLInputElement | null>
  text: string
  onText: (text: string) => void
  placeholder: string
  lines: readonly L[]
  active: ActiveLine<L>
  several: boolean
  onChoose: (line: L) => void
  /** Keys besides list navigation; `preventDefault` hides them from the editor's owner. */
  onKeyDown: (event: KeyboardEvent) => void
  /** Shown before the input: the current choice. */
  before?: ReactNode
  after?: ReactNode
  /** Below the lines, or instead of them. */
  foot?: ReactNode
  /** True while lines load or a choice is being saved. */
  busy?: 'doing' | 'reading' | null
  /** Called near the end of the lines to load more. */
  onNearEnd?: () => void
  className?: string
}

/**
 * An input that filters a listbox. The focus stays in the input, which points at the active line (ARIA combobox); the
 * owner provides lines and handles choices.
 */
export function Combobox<L extends ComboboxLine>(props: ComboboxProps<L>): ReactNode {
  const { lines, active, busy = null, onNearEnd } = props
  const { variant, label, id, invalid, describedBy, autoFocus } = props.editor
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  const listId = useId()
  useFocusAtEnd(props.input, autoFocus)

  function onKeyDown(event: KeyboardEvent) {
    if (event.nativeEvent.isComposing) return
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: PAGE_LINES, PageUp: -PAGE_LINES }[event.key]
    if (by === undefined) return props.onKeyDown(event)
    event.preventDefault()
    active.walk(by)
    if (active.at + by >= lines.length - 3) onNearEnd?.()
  }

  return (
    <div className={variant === 'grid' ? editor.picker : editor.recordPicker} ref={setAnchor}>
      {props.before}
      <input
        ref={props.input}
        id={id}
        role="combobox"
        className={styles.input}
        dir="auto"
        value={props.text}
        // Read-only, not disabled, which would lose the focus.
        readOnly={busy === 'doing'}
        placeholder={props.placeholder}
        autoComplete="off"
        enterKeyHint="done"
        aria-label={label}
        aria-expanded
        aria-controls={listId}
        aria-activedescendant={active.line ? `${listId}-${active.at}` : undefined}
        aria-invalid={invalid || undefined}
        aria-describedby={describedBy}
        onChange={(event) => {
          active.go(null)
          props.onText(event.target.value)
        }}
        onKeyDown={onKeyDown}
      />
      {props.after}
      {/* The validation message replaces the list. */}
      {anchor && !invalid && (
        <Popover
          anchor={anchor}
          onClose={() => {}}
          focus="none"
          className={`${editor.popover} ${props.className ?? ''}`}
        >
          <ControlGroup
            data-cell-popover
            className={styles.box}
            onMouseDown={(event) => event.preventDefault()}
          >
            <div
              id={listId}
              role="listbox"
              aria-label={label}
              aria-multiselectable={props.several || undefined}
              aria-busy={busy !== null || undefined}
              className={styles.lines}
              onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
                if (scrollTop + clientHeight > scrollHeight - 200) onNearEnd?.()
              }}
            >
              {lines.map((line, index) => (
                <Option
                  key={line.key}
                  id={`${listId}-${index}`}
                  isActive={line === active.line}
                  aria-selected={line === active.line}
                  aria-checked={line.isChosen}
                  className={styles.line}
                  data-parted={line.isParted || undefined}
                  data-testid={line.testId}
                  onClick={() => props.onChoose(line)}
                >
                  {line.content}
                </Option>
              ))}
            </div>
            {props.foot}
          </ControlGroup>
        </Popover>
      )}
    </div>
  )
}

/** Placeholder for an empty list. */
export const NoLine = ({ children }: { children: ReactNode }): ReactNode => (
  <div className={styles.none}>{children}</div>
)

/** A line of a list, whatever it offers. */
interface ListLine {
  /** Identifies the line when others are added or removed. */
  key: string
}

/** Tracks the active line of a list while typing changes the lines. */
interface ActiveLine<L extends ListLine> {
  /** Index of the active line; -1 if there is no active line. */
  at: number
  line: L | undefined
  /** True if arrow keys selected the line: leaving the list then commits it, as typing does. */
  isWalkedTo: boolean
  walk(by: number): void
  /** Activates a line by key; null: the first match of the typed text. */
  go(key: string | null): void
}

interface ActiveLineOptions {
  text: string
  /** The initially active line, e.g. the current choice. */
  start?: string | null | undefined
  /** Index of the line that the typed text selects, until arrows move elsewhere; by default the first. */
  meant?: number
}

/** A list just opened has no active line unless it has a start: Enter closes it without a choice. */
export function useActiveLine<L extends ListLine>(
  lines: readonly L[],
  { text, start = null, meant = 0 }: ActiveLineOptions,
): ActiveLine<L> {
  const [active, setActive] = useState({ key: start, isWalkedTo: false })
  const found = active.key === null ? -1 : lines.findIndex(({ key }) => key === active.key)
  const at = found >= 0 || text.trim() === '' ? found : Math.min(meant, lines.length - 1)
  return {
    at,
    line: lines[at],
    isWalkedTo: active.isWalkedTo,
    walk(by) {
      const next = lines[Math.max(0, Math.min(lines.length - 1, at + by))]
      setActive({ key: next?.key ?? null, isWalkedTo: true })
    },
    go: (key) => setActive({ key, isWalkedTo: false }),
  }
}
