import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Bench, createBench } from '../records/support.ts'
import { connect } from './support.ts'

/** One column for each way in which programs write an instant, with three values and what is shown of them. */
const FORMS: Record<string, { values: unknown[]; written: unknown; shown?: string[] }> = {
  plain: {
    values: ['2021-01-01 00:00:00', '2021-01-02 00:00:00', '2021-01-02 13:45:10'],
    written: '2022-03-04 05:06:07',
  },
  with_t: {
    values: ['2021-01-01T00:00:00', '2021-01-02T00:00:00', '2021-01-02T13:45:10'],
    written: '2022-03-04T05:06:07',
  },
  zulu: {
    values: ['2021-01-01T00:00:00Z', '2021-01-02T00:00:00Z', '2021-01-02T13:45:10Z'],
    written: '2022-03-04T05:06:07Z',
  },
  offset: {
    values: ['2021-01-01 02:00:00+02:00', '2021-01-02 02:00:00+02:00', '2021-01-02 15:45:10+02:00'],
    written: '2022-03-04 07:06:07+02:00',
  },
  utc: {
    values: ['2021-01-01 00:00:00+00:00', '2021-01-02 00:00:00+00:00', '2021-01-02 13:45:10+00:00'],
    written: '2022-03-04 05:06:07+00:00',
  },
  micro: {
    values: ['2021-01-01 00:00:00.000000', '2021-01-02 00:00:00.000000', '2021-01-02 13:45:10.000000'],
    written: '2022-03-04 05:06:07.000000',
  },
  minutes: {
    values: ['2021-01-01 00:00', '2021-01-02 00:00', '2021-01-02 13:45'],
    written: '2022-03-04 05:06:07',
    shown: ['2021-01-01 00:00:00+00:00', '2021-01-02 00:00:00+00:00', '2021-01-02 13:45:00+00:00'],
  },
  day_only: {
    values: ['2021-01-01', '2021-01-02', '2021-01-02'],
    written: '2022-03-04 05:06:07',
    shown: ['2021-01-01 00:00:00+00:00', '2021-01-02 00:00:00+00:00', '2021-01-02 00:00:00+00:00'],
  },
  seconds: { values: [1609459200, 1609545600, 1609595110], written: 1646370367 },
  millis: { values: [1609459200000, 1609545600000, 1609595110000], written: 1646370367000 },
  julian: { values: [2459215.5, 2459216.5, 2459217.073032407], written: 2459642.712581019 },
}
const SHOWN = ['2021-01-01 00:00:00+00:00', '2021-01-02 00:00:00+00:00', '2021-01-02 13:45:10+00:00']

