import { useId, useState } from 'react'
import type { Table } from '../../../src/core/model.ts'
import { messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { api } from '../../trpc.ts'
import { toast } from '../../ui/toast.ts'
import type { DraftTarget } from './draft.ts'
import styles from './draft-view.module.css'

interface TargetPickerProps {
  target: DraftTarget
  tables: Table[]
  mayCreate: boolean
  onChange: (target: DraftTarget) => void
}

/** Where the rows go: into a new table of a name, or into one that exists. */
export function TargetPicker({ target, tables, mayCreate, onChange }: TargetPickerProps) {
  const id = useId()
  const [title, setTitle] = useState(target.kind === 'new' ? target.title : '')
  // What was chosen last: the fields of a table take a moment to arrive.
  const [wanted, setWanted] = useState<DraftTarget['kind']>(target.kind)
  const isTaken = tables.some((table) => table.title.toLowerCase() === title.trim().toLowerCase())

  async function choose(tableId: string): Promise<void> {
    setWanted('append')
    try {
      const { fields } = await api.schema.table.query({ tableId })
      onChange({ kind: 'append', tableId, fields })
    } catch (error) {
      setWanted(target.kind)
      toast.error({ text: messageOf(error) })
    }
  }

  const first = tables[0]
  return (
    <fieldset className={styles.target}>
      <legend className="visually-hidden">{m.imports_import_into()}</legend>
      {mayCreate && (
        <span className={styles.option}>
          <input
            type="radio"
            id={`${id}-new`}
            name={id}
            checked={wanted === 'new'}
            onChange={() => {
              setWanted('new')
              onChange({ kind: 'new', title })
            }}
          />
          <label htmlFor={`${id}-new`}>{m.common_new_table()}</label>
          {target.kind === 'new' && (
            <input
              className={styles.text}
              aria-label={m.imports_table_name()}
              aria-invalid={isTaken || title.trim() === '' || undefined}
              dir="auto"
              maxLength={255}
              value={title}
              onChange={(event) => {
                setTitle(event.target.value)
                onChange({ kind: 'new', title: event.target.value })
              }}
            />
          )}
          {target.kind === 'new' && isTaken && (
            <span role="alert">{m.imports_table_name_already_exists()}</span>
          )}
        </span>
      )}
      {first && (
        <span className={styles.option}>
          <input
            type="radio"
            id={`${id}-append`}
            name={id}
            checked={wanted === 'append'}
            onChange={() => void choose(first.id)}
          />
          <label htmlFor={`${id}-append`}>{m.imports_existing_table()}</label>
          {target.kind === 'append' && (
            <select
              className={styles.select}
              aria-label={m.common_table()}
              value={target.tableId}
              onChange={(event) => void choose(event.target.value)}
            >
              {tables.map((table) => (
                <option key={table.id} value={table.id}>
                  {table.title}
                </option>
              ))}
            </select>
          )}
        </span>
      )}
    </fieldset>
  )
}
