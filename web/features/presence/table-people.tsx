import { useSyncExternalStore } from 'react'
import { localeTag } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { Avatar } from '../../ui/avatar.tsx'
import { others } from './presence-state.ts'
import styles from './table-people.module.css'

/** Avatars beside each other. */
const MAX_AVATARS = 2

/** Avatars of the other people in a table, for its line in the sidebar; only their coming and going renders it. */
export function TablePeople({ tableId }: { tableId?: string }) {
  const key = useSyncExternalStore(others.subscribe, () => JSON.stringify(peopleIn(tableId)))
  const people: [id: string, name: string][] = JSON.parse(key)
  if (people.length === 0) return null
  const names = people.map(([, name]) => name)
  const label = m.presence_people_in_table({
    count: people.length,
    names: new Intl.ListFormat(localeTag()).format(names),
  })
  return (
    <span
      className={styles.people}
      role="img"
      aria-label={label}
      data-tip={names.join('\n')}
      data-testid="table-people"
    >
      {people.slice(0, MAX_AVATARS).map(([id, name]) => (
        <Avatar key={id} person={{ id, email: name, displayName: name }} size={18} />
      ))}
      {people.length > MAX_AVATARS && (
        <span className={styles.more}>{m.presence_more({ count: people.length - MAX_AVATARS })}</span>
      )}
    </span>
  )
}

/** The people with a connection in a table, each once. */
const peopleIn = (tableId: string | undefined): [id: string, name: string][] => [
  ...new Map(
    others
      .getState()
      .filter((each) => each.tableId === tableId)
      .map(({ userId, name }) => [userId, name]),
  ),
]