describe('dates in a connected SQLite file', () => {
  let bench: Bench
  let file: Database
  let tableId: string
  const path = () => `/api/v2/tables/${tableId}/records`

  beforeAll(async () => {
    bench = await createBench()
    const folder = join(bench.app.config.dataDir, 'sources')
    mkdirSync(folder, { recursive: true })
    file = new Database(join(folder, 'dates.db'))
    file.run('pragma journal_mode = wal')
    const names = Object.keys(FORMS)
    file.run(`create table event (id integer primary key, ${names.map((name) => `${name} datetime`).join(', ')},
      fresh datetime, day date, day_at_noon date, hour time, odd datetime)`)
    for (const row of [0, 1, 2]) {
      const values = names.map((name) => FORMS[name]?.values[row]) as never[]
      const marks = names.map(() => '?').join(', ')
      file.run(
        `insert into event values (${row + 1}, ${marks}, null, '2021-01-0${row + 1}', '2021-01-0${row + 1}T12:00:00', '0${row + 1}:30', 'soon')`,
        values,
      )
    }
    await connect(bench, { client: 'sqlite3', connection: { filename: 'dates.db' } })
    const [table] = await bench.trpc.schema.tables.query({ baseId: bench.baseId })
    tableId = table?.id ?? ''
  })
  afterAll(async () => {
    file.close()
    await bench.stop()
  })

  const ids = async (where: string) => {
    const { status, body } = await bench.rest.get(`${path()}?where=${where}&sort=id`)
    expect([where, status]).toEqual([where, 200])
    return (body.list as { id: number }[]).map(({ id }) => id)
  }
  const stored = (column: string, id: number) =>
    Object.values(file.query(`select ${column} from event where id = ${id}`).get() as object)[0]

  test.each(Object.entries(FORMS))(
    '%s are shown, filtered and sorted as instants',
    async (name, { shown = SHOWN }) => {
      const { body } = await bench.rest.get(`${path()}?sort=-${name}`)
      const cells = (body.list as Record<string, unknown>[]).map((row) => row[name])
      expect(cells).toEqual(shown.toReversed())
      expect(await ids(`(${name},eq,exactDate,2021-01-01)`)).toEqual([1])
      expect(await ids(`(${name},eq,exactDate,2021-01-02)`)).toEqual([2, 3])
      expect(await ids(`(${name},gt,exactDate,2021-01-01)`)).toEqual([2, 3])
      expect(await ids(`(${name},lte,exactDate,2021-01-01)`)).toEqual([1])
    },
  )

  test.each(Object.entries(FORMS))(
    '%s are written in the form that the column has',
    async (name, { values, written }) => {
      const before = stored(name, 3)
      expect((await bench.rest.patch(path(), { id: 3, [name]: '2022-03-04 05:06:07' })).status).toBe(200)
      const now = stored(name, 3)
      if (name === 'julian') expect(Number(now)).toBeCloseTo(Number(written), 7)
      else expect(now).toEqual(written)
      expect(typeof now).toBe(typeof values[0] as 'string')
      expect((await bench.rest.get(`${path()}/3`)).body[name]).toBe('2022-03-04 05:06:07+00:00')
      await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
      expect(stored(name, 3)).toEqual(before)
      await bench.trpc.records.redo.mutate({ baseId: bench.baseId })
      expect(stored(name, 3)).toEqual(now)
      await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
    },
  )

  test('new records take the form of the others, and that of SQLite where there are none', async () => {
    const at = '2022-03-04 05:06:07'
    const sent = {
      fresh: at,
      with_t: at,
      seconds: at,
      day: '2022-03-04',
      day_at_noon: '2022-03-04',
      hour: '07:15',
    }
    const { body } = await bench.rest.post(path(), sent)
    const read = () =>
      file
        .query(`select fresh, with_t, seconds, day, day_at_noon, hour from event where id = ${body.id}`)
        .get()
    const written = {
      fresh: at,
      with_t: '2022-03-04T05:06:07',
      seconds: 1646370367,
      day: '2022-03-04',
      day_at_noon: '2022-03-04T00:00:00',
      hour: '07:15',
    }
    expect(read()).toEqual(written)
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
    expect(read()).toBeNull()
    await bench.trpc.records.redo.mutate({ baseId: bench.baseId })
    expect(read()).toEqual(written)
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
  })

  test('a fraction of a second is kept where the form has no room for it', async () => {
    await bench.rest.patch(path(), { id: 1, plain: '2022-03-04 05:06:07.250' })
    expect(stored('plain', 1)).toBe('2022-03-04 05:06:07.250')
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
  })

  test('fractions are read and written to the last digit, in the form and the zone that the value has', async () => {
    const instants: [column: string, held: unknown, shown: string, sent: string, written: unknown][] = [
      ['plain', '2021-01-02 13:45:10.9999', '13:45:10.999900', '05:06:07.1234', '2022-03-04 05:06:07.1234'],
      ['with_t', '2021-01-02T13:45:10.5', '13:45:10.500', '05:06:07.000001', '2022-03-04T05:06:07.000001'],
      ['zulu', '2021-01-02T13:45:10.123456Z', '13:45:10.123456', '05:06:07', '2022-03-04T05:06:07.000000Z'],
      [
        'offset',
        '2021-01-02 15:45:10.123456789+02:00',
        '13:45:10.123456789',
        '05:06:07.999999',
        '2022-03-04 07:06:07.999999000+02:00',
      ],
      ['utc', '2021-01-02 13:45:10.000+00:00', '13:45:10', '05:06:07.25', '2022-03-04 05:06:07.250+00:00'],
      ['millis', 1609595110123, '13:45:10.123', '05:06:07.5', 1646370367500],
      ['millis', 1609595110123456, '13:45:10.123456', '05:06:07.654321', 1646370367654321],
      ['millis', -1609595110123456, '10:14:49.876544', '05:06:07.654321', 1646370367654321],
      ['seconds', 1609595110.123456, '13:45:10.123456', '05:06:07.654321', 1646370367.654321],
      ['seconds', -1.000001, '23:59:58.999999', '05:06:07.654321', 1646370367.654321],
    ]
    for (const [column, held, shown, sent, written] of instants) {
      const before = stored(column, 3)
      file.run(`update event set ${column} = ? where id = 3`, [held as never])
      const read = (await bench.rest.get(`${path()}/3`)).body[column] as string
      expect([column, held, read.slice(11)]).toEqual([column, held, `${shown}+00:00`])
      await bench.rest.patch(path(), { id: 3, [column]: `2022-03-04 ${sent}` })
      expect([column, held, stored(column, 3)]).toEqual([column, held, written])
      await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
      expect([column, stored(column, 3)]).toEqual([column, held])
      file.run(`update event set ${column} = ? where id = 3`, [before as never])
    }
  })

  test('text that is no date is shown as it is', async () => {
    expect((await bench.rest.get(`${path()}/1`)).body.odd).toBe('soon')
  })

  test('days and times of other forms are found by what is shown', async () => {
    expect(await ids('(day_at_noon,eq,exactDate,2021-01-02)')).toEqual([2])
    expect((await bench.rest.get(`${path()}/2`)).body).toMatchObject({
      day_at_noon: '2021-01-02',
      hour: '02:30:00',
    })
    expect(await ids('(hour,eq,02:30)')).toEqual([2])
  })
})
