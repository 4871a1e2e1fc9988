import { useId } from 'react'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { idsIn, joinIds, ME } from '../../../src/core/fields/people.ts'
import { m } from '../../messages.gen.ts'
import { trpc } from '../../trpc.ts'
import toolbar from '../views/controls/toolbar.module.css'
import styles from './field-editor.module.css'

interface DefaultPeopleProps {
  baseId: string
  value: CellValue
  multiple: boolean
  onChange: (value: CellValue) => void
}

/** Whom new records get: whoever makes them, or members of the base. */
export function DefaultPeople({ baseId, value, multiple, onChange }: DefaultPeopleProps) {
  const people = trpc.records.people.useQuery({ baseId }).data ?? []
  const ids = idsIn(value)
  const id = useId()
  const offered = [
    { id: ME, name: m.schema_creator_of_the_record() },
    ...people.map((person) => ({ id: person.id, name: person.displayName || person.email })),
  ]
  if (multiple) {
    return (
      <fieldset className={styles.people}>
        <legend>{m.schema_default_value()}</legend>
        {offered.map((one) => (
          <label key={one.id} className={styles.check}>
            <input
              type="checkbox"
              checked={ids.includes(one.id)}
              onChange={({ target }) =>
                onChange(joinIds(target.checked ? [...ids, one.id] : ids.filter((each) => each !== one.id)))
              }
            />
            <span dir="auto">{one.name}</span>
          </label>
        ))}
      </fieldset>
    )
  }
  return (
    <div className={styles.part}>
      <label htmlFor={id}>{m.schema_default_value()}</label>
      <select
        id={id}
        className={toolbar.select}
        value={ids[0] ?? ''}
        onChange={(event) => onChange(event.target.value || null)}
      >
        <option value="">{m.common_none()}</option>
        {offered.map((one) => (
          <option key={one.id} value={one.id}>
            {one.name}
          </option>
        ))}
      </select>
    </div>
  )
}
