import { type ReactNode, useState } from 'react'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { m } from '../messages.gen.ts'
import { ControlGroup } from '../ui/composite.tsx'
import { Popover } from '../ui/overlays.ts'
import calendar from './calendar.module.css'
import type { Draft, EditorProps } from './cell.ts'
import styles from './editor.module.css'
import { isFocusLeaving } from './focus-within.ts'
import { TextInput } from './text-input.tsx'

interface PopoverInputProps extends Omit<EditorProps, 'options'> {
  /** The value as editable text. */
  initial: string
  placeholder?: string
  inputMode?: 'numeric' | 'text'
  parse(text: string): Draft
  /** The next text for an arrow key: `1` is down the list, `-1` up. */
  step(text: string, by: 1 | -1): string
  /** The list below the input. */
  list(text: string, choose: (value: CellValue) => void): ReactNode
  /** The button `Now`: its label and value. */
  now: { label: string; value: () => CellValue }
}

/** An input with a list below it. The focus stays in the input; arrows navigate the list. */
export function PopoverInput(props: PopoverInputProps): ReactNode {
  const { commit, variant, step } = props
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  const [isOpen, setOpen] = useState(variant === 'grid')
  return (
    <ControlGroup
      ref={setAnchor}
      className={styles.dateEditor}
      onFocus={() => setOpen(true)}
      onBlur={(event) => {
        // Wait for the focus to arrive: a list that closes earlier would take it back.
        if (isFocusLeaving(event)) setTimeout(() => setOpen(false))
      }}
    >
      <TextInput
        {...props}
        align="start"
        onKeyDown={(event, setText) => {
          if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
          event.preventDefault()
          setOpen(true)
          setText(step(event.currentTarget.value, event.key === 'ArrowDown' ? 1 : -1))
        }}
      >
        {(text) =>
          // The validation message replaces the list.
          anchor &&
          isOpen &&
          !props.invalid && (
            <Popover anchor={anchor} onClose={() => setOpen(false)} focus="none" className={styles.narrow}>
              <ControlGroup data-cell-popover onMouseDown={(event) => event.preventDefault()}>
                {props.list(text, commit)}
                <NowOrClear
                  label={props.now.label}
                  onNow={() => commit(props.now.value())}
                  onClear={() => commit(null)}
                />
              </ControlGroup>
            </Popover>
          )
        }
      </TextInput>
    </ControlGroup>
  )
}

interface NowOrClearProps {
  /** Label of the current value, e.g. “Today”. */
  label: string
  onNow: () => void
  onClear: () => void
}

/** Buttons below a list of dates or times that insert the current value or clear the input, which keeps the focus. */
export function NowOrClear({ label, onNow, onClear }: NowOrClearProps): ReactNode {
  return (
    <div className={calendar.calendarFoot}>
      <button type="button" tabIndex={-1} onClick={onNow}>
        {label}
      </button>
      <button type="button" tabIndex={-1} onClick={onClear}>
        {m.common_clear()}
      </button>
    </div>
  )
}
