import { type LucideIcon, UserRound, UserRoundPen, UserRoundPlus, UsersRound } from 'lucide-react'
import type { ReactNode } from 'react'
import type { FieldType } from '../../src/core/fields/field-type.ts'
import {
  collaborator,
  createdBy,
  idsIn,
  lastModifiedBy,
  type PeopleOptions,
  user,
} from '../../src/core/fields/people.ts'
import { m } from '../messages.gen.ts'
import { type Cell, defineCell, lazyEditor, type ViewProps } from './cell.ts'
import { countInRows } from './count-in-rows.ts'
import { HiddenCount } from './hidden-count.tsx'
import { nameOf, usePeople } from './people-context.ts'
import { PersonName } from './person-name.tsx'
import styles from './view.module.css'

/** A person by their user id: avatar and name. */
const personCell = <O,>(type: FieldType<O>, Icon: LucideIcon): Cell<O> =>
  defineCell<O>(type, {
    Icon,
    isShape: true,
    align: 'start',
    minWidth: 70,
    extraWidth: 28,
    View: ({ value, field }) => <PersonName id={value} tableId={field.tableId} />,
    copyText: (value, people) => people.get(String(value))?.email ?? String(value ?? ''),
  })

/** The record's creator. */
export const createdByCell = personCell(createdBy, UserRoundPlus)

/** The record's last editor. */
export const lastModifiedByCell = personCell(lastModifiedBy, UserRoundPen)

/** Widths in pixels: a person besides the name, and an average letter. */
const PERSON_PX = 30
const LETTER_PX = 7

/** People by user id, as avatars and names; selected from the members of the base. */
const peopleCell = (type: FieldType<PeopleOptions>, Icon: LucideIcon): Cell<PeopleOptions> =>
  defineCell(type, {
    Icon,
    isShape: true,
    align: 'start',
    minWidth: 70,
    extraWidth: 28,
    opensList: true,
    View: PeopleView,
    Editor: lazyEditor(() => import('./people-editor.tsx'), 'PeopleEditor'),
    copyText: (value, people) =>
      idsIn(value)
        .map((id) => people.get(id)?.email ?? id)
        .join(', '),
  })

function PeopleView({ value, field, width, lines, variant }: ViewProps<PeopleOptions>): ReactNode {
  const people = usePeople()
  const ids = idsIn(value)
  const shownName = (id: string): string => nameOf(people.get(id)) ?? m.cells_former_member()
  const pxOf = (id: string): number => shownName(id).length * LETTER_PX + PERSON_PX
  const fitting = width === null ? ids.length : countInRows(ids, { width, rows: lines, pxOf })
  if (ids.length === 0) return null
  if (ids.length === 1) return <PersonName id={ids[0] ?? null} tableId={field.tableId} />
  return (
    <span className={styles.pills} data-variant={variant} data-wrap={lines > 1 || undefined}>
      {ids.slice(0, fitting).map((id) => (
        <PersonName key={id} id={id} tableId={field.tableId} />
      ))}
      {fitting < ids.length && (
        <HiddenCount count={ids.length - fitting} title={ids.slice(fitting).map(shownName).join(', ')} />
      )}
    </span>
  )
}

/** Members of the base, one or several. */
export const userCell = peopleCell(user, UserRound)

/** Legacy name of `User`. */
export const collaboratorCell = peopleCell(collaborator, UsersRound)
