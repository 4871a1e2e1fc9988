import type { Values } from '../../src/core/changes.ts'
import type { RecordId } from '../../src/core/model.ts'
import type { GroupPage } from '../../src/core/query.ts'
import { isOffline } from '../../web/errors.ts'
import { type StackKey, stackByOf } from '../../web/records/layouts/stack-by.ts'
import { createStacksLayout } from '../../web/records/layouts/stacks-layout.ts'
import { createRecordStore } from '../../web/records/record-store.ts'
import { createSendQueue } from '../../web/records/send-queue.ts'
import type { StoreQuery } from '../../web/records/types.ts'
import { memoryField, memoryRecords } from './memory-records.ts'

/** A title, a status to stack by, and the place of a record in its table. */
export const KANBAN_FIELDS = [
  memoryField('title'),
  memoryField('status', 'SingleSelect', {
    options: { choices: ['todo', 'doing', 'done'].map((title) => ({ id: title, title, color: '#cfdffe' })) },
  }),
  memoryField('stock', 'Number'),
  memoryField('order', 'Order', { isSystem: true }),
]

/** Records of these titles and stacks, in this order: `['a todo', 'b done']`; one word is of no stack. */
export const cards = (...texts: string[]): Values[] =>
  texts.map((text, at) => {
    const [title = '', status] = text.split(' ')
    return { title, status: status ?? null, stock: null, order: at + 1 }
  })

/** A kanban over a table in memory, with these stacks in sight and read. */
export async function openKanban(rows: Values[], query: Partial<StoreQuery> = {}) {
  const fields = KANBAN_FIELDS
  const server = memoryRecords(fields, rows)
  const messages: string[] = []
  const queue = createSendQueue({ isAway: isOffline, pauseMs: () => 5 })
  const by = stackByOf(fields, 'status')
  if (!by) throw new Error('the field cannot be stacked by')
  const fieldIds = fields.map((field) => field.id)
  const current: StoreQuery = {
    fields,
    fieldIds,
    filter: null,
    sorts: [],
    viewId: undefined,
    search: null,
    ...query,
  }

  async function groups(): Promise<GroupPage> {
    server.calls.push('groups')
    await Promise.resolve()
    const counts = new Map<string | null, number>()
    for (const { status } of server.values()) {
      const key = status === null || status === undefined ? null : String(status)
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
    return {
      groups: [...counts].map(([key, count]) => ({ keys: [key], count, summaries: {} })),
      hasMore: false,
    }
  }

  const layout = createStacksLayout({ by, query: () => current, summary: () => null, groups })
  const store = createRecordStore(
    {
      baseId: 'p1',
      tableId: 'm1',
      api: server.api,
      queue,
      resolveConflict: async () => null,
      actorId: () => 'us1',
      notify: (message) => void messages.push(message),
      keepUnsaved: () => {},
    },
    current,
    layout.storeLayout,
  )
  const keys: StackKey[] = [null, 'todo', 'doing', 'done']
  layout.setOrder(keys)
  for (const key of keys) layout.paging().setVisible(key, { first: 0, last: 10 })
  await store.reload()

  const titlesIn = (key: StackKey): string[] => {
    const stack = layout.loaded.stack(key)
    return Array.from({ length: layout.loaded.length(stack) }, (_, at) => {
      const id = stack.segments.idAt(at)
      return id === undefined ? '?' : String(store.row(id)?.values('title'))
    })
  }
  return {
    server,
    layout,
    store,
    queue,
    messages,
    by,
    /** The cards of every stack that has any: `{ todo: 'a b', done: 'c' }`. */
    shown: () =>
      Object.fromEntries(
        keys.map((key) => [String(key), titlesIn(key).join(' ')]).filter(([, titles]) => titles !== ''),
      ),
    counts: () => keys.map((key) => layout.loaded.stack(key).count),
    idOf: (title: string): RecordId => {
      for (const stack of layout.loaded.all())
        for (const id of stack.segments.ids()) if (store.row(id)?.values('title') === title) return id
      throw new Error(`no card ${title}`)
    },
    settled: () => queue.whenEmpty(),
  }
}
