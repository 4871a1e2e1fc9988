import { describe, expect, test } from 'bun:test'
import type { AppliedChange } from '../../src/core/changes.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { RecordId } from '../../src/core/model.ts'
import type { Query, Selection } from '../../src/core/query.ts'
import { createPlaces, PAGE, UNPLACED_PAGE } from '../../web/features/views/kinds/map/places.ts'
import { memoryField } from './memory-records.ts'

const FIELDS = [memoryField('title'), memoryField('place', 'GeoData')]
const QUERY = { fields: FIELDS, fieldIds: ['title', 'place'], filter: null, sorts: [], search: null }

/** Whether a row has a place, or none, as the filter of a map asks. */
function isMeant({ filter }: Pick<Query, 'filter'>, row: CellValue[]): boolean {
  const text = JSON.stringify(filter ?? null)
  if (text.includes('"notblank"')) return row[1] !== null
  return !text.includes('"blank"') || row[1] === null
}

/** A table in memory, read by pages as the server gives them. */
function open(count: number) {
  const rows = new Map<RecordId, CellValue[]>()
  for (let id = 1; id <= count; id++)
    rows.set(id, [`Record ${id}`, id % 10 === 0 ? null : `${id % 80};${id % 170}`])
  const asked: Query[] = []
  const world = { isOnline: true }
  const api = {
    async list(query: Query, signal: AbortSignal) {
      await Promise.resolve()
      signal.throwIfAborted()
      if (!world.isOnline) throw new TypeError('Failed to fetch')
      asked.push(query)
      const all = [...rows].filter(
        ([id, row]) => (query.recordIds?.includes(id) ?? true) && isMeant(query, row),
      )
      const page = all.slice(query.offset, query.offset + query.limit)
      const ids = page.map(([id]) => id)
      return { fieldIds: QUERY.fieldIds, ids, rows: page.map(([, row]) => row), offset: query.offset }
    },
    count: async (selection: Selection) => [...rows].filter(([, row]) => isMeant(selection, row)).length,
  }
  const places = createPlaces({ tableId: 'm1', api })
  const until = (holds: () => boolean) =>
    new Promise<void>((resolve) => {
      if (holds()) return resolve()
      const stop = places.subscribe(() => {
        if (!holds()) return
        stop()
        resolve()
      })
    })
  const change = (recordId: RecordId, after: object | null): AppliedChange => ({
    id: 1,
    baseId: 'b',
    actorId: null,
    at: '',
    truncated: false,
    tableIds: ['m1'],
    records: [{ tableId: 'm1', recordId, before: {}, after: after as AppliedChange['records'][0]['after'] }],
  })
  return { places, rows, asked, world, until, change }
}

describe('the places of a map', () => {
  test('are read page by page, showing what is there, and parted from records without one', async () => {
    const { places, asked, until } = open(2 * PAGE + 500)
    const seen: number[] = []
    places.subscribe(() => seen.push(places.state().placed.length))
    places.setQuery(QUERY, 'place')
    await until(() => !places.state().isLoading)
    const state = places.state()
    expect(state).toMatchObject({ loaded: 2250, total: 2250, unplacedTotal: 250, isCut: false, error: null })
    expect(state.placed.length).toBe(2250)
    expect(state.unplaced.length).toBe(UNPLACED_PAGE)
    expect(asked.map(({ offset, limit }) => [offset, limit])).toEqual([
      [0, UNPLACED_PAGE],
      [0, PAGE],
      [PAGE, PAGE],
      [2 * PAGE, PAGE],
    ])
    expect(seen).toContain(1000)
    await places.moreUnplaced()
    expect(places.state().unplaced.length).toBe(250)
    await places.moreUnplaced()
    expect(asked).toHaveLength(5)
    expect(state.placed[0]).toMatchObject({ key: '1', at: { lat: 1, lng: 1 } })
  })

  test('read nothing that grows with the table while no record has one', async () => {
    const { places, rows, asked, until } = open(12_000)
    for (const [id] of rows) rows.set(id, [`Record ${id}`, null])
    places.setQuery(QUERY, 'place')
    await until(() => !places.state().isLoading)
    expect(places.state()).toMatchObject({ loaded: 0, total: 0, unplacedTotal: 12_000 })
    expect(places.state().unplaced).toHaveLength(UNPLACED_PAGE)
    expect(asked).toHaveLength(2)
  })

  test('follow what is written, reading those records alone, and lose what is gone', async () => {
    const { places, rows, asked, until, change } = open(20)
    places.setQuery(QUERY, 'place')
    await until(() => !places.state().isLoading)
    asked.length = 0
    rows.set(10, ['Moved', '5;6'])
    await places.receive(change(10, { place: '5;6' }))
    expect(asked.map(({ recordIds }) => recordIds)).toEqual([[10]])
    expect(places.state().unplaced.map(({ id }) => id)).toEqual([20])
    expect(places.row(10)?.values('title')).toBe('Moved')
    rows.set(21, ['New', '1;2'])
    await places.receive(change(21, { title: 'New' }))
    rows.delete(1)
    await places.receive(change(1, null))
    const ids = places.state().placed.map(({ row }) => row.id)
    expect(ids).toContain(21)
    expect(ids).not.toContain(1)
    await places.receive({ ...change(2, null), tableIds: ['other'] })
    expect(places.row(2)).toBeDefined()
  })

  test('show a dragged pin where it was let go, and back where that was refused', async () => {
    const { places, until } = open(5)
    places.setQuery(QUERY, 'place')
    await until(() => !places.state().isLoading)
    const at = () => places.state().placed.find(({ row }) => row.id === 3)?.at
    places.cover(3, '50;60')
    expect(at()).toEqual({ lat: 50, lng: 60 })
    places.settle(3, undefined)
    expect(at()).toEqual({ lat: 3, lng: 3 })
    places.cover(3, '50;60')
    places.settle(3, '50;60')
    expect(at()).toEqual({ lat: 50, lng: 60 })
  })

  test('say that they could not be read, keep what they have, and read again on request', async () => {
    const { places, world, until } = open(5)
    world.isOnline = false
    places.setQuery(QUERY, 'place')
    await until(() => places.state().error !== null)
    expect(places.state().isLoading).toBe(false)
    world.isOnline = true
    await places.reload()
    expect(places.state()).toMatchObject({ error: null, loaded: 5 })
    world.isOnline = false
    await places.reload()
    expect(places.state().placed.length).toBe(5)
    expect(places.state().error).not.toBeNull()
  })
})
