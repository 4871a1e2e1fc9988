import { type ComponentProps, type KeyboardEvent, type ReactNode, useState } from 'react'
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
  const { commit, step } = props
  return (
    <InputWithPopover
      {...props}
      className={styles.narrow}
      onKeyDown={(event, setText, openPopover) => {
        if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
        event.preventDefault()
        openPopover()
        setText(step(event.currentTarget.value, event.key === 'ArrowDown' ? 1 : -1))
      }}
    >
      {(text) => (
        <ControlGroup data-cell-popover onMouseDown={(event) => event.preventDefault()}>
          {props.list(text, commit)}
          <NowOrClear
            label={props.now.label}
            onNow={() => commit(props.now.value())}
            onClear={() => commit(null)}
          />
        </ControlGroup>
      )}
    </InputWithPopover>
  )
}

interface InputWithPopoverProps extends Omit<ComponentProps<typeof TextInput>, 'children' | 'onKeyDown'> {
  /** Class of the popover. */
  className: string | undefined
  /** True to show the popover beside a validation message, which otherwise replaces it. */
  isKept?: boolean
  /** Handles keys before the owner does. */
  onKeyDown(
    event: KeyboardEvent<HTMLInputElement>,
    setText: (text: string) => void,
    openPopover: () => void,
  ): void
  children(text: string, setText: (text: string) => void, focusInput: () => void): ReactNode
}

/** An input with a popover that opens with the focus (in the grid, at once) and closes when the focus leaves. */
export function InputWithPopover(props: InputWithPopoverProps): ReactNode {
  const { className, isKept = false, onKeyDown, children, ...inputProps } = props
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  const [isOpen, setOpen] = useState(props.variant === 'grid')
  return (
    <ControlGroup
      ref={setAnchor}
      className={styles.dateEditor}
      onFocus={() => setOpen(true)}
      onBlur={(event) => {
        // Wait for the focus to arrive: a popover that closes earlier would take it back.
        if (isFocusLeaving(event)) setTimeout(() => setOpen(false))
      }}
    >
      <TextInput
        {...inputProps}
        align="start"
        onKeyDown={(event, setText) => onKeyDown(event, setText, () => setOpen(true))}
      >
        {(text, setText) =>
          anchor &&
          isOpen &&
          (!props.invalid || isKept) && (
            <Popover anchor={anchor} onClose={() => setOpen(false)} focus="none" className={className}>
              {children(text, setText, () => anchor.querySelector('input')?.focus())}
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
