import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Bench, createBench } from '../records/support.ts'
import { NASTY_MARIADB } from './nasty-mariadb.ts'
import { NASTY_POSTGRES } from './nasty-postgres.ts'
import { connect, createForeign, type ForeignDatabase } from './support.ts'

const STATEMENTS = { postgres: [NASTY_POSTGRES], mariadb: NASTY_MARIADB }

/** A row that holds in each column what is hardest to keep. */
const HARD = {
  postgres: `insert into every_type (id, small, whole, big, exact, long_exact, free, round_number, single,
      double_number, cash, yes, flag, fixed, short, line, body, key, feeling, cost, must_cost, day, at, at_zone,
      at_micro, hour, hour_zone, span, doc, docb, numbers, words, raw, bits, many_bits, place, period, address, search)
    values (77, -32768, 1073741823, 9223372036854775807, 99999999.99, 1234567890123456789012345678.1234567891,
      3.14159265358979323846264338327950288, 999999999, 1.5, 0.1, 1234.56, null, true, 'a', 'ÄÖ🎉', 'line', E'two\\nlines',
      'c0ffee00-1111-2222-3333-444444444444', 'it''s ok', 0.10, 5, '0044-03-15', '2024-02-29 23:59:59.999999',
      '1999-12-31 23:59:59.123456+00', '2024-01-01 00:00:00.000001+00', '23:59:59.123456', '12:00:00.5+02',
      '1 year 2 mons 3 days 04:05:06.789', '{"b": 1,  "a": [1, 2]}', '{"b": 1, "a": null}', '{1,2,NULL}',
      '{"a b","c\\"d"}', '\\x00ff10', B'1010', B'101', '(1.5,2)', '[1,5)', '10.0.0.1/8', 'a:1 b:2')`,
  mariadb: `insert into every_type (id, yes, tiny, small, medium, whole, big, huge, exact, long_exact, round_number,
      single, double_number, fixed, short, body, long_body, \`key\`, feeling, colours, day, at, at_milli, stamp, hour,
      year_made, doc, raw, fixed_raw, bits, place)
    values (77, null, -128, -32768, 8388607, 1073741823, 9223372036854775807, 18446744073709551615, 99999999.99,
      1234567890123456789012345678.1234567891, 999999999, 1.5, 0.1, 'a', 'ÄÖ', 'two\\nlines', 'x',
      'c0ffee00-1111-2222-3333-444444444444', 'it''s ok', 'red,blue', '2024-02-29', '2024-02-29 23:59:59',
      '2024-02-29 23:59:59.999', '2000-01-01 00:00:00', '-12:30:15', 1999, '{"b": 1,  "a": [1, 2]}',
      x'00ff10', x'01020304', b'1010', st_geomfromtext('POINT(1.5 2)'))`,
}

describe.each(['postgres', 'mariadb'] as const)('a hard record of %s', (kind) => {
  let bench: Bench
  let foreign: ForeignDatabase
  let tableId: string
  const path = () => `/api/v2/tables/${tableId}/records`

  beforeAll(async () => {
    bench = await createBench()
    foreign = await createForeign(kind, STATEMENTS[kind])
    await connect(bench, foreign.sent)
    const tables = await bench.trpc.schema.tables.query({ baseId: bench.baseId })
    tableId = tables.find((table) => table.tableName === 'every_type')?.id ?? ''
    await foreign.ask(HARD[kind])
  })
  afterAll(async () => {
    await bench.stop()
    await foreign.stop()
  })

  /** The row as the database itself writes it out, so that nothing of it can differ unseen. */
  async function written(): Promise<unknown> {
    if (kind === 'postgres') return foreign.ask('select e::text as row from every_type e where id = 77')
    const columns = await foreign.ask<{ Field: string }>('show columns from every_type')
    const texts = columns.map(({ Field }) => `hex(\`${Field}\`) as \`${Field}\``)
    return foreign.ask(`select ${texts.join(', ')} from every_type where id = 77`)
  }

  test('is shown with every digit', async () => {
    const { body } = await bench.rest.get(`${path()}/77`)
    expect(body).toMatchObject({
      big: '9223372036854775807',
      long_exact: '1234567890123456789012345678.1234567891',
      exact: 99999999.99,
      round_number: 999999999,
      double_number: 0.1,
      day: expect.any(String),
    })
    if (kind === 'mariadb') {
      expect(body).toMatchObject({ huge: '18446744073709551615', whole: 1073741823, raw: '0x00ff10' })
    } else {
      expect(body).toMatchObject({ free: '3.14159265358979323846264338327950288', numbers: '{1,2,NULL}' })
    }
  })

  test('keeps all of its other values when one is changed, and comes back whole by undo', async () => {
    const before = await written()
    const { status } = await bench.rest.patch(path(), { id: 77, short: 'x' })
    expect(status).toBe(200)
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
    expect(await written()).toEqual(before)
  })

  test('comes back whole when it was deleted, bytes and microseconds too', async () => {
    const before = await written()
    expect((await bench.rest.delete(path(), { id: 77 })).status).toBe(200)
    expect(await written()).toEqual([])
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
    expect(await written()).toEqual(before)
  })
})
