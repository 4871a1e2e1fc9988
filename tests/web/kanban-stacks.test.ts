import { describe, expect, test } from 'bun:test'
import type { RecordId } from '../../src/core/model.ts'
import { moveCards } from '../../web/features/views/kinds/kanban/card-moves.ts'
import type { StackKey } from '../../web/records/layouts/stack-by.ts'
import { delayPages } from './memory-records.ts'
import { cards, openKanban } from './open-kanban.ts'
import { pause } from './open-store.ts'

type Opened = Awaited<ReturnType<typeof openKanban>>

/** Carries out a drop as the screen does. */
function drop(opened: Opened, titles: string[], key: StackKey, before: string | null): void {
  dropIds(opened, titles.map(opened.idOf), key, before)
}

function dropIds(
  { store, layout, by, idOf }: Opened,
  ids: RecordId[],
  key: StackKey,
  before: string | null,
): void {
  const context = { store, state: { view: { id: 'vw1' } } } as Parameters<typeof moveCards>[0]['context']
  const to = { key, before: before === null ? null : idOf(before) }
  moveCards({ context, layout, by, order: true, titleOf: String }, ids, to)
}

const START = cards('a todo', 'b todo', 'c done', 'd', 'e todo', 'f done')

/** Until the server was read again, and what it says is on the kanban. */
const untilRead = (opened: Opened, calls: number) =>
  (async () => {
    while (opened.server.calls.filter((call) => call === 'groups').length < calls) await pause(5)
    await pause(1)
  })()

