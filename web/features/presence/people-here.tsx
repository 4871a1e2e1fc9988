import { useEffect } from 'react'
import { useStore } from 'zustand'
import type { Presence } from '../../../src/core/presence.ts'
import { localeTag } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { goTo, paths } from '../../navigation/paths.ts'
import { isVisitorPage } from '../../session/visitor.ts'
import { cache } from '../../trpc.ts'
import { Avatar } from '../../ui/avatar.tsx'
import { type MenuItem, openMenu } from '../../ui/menu.tsx'
import { useIsNarrow } from '../layout/sidebar-state.ts'
import styles from './people-here.module.css'
import { others, wantedCell } from './presence-state.ts'
import { takePart } from './take-part.ts'

/** Avatars beside each other; narrow windows have room for one. */
const MAX_AVATARS = 4

/** Lines of the menu, with room for more people than anyone reads. */
const MAX_LINES = 100

/** The other people in a base, as avatars that open a list. A press on a person goes to where they are. */
export function PeopleHere({ baseId }: { baseId?: string }) {
  return baseId && !isVisitorPage ? <People baseId={baseId} /> : null
}

function People({ baseId }: { baseId: string }) {
  useEffect(() => takePart(baseId), [baseId])
  const people = peopleOf(useStore(others))
  const isNarrow = useIsNarrow()
  if (people.length === 0) return null
  const shown = people.slice(0, isNarrow ? 1 : MAX_AVATARS)
  const names = people.slice(0, MAX_LINES).map(({ name }) => name)
  const label = m.presence_people_here({
    count: people.length,
    names: new Intl.ListFormat(localeTag()).format(names),
  })
  return (
    <button
      type="button"
      className={styles.people}
      aria-haspopup="menu"
      aria-label={label}
      data-tip={names.join('\n')}
      data-testid="people-here"
      onClick={(event) =>
        openMenu(
          event.currentTarget,
          people.slice(0, MAX_LINES).map((person) => lineOf(baseId, person)),
          m.presence_people_in_this_base(),
        )
      }
    >
      {shown.map((person) => (
        <span key={person.userId} className={styles.avatar} data-testid="person-here">
          <Avatar person={avatarOf(person)} size={24} />
        </span>
      ))}
      {people.length > shown.length && (
        <span className={styles.more}>{m.presence_more({ count: people.length - shown.length })}</span>
      )}
    </button>
  )
}

const avatarOf = ({ userId, name }: Presence) => ({ id: userId, email: name, displayName: name })

/** One connection of each person: the one that edits, else one with a cell, else one with a table. */
function peopleOf(connections: readonly Presence[]): Presence[] {
  const best = new Map<string, Presence>()
  for (const each of connections) {
    const known = best.get(each.userId)
    if (!known || weight(each) > weight(known)) best.set(each.userId, each)
  }
  return [...best.values()]
}

const weight = ({ isEditing, fieldId, recordId, tableId }: Presence): number =>
  [isEditing, fieldId !== null, recordId !== null, tableId !== null].filter(Boolean).length

function lineOf(baseId: string, person: Presence): MenuItem {
  const { tableId, viewId, recordId, fieldId, name } = person
  const table = cache.schema.tables.getData({ baseId })?.find(({ id }) => id === tableId)
  const view =
    table && cache.schema.table.getData({ tableId: table.id })?.views.find(({ id }) => id === viewId)
  const where = table
    ? view && view.title !== table.title
      ? m.presence_table_and_view({ table: table.title, view: view.title })
      : table.title
    : m.presence_base_pages()
  return {
    kind: 'action',
    label: name,
    hint: person.isEditing ? m.presence_editing_in({ where }) : where,
    icon: ({ size }) => <Avatar person={avatarOf(person)} size={Number(size ?? 18) + 4} />,
    run() {
      if (!table) return goTo(paths.base(baseId))
      goTo(paths.table(baseId, table.id, viewId ?? undefined))
      if (viewId !== null && recordId !== null)
        wantedCell.setState({ tableId: table.id, viewId, recordId, fieldId }, true)
    },
  }
}
