import { describe, expect, test } from 'bun:test'
import type { Values } from '../../src/core/changes.ts'
import type { Query } from '../../src/core/query.ts'
import { isOffline } from '../../web/errors.ts'
import {
  createMapLayout,
  MAP_PAGE,
  type MapState,
  UNPLACED_PAGE,
} from '../../web/records/layouts/map-layout.ts'
import { createRecordStore } from '../../web/records/record-store.ts'
import { createSendQueue } from '../../web/records/send-queue.ts'
import type { StoreQuery } from '../../web/records/types.ts'
import { delayPages, memoryField, memoryRecords } from './memory-records.ts'
import { pause } from './open-store.ts'

const FIELDS = [memoryField('title'), memoryField('place', 'GeoData'), memoryField('home', 'GeoData')]

/** Records of which every tenth has no location. */
const records = (count: number): Values[] =>
  Array.from({ length: count }, (_, at) => ({
    title: `Record ${at + 1}`,
    place: (at + 1) % 10 === 0 ? null : `${(at + 1) % 80};${(at + 1) % 170}`,
    home: null,
  }))

/** A store in the layout of a map over a table in memory. */
function open(rows: Values[], filter: StoreQuery['filter'] = null) {
  const server = memoryRecords(FIELDS, rows)
  const asked: Query[] = []
  const messages: string[] = []
  const queue = createSendQueue({ isAway: isOffline, pauseMs: () => 5 })
  const map = createMapLayout('place')
  const api: typeof server.api = {
    ...server.api,
    apply: (change, actionId) => server.api.apply(change, actionId),
    list(query, signal) {
      asked.push(query)
      return server.api.list(query, signal)
    },
  }
  const fieldIds = FIELDS.map((field) => field.id)
  const store = createRecordStore(
    {
      baseId: 'p1',
      tableId: 'm1',
      api,
      queue,
      resolveConflict: async () => null,
      actorId: () => 'us1',
      notify: (message) => void messages.push(message),
      keepUnsaved: () => {},
    },
    { fields: FIELDS, fieldIds, filter, sorts: [], viewId: undefined, search: null },
    map.layout,
  )
  const until = (holds: (state: MapState) => boolean) =>
    new Promise<void>((resolve) => {
      if (holds(map.state())) return resolve()
      const stop = map.subscribe(() => {
        if (!holds(map.state())) return
        stop()
        resolve()
      })
    })
  const at = (id: number) => map.state().placed.find(({ row }) => row.id === id)?.at
  const move = (id: number, place: string) =>
    store.apply([{ kind: 'update', tableId: 'm1', rows: [{ id, values: { place } }] }], { rollsBack: true })
  return { server, asked, messages, map, store, until, at, move }
}

