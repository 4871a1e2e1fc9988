import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useCallback, useEffect } from 'react'
import { linkOf } from '../../../../../src/core/fields/link-options.ts'
import { shownText } from '../../../../cells/cell-text.ts'
import { linksIn, titleOf } from '../../../../cells/link-value.ts'
import { usePeople } from '../../../../cells/people.ts'
import { PersonName } from '../../../../cells/person-cell.tsx'
import { Pill } from '../../../../cells/pill.tsx'
import { m } from '../../../../messages.gen.ts'
import { onChange } from '../../../../socket.ts'
import { api } from '../../../../trpc.ts'
import { relatedTable } from '../../../records/commands/link-reads.ts'
import type { RecordStore } from '../../../records/record-store.ts'
import type { Board } from './create-board.ts'
import type { StackBy, StackKey } from './stack-by.ts'
import type { Stack } from './stacks.ts'

/** What linked records are called, by key. */
export type RecordNames = ReadonlyMap<string, string>

const NO_NAMES: RecordNames = new Map()

/** The names of the records that stacks stand for, in one reading. */
export function useRecordNames(by: StackBy, keys: readonly StackKey[]): RecordNames {
  const tableId = by.kind === 'record' ? (linkOf(by.field)?.relatedTableId ?? '') : ''
  const ids = keys.filter((key) => key !== null)
  const { data, refetch } = useQuery<RecordNames>({
    queryKey: ['kanban-stack-names', tableId, ...ids],
    queryFn: ({ signal }) => readNames(by, tableId, ids, signal),
    enabled: tableId !== '' && ids.length > 0,
    placeholderData: keepPreviousData,
    staleTime: 10_000,
    // A shared page may not read the other table: the links of the cards name it then.
    retry: false,
  })
  useEffect(
    () => onChange((change) => void (tableId !== '' && change.tableIds.includes(tableId) && refetch())),
    [tableId, refetch],
  )
  return data ?? NO_NAMES
}

async function readNames(
  { keyField }: StackBy,
  tableId: string,
  keys: readonly string[],
  signal: AbortSignal,
): Promise<RecordNames> {
  const { fields } = await relatedTable(tableId)
  const display = fields.find((field) => field.isDisplay)
  if (!display) return NO_NAMES
  const recordIds = keys.map((key) => (keyField.options.isText === true ? key : Number(key)))
  const query = { tableId, recordIds, fieldIds: [display.id], sorts: [], limit: recordIds.length, offset: 0 }
  const page = await api.records.list.query({ query }, { signal })
  return new Map(page.ids.map((id, at) => [String(id), shownText(display, page.rows[at]?.[0] ?? null)]))
}

/** What the first card of a stack says that its linked record is called. */
function linkName({ lanes, by }: Board, store: RecordStore, key: StackKey): string | undefined {
  const id = lanes.lane(key).segments.idAt(0)
  const row = id === undefined ? undefined : store.row(id)
  const [linked] = linksIn(row?.values(by.field.id) ?? null).records
  return linked && titleOf(linked)
}

/** The name of a stack as text, for menus and announcements. */
export function useStackTitle(
  board: Board,
  store: RecordStore,
  names: RecordNames,
): (key: StackKey) => string {
  const { kind } = board.by
  const people = usePeople()
  return useCallback(
    (key) => {
      if (key === null) return m.kanban_uncategorised()
      if (kind === 'tick') return key === 'true' ? m.common_checked() : m.common_not_checked()
      if (kind === 'person') {
        const person = people.get(key)
        return person ? person.displayName || person.email : m.kanban_former_member()
      }
      if (kind === 'record')
        return names.get(key) || linkName(board, store, key) || m.common_record_id({ id: key })
      return key
    },
    [board, store, kind, people, names],
  )
}

/** The name of a stack as its field draws it: an option as a pill, a person with their picture. */
export function StackName({ stack, by, title }: { stack: Stack; by: StackBy; title: string }) {
  const { key, choice } = stack
  if (by.kind === 'option' && key !== null) return <Pill title={key} choice={choice ?? undefined} />
  if (by.kind === 'person' && key !== null) return <PersonName id={key} tableId={by.field.tableId} />
  return (
    <bdi data-plain data-tip={title} data-tip-clipped>
      {title}
    </bdi>
  )
}