describe('the store of a kanban', () => {
  test('reads the stacks, and a page of each that is in sight', async () => {
    const { shown, counts, server, store } = await openKanban(START)
    expect(shown()).toEqual({ null: 'd', todo: 'a b e', done: 'c f' })
    expect(counts()).toEqual([1, 3, 0, 2])
    expect(server.calls.toSorted()).toEqual([
      'groups',
      'list  0+50',
      'list doing 0+50',
      'list done 0+50',
      'list todo 0+50',
    ])
    // To what asks by index the stacks stand one after the other.
    expect(store.source.rowCount).toBe(6)
    expect([0, 1, 4, 5, 6].map((at) => store.source.getRow(at)?.values('title'))).toEqual([
      'd',
      'a',
      'c',
      'f',
      undefined,
    ])
    expect(store.source.indexOf(3)).toBe(4)
  })

  test('tells a card that it was read anew, so that it draws the fields that are shown by then', async () => {
    const { store, idOf } = await openKanban(START)
    const before = store.row(idOf('a'))
    const heard: unknown[] = []
    store.onRow(idOf('a'), () => heard.push(store.row(idOf('a'))))
    await store.reload()
    expect(heard.at(-1)).toBeDefined()
    expect(heard.at(-1)).not.toBe(before)
  })

  test('moves a selected card along whose stack is out of sight', async () => {
    const opened = await openKanban(START)
    const ids = [opened.idOf('a'), opened.idOf('c')]
    opened.layout.paging().setHidden('todo')
    await opened.store.reload()
    expect(opened.layout.keyOf(ids[0]!)).toBeUndefined()
    dropIds(opened, ids, null, null)
    await opened.settled()
    const loose = opened.server.values().filter(({ status }) => status === null)
    expect(loose.map(({ title }) => title).toSorted()).toEqual(['a', 'c', 'd'])
  })

  test('shows a card in its new place at once, and sends one change', async () => {
    const opened = await openKanban(START)
    drop(opened, ['b'], 'done', 'f')
    expect(opened.shown()).toEqual({ null: 'd', todo: 'a e', done: 'c b f' })
    expect(opened.counts()).toEqual([1, 2, 0, 3])
    await opened.settled()
    expect(opened.shown()).toEqual({ null: 'd', todo: 'a e', done: 'c b f' })
    expect(opened.server.calls.filter((call) => call.startsWith('apply'))).toEqual(['apply update+move'])
    drop(opened, ['c', 'f'], null, 'd')
    expect(opened.shown()).toEqual({ null: 'c f d', todo: 'a e', done: 'b' })
    await opened.settled()
    await opened.store.reload()
    expect(opened.shown()).toEqual({ null: 'c f d', todo: 'a e', done: 'b' })
  })

  test('puts cards back where they were when the move is refused, and says why', async () => {
    const opened = await openKanban(START)
    opened.server.world.refuse = { message: 'Not yours' }
    drop(opened, ['b'], 'done', 'c')
    drop(opened, ['a'], 'todo', null)
    expect(opened.shown()).toEqual({ null: 'd', todo: 'e a', done: 'b c f' })
    await opened.settled()
    expect(opened.shown()).toEqual({ null: 'd', todo: 'a b e', done: 'c f' })
    expect(opened.store.row(opened.idOf('b'))?.state).toBeUndefined()
    expect(opened.messages).toEqual(['No changes saved. Not yours', 'No changes saved. Not yours'])
  })

  test('waits with moves while there is no connection', async () => {
    const opened = await openKanban(START)
    opened.server.world.online = false
    drop(opened, ['b'], 'done', null)
    drop(opened, ['b'], 'doing', null)
    await pause(2)
    expect(opened.queue.status()).toEqual({ waiting: 2, offline: true })
    expect(opened.shown()).toEqual({ null: 'd', todo: 'a e', doing: 'b', done: 'c f' })
    opened.server.world.online = true
    await opened.settled()
    expect(opened.server.values()[4]).toMatchObject({ title: 'f', status: 'done' })
    expect(opened.shown()).toEqual({ null: 'd', todo: 'a e', doing: 'b', done: 'c f' })
  })

  test('shows the moves of others at once, each where it belongs, and keeps own ones that are on their way', async () => {
    const opened = await openKanban(START)
    const { server, store } = opened
    const theirs = server.elsewhere({
      operations: [
        { kind: 'update', tableId: 'm1', rows: [{ id: 1, values: { status: 'done' } }] },
        { kind: 'move', tableId: 'm1', ids: [1], before: 6 },
      ],
    })
    drop(opened, ['b'], null, 'd')
    store.receive(theirs)
    expect(opened.shown()).toEqual({ null: 'b d', todo: 'e', done: 'c a f' })
    await opened.settled()
    expect(opened.shown()).toEqual({ null: 'b d', todo: 'e', done: 'c a f' })
    // Only the stacks that changed are read again.
    server.calls.length = 0
    await untilRead(opened, 1)
    expect(server.calls.filter((call) => call.startsWith('list')).toSorted()).toEqual([
      'list done 0+50',
      'list todo 0+50',
    ])
    expect(opened.shown()).toEqual({ null: 'b d', todo: 'e', done: 'c a f' })
  })

  test('an answer that does not know of a move made since is not believed', async () => {
    const opened = await openKanban(START)
    const reading = opened.store.reload()
    drop(opened, ['b'], 'done', null)
    await reading
    expect(opened.shown()).toEqual({ null: 'd', todo: 'a e', done: 'c f b' })
    await opened.settled()
    expect(opened.shown()).toEqual({ null: 'd', todo: 'a e', done: 'c f b' })
  })

  test('shows new records in the stack of their value, and reads what others add', async () => {
    const opened = await openKanban(START)
    const { store, server } = opened
    void store.insertRows([{ title: 'n', status: 'todo' }], opened.idOf('a'), { rollsBack: true })
    expect(opened.shown().todo).toBe('n a b e')
    await opened.settled()
    expect(opened.counts()).toEqual([1, 4, 0, 2])
    server.world.refuse = { message: 'Full' }
    void store.insertRows([{ title: 'x', status: 'done' }], null, { rollsBack: true })
    expect(opened.shown().done).toBe('c f x')
    await opened.settled()
    expect(opened.shown().done).toBe('c f')
    server.world.refuse = null
    server.calls.length = 0
    store.receive(
      server.elsewhere({
        operations: [
          { kind: 'insert', tableId: 'm1', rows: [{ values: { title: 'o', status: 'doing', order: 9 } }] },
        ],
      }),
    )
    await untilRead(opened, 1)
    expect(opened.shown().doing).toBe('o')
    expect(opened.counts()).toEqual([1, 4, 1, 2])
  })

  test('sorts a card into its stack, and follows a value that is edited elsewhere on the page', async () => {
    const rows = cards('c todo', 'e todo', 'd done')
    const opened = await openKanban(rows, { sorts: [{ fieldId: 'title', direction: 'asc' }] })
    const { layout, store, idOf } = opened
    expect(layout.sortedIndexIn(idOf('d'), 'todo')).toBe(1)
    void store.writeRows([{ id: idOf('d'), values: { status: 'todo' } }])
    expect(opened.shown()).toEqual({ todo: 'c d e' })
    await opened.settled()
    void store.apply([{ kind: 'delete', tableId: 'm1', ids: [idOf('d')] }])
    expect(opened.shown()).toEqual({ todo: 'c e' })
    expect(opened.counts()).toEqual([0, 2, 0, 0])
  })

  test('ends up with own changes that had no answer when the cards were read again', async () => {
    const opened = await openKanban(cards('a todo', 'b todo'))
    const { store, server, idOf } = opened
    const release = Promise.withResolvers<void>()
    const { apply } = server.api
    server.api.apply = async (change, actionId) => {
      await release.promise
      return apply(change, actionId)
    }
    const answerList = delayPages(server.api)
    void store.insertRows([{ title: 'c', status: 'todo', order: 3 }])
    void store.apply([{ kind: 'delete', tableId: 'm1', ids: [idOf('a')] }])
    const reloading = store.reload()
    await pause(5)
    release.resolve()
    await opened.settled()
    answerList()
    await reloading
    await pause(250)
    expect(opened.shown()).toEqual({ todo: 'b c' })
    expect(opened.counts()).toEqual([0, 2, 0, 0])
  })

  test('finishes a read before the one that an own change calls for', async () => {
    const { server, store, settled, shown } = await openKanban(cards('a todo', 'b todo'))
    const released = Promise.withResolvers<void>()
    const { apply } = server.api
    server.api.apply = async (change, actionId) => {
      const written = await apply(change, actionId)
      await released.promise
      return written
    }
    const releasePages = delayPages(server.api)
    const { list } = server.api
    const signals: AbortSignal[] = []
    server.api.list = (query, signal) => {
      signals.push(signal)
      return list(query, signal)
    }
    void store.insertRows([{ title: 'c', status: 'todo' }])
    void store.reload()
    await pause(5)
    released.resolve()
    await settled()
    await pause(250)
    const asked = signals.length
    expect(signals.filter(({ aborted }) => aborted)).toEqual([])
    releasePages()
    await pause(250)
    expect(signals.length).toBe(asked * 2)
    expect(shown()).toEqual({ todo: 'a b c' })
  })

  test('does not ask without end for cards that the server no longer has', async () => {
    const many = cards(...Array.from({ length: 120 }, (_, at) => `${at} todo`))
    const { layout, server } = await openKanban(many)
    // Deleted behind the kanban's back, as while the connection was lost.
    server.elsewhere({
      operations: [{ kind: 'delete', tableId: 'm1', ids: Array.from({ length: 60 }, (_, at) => at + 61) }],
    })
    server.calls.length = 0
    layout.paging().setVisible('todo', { first: 100, last: 110 })
    while (layout.loaded.stack('todo').count !== 60) await pause(5)
    expect(server.calls.filter((call) => call === 'list todo 100+50').length).toBeLessThan(3)
  })

  test('reads what it does not show for a copy, in the order of the kanban', async () => {
    const { store, server } = await openKanban(START, { fieldIds: ['title', 'status', 'order'] })
    const rows = await store.source.readRange({ first: 0, last: 2, fieldIds: ['title', 'stock'] })
    expect(rows.map((row) => [row.id, row.values('title'), row.values('stock')])).toEqual([
      [4, 'd', null],
      [1, 'a', null],
      [2, 'b', null],
    ])
    expect(server.calls.at(-1)).toBe('list of 4,1,2')
  })

  test('reads further cards of a long stack as they come in sight, a page for each request', async () => {
    const many = cards(...Array.from({ length: 300 }, (_, at) => `${at} ${at % 3 === 0 ? 'done' : 'todo'}`))
    const { layout, server, store } = await openKanban(many)
    const todo = layout.loaded.stack('todo')
    expect(todo.count).toBe(200)
    server.calls.length = 0
    layout.paging().setVisible('todo', { first: 110, last: 120 })
    while (todo.segments.idAt(145) === undefined) await pause(1)
    expect(server.calls[0]).toBe('list todo 110+50')
    expect(store.row(todo.segments.idAt(110) ?? 0)?.values('title')).toBe('166')
    expect(todo.segments.idAt(90)).toBeUndefined()
  })
})