describe('the records of a map', () => {
  test('are read page by page, showing each page, and separated from records without a location', async () => {
    const { map, store, asked, until } = open(records(2 * MAP_PAGE + 500))
    const seen: number[] = []
    map.subscribe(() => seen.push(map.state().placed.length))
    await store.reload()
    expect(map.state()).toMatchObject({ total: 2250, unplacedTotal: 250, isCut: false, error: null })
    expect(map.state().placed).toHaveLength(2250)
    expect(map.state().unplaced).toHaveLength(UNPLACED_PAGE)
    expect(asked.map(({ offset, limit }) => [offset, limit])).toEqual([
      [0, UNPLACED_PAGE],
      [0, MAP_PAGE],
      [MAP_PAGE, MAP_PAGE],
      [2 * MAP_PAGE, MAP_PAGE],
    ])
    expect(seen.some((count) => count > 0 && count < 2250)).toBe(true)
    await map.moreUnplaced()
    await until(({ unplaced }) => unplaced.length === 250)
    await map.moreUnplaced()
    expect(asked).toHaveLength(5)
    expect(map.state().placed[0]).toMatchObject({ key: '1', at: { lat: 1, lng: 1 } })
  })

  test('cost no more requests in a larger table while none has a location', async () => {
    const { map, store, asked } = open(records(12_000).map((values) => ({ ...values, place: null })))
    await store.reload()
    expect(map.state()).toMatchObject({ total: 0, unplacedTotal: 12_000 })
    expect(map.state().unplaced).toHaveLength(UNPLACED_PAGE)
    expect(asked).toHaveLength(2)
  })

  test('without a location are all listed, also after others have added some', async () => {
    const blank = records(UNPLACED_PAGE + 50).map((values) => ({ ...values, place: null }))
    const { map, store, server, until } = open(blank)
    await store.reload()
    const added = [{ values: { title: 'New', place: null, home: null } }]
    store.receive(
      server.elsewhere({ operations: [{ kind: 'insert', tableId: 'm1', rows: added, before: null }] }),
    )
    await until(({ unplaced }) => unplaced.length === UNPLACED_PAGE + 1)
    await map.moreUnplaced()
    expect(map.state().unplacedTotal).toBe(UNPLACED_PAGE + 51)
    expect(map.state().unplaced).toHaveLength(UNPLACED_PAGE + 51)
  })

  test('follow the changes of others, reading only those records', async () => {
    const { map, store, server, asked, until, at } = open(records(20))
    await store.reload()
    asked.length = 0
    const rows = [{ id: 10, values: { title: 'Moved', place: '5;6' } }]
    store.receive(server.elsewhere({ operations: [{ kind: 'update', tableId: 'm1', rows }] }))
    expect(at(10)).toEqual({ lat: 5, lng: 6 })
    expect(map.state()).toMatchObject({ total: 19, unplacedTotal: 1 })
    const added = [{ values: { title: 'New', place: '1;2', home: null } }]
    store.receive(
      server.elsewhere({ operations: [{ kind: 'insert', tableId: 'm1', rows: added, before: null }] }),
    )
    await until(({ total }) => total === 20)
    expect(asked.map(({ recordIds }) => recordIds)).toEqual([[21]])
    store.receive(server.elsewhere({ operations: [{ kind: 'delete', tableId: 'm1', ids: [1] }] }))
    expect(at(1)).toBeUndefined()
    expect(at(21)).toEqual({ lat: 1, lng: 2 })
    expect(asked).toHaveLength(1)
  })

  test('lose a record that an own edit takes out of the filter', async () => {
    const { map, store, server, until } = open(records(5), {
      fieldId: 'title',
      operator: 'neq',
      value: 'Hidden',
    })
    await store.reload()
    await store.writeRows([{ id: 2, values: { title: 'Hidden' } }])
    await until(({ placed }) => placed.length === 4)
    expect(map.state().total).toBe(4)
    expect(server.calls).toContain('list of 2')
  })

  test('move at once, and back with the reason where the server refuses', async () => {
    const { server, messages, map, store, at, move } = open(records(5))
    await store.reload()
    const moved = move(3, '50;60')
    expect(at(3)).toEqual({ lat: 50, lng: 60 })
    await moved
    expect(at(3)).toEqual({ lat: 50, lng: 60 })
    server.world.refuse = { message: 'The field is locked', fieldId: 'place' }
    const refused = move(3, '10;10')
    expect(at(3)).toEqual({ lat: 10, lng: 10 })
    expect(await refused).toBeNull()
    expect(at(3)).toEqual({ lat: 50, lng: 60 })
    expect(messages.join()).toContain('The field is locked')
    expect(map.state().placed).toHaveLength(5)
  })

  test('keep the stored pin where the record form shows a refused location', async () => {
    const { server, store, at } = open(records(5))
    await store.reload()
    server.world.refuse = { message: 'The field is locked', fieldId: 'place' }
    await store.writeRows([{ id: 3, values: { place: '10;10' } }])
    expect(store.row(3)?.failedCells?.get('place')).toContain('The field is locked')
    expect(at(3)).toEqual({ lat: 3, lng: 3 })
  })

  test('leave the map for good when they were deleted while it was read again', async () => {
    const { server, map, store } = open(records(5))
    await store.reload()
    const release = Promise.withResolvers<void>()
    const { apply } = server.api
    server.api.apply = async (change, actionId) => {
      await release.promise
      return apply(change, actionId)
    }
    const answerList = delayPages(server.api)
    const deleted = store.apply([{ kind: 'delete', tableId: 'm1', ids: [3] }])
    const reloading = store.reload()
    await pause(5)
    release.resolve()
    await deleted
    answerList()
    await reloading
    await pause(600)
    expect(map.state().placed.map(({ row }) => row.id)).toEqual([1, 2, 4, 5])
  })

  test('are read again for another location field', async () => {
    const { map, store, until } = open([{ title: 'a', place: '1;2', home: '3;4' }])
    await store.reload()
    map.setField('home')
    await until(({ isLoading, placed }) => !isLoading && placed[0]?.at.lat === 3)
    map.setField(null)
    await until(({ placed }) => placed.length === 0)
  })

  test('stay on the map when a reload fails, and are read again on request', async () => {
    const { map, store, server } = open(records(5))
    server.world.online = false
    await store.reload()
    expect(map.state().isLoading).toBe(false)
    expect(map.state().error).not.toBeNull()
    server.world.online = true
    await store.reload()
    expect(map.state()).toMatchObject({ error: null, total: 5 })
    server.world.online = false
    await store.reload()
    expect(map.state().placed).toHaveLength(5)
    expect(map.state().error).not.toBeNull()
  })
})
