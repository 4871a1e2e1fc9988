import { describe, expect, test } from 'bun:test'
import { isOffline } from '../../web/errors.ts'
import { createRecordStore } from '../../web/records/record-store.ts'
import { createSendQueue } from '../../web/records/send-queue.ts'
import type { RecordsApi } from '../../web/records/types.ts'
import { until } from '../support/until.ts'
import { delayCounts, delayPages, memoryField } from './memory-records.ts'
import { named, open, openUnread, pause } from './open-store.ts'

describe('record store', () => {
  test('reads the first page and the count, in one request each', async () => {
    const { store, server, titles } = await open(named('a', 'b', 'c'))
    expect(titles()).toEqual(['a', 'b', 'c'])
    expect(server.calls.toSorted()).toEqual(['count', 'list 0+200'])
    store.dispose()
  })

  test('shows a value at once and sends one request', async () => {
    const { store, server, cell, settled } = await open(named('a', 'b'))
    const before = store.source.getRow(0)
    void store.setCells([cell(0, 'title', 'A'), cell(1, 'title', 'B')])
    await Promise.resolve()
    expect(store.source.getRow(0)?.values('title')).toBe('A')
    expect(store.source.getRow(0)?.state).toBe('saving')
    await settled()
    expect(store.source.getRow(0)?.state).toBeUndefined()
    expect(store.source.getRow(0)).not.toBe(before)
    expect(server.calls.filter((call) => call.startsWith('apply'))).toEqual(['apply update'])
    expect(server.values().map((row) => row.title)).toEqual(['A', 'B'])
  })

  test('keeps a refused value in red with its reason, to retry or to discard', async () => {
    const { store, server, cell, settled } = await open(named('a'))
    server.world.refuse = { message: 'Too high', fieldId: 'stock' }
    void store.setCells([cell(0, 'stock', 99)])
    await settled()
    const row = store.source.getRow(0)
    expect([row?.values('stock'), row?.state, row?.failedCells?.get('stock')]).toEqual([
      99,
      'failed',
      'Too high',
    ])
    server.world.refuse = null
    store.retry(row?.id ?? 0)
    await settled()
    expect(store.source.getRow(0)?.state).toBeUndefined()
    expect(server.values()[0]?.stock).toBe(99)
    server.world.refuse = { message: 'No', fieldId: 'stock' }
    void store.setCells([cell(0, 'stock', 5)])
    await settled()
    store.discard(row?.id ?? 0)
    expect(store.source.getRow(0)?.values('stock')).toBe(99)
  })

  test('asks about an edit of a value that another person has changed or cleared, and keeps theirs', async () => {
    for (const theirs of ['c', null]) {
      const { store, server, conflicts, cell, settled } = await open(named('a'))
      const id = store.source.getRow(0)?.id ?? 0
      void store.setCells([cell(0, 'title', theirs)])
      await settled()
      await store.writeEdit(id, { fieldId: 'title', opened: 'a', mine: 'b' })
      expect(conflicts).toEqual([{ fieldId: 'title', opened: 'a', mine: 'b', theirs }])
      expect(server.values()[0]?.title).toBe(theirs)
      // Unchanged since: written without a question.
      await store.writeEdit(id, { fieldId: 'title', opened: theirs, mine: 'd' })
      expect(server.values()[0]?.title).toBe('d')
      expect(conflicts).toHaveLength(1)
      store.dispose()
    }
  })

  test('shows what is written while it asks about a text, however the person answers', async () => {
    const fields = [memoryField('title', 'LongText')]
    const { store, server, conflicts, question, titles } = await open([{ title: 'a' }], { fields })
    const writeElsewhere = (title: string) => {
      const row = { id: 1, values: { title } }
      return server.elsewhere({ operations: [{ kind: 'update', tableId: 'm1', rows: [row] }] })
    }
    const answer = Promise.withResolvers<void>()
    question.answered = answer.promise
    store.receive(writeElsewhere('b'))
    const writing = store.writeEdit(1, { fieldId: 'title', opened: 'a', mine: 'mine' })
    await pause(20)
    expect(conflicts).toMatchObject([{ theirs: 'b' }])
    store.receive(writeElsewhere('c'))
    answer.resolve()
    await writing
    expect(titles()).toEqual(['c'])
  })

  test('gives a new record its own id when the answer is lost, though its change has added rows elsewhere', async () => {
    const { store, server, settled } = await open(named('a'))
    const { apply } = server.api
    const answers = new Map<string | undefined, Awaited<ReturnType<typeof apply>>>()
    server.api.apply = async (change, actionId) => {
      const known = answers.get(change.clientId)
      if (known) return known
      const written = await apply(change, actionId)
      answers.set(change.clientId, written)
      const row = { tableId: 'junction', recordId: 57, before: null, after: {} }
      store.receive({ ...written, records: [row, ...written.records] })
      throw new TypeError('Failed to fetch')
    }
    void store.insertRows([{ title: 'b' }])
    await settled()
    const row = store.source.getRow(1)
    expect([row?.id, row?.values('title'), store.source.rowCount]).toEqual([2, 'b', 2])
    expect(server.values()).toHaveLength(2)
  })

  test('queues edits while offline and sends them in order afterwards', async () => {
    const { store, server, queue, cell, settled } = await open(named('a'))
    server.world.online = false
    void store.setCells([cell(0, 'title', 'first')])
    void store.setCells([cell(0, 'title', 'second')])
    await pause(2)
    expect(queue.status()).toEqual({ waiting: 2, offline: true })
    expect(store.source.getRow(0)?.values('title')).toBe('second')
    server.world.online = true
    await settled()
    expect(queue.status()).toEqual({ waiting: 0, offline: false })
    expect(server.values()[0]?.title).toBe('second')
    expect(store.source.getRow(0)?.state).toBeUndefined()
  })

  test('an answer to an earlier edit does not undo a later one', async () => {
    const { store, cell, settled } = await open(named('a'))
    void store.setCells([cell(0, 'title', 'one')])
    await Promise.resolve()
    void store.setCells([cell(0, 'title', 'two')])
    await pause(0)
    expect(store.source.getRow(0)?.values('title')).toBe('two')
    await settled()
    expect(store.source.getRow(0)?.values('title')).toBe('two')
  })

  test('keeps what another person wrote after an edit whose answer comes late', async () => {
    const { store, server, titles, cell, settled } = await open(named('a'))
    const release = delayAnswers(server.api)
    void store.setCells([cell(0, 'title', 'mine')])
    await pause(5)
    const theirs = { id: 1, values: { title: 'theirs' } }
    store.receive(server.elsewhere({ operations: [{ kind: 'update', tableId: 'm1', rows: [theirs] }] }))
    expect(titles()).toEqual(['mine'])
    release()
    await settled()
    expect(server.values()[0]?.title).toBe('theirs')
    expect(titles()).toEqual(['theirs'])
  })

  test('keeps what another person wrote into a new record before the answer to its insert', async () => {
    const { store, server, titles, settled } = await open(named('a'))
    const release = delayAnswers(server.api)
    void store.insertRows([{ title: 'b', stock: 2 }])
    await pause(5)
    const theirs = { id: 2, values: { title: 'theirs' } }
    store.receive(server.elsewhere({ operations: [{ kind: 'update', tableId: 'm1', rows: [theirs] }] }))
    release()
    await settled()
    expect(server.values()[1]).toEqual({ title: 'theirs', stock: 2 })
    expect(titles()).toEqual(['a', 'theirs'])
    expect(store.source.getRow(1)?.values('stock')).toBe(2)
  })

  test('does not go back to what another person wrote before an edit, told of late', async () => {
    const { store, server, titles, cell, settled } = await open(named('a'))
    const theirs = { id: 1, values: { title: 'theirs' } }
    const news = server.elsewhere({ operations: [{ kind: 'update', tableId: 'm1', rows: [theirs] }] })
    void store.setCells([cell(0, 'title', 'mine')])
    await settled()
    store.receive(news)
    expect(titles()).toEqual(['mine'])
  })

  test('a new record is sent with its first value, and one that was left untouched vanishes', async () => {
    const { store, server, titles, cell, settled } = await open(named('a'))
    const row = store.addRow(null)
    expect(row).toBe(1)
    store.setActive(store.source.getRow(1)?.id ?? null)
    expect(store.source.getRow(1)?.state).toBe('new')
    store.setActive(store.source.getRow(0)?.id ?? null)
    expect(titles()).toEqual(['a'])
    store.addRow(null)
    const local = store.source.getRow(1)?.id ?? 0
    void store.setCells([cell(1, 'title', 'b')])
    void store.setCells([cell(1, 'stock', 7)])
    await settled()
    expect(server.calls.filter((call) => call.startsWith('apply'))).toEqual(['apply insert', 'apply update'])
    expect(server.values()[1]).toEqual({ title: 'b', stock: 7 })
    expect(store.source.getRow(1)).toMatchObject({ id: 2, state: undefined })
    // The grid may still hold the selection by the local id.
    expect(store.source.indexOf(local)).toBe(1)
  })

  test('a new record whose first value is on its way is sent before it, once', async () => {
    const { store, server, titles, settled } = await open(named('a'))
    store.addRow(null)
    const id = store.source.getRow(1)?.id ?? 0
    store.setActive(id)
    store.begin(id)
    store.setActive(store.source.getRow(0)?.id ?? null)
    await settled()
    store.begin(id)
    store.begin(1)
    await settled()
    expect(server.calls.filter((call) => call.startsWith('apply'))).toEqual(['apply insert'])
    expect(titles()).toEqual(['a', null])
  })

  test('a new record waits for its required fields and names them', async () => {
    const fields = [
      memoryField('title', 'SingleLineText', { required: true }),
      memoryField('stock', 'Number'),
    ]
    const { store, server, cell, settled } = await open([], { fields })
    store.addRow(null)
    void store.setCells([cell(0, 'stock', 3)])
    expect(store.source.getRow(0)?.message).toBe('title is required')
    expect(server.calls.filter((call) => call.startsWith('apply'))).toEqual([])
    void store.setCells([cell(0, 'title', 'x')])
    await settled()
    expect(server.values()).toEqual([{ stock: 3, title: 'x' }])
  })

  test('values typed into a record that is refused stay, and go with it when it is sent again', async () => {
    const { store, server, cell, settled } = await open([])
    server.world.refuse = { message: 'Taken', fieldId: 'title' }
    store.addRow(null)
    const id = store.source.getRow(0)?.id ?? 0
    void store.setCells([cell(0, 'title', 'x')])
    void store.setCells([cell(0, 'stock', 4)])
    await settled()
    expect(store.source.getRow(0)).toMatchObject({ state: 'failed', message: 'Taken' })
    server.world.refuse = null
    store.retry(id)
    await settled()
    expect(server.values()).toEqual([{ title: 'x', stock: 4 }])
    expect(store.source.getRow(0)?.state).toBeUndefined()
  })

  test('a record that falls out of the filter stays, marked, until the person leaves it', async () => {
    const filter = { fieldId: 'stock', operator: 'lt', value: 10 }
    const { store, titles, cell, settled } = await open(named('a', 'b'), { filter })
    store.setActive(1)
    void store.setCells([cell(0, 'stock', 50)])
    await settled()
    expect(store.source.getRow(0)?.state).toBe('unmatched')
    store.setActive(2)
    await pause(250)
    expect(titles()).toEqual(['b'])
  })

  test('a record that falls out of the filter stays also when the rows were being read again', async () => {
    const filter = { fieldId: 'stock', operator: 'lt', value: 10 }
    const { store, server, titles, cell, settled } = await open(named('a', 'b'), { filter })
    const { list } = server.api
    const asked = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    // The question takes its time: the server reads after the edit.
    server.api.list = async (query, signal) => {
      asked.resolve()
      await release.promise
      return list(query, signal)
    }
    store.setActive(1)
    store.refreshSoon()
    await asked.promise
    void store.setCells([cell(0, 'stock', 50)])
    await settled()
    release.resolve()
    await pause(250)
    expect(titles()).toEqual(['a', 'b'])
    expect(store.source.getRow(0)?.state).toBe('unmatched')
    store.setActive(2)
    await pause(250)
    expect(titles()).toEqual(['b'])
  })

  test('takes in what others write, without reading again where order and number stay', async () => {
    const { store, server, titles } = await open(named('a', 'b'))
    const reads = server.calls.length
    store.receive(
      server.elsewhere({
        operations: [{ kind: 'update', tableId: 'm1', rows: [{ id: 1, values: { title: 'z' } }] }],
      }),
    )
    expect(titles()).toEqual(['z', 'b'])
    store.receive(server.elsewhere({ operations: [{ kind: 'delete', tableId: 'm1', ids: [2] }] }))
    expect(titles()).toEqual(['z'])
    expect(server.calls.length).toBe(reads)
    store.receive(
      server.elsewhere({
        operations: [{ kind: 'insert', tableId: 'm1', rows: [{ values: { title: 'new' } }] }],
      }),
    )
    await pause(250)
    expect(titles()).toEqual(['z', 'new'])
  })

  test('its own change, coming back over the socket, changes nothing', async () => {
    const { store, server, titles, settled } = await open(named('a'))
    const answer = store.insertRows([{ title: 'b' }])
    await settled()
    const applied = await answer
    const reads = server.calls.length
    if (applied) store.receive(applied)
    await pause(250)
    expect(titles()).toEqual(['a', 'b'])
    expect(server.calls.length).toBe(reads)
  })

  test('jumps to any row and keeps what it holds within bounds', async () => {
    const { store, server } = await open(named(...Array.from({ length: 30_000 }, (_, at) => `r${at}`)))
    expect(store.source.rowCount).toBe(30_000)
    store.source.requestRange(20_000, 20_030)
    await pause(60)
    expect(store.source.getRow(20_010)?.values('title')).toBe('r20010')
    for (let row = 0; row < 30_000; row += 150) {
      store.source.requestRange(row, row + 30)
      await pause(0)
    }
    await pause(60)
    const held = Array.from({ length: 30_000 }, (_, at) => store.source.getRow(at)).filter(Boolean).length
    expect(held).toBeLessThanOrEqual(6200)
    expect(server.calls.length).toBeLessThan(200)
    const range = await store.source.readRange({ first: 100, last: 1500, fieldIds: ['title'] })
    expect([range.length, range[0]?.values('title'), range[1400]?.values('title')]).toEqual([
      1401,
      'r100',
      'r1500',
    ])
  })

  test('gives no rows in place where they have moved since the loaded ones were read', async () => {
    const { store, server } = await open(named(...Array.from({ length: 2500 }, (_, at) => `r${at}`)))
    const read = () => store.source.readRange({ first: 200, last: 2300, fieldIds: ['title'], inPlace: true })
    const rows = await read()
    expect([rows.length, rows[0]?.values('title'), rows.at(-1)?.values('title')]).toEqual([
      2101,
      'r200',
      'r2300',
    ])
    server.elsewhere({ operations: [{ kind: 'delete', tableId: 'm1', ids: [3] }] })
    expect(await read()).toEqual([])
    await pause(300)
    expect((await read())[0]?.values('title')).toBe('r201')
  })

  test('reads again, once, where the server no longer has the rows that were promised', async () => {
    const { store, server } = await open(named(...Array.from({ length: 1000 }, (_, at) => `r${at}`)))
    server.elsewhere({
      operations: [{ kind: 'delete', tableId: 'm1', ids: Array.from({ length: 600 }, (_, at) => at + 401) }],
    })
    server.calls.length = 0
    store.source.requestRange(900, 930)
    for (let turn = 0; turn < 100 && store.source.rowCount !== 400; turn++) await pause(10)
    expect(store.source.rowCount).toBe(400)
    expect(server.calls.filter((call) => call.startsWith('list')).length).toBeLessThan(4)
  })

  test('a page that was asked for before an edit does not bring the old value back', async () => {
    const { store, server, cell, settled, titles } = await open(named('a', 'b'))
    const { list } = server.api
    let release = () => {}
    // The server reads at once, and its answer takes its time.
    server.api.list = async (query, signal) => {
      const page = await list(query, signal)
      await new Promise<void>((resolve) => {
        release = resolve
      })
      return page
    }
    const reloading = store.reload()
    await pause(5)
    void store.setCells([cell(0, 'title', 'new')])
    await settled()
    release()
    await reloading
    expect(titles()).toEqual(['new', 'b'])
  })

  test('a list that is read while own changes wait for their answers ends up with these changes', async () => {
    const { store, server, settled, titles } = await open(named('a', 'b'))
    const release = Promise.withResolvers<void>()
    const { apply } = server.api
    server.api.apply = async (change, actionId) => {
      await release.promise
      return apply(change, actionId)
    }
    const answerList = delayPages(server.api)
    void store.insertRows([{ title: 'c' }])
    void store.apply([{ kind: 'delete', tableId: 'm1', ids: [1] }])
    const reloading = store.reload()
    await pause(5)
    release.resolve()
    await settled()
    answerList()
    await reloading
    await pause(250)
    expect(titles()).toEqual(['b', 'c'])
    expect(store.source.rowCount).toBe(2)
  })

  test('the read of another filter is finished before the one that a change calls for', async () => {
    const { store, server, settled, titles } = await open(named('a', 'b'))
    const releaseWrite = delayAnswers(server.api)
    const releaseList = delayPages(server.api)
    const { list } = server.api
    const signals: AbortSignal[] = []
    server.api.list = (query, signal) => {
      signals.push(signal)
      return list(query, signal)
    }
    void store.insertRows([{ title: 'c' }])
    store.setQuery({ ...store.query(), filter: { fieldId: 'title', operator: 'eq', value: 'b' } })
    await pause(5)
    releaseWrite()
    await settled()
    await pause(250)
    expect(signals.map(({ aborted }) => aborted)).toEqual([false])
    releaseList()
    await pause(20)
    expect(titles()[0]).toBe('b')
    await pause(250)
    expect(signals).toHaveLength(2)
    expect(titles()).toEqual(['b'])
  })

  test('a deletion behind a large paste is not undone by the read that the paste calls for', async () => {
    const { store, server, settled } = await open(named('a', 'b'))
    const added = Array.from({ length: 300 }, (_, at) => ({ title: `new ${at}` }))
    void store.insertRows(added)
    void store.apply([{ kind: 'delete', tableId: 'm1', ids: [1] }])
    await settled()
    await pause(250)
    expect(store.source.rowCount).toBe(301)
    expect(store.source.getRow(0)?.id).toBe(2)
    server.calls.length = 0
    void store.insertRows(added)
    await settled()
    await pause(250)
    expect(server.calls.filter((call) => call.startsWith('list'))).toEqual(['list 0+200'])
    expect(store.source.rowCount).toBe(601)
  })

  test('a page that was asked for before another person changed one of its rows shows their value', async () => {
    const { store, server } = await open(named(...Array.from({ length: 1000 }, (_, at) => `r${at}`)))
    const { list } = server.api
    const released = Promise.withResolvers<void>()
    // The server reads at once, and its answer takes its time.
    server.api.list = async (query, signal) => {
      const page = await list(query, signal)
      await released.promise
      return page
    }
    store.source.requestRange(500, 520)
    await pause(5)
    const theirs = { id: 511, values: { title: 'new' } }
    store.receive(server.elsewhere({ operations: [{ kind: 'update', tableId: 'm1', rows: [theirs] }] }))
    released.resolve()
    await pause(20)
    expect(store.source.getRow(510)?.values('title')).toBe('new')
  })

  test('writes rows that are not loaded by their ids, and nothing once they have moved', async () => {
    const many = Array.from({ length: 3000 }, (_, at) => `r${at}`)
    const { store, server, messages } = await open(named(...many))
    const write = (first: number, last: number, stock: number) =>
      store.setCells(
        Array.from({ length: last - first + 1 }, (_, at) => ({
          rowIndex: first + at,
          recordId: store.source.getRow(first + at)?.id,
          fieldId: 'stock',
          value: stock,
        })),
      )
    const stocked = (stock: number) => server.values().flatMap((row, at) => (row.stock === stock ? [at] : []))
    const span = (first: number, last: number) =>
      Array.from({ length: last - first + 1 }, (_, at) => first + at)
    // A row that only the browser has, among those that are loaded.
    store.addRow(100)
    expect(await write(195, 2500, 7)).not.toBeNull()
    expect(stocked(7)).toEqual(span(194, 2499))
    store.discard(store.source.getRow(99)?.id ?? 0)
    // Another person adds a record at the top, which the browser does not know yet.
    const rows = [{ values: { title: 'first', stock: 1 } }]
    server.elsewhere({ operations: [{ kind: 'insert', tableId: 'm1', rows, before: 1 }] })
    expect(await write(195, 300, 8)).toBeNull()
    expect(stocked(8)).toEqual([])
    expect(messages).toEqual([
      'The records have moved meanwhile, and nothing was changed. Check the selection and try again.',
    ])
    await pause(250)
    await write(195, 300, 9)
    expect(stocked(9)).toEqual(span(195, 300))
  })

  test('a clear that waits for the ids of its rows leaves what was written after it', async () => {
    const many = Array.from({ length: 3000 }, (_, at) => `r${at}`)
    const { store, server, cell, settled } = await open(named(...many))
    const clear = (last: number) =>
      store.setCells(
        Array.from({ length: last + 1 }, (_, at) => ({
          rowIndex: at,
          recordId: store.source.getRow(at)?.id,
          fieldId: 'title',
          value: null,
        })),
      )
    const release = delayAnswers(server.api)
    void store.setCells([cell(1, 'title', 'before')])
    const cleared = clear(300)
    await pause(5)
    const filled = store.setCells([cell(0, 'title', 'typed')])
    release()
    await Promise.all([cleared, filled])
    await settled()
    expect(store.source.getRow(0)?.values('title')).toBe('typed')
    const titles = server.values().map(({ title }) => title)
    expect([titles[0], titles[1], titles[300], titles[301]]).toEqual(['typed', null, null, 'r301'])
    // A paste likewise.
    await store.startWrite(async (pending) => {
      void store.setCells([cell(0, 'title', 'typed since')])
      await store.write(
        [1, 2].map((id) => ({ id, values: { title: 'pasted' } })),
        [],
        { pending },
      )
    })
    await settled()
    expect(
      server
        .values()
        .slice(0, 3)
        .map(({ title }) => title),
    ).toEqual(['typed since', 'pasted', null])
    // Of two that wait, the second comes last.
    await Promise.all([
      store.setCells([
        cell(0, 'title', 'x'),
        { rowIndex: 500, recordId: undefined, fieldId: 'title', value: 'x' },
      ]),
      clear(600),
    ])
    await settled()
    expect(server.values()[0]?.title).toBeNull()
    expect(server.values()[500]?.title).toBeNull()
  })

  test('a clear of rows that are not loaded fails when the connection is lost, and is not carried out later', async () => {
    const { store, server, cell, settled } = await open(
      named(...Array.from({ length: 300 }, (_, at) => `r${at}`)),
    )
    server.world.online = false
    void store.setCells([cell(0, 'title', 'typed')])
    const clear = () =>
      store.setCells([
        cell(0, 'title', null),
        { rowIndex: 250, recordId: undefined, fieldId: 'title', value: null },
      ])
    const results = await Promise.allSettled([clear(), pause(5).then(clear)])
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    server.world.online = true
    await settled()
    expect(server.values()[0]?.title).toBe('typed')
    expect(server.values()[250]?.title).toBe('r250')
  })

  test('reads what others add though a new record is unfinished, unless the person is on it', async () => {
    const fields = [
      memoryField('title', 'SingleLineText', { required: true }),
      memoryField('stock', 'Number'),
    ]
    const { store, server, cell, titles } = await open(named('a', 'b'), { fields })
    const addElsewhere = (title: string) => {
      const rows = [{ values: { title } }]
      store.receive(server.elsewhere({ operations: [{ kind: 'insert', tableId: 'm1', rows }] }))
      return pause(250)
    }
    store.addRow(2)
    store.setActive(store.source.getRow(1)?.id ?? null)
    void store.setCells([cell(1, 'stock', 3)])
    await addElsewhere('c')
    expect(titles()).toEqual(['a', null, 'b'])
    store.setActive(1)
    await pause(250)
    expect(titles()).toEqual(['a', null, 'b', 'c'])
    await addElsewhere('d')
    expect(titles()).toEqual(['a', null, 'b', 'c', 'd'])
    expect(store.source.getRow(1)).toMatchObject({ state: 'failed', message: 'title is required' })
    expect(store.source.rowCount).toBe(5)
  })

  test('reads again after records were deleted of which some are not loaded', async () => {
    const many = Array.from({ length: 1000 }, (_, at) => `r${at}`)
    const { store, settled } = await open(named(...many))
    const ids = Array.from({ length: 400 }, (_, at) => at + 101)
    void store.apply([{ kind: 'delete', tableId: 'm1', ids }])
    await settled()
    await pause(250)
    expect(store.source.rowCount).toBe(600)
    store.source.requestRange(90, 110)
    await pause(60)
    expect(store.source.getRow(100)?.values('title')).toBe('r500')
  })

  test('tells after a lost connection that stored values may have changed, and reads again', async () => {
    const { store, server, titles } = await open(named('a'))
    let told = 0
    store.onData(() => told++)
    server.elsewhere({ operations: [{ kind: 'insert', tableId: 'm1', rows: [{ values: { title: 'b' } }] }] })
    store.missed()
    await pause(250)
    expect(told).toBe(1)
    expect(titles()).toEqual(['a', 'b'])
  })

  test('reads on while the count takes its time, to the end of the list', async () => {
    const { store, server } = await openUnread(named(...Array.from({ length: 400 }, (_, at) => `r${at}`)))
    const release = delayCounts(server.api)
    const reloaded = store.reload()
    store.source.requestRange(0, 20)
    await until(() => store.source.rowCount === 200)
    store.source.requestRange(180, 199)
    await until(() => store.source.getRow(399) !== undefined)
    expect([store.source.rowCount, store.isCounted()]).toEqual([400, false])
    // The last page was full: only the next one shows that there are no more rows.
    store.source.requestRange(380, 399)
    await until(() => store.isCounted())
    expect(store.source.rowCount).toBe(400)
    release()
    await reloaded
    await pause(250)
    expect(server.calls).toEqual(['list 0+200', 'list 200+200', 'list 400+200', 'count'])
  })

  test('reads on while a filter is counted, though the list before was longer', async () => {
    const many = Array.from({ length: 1000 }, (_, at) => ({ title: `r${at}`, stock: at < 300 ? 1 : 0 }))
    const { store, server } = await open(many)
    const release = delayCounts(server.api)
    server.calls.length = 0
    store.setQuery({ ...store.query(), filter: { fieldId: 'stock', operator: 'eq', value: '1' } })
    await until(() => server.calls.includes('list 0+200'))
    await until(() => store.source.getRow(199)?.values('stock') === 1 && !store.source.getRow(200))
    // Behind the last match.
    store.source.requestRange(610, 620)
    await until(() => store.source.rowCount === 600)
    store.source.requestRange(210, 220)
    await until(() => store.source.getRow(299) !== undefined)
    expect(store.source.rowCount).toBe(300)
    release()
    await until(() => server.calls.includes('count'))
    await pause(250)
    expect(server.calls.filter((call) => call === 'count')).toHaveLength(1)
    expect(store.source.rowCount).toBe(300)
  })

  test('ends a list with a full last page once, though its records cannot be counted', async () => {
    const { store, server } = await openUnread(named(...Array.from({ length: 400 }, (_, at) => `r${at}`)))
    server.api.count = async () => {
      server.calls.push('count')
      throw new Error('takes too long')
    }
    await store.reload()
    store.source.requestRange(0, 20)
    store.source.requestRange(180, 199)
    await until(() => store.source.getRow(399) !== undefined)
    store.source.requestRange(380, 399)
    await until(() => store.isCounted())
    // Longer than the pause before a list is read again.
    await pause(400)
    expect(store.source.rowCount).toBe(400)
    expect(server.calls).toEqual(['count', 'list 0+200', 'list 200+200', 'list 400+200'])
  })

  test('ends a list that has become shorter once, though its records cannot be counted any more', async () => {
    const { store, server } = await open(named(...Array.from({ length: 401 }, (_, at) => `r${at}`)))
    server.elsewhere({ operations: [{ kind: 'delete', tableId: 'm1', ids: [401] }] })
    server.calls.length = 0
    server.api.count = async () => {
      server.calls.push('count')
      throw new Error('takes too long')
    }
    await store.reload()
    store.source.requestRange(395, 400)
    await until(() => store.source.rowCount === 400)
    store.source.requestRange(380, 399)
    await until(() => store.source.getRow(399) !== undefined)
    await pause(400)
    expect(server.calls.filter((call) => call === 'count')).toHaveLength(1)
    expect(store.source.rowCount).toBe(400)
  })

  test('counts on when a field is shown while a filter is being counted', async () => {
    const rows = Array.from({ length: 300 }, (_, at) => ({ title: `r${at}`, stock: at < 10 ? 1 : 0 }))
    const filter = { fieldId: 'stock', operator: 'eq' as const, value: '1' }
    const { store, server } = await open(rows, { filter, fieldIds: ['title'] })
    expect(store.source.rowCount).toBe(10)
    const release = delayCounts(server.api)
    store.setQuery({ ...store.query(), filter: null })
    await until(() => store.source.getRow(199) !== undefined)
    store.setQuery({ ...store.query(), fieldIds: ['title', 'stock'] })
    release()
    await until(() => store.source.rowCount === 300)
  })

  test('keeps an unfinished new record of an earlier visit at the end while the count takes its time', async () => {
    const fields = [
      memoryField('title', 'SingleLineText', { required: true }),
      memoryField('stock', 'Number'),
    ]
    const many = named(...Array.from({ length: 450 }, (_, at) => `r${at}`))
    const before = await open(many, { fields })
    const row = before.store.addRow(null) ?? 0
    void before.store.setCells([before.cell(row, 'stock', 3)])
    before.store.dispose()
    const { store, server } = await openUnread(many, { fields })
    for (const unsaved of before.kept) store.adopt(unsaved)
    const release = delayCounts(server.api)
    const reloaded = store.reload()
    store.source.requestRange(0, 20)
    await until(() => store.source.rowCount === 201)
    store.source.requestRange(180, 199)
    await pause(50)
    release()
    await reloaded
    await until(() => store.source.getRow(399) !== undefined)
    expect([store.source.rowCount, store.source.getRow(450)?.state]).toEqual([451, 'new'])
  })

  test('counts an unfinished new record once when a long list is read again', async () => {
    const { store } = await open(named(...Array.from({ length: 300 }, (_, at) => `r${at}`)))
    store.addRow(null)
    await store.reload({ keepsCount: true })
    expect(store.source.rowCount).toBe(301)
  })

  test('leaves unfinished new records where they are when a long list is read again', async () => {
    const fields = [
      memoryField('title', 'SingleLineText', { required: true }),
      memoryField('stock', 'Number'),
    ]
    const many = named(...Array.from({ length: 1000 }, (_, at) => `r${at}`))
    const { store, server, settled } = await open(many, { fields })
    const draftRows = () =>
      Array.from({ length: store.source.rowCount ?? 0 }, (_, at) => at).filter(
        (at) => store.source.getRow(at)?.state === 'new',
      )
    store.addRow(null)
    store.source.requestRange(490, 510)
    await pause(60)
    store.addRow(store.source.getRow(500)?.id ?? null)
    expect(draftRows()).toEqual([500, 1001])
    store.source.requestRange(0, 20)
    await pause(20)
    const rows = [{ values: { title: 'theirs' } }]
    store.receive(server.elsewhere({ operations: [{ kind: 'insert', tableId: 'm1', rows }] }))
    await pause(250)
    expect(store.source.rowCount).toBe(1003)
    expect(draftRows()).toEqual([500, 1002])
    store.source.requestRange(490, 510)
    await pause(60)
    expect(store.source.getRow(499)?.values('title')).toBe('r499')
    expect(store.source.getRow(501)?.values('title')).toBe('r500')
    // One that precedes another stays before it once that is saved.
    store.addRow(store.source.getRow(500)?.id ?? null)
    expect(draftRows()).toEqual([500, 501, 1003])
    void store.setCells([
      { rowIndex: 501, recordId: store.source.getRow(501)?.id, fieldId: 'title', value: 'saved' },
    ])
    await settled()
    await store.reload()
    await pause(60)
    expect(draftRows()).toEqual([500, 1003])
    expect(store.source.getRow(501)?.values('title')).toBe('saved')
    // A shorter list has it at its end.
    store.setQuery({ ...store.query(), filter: { fieldId: 'title', operator: 'eq', value: 'r7' } })
    await pause(60)
    expect(store.source.rowCount).toBe(3)
    expect(draftRows()).toEqual([1, 2])
  })

  test('what was refused, and what cannot be sent yet, is kept when the view is left', async () => {
    const fields = [
      memoryField('title', 'SingleLineText', { required: true }),
      memoryField('stock', 'Number'),
    ]
    const { store, server, kept, messages, cell, settled } = await open(named('a'), { fields })
    server.world.refuse = { message: 'Too high', fieldId: 'stock' }
    store.addRow(null)
    void store.setCells([cell(1, 'stock', 3)])
    void store.setCells([cell(0, 'stock', 99)])
    store.dispose()
    await settled()
    expect(messages).toEqual(['Change not saved. Too high'])
    // The refusal came later, and brings nothing again that was kept by then.
    const drafts = kept.flatMap((each) => each.drafts)
    const cells = kept.flatMap((each) => each.cells)
    expect(drafts.map(([, draft]) => draft.values)).toEqual([{ stock: 3 }])
    expect(cells.map(([id]) => id)).toEqual([1])
    const queue = createSendQueue({ isAway: isOffline })
    const again = createRecordStore(
      {
        baseId: 'p1',
        tableId: 'm1',
        api: server.api,
        resolveConflict: async () => null,
        actorId: () => 'us1',
        queue,
        notify: () => {},
        keepUnsaved: () => {},
      },
      { fields, fieldIds: ['title', 'stock'], filter: null, sorts: [], viewId: undefined, search: null },
    )
    again.adopt({ drafts, cells })
    await again.reload()
    expect(again.source.getRow(0)?.failedCells?.get('stock')).toBe('Too high')
    expect(again.source.getRow(0)?.values('stock')).toBe(99)
    expect([again.source.rowCount, again.source.getRow(1)?.values('stock')]).toEqual([2, 3])
    // It stays in red when another value of its record is stored.
    server.world.refuse = null
    await again.writeRows([{ id: 1, values: { title: 'b' } }])
    expect(again.source.getRow(0)?.values('title')).toBe('b')
    expect(again.source.getRow(0)?.failedCells?.get('stock')).toBe('Too high')
    again.retry(1)
    await queue.whenEmpty()
    expect(server.values()[0]).toMatchObject({ title: 'b', stock: 99 })
  })
})

/** The server writes at once, and its answers wait for the call of the returned function. */
function delayAnswers(api: RecordsApi): () => void {
  const { apply } = api
  const released = Promise.withResolvers<void>()
  api.apply = async (change, actionId) => {
    const written = await apply(change, actionId)
    await released.promise
    return written
  }
  return released.resolve
}
