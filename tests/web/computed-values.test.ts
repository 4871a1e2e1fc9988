import { describe, expect, test } from 'bun:test'
import type { LinkOperation } from '../../src/core/changes.ts'
import { readLinks, writeLinks } from '../../src/core/fields/list-value.ts'
import type { RecordStore } from '../../web/records/record-store.ts'
import { until } from '../support/until.ts'
import { memoryField } from './memory-records.ts'
import { named, open, pause } from './open-store.ts'

describe('computed values of a record store', () => {
  const LINKED = [memoryField('title'), memoryField('tags', 'Links')]
  const SEVEN = writeLinks({ count: 1, records: [{ id: 7, title: 'Seven' }] })
  const LINK_7: LinkOperation = { kind: 'link', tableId: 'm1', fieldId: 'tags', id: 1, targets: [7] }
  /** A table of 1,000 rows, of which 0 to 599 are loaded and 400 to 420 visible. */
  async function openLong() {
    const rows = Array.from({ length: 1000 }, (_, at) => ({ title: `r${at}`, tags: null }))
    const opened = await open(rows, { fields: LINKED })
    for (const first of [200, 400]) {
      opened.store.source.requestRange(first, first + 20)
      await pause(20)
    }
    return opened
  }
  const tagsOf = (store: RecordStore, row: number) =>
    readLinks(store.source.getRow(row)?.values('tags') ?? null).records.map(({ title }) => title)

  test('show a link at once, and as the server knows it a moment later, reading that record alone', async () => {
    const { store, server, settled } = await open([{ title: 'a', tags: null }], { fields: LINKED })
    void store.link(LINK_7, writeLinks({ count: 1, records: [{ id: 7, title: 'As typed' }] }))
    expect(tagsOf(store, 0)).toEqual(['As typed'])
    await settled()
    expect(tagsOf(store, 0)).toEqual(['As typed'])
    await pause(120)
    expect(tagsOf(store, 0)).toEqual(['Target 7'])
    expect(server.calls.slice(2)).toEqual(['apply link', 'list of 1'])
    store.dispose()
  })

  test('go back where a link is refused, with the reason said', async () => {
    const { store, server, messages, settled } = await open([{ title: 'a', tags: null }], { fields: LINKED })
    server.world.refuse = { message: "Record '7' not found" }
    void store.link(LINK_7, writeLinks({ count: 1, records: [{ id: 7, title: 'Gone' }] }))
    await settled()
    expect(tagsOf(store, 0)).toEqual([])
    expect(messages).toEqual(["No changes saved. Record '7' not found"])
    store.dispose()
  })

  test('are read again once for a burst of changes, also of another table', async () => {
    const { store, server } = await open([{ title: 'a' }, { title: 'b' }], { fields: LINKED })
    const other = server.elsewhere({ operations: [] })
    for (let id = 100; id < 110; id++) store.receive({ ...other, id, tableIds: ['m2'] })
    await pause(120)
    expect(server.calls.slice(2)).toEqual(['list of 1,2'])
    store.dispose()
  })

  test('are read again for rows out of sight as well, after those on screen', async () => {
    const { store, server } = await openLong()
    server.values()[150]!.tags = SEVEN
    server.values()[410]!.tags = SEVEN
    server.calls.length = 0
    store.receive({ ...server.elsewhere({ operations: [] }), id: 100, tableIds: ['m2'] })
    await pause(120)
    expect(server.calls).toEqual([expect.stringMatching(/^list of 401,402,.*,421$/)])
    expect([tagsOf(store, 150), tagsOf(store, 410)]).toEqual([[], ['Seven']])
    await until(() => server.calls.length >= 3 && tagsOf(store, 150).length > 0, 'The other rows')
    await pause(400)
    expect(tagsOf(store, 150)).toEqual(['Seven'])
    // 579 other rows are loaded.
    expect(server.calls).toHaveLength(3)
    store.dispose()
  })

  test('are read first for the rows that have been scrolled to since', async () => {
    const { store, server } = await openLong()
    server.values()[150]!.tags = SEVEN
    store.receive({ ...server.elsewhere({ operations: [] }), id: 100, tableIds: ['m2'] })
    await pause(120)
    store.source.requestRange(140, 160)
    server.calls.length = 0
    await pause(550)
    expect(server.calls).toEqual([expect.stringMatching(/^list of 141,.*,161$/)])
    expect(tagsOf(store, 150)).toEqual(['Seven'])
    store.dispose()
  })

  test('are read again for rows that were on their way during a change', async () => {
    const { store, server } = await openLong()
    const { list } = server.api
    const released = Promise.withResolvers<void>()
    // The server reads at once, and its answer takes its time.
    server.api.list = async (query, signal) => {
      const page = await list(query, signal)
      if (query.offset === 600) await released.promise
      return page
    }
    store.source.requestRange(600, 620)
    await pause(20)
    server.values()[610]!.tags = SEVEN
    store.receive({ ...server.elsewhere({ operations: [] }), id: 100, tableIds: ['m2'] })
    await pause(120)
    released.resolve()
    await pause(120)
    expect(tagsOf(store, 610)).toEqual(['Seven'])
    store.dispose()
  })

  test('are read again after an own change that is too large to be listed', async () => {
    const { store, server, settled } = await open([{ title: 'a', tags: null }], { fields: LINKED })
    const { apply } = server.api
    server.api.apply = async (change, actionId) => ({
      ...(await apply(change, actionId)),
      records: [],
      truncated: true,
    })
    server.values()[0]!.tags = SEVEN
    void store.writeRows([{ id: 1, values: { title: 'b' } }])
    await settled()
    await pause(250)
    expect(tagsOf(store, 0)).toEqual(['Seven'])
    store.dispose()
  })

  test('stay as they were until they are read, whatever a change says that it did to the links', async () => {
    const tags = writeLinks({ count: 1, records: [{ id: 7, title: 'Seven' }] })
    const { store, server } = await open([{ title: 'a', tags }], { fields: LINKED })
    const delta = { tags: '{"linked":[8],"unlinked":[7]}' }
    const change = server.elsewhere({ operations: [] })
    const records = [{ tableId: 'm1', recordId: 1, before: {}, after: { ...delta, title: 'b' } }]
    store.receive({ ...change, id: 100, tableIds: ['m1', 'm2'], records })
    expect(store.source.getRow(0)?.values('title')).toBe('b')
    expect(tagsOf(store, 0)).toEqual(['Seven'])
    store.dispose()
  })

  test('cost nothing in a table without any', async () => {
    const { store, server } = await open(named('a', 'b'))
    store.receive({ ...server.elsewhere({ operations: [] }), id: 100, tableIds: ['m2'] })
    await pause(120)
    expect(server.calls).toHaveLength(2)
    store.dispose()
  })
})
