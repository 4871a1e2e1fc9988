import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Work } from '../../src/core/work.ts'
import { type Bench, createBench } from '../records/support.ts'
import { connect, createForeign, type ForeignDatabase, type ServerKind } from './support.ts'

const ROWS = 5_000
const PLACES = [0, 1, 2, 3, 4]
const DIGITS = '(select 0 as n union all select 1 union all select 2 union all select 3 union all select 4) d'

describe.each<[ServerKind]>([['mariadb'], ['postgres']])('a long write in a connected %s', (kind) => {
  let bench: Bench
  let foreign: ForeignDatabase
  let tableId: string
  let noteId: string

  beforeAll(async () => {
    bench = await createBench()
    foreign = await createForeign(kind, [
      'create table part (id int primary key, note varchar(20))',
      // Five digits to the base of five: MariaDB counts no further than 1,000 by itself.
      `insert into part select ${PLACES.map((at) => `d${at}.n * ${5 ** at}`).join(' + ')} + 1, 'old'
        from ${PLACES.map((at) => `${DIGITS}${at}`).join(', ')}`,
      `insert into part select id + 3125, note from part where id <= ${ROWS - 3125}`,
    ])
    await connect(bench, foreign.sent)
    const tables = await bench.trpc.schema.tables.query({ baseId: bench.baseId })
    tableId = tables.find(({ title }) => /^part$/i.test(title))?.id ?? ''
    const { fields } = await bench.trpc.schema.table.query({ tableId })
    noteId = fields.find(({ columnName }) => columnName === 'note')?.id ?? ''
  })
  afterAll(async () => {
    await bench.stop()
    await foreign.stop()
  })

  test('is announced, and changes nothing when it is cancelled', async () => {
    const { app, trpc, baseId } = bench
    const gate = Promise.withResolvers<void>()
    const engine = await app.kernel.sources.engine(baseId)
    const other = engine.writeScript(async () => {
      await gate.promise
      return []
    })
    const announced = Promise.withResolvers<Work>()
    const stop = app.kernel.events.on('work.changed', announced.resolve)
    const selection = { tableId }
    const outcome = trpc.records.updateMatching.mutate({ selection, values: { [noteId]: 'new' } }).then(
      () => null,
      (error: Error) => error.message,
    )
    const { id: workId, kind: name } = await announced.promise
    stop()
    expect(name).toBe('update')
    gate.resolve()
    await other
    while (app.kernel.works.find(workId)?.share === 0) await Bun.sleep(1)
    expect(app.kernel.works.find(workId)).toMatchObject({ records: ROWS, canCancel: true })
    await trpc.records.cancelWork.mutate({ baseId, workId })
    expect(await outcome).toBe('The change was cancelled. Nothing was changed.')
    const [changed] = await foreign.ask<{ n: unknown }>("select count(*) as n from part where note <> 'old'")
    expect(Number(changed?.n)).toBe(0)
  })
})
