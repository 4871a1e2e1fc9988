import { Eye, Table2 } from 'lucide-react'
import { useState } from 'react'
import { formatNumber } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import type { Outputs } from '../../trpc.ts'
import { TextField } from '../../ui/field.tsx'
import styles from './sources.module.css'

/** More lines than this are left out until the search narrows them. */
const MAX_LINES = 300

type Found = Outputs['sources']['inspect']['tables']

/** Which of the tables and views of a database are wanted. */
export function TablePicker({
  tables,
  chosen,
  onChange,
}: {
  tables: Found
  chosen: ReadonlySet<string>
  onChange: (chosen: ReadonlySet<string>) => void
}) {
  const [search, setSearch] = useState('')
  const words = search.trim().toLowerCase()
  const matching = tables.filter(({ name }) => name.toLowerCase().includes(words))
  const isAll = matching.length > 0 && matching.every(({ name }) => chosen.has(name))

  function toggleAll() {
    const next = new Set(chosen)
    for (const { name } of matching) isAll ? next.delete(name) : next.add(name)
    onChange(next)
  }

  function toggle(name: string) {
    const next = new Set(chosen)
    if (!next.delete(name)) next.add(name)
    onChange(next)
  }

  return (
    <div className={styles.form}>
      <TextField
        label={m.sources_search_tables()}
        data-autofocus
        value={search}
        onChange={(event) => setSearch(event.target.value)}
      />
      <label className={styles.pickAll}>
        <input type="checkbox" checked={isAll} onChange={toggleAll} />
        <span>{m.common_select_all()}</span>
        <small>{m.sources_of_total_selected({ count: chosen.size, total: tables.length })}</small>
      </label>
      <ul className={styles.picks}>
        {matching.slice(0, MAX_LINES).map(({ name, kind, columns, rowEstimate }) => (
          <li key={name}>
            <label className={styles.pick}>
              <input type="checkbox" checked={chosen.has(name)} onChange={() => toggle(name)} />
              {kind === 'view' ? <Eye size={15} /> : <Table2 size={15} />}
              <span className={styles.pickName} dir="auto" data-tip={name} data-tip-clipped>
                {name}
              </span>
              <small>
                {kind === 'view' ? m.common_view() : m.sources_fields_count({ count: columns })}
                {rowEstimate !== null && rowEstimate > 0 && ` · ≈ ${formatNumber(rowEstimate)}`}
              </small>
            </label>
          </li>
        ))}
      </ul>
      {matching.length === 0 && <p className={styles.help}>{m.sources_no_matching_tables()}</p>}
      {matching.length > MAX_LINES && (
        <p className={styles.help}>
          {m.sources_more_search_to_find_them({ count: matching.length - MAX_LINES })}
        </p>
      )}
    </div>
  )
}
