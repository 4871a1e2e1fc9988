import type { Base, Person } from '../../../src/core/model.ts'
import { roleCan } from '../../../src/core/roles.ts'
import { LISTED_TRASH_KINDS, type ListedTrashKind, TRASH_KINDS } from '../../../src/core/trash.ts'
import { m } from '../../messages.gen.ts'
import { trpc } from '../../trpc.ts'
import { Button } from '../../ui/button.tsx'
import { SearchInput } from '../../ui/search-input.tsx'
import { TableFilter } from '../history/history-filters.tsx'
import lists from '../layout/list-screen.module.css'
import styles from './trash.module.css'
import { KINDS } from './trash-items.tsx'

/** What the address of the page limits the list to. */
export interface TrashPlace {
  /** Absent: all bases. */
  baseId?: string
  tableId?: string
  kind?: ListedTrashKind
  by?: string
}

interface FiltersProps {
  place: TrashPlace
  onPlace: (place: TrashPlace) => void
  text: string
  onText: (text: string) => void
  /** The bases in which the user may restore something. */
  bases: readonly Base[]
  /** Absent: nothing is limited. */
  onClear?: () => void
}

/** Limits the trash by base, text, kind, table and person. */
export function TrashFilters({ place, onPlace, text, onText, bases, onClear }: FiltersProps) {
  const { baseId, tableId, kind, by } = place
  const set = (patch: Partial<TrashPlace>) => onPlace({ ...place, ...patch })
  return (
    <search className={lists.tools} aria-label={m.trash_filter()}>
      <SearchInput label={m.trash_search()} value={text} onSearch={onText} className={lists.search} />
      <select
        className={`${lists.filter} ${styles.baseFilter}`}
        aria-label={m.common_base()}
        value={baseId ?? ''}
        onChange={(event) =>
          set({ baseId: event.target.value || undefined, tableId: undefined, by: undefined })
        }
      >
        <option value="">{m.trash_all_bases()}</option>
        {bases.map((base) => (
          <option key={base.id} value={base.id}>
            {base.title}
          </option>
        ))}
      </select>
      <KindFilter
        bases={bases.filter(({ id }) => id === (baseId ?? id))}
        isOfAll={baseId === undefined}
        kind={kind}
        onChoose={(chosen) => set({ kind: chosen })}
      />
      {baseId !== undefined && (
        <TableOfBaseFilter
          baseId={baseId}
          tableId={tableId}
          onChoose={(chosen) => set({ tableId: chosen })}
        />
      )}
      <PersonFilter baseId={baseId} personId={by} onChoose={(chosen) => set({ by: chosen })} />
      {onClear && (
        <Button size="small" variant="ghost" onClick={onClear}>
          {m.trash_clear_filters()}
        </Button>
      )}
    </search>
  )
}

function KindFilter(props: {
  bases: readonly Base[]
  isOfAll: boolean
  kind: ListedTrashKind | undefined
  onChoose: (kind: ListedTrashKind | undefined) => void
}) {
  const allowed = LISTED_TRASH_KINDS.filter((kind) =>
    kind === 'base'
      ? props.isOfAll
      : props.bases.some(({ role }) => roleCan(role, TRASH_KINDS[kind].restore)),
  )
  return (
    <select
      className={lists.filter}
      aria-label={m.trash_kind()}
      value={props.kind ?? ''}
      onChange={(event) => props.onChoose(allowed.find((kind) => kind === event.target.value))}
    >
      <option value="">{m.trash_all_kinds()}</option>
      {allowed.map((kind) => (
        <option key={kind} value={kind}>
          {KINDS[kind].label()}
        </option>
      ))}
    </select>
  )
}

function TableOfBaseFilter(props: {
  baseId: string
  tableId: string | undefined
  onChoose: (tableId: string | undefined) => void
}) {
  const tables = trpc.schema.tables.useQuery({ baseId: props.baseId }).data
  return <TableFilter tables={tables} tableId={props.tableId} onChoose={props.onChoose} />
}

/** The people of the base, or of all bases. */
function PersonFilter({
  baseId,
  personId,
  onChoose,
}: {
  baseId: string | undefined
  personId: string | undefined
  onChoose: (personId: string | undefined) => void
}) {
  const ofBase = trpc.records.people.useQuery(
    { baseId: baseId ?? '' },
    { enabled: baseId !== undefined, staleTime: 60_000 },
  )
  const ofAll = trpc.trash.people.useQuery(undefined, { enabled: baseId === undefined, staleTime: 60_000 })
  const people: readonly Person[] | undefined = baseId === undefined ? ofAll.data : ofBase.data
  return (
    <select
      className={lists.filter}
      aria-label={m.trash_deleted_by()}
      value={personId ?? ''}
      onChange={(event) => onChoose(event.target.value || undefined)}
    >
      <option value="">{m.trash_everyone()}</option>
      {people?.map((person) => (
        <option key={person.id} value={person.id}>
          {person.displayName || person.email}
        </option>
      ))}
    </select>
  )
}
