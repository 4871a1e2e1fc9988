import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import type { CellValue, FieldType } from '../../src/core/fields/field-type.ts'
import { ME } from '../../src/core/fields/people.ts'
import { m } from '../messages.gen.ts'
import { Avatar } from '../ui/avatar.tsx'
import { type Cell, defineCell } from './cell.ts'
import former from './former.module.css'
import { useFormerPerson } from './former-people.ts'
import { usePeople } from './people.ts'
import styles from './view.module.css'

/** A person by their user id: avatar and name. */
export const personCell = <O,>(type: FieldType<O>, Icon: LucideIcon): Cell<O> =>
  defineCell<O>(type, {
    Icon,
    isShape: true,
    align: 'start',
    minWidth: 70,
    extraWidth: 28,
    View: ({ value, field }) => <PersonName id={value} tableId={field.tableId} />,
    copyText: (value, people) => people.get(String(value))?.email ?? String(value ?? ''),
  })

/** Someone by avatar and name; who is no member any more is greyed, under the name they had. */
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
      className={member ? styles.person : `${styles.person} ${former.former}`}
      title={member ? person.email : m.cells_email_former_member({ email: person.email })}
    >
      <Avatar person={person} size={20} />
      <span className={styles.line} dir="auto">
        {person.displayName || person.email}
      </span>
    </span>
  )
}
