import type { ReactNode } from 'react'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { ME } from '../../src/core/fields/people.ts'
import { m } from '../messages.gen.ts'
import { Avatar } from '../ui/avatar.tsx'
import { useFormerPerson, usePeople } from './people-context.ts'
import styles from './view.module.css'

/** A person's avatar and name; former members are greyed. */
export function PersonName({ id, tableId }: { id: CellValue; tableId: string }): ReactNode {
  const people = usePeople()
  const member = people.get(String(id))
  const left = useFormerPerson(tableId, id === null || id === '' || id === ME || member ? null : String(id))
  if (id === null || id === '') return null
  if (id === ME) return <span className={styles.line}>{m.cells_me()}</span>
  const person = member ?? left
  if (!person) return <span className={styles.line}>{m.cells_former_member()}</span>
  return (
    <span
      className={member ? styles.person : `${styles.person} ${styles.former}`}
      title={member ? person.email : m.cells_email_former_member({ email: person.email })}
    >
      <Avatar person={person} size={20} />
      <span className={styles.line} dir="auto">
        {person.displayName || person.email}
      </span>
    </span>
  )
}
