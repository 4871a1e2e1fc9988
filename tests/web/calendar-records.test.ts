import { describe, expect, test } from 'bun:test'
import type { RecordPage } from '../../src/core/model.ts'
import type { Query } from '../../src/core/query.ts'
import { createPeriodReader, createRowList, PERIOD_PAGE } from '../../web/records/layouts/period.ts'
import { named, open } from './open-store.ts'

/** A table of so many records, and what was asked of it. */
function table(records: number) {
  const calls: string[] = []
  const world = { fails: false }
  const reader = createPeriodReader({
    async list({ limit, offset, filter }: Query): Promise<RecordPage> {
      calls.push(`list ${offset}-${offset + limit}${filter ? ' filtered' : ''}`)
      if (world.fails) throw new Error('no')
      const ids = Array.from(
        { length: Math.max(0, Math.min(limit, records - offset)) },
        (_, at) => offset + at,
      )
      return { fieldIds: ['day'], offset, ids, rows: ids.map((id) => [id]) }
    },
    count: () => {
      calls.push('count')
      return Promise.resolve(records)
    },
  })
  return { reader, calls, world }
}

const query = (offset: number, more: Partial<Query> = {}): Query => ({
  tableId: 'm1',
  fieldIds: ['day'],
  sorts: [],
  filter: null,
  search: null,
  limit: 200,
  offset,
  ...more,
})
const { signal } = new AbortController()

describe('the reader of a period', () => {
  test('gives a page where a block is asked for, and the count that it tells', async () => {
    const { reader, calls } = table(450)
    const counting = reader.count({ tableId: 'm1', filter: null, search: null }, signal)
    const page = await reader.list(query(0), signal)
    expect(page.ids).toHaveLength(450)
    expect(await counting).toBe(450)
    expect(calls).toEqual([`list 0-${PERIOD_PAGE}`])
  })

  test('reads each page of a full period once, and asks how many there are', async () => {
    const { reader, calls } = table(2500)
    const counting = reader.count({ tableId: 'm1', filter: null, search: null }, signal)
    await reader.list(query(0), signal)
    const blocks = await Promise.all([1000, 1200, 1400].map((at) => reader.list(query(at), signal)))
    expect(blocks.map(({ ids }) => ids[0])).toEqual([1000, 1200, 1400])
    expect(await counting).toBe(2500)
    expect(calls.toSorted()).toEqual(['count', 'list 0-1000', 'list 1000-2000'])
  })

  test('begins anew at the top, and after a failure', async () => {
    const { reader, calls, world } = table(10)
    await reader.list(query(0), signal)
    world.fails = true
    await expect(reader.list(query(0), signal)).rejects.toThrow('no')
    world.fails = false
    expect((await reader.list(query(5), signal)).ids).toHaveLength(5)
    expect(calls).toHaveLength(3)
    expect(reader.isReading()).toBe(false)
  })

  test('gives out once what it read ahead, and not after something changed', async () => {
    const { reader, calls } = table(10)
    const next = { filter: { fieldId: 'day', operator: 'gt', value: 5 } }
    const { limit: _limit, offset: _offset, ...ahead } = query(0, next)
    reader.prefetch([ahead])
    reader.prefetch([ahead])
    await reader.list(query(0, next), signal)
    expect(calls).toEqual(['list 0-1000 filtered'])
    await reader.list(query(0, next), signal)
    expect(calls).toHaveLength(2)
    reader.prefetch([{ ...ahead, fieldIds: ['day', 'title'] }])
    reader.forget()
    await reader.list(query(0, { ...next, fieldIds: ['day', 'title'] }), signal)
    expect(calls).toHaveLength(4)
  })
})

describe('the list of all rows', () => {
  test('holds every row up to its limit, and changes when one of them does', async () => {
    const { store } = await open(named('a', 'b', 'c'))
    const list = createRowList(store.source, 2)
    let told = 0
    const stop = list.subscribe(() => told++)
    const titles = () => list.rows().map((row) => row.values('title'))
    expect(titles()).toEqual(['a', 'b'])
    expect(list.rows()).toBe(list.rows())
    const id = store.source.getRow(1)?.id ?? ''
    void store.writeRows([{ id, values: { title: 'B' } }])
    await Promise.resolve()
    expect([titles(), told]).toEqual([['a', 'B'], 1])
    list.setLimit(10)
    await Promise.resolve()
    expect(titles()).toEqual(['a', 'B', 'c'])
    stop()
    await store.writeRows([{ id, values: { title: 'again' } }])
    expect(told).toBe(2)
  })
})
