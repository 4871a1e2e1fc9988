import { type ReactNode, useState } from 'react'
import { dayIn, resolveZone } from '../../src/core/dates.ts'
import { m } from '../messages.gen.ts'
import { ControlGroup } from '../ui/composite.tsx'
import { Popover } from '../ui/overlays.ts'
import calendarStyles from './calendar.module.css'
import { Calendar } from './calendar.tsx'
import type { Draft, EditorProps } from './cell.ts'
import styles from './editor.module.css'
import { isFocusLeaving } from './focus-within.ts'
import { TextInput } from './text-input.tsx'

interface DateEditorProps extends Omit<EditorProps, 'options'> {
  /** The value as text to be edited. */
  initial: string
  placeholder: string
  parse(text: string): Draft
  /** The day that a text names; null: none. */
  dayOf(text: string): string | null
  /** The text when a day is chosen from the calendar. */
  withDay(text: string, day: string): string
  /** True where choosing a day is all there is to choose. */
  dayIsAll: boolean
  /** `Today` or `Now`: its name and what it stores. */
  now: { label: string; text: () => string }
}

/** Typed in the field's own format or ISO, or chosen from a calendar that follows what is typed. */
export function DateEditor(props: DateEditorProps): ReactNode {
  const { commit, parse, variant } = props
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  const [inCalendar, setInCalendar] = useState(false)
  const [isOpen, setOpen] = useState(variant === 'grid')
  const commitText = (text: string) => {
    const draft = parse(text)
    if (draft.ok) commit(draft.value)
  }
  return (
    <ControlGroup
      ref={setAnchor}
      className={styles.dateEditor}
      onFocus={() => setOpen(true)}
      onBlur={(event) => {
        // Once the focus has arrived where it goes: a calendar that closes meanwhile would call it back.
        if (isFocusLeaving(event)) setTimeout(() => setOpen(false))
      }}
    >
      <TextInput
        {...props}
        align="start"
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown') return
          event.preventDefault()
          setOpen(true)
          setInCalendar(true)
        }}
      >
        {(text, setText) =>
          anchor &&
          isOpen &&
          // What is wrong with the text stands where the calendar would be.
          (!props.invalid || inCalendar) && (
            <Popover anchor={anchor} onClose={() => setOpen(false)} focus="none" className={styles.popover}>
              <div data-cell-popover>
                <Calendar
                  day={props.dayOf(text)}
                  today={today()}
                  focused={inCalendar}
                  onLeave={() => {
                    setInCalendar(false)
                    anchor.querySelector('input')?.focus()
                  }}
                  onChoose={(day) => {
                    const next = props.withDay(text, day)
                    if (props.dayIsAll) return commitText(next)
                    setText(next)
                    setInCalendar(false)
                    anchor.querySelector('input')?.focus()
                  }}
                />
                <div className={calendarStyles.calendarFoot}>
                  <button type="button" tabIndex={-1} onClick={() => commitText(props.now.text())}>
                    {props.now.label}
                  </button>
                  <button type="button" tabIndex={-1} onClick={() => commit(null)}>
                    {m.common_clear()}
                  </button>
                </div>
              </div>
            </Popover>
          )
        }
      </TextInput>
    </ControlGroup>
  )
}

/** Today where the reader is. */
export const today = (): string => dayIn(Date.now(), resolveZone('local'))
