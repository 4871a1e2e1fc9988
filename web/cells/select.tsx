import { CircleChevronDown, ListChecks } from 'lucide-react'
import type { ReactNode } from 'react'
import { titlesIn } from '../../src/core/fields/choice-titles.ts'
import { multiSelect, type SelectOptions, singleSelect } from '../../src/core/fields/choices.ts'
import { defineCell, lazyEditor, type ViewProps } from './cell.ts'
import { HiddenCount } from './hidden-count.tsx'
import { choiceOf, countFitting, Pill } from './pill.tsx'
import styles from './view.module.css'

const editors = () => import('./select-editor.tsx')

/** One option as a pill, selected from a list that typing filters. */
export const singleSelectCell = defineCell(singleSelect, {
  Icon: CircleChevronDown,
  isShape: true,
  align: 'start',
  minWidth: 70,
  extraWidth: 24,
  opensList: true,
  View: ({ value, options }) =>
    value === null || value === '' ? null : (
      <Pill title={String(value)} choice={choiceOf(options.choices, String(value))} />
    ),
  Editor: lazyEditor(editors, 'SingleSelectEditor'),
})

/** Several options as pills; the list stays open while toggling. */
export const multiSelectCell = defineCell(multiSelect, {
  Icon: ListChecks,
  isShape: true,
  align: 'start',
  minWidth: 80,
  extraWidth: 60,
  opensList: true,
  View: Pills,
  Editor: lazyEditor(editors, 'MultiSelectEditor'),
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
        <HiddenCount count={titles.length - fitting} title={titles.slice(fitting).join(', ')} />
      )}
    </span>
  )
}
