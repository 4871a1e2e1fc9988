import { useState } from 'react'
import { ACTIVITY_KINDS, type ActivityKind } from '../../../src/core/activity.ts'
import type { RecordId, Table } from '../../../src/core/model.ts'
import { m } from '../../messages.gen.ts'
import type { RouteSearch } from '../../navigation/paths.ts'
import { timeZone } from '../../time-zone.ts'
import { trpc } from '../../trpc.ts'
import { Button } from '../../ui/button.tsx'
import { SearchInput } from '../../ui/search-input.tsx'
import lists from '../layout/list-screen.module.css'
import { useDebounced } from '../layout/use-debounced.ts'
import styles from './history.module.css'
import { nameOf } from './revert.tsx'

/** What the list is limited to, as in the address of the page. */
export interface HistoryFilter {
  tableId?: string
  /** A record of the table. */
  rowId?: string
  by?: string
  kind?: ActivityKind
  /** Days, `YYYY-MM-DD`, both inclusive. */
  from?: string
  to?: string
}

/** The filter in an address. */
export const readFilter = ({ tableId, rowId, by, kind, from, to }: RouteSearch): HistoryFilter => ({
  tableId,
  rowId,
  by,
  kind: ACTIVITY_KINDS.find((known) => known === kind),
  from,
  to,
})

const KIND_NAMES: Record<ActivityKind, () => string> = {
  records: m.common_records,
  imports: m.history_kind_imports,
  schema: m.history_kind_schema,
  views: m.history_views,
  comments: m.comments_comments,
  access: m.history_kind_access,
}

interface FiltersProps {
  baseId: string
  tables: readonly Table[] | undefined
  filter: HistoryFilter
  onFilter: (filter: HistoryFilter) => void
}

/** Limits the history by table, person, kind, days, and record. */
export function HistoryFilters({ baseId, tables, filter, onFilter }: FiltersProps) {
  const people = trpc.records.people.useQuery({ baseId }, { staleTime: 60_000 }).data
  const set = (patch: Partial<HistoryFilter>) => onFilter({ ...filter, ...patch })
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  return (
    <search className={lists.tools} aria-label={m.history_filter()}>
      <TableFilter
        tables={tables}
        tableId={filter.tableId}
        onChoose={(tableId) => set({ tableId, rowId: undefined })}
      />
      <select
        className={lists.filter}
        aria-label={m.history_person()}
        value={filter.by ?? ''}
        onChange={(event) => set({ by: event.target.value || undefined })}
      >
        <option value="">{m.history_everyone()}</option>
        {people?.map((person) => (
          <option key={person.id} value={person.id}>
            {nameOf(person)}
          </option>
        ))}
      </select>
      <select
        className={lists.filter}
        aria-label={m.history_kind()}
        value={filter.kind ?? ''}
        onChange={(event) => set({ kind: ACTIVITY_KINDS.find((kind) => kind === event.target.value) })}
      >
        <option value="">{m.history_everything()}</option>
        {ACTIVITY_KINDS.map((kind) => (
          <option key={kind} value={kind}>
            {KIND_NAMES[kind]()}
          </option>
        ))}
      </select>
      <input
        type="date"
        className={lists.filter}
        aria-label={m.history_from()}
        value={filter.from ?? ''}
        onChange={(event) => set({ from: event.target.value || undefined })}
      />
      <input
        type="date"
        className={lists.filter}
        aria-label={m.history_to()}
        value={filter.to ?? ''}
        onChange={(event) => set({ to: event.target.value || undefined })}
      />
      <RecordSearch
        baseId={baseId}
        tableId={filter.tableId}
        onChoose={(tableId, recordId) => set({ tableId, rowId: String(recordId) })}
      />
      {isFiltered && (
        <Button size="small" variant="ghost" onClick={() => onFilter({})}>
          {m.history_clear_filters()}
        </Button>
      )}
    </search>
  )
}

/** Finds records by their texts; choosing one limits the history to it. */
function RecordSearch(props: {
  baseId: string
  tableId: string | undefined
  onChoose: (tableId: string, recordId: RecordId) => void
}) {
  const { baseId, tableId, onChoose } = props
  const [text, setText] = useState('')
  const search = useDebounced(text.trim(), 300)
  const found = trpc.records.search.useQuery(
    { baseId, text: search, tableId, timeZone },
    { enabled: search.length > 0 },
  ).data?.matches
  const matches = search === '' ? [] : (found ?? [])
  return (
    <div className={styles.finder}>
      <SearchInput label={m.history_find_record()} value={text} onSearch={setText} className={lists.search} />
      {search !== '' && found && (
        <ul className={styles.matches} data-testid="record-matches">
          {matches.length === 0 && <li className={styles.hint}>{m.history_no_record_found()}</li>}
          {matches.slice(0, 10).map((match) => (
            <li key={`${match.tableId} ${match.recordId}`}>
              <button
                type="button"
                dir="auto"
                onClick={() => {
                  setText('')
                  onChoose(match.tableId, match.recordId)
                }}
              >
                {match.name || m.common_record_id({ id: String(match.recordId) })}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** Select that limits a list to one table of the base. */
export function TableFilter(props: {
  tables: readonly Table[] | undefined
  tableId: string | undefined
  onChoose: (tableId: string | undefined) => void
}) {
  const { tables, tableId, onChoose } = props
  return (
    <select
      className={lists.filter}
      aria-label={m.common_table()}
      value={tableId ?? ''}
      onChange={(event) => onChoose(event.target.value || undefined)}
    >
      <option value="">{m.history_all_tables()}</option>
      {tables?.map((table) => (
        <option key={table.id} value={table.id}>
          {table.title}
        </option>
      ))}
    </select>
  )
}
