import type { LucideIcon } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { CellValue, FieldType } from '../../src/core/fields/field-type.ts'
import { findPerson, idsIn, joinIds, type PeopleOptions } from '../../src/core/fields/people.ts'
import type { Person } from '../../src/core/model.ts'
import { m } from '../messages.gen.ts'
import { type Cell, type Draft, defineCell, type EditorProps, type ViewProps } from './cell.ts'
import { usePeople } from './people.ts'
import { nameOf, PeoplePicker } from './people-picker.tsx'
import { PersonName } from './person-cell.tsx'
import styles from './view.module.css'

/** Pixels that a person takes besides their name, the average letter, and the "+n". */
const PERSON_PX = 30
const LETTER_PX = 7
const MORE_PX = 30

/** People by their user ids: avatars and names; chosen from the members of the base. */
export const peopleCell = (type: FieldType<PeopleOptions>, Icon: LucideIcon): Cell<PeopleOptions> =>
  defineCell(type, {
    Icon,
    isShape: true,
    align: 'start',
    minWidth: 70,
    extraWidth: 28,
    opensList: true,
    View: PeopleView,
    Editor: PeopleEditor,
    copyText: (value, people) =>
      idsIn(value)
        .map((id) => people.get(id)?.email ?? id)
        .join(', '),
  })

function PeopleView({ value, field, width, lines, variant }: ViewProps<PeopleOptions>): ReactNode {
  const people = usePeople()
  const ids = idsIn(value)
  const fitting = width === null ? ids.length : countFitting(ids, people, width, lines)
  if (ids.length === 0) return null
  if (ids.length === 1) return <PersonName id={ids[0] ?? null} tableId={field.tableId} />
  return (
    <span className={styles.pills} data-variant={variant} data-wrap={lines > 1 || undefined}>
      {ids.slice(0, fitting).map((id) => (
        <PersonName key={id} id={id} tableId={field.tableId} />
      ))}
      {fitting < ids.length && (
        <span
          className={styles.more}
          dir="ltr"
          title={ids
            .slice(fitting)
            .map((id) => nameOf(people.get(id)) ?? m.cells_former_member())
            .join(', ')}
        >
          +{ids.length - fitting}
        </span>
      )}
    </span>
  )
}

/** How many fit, by the length of their names: measuring each would make the browser lay out twice. */
function countFitting(
  ids: readonly string[],
  people: ReadonlyMap<string, Person>,
  width: number,
  lines: number,
): number {
  let line = 1
  let used = 0
  for (const [index, id] of ids.entries()) {
    const name = nameOf(people.get(id)) ?? m.cells_former_member()
    const size = Math.min(width, name.length * LETTER_PX + PERSON_PX)
    const room = width - (line === lines && index < ids.length - 1 ? MORE_PX : 0)
    if (used + size > room && used > 0) {
      if (line === lines) return index
      line++
      used = 0
    }
    used += size
  }
  return ids.length
}

function PeopleEditor(props: EditorProps<PeopleOptions>): ReactNode {
  const { options, change, commit } = props
  const people = usePeople()
  const [selected, setSelected] = useState(() => idsIn(props.value))
  const set = (ids: string[]) => {
    setSelected(ids)
    // A record has no moment of leaving the list, so each choice is saved; a cell saves once, at the end.
    if (props.variant === 'record') change(joinIds(ids))
  }
  const kept = (ids: string[]): Draft => {
    const value: CellValue = joinIds(ids)
    return { ok: true, value: value === joinIds(idsIn(props.value)) ? props.value : value }
  }
  return (
    <PeoplePicker
      {...props}
      selected={selected}
      several={options.multiple}
      onToggle={(id) => {
        const without = selected.filter((each) => each !== id)
        if (options.multiple) set(without.length < selected.length ? without : [...selected, id])
        else commit(selected.includes(id) ? null : id, 'stay')
      }}
      onRemoveLast={() => set(selected.slice(0, -1))}
      read={(text, highlighted) => {
        const person =
          text.trim() === '' ? highlighted : (findPerson([...people.values()], text) ?? highlighted)
        if (text.trim() !== '' && !person)
          return { ok: false, message: m.cells_no_member_named_text({ text: text.trim() }) }
        if (!person) return kept(selected)
        return options.multiple ? kept([...new Set([...selected, person.id])]) : kept([person.id])
      }}
    />
  )
}
