import type { Values } from '../../src/core/changes.ts'
import type { Field } from '../../src/core/model.ts'
import { isOffline } from '../../web/errors.ts'
import { firstContent } from '../../web/navigation/first-content.ts'
import { createRecordStore, type StoreLayout } from '../../web/records/record-store.ts'
import { createSendQueue } from '../../web/records/send-queue.ts'
import type { Conflict, StoreQuery, Unsaved } from '../../web/records/types.ts'
import { memoryField, memoryRecords } from './memory-records.ts'

/** The fields that most tests of the store are content with. */
export const FIELDS = [memoryField('title'), memoryField('stock', 'Number')]

type Query = Partial<StoreQuery> & { fields?: Field[] }
type LayoutOf = (server: ReturnType<typeof memoryRecords>) => StoreLayout

/** A store over a table in memory, its first rows read. */
export async function open(rows: Values[], query?: Query, layoutOf?: LayoutOf) {
  const opened = await openUnread(rows, query, layoutOf)
  await opened.store.reload()
  opened.store.source.requestRange(0, 20)
  return opened
}

/** A store over a table in memory that has read nothing yet. */
export async function openUnread(
  rows: Values[],
  { fields = FIELDS, ...query }: Query = {},
  layoutOf?: LayoutOf,
) {
  // A visit that has drawn its first records; before, pages are shorter.
  await firstContent
  const server = memoryRecords(fields, rows)
  const messages: string[] = []
  const kept: Unsaved[] = []
  const conflicts: Conflict[] = []
  /** Questions about conflicts are answered with theirs, after this. */
  const question = { answered: Promise.resolve() }
  const queue = createSendQueue({ isAway: isOffline, pauseMs: () => 5 })
  const store = createRecordStore(
    {
      baseId: 'p1',
      tableId: 'm1',
      api: server.api,
      queue,
      async resolveConflict(_field, conflict) {
        conflicts.push(conflict)
        await question.answered
        return null
      },
      actorId: () => 'us1',
      notify: (message) => void messages.push(message),
      keepUnsaved: (unsaved) => void kept.push(unsaved),
    },
    {
      fields,
      fieldIds: fields.map((field) => field.id),
      filter: null,
      sorts: [],
      viewId: undefined,
      search: null,
      ...query,
    },
    layoutOf?.(server),
  )
  const titles = () =>
    Array.from({ length: store.source.rowCount ?? 0 }, (_, at) => store.source.getRow(at)?.values('title'))
  const cell = (row: number, fieldId: string, value: string | number | null) => ({
    rowIndex: row,
    recordId: store.source.getRow(row)?.id,
    fieldId,
    value,
  })
  return {
    server,
    store,
    queue,
    messages,
    kept,
    conflicts,
    question,
    titles,
    cell,
    settled: () => queue.whenEmpty(),
  }
}

/** Rows of these titles, each with one in stock. */
export const named = (...titles: string[]): Values[] => titles.map((title) => ({ title, stock: 1 }))
export const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
