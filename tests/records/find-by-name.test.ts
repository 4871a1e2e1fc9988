import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Bench, createBench, refusalOf } from './support.ts'

let bench: Bench
beforeAll(async () => {
  bench = await createBench()
})
afterAll(() => bench.stop())

test('records are found by their names, those of the table on the screen first', async () => {
  const first = await bench.table({ Title: 'SingleLineText', Note: 'LongText' }, [
    { Title: 'Blue pen', Note: 'x' },
    { Title: 'Red pencil', Note: 'blue inside' },
  ])
  const second = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'A BLUE whale' }])
  const find = (text: string, tableId?: string) =>
    bench.trpc.records.findByName.query({ baseId: bench.baseId, text, ...(tableId && { tableId }) })
  expect((await find('blue')).map(({ name }) => name)).toEqual(['Blue pen', 'A BLUE whale'])
  expect(await find('blue', second.id)).toEqual([
    { tableId: second.id, recordId: 1, name: 'A BLUE whale' },
    { tableId: first.id, recordId: 1, name: 'Blue pen' },
  ])
  expect(await find('nothing like it')).toEqual([])
  const stranger = await bench.app.signUp('stranger@example.com')
  const refused = bench.app.trpc(stranger.token).records.findByName.query({ baseId: bench.baseId, text: 'b' })
  expect((await refusalOf(refused)).status).toBe(403)
})
