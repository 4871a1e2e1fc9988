import { describe, expect, test } from 'bun:test'
import type { LinkOperation } from '../../src/core/changes.ts'
import { readLinks, writeLinks } from '../../src/core/fields/list-value.ts'
import type { RecordStore } from '../../web/records/record-store.ts'
import { memoryField } from './memory-records.ts'

import { named, open, pause } from './open-store.ts'

describe('computed values of a record store', () => {
  const LINKED = [memoryField('title'), memoryField('tags', 'Links')]
  const LINK_7: LinkOperation = { kind: 'link', tableId: 'm1', fieldId: 'tags', id: 1, targets: [7] }
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
