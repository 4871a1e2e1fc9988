import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import type { CellValue, FieldType } from '../../src/core/fields/field-type.ts'
import { t } from '../i18n.ts'
import { Avatar } from '../ui/avatar.tsx'
import { type Cell, defineCell } from './cell.ts'
import { usePeople } from './people.ts'
import styles from './view.module.css'

/** A person by their user id: avatar and name. */
export const personCell = <O,>(type: FieldType<O>, Icon: LucideIcon): Cell<O> =>
  defineCell<O>(type, {
    Icon,
    align: 'start',
    minWidth: 70,
    extraWidth: 28,
    View: ({ value }) => <PersonName id={value} />,
    copyText: (value, people) => people.get(String(value))?.email ?? String(value ?? ''),
  })

function PersonName({ id }: { id: CellValue }): ReactNode {
  const people = usePeople()
  if (id === null || id === '') return null
  const person = people.get(String(id))
  if (!person) return <span className={styles.line}>{t('Former member')}</span>
  return (
    <span className={styles.person} title={person.email}>
      <Avatar person={person} size={20} />
      <span className={styles.line} dir="auto">
        {person.displayName ?? person.email}
      </span>
    </span>
  )
}
