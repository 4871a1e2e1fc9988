import { ListChecks } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { matchTitle, multiSelect, type SelectOptions, titlesIn } from '../../src/core/fields/choices.ts'
import { m } from '../messages.gen.ts'
import { type Draft, defineCell, type EditorProps, type ViewProps } from './cell.ts'
import { countFitting } from './fit-pills.ts'
import type { OptionLine } from './option-list.ts'
import { joinTitles, OptionPicker } from './option-picker.tsx'
import { choiceOf, Pill } from './pill.tsx'
import styles from './view.module.css'

/** Several options as pills; the list stays open while one ticks. */
export const multiSelectCell = defineCell(multiSelect, {
  Icon: ListChecks,
  isShape: true,
  align: 'start',
  minWidth: 80,
  extraWidth: 60,
  opensList: true,
  View: Pills,
  Editor: MultiSelectEditor,
})

function Pills({ value, options, lines, width, variant }: ViewProps<SelectOptions>): ReactNode {
  if (value === null || value === '') return null
  const titles = titlesIn(String(value))
  const fitting = width === null ? titles.length : countFitting(titles, width, lines)
  return (
    <span className={styles.pills} data-variant={variant} data-wrap={lines > 1 || undefined}>
      {titles.slice(0, fitting).map((title) => (
        <Pill key={title} title={title} choice={choiceOf(options.choices, title)} />
      ))}
      {fitting < titles.length && (
        <span className={styles.more} dir="ltr" title={titles.slice(fitting).join(', ')}>
          +{titles.length - fitting}
        </span>
      )}
    </span>
  )
}

function MultiSelectEditor(props: EditorProps<SelectOptions>): ReactNode {
  const { options, change } = props
  const [selected, setSelected] = useState(() => titlesIn(String(props.value ?? '')))
  const set = (titles: string[]) => {
    setSelected(titles)
    // A record has no moment of leaving the list, so each tick is saved; a cell saves once, at the end.
    if (props.variant === 'record') change(joinTitles(titles))
  }
  const read = (text: string, best: OptionLine | undefined): Draft => {
    if (text.trim() === '') return { ok: true, value: joinTitles(selected) }
    const title = matchTitle(options.choices, text) ?? (best?.kind === 'option' ? best.choice.title : null)
    if (title === null) return { ok: false, message: m.cells_no_option_named_text({ text: text.trim() }) }
    return { ok: true, value: joinTitles([...new Set([...selected, title])]) }
  }
  return (
    <OptionPicker
      {...props}
      selected={selected}
      several
      onToggle={(title) =>
        set(selected.includes(title) ? selected.filter((each) => each !== title) : [...selected, title])
      }
      onRemoveLast={() => set(selected.slice(0, -1))}
      read={read}
    />
  )
}
