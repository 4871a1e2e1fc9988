import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Bench, createBench } from '../records/support.ts'
import { connect, createForeign } from './support.ts'

const ROWS: [id: number, at: string | null, hour: string | null][] = [
  [1, '2024-01-02 03:04:05.123456', '12:34:56.789012'],
  [2, '2024-01-02 03:04:05.123457', '12:34:56.789013'],
  [3, '2024-01-02 03:04:05.123', '12:34:56'],
  [4, '1969-12-31 23:59:59.999999', '00:00:00.000001'],
  [5, '2024-01-02 23:59:59.9999', '23:59:59.5'],
  [6, null, null],
]
const insertOf = (table: string) =>
  `insert into ${table} (id, at, hour, note) values ${ROWS.map(
    ([id, at, hour]) => `(${id}, ${at ? `'${at}'` : 'null'}, ${hour ? `'${hour}'` : 'null'}, 'n')`,
  ).join(', ')}`
const CHILD = [
  'create table child (id int primary key, parent int references moment (id))',
  'insert into child values (1, 1), (2, 4)',
]

const READ = {
  at: [
    '2024-01-02 03:04:05.123456+00:00',
    '2024-01-02 03:04:05.123457+00:00',
    '2024-01-02 03:04:05.123+00:00',
    '1969-12-31 23:59:59.999999+00:00',
    '2024-01-02 23:59:59.999900+00:00',
    null,
  ],
  hour: ['12:34:56.789012', '12:34:56.789013', '12:34:56', '00:00:00.000001', '23:59:59.500', null],
}

interface Connected {
  bench: Bench
  /** The values of a record as the database itself writes them out. */
  stored(id: number): Promise<unknown>
  stop(): Promise<void>
}

async function connectServer(kind: 'postgres' | 'mariadb'): Promise<Connected> {
  const type = kind === 'postgres' ? 'timestamptz(6)' : 'datetime(6)'
  const bench = await createBench()
  const foreign = await createForeign(kind, [
    ...(kind === 'postgres' ? [`set time zone 'UTC'`] : []),
    `create table moment (id int primary key, at ${type}, hour time(6), note varchar(20))`,
    insertOf('moment'),
    ...CHILD,
  ])
  await connect(bench, foreign.sent)
  const text = (column: string) =>
    kind === 'postgres' ? `${column}::text as ${column}` : `cast(${column} as char) as ${column}`
  return {
    bench,
    stored: (id) => foreign.ask(`select ${text('at')}, ${text('hour')} from moment where id = ${id}`),
    async stop() {
      await bench.stop()
      await foreign.stop()
    },
  }
}

async function connectFile(): Promise<Connected> {
  const bench = await createBench()
  const folder = join(bench.app.config.dataDir, 'sources')
  mkdirSync(folder, { recursive: true })
  const file = new Database(join(folder, 'fractions.db'))
  file.run('pragma journal_mode = wal')
  file.run('create table moment (id integer primary key, at datetime, hour time, note varchar(20))')
  for (const statement of [insertOf('moment'), ...CHILD]) file.run(statement)
  await connect(bench, { client: 'sqlite3', connection: { filename: 'fractions.db' } })
  return {
    bench,
    stored: async (id) => file.query(`select at, hour from moment where id = ${id}`).all(),
    async stop() {
      file.close()
      await bench.stop()
    },
  }
}

const ENGINES = {
  postgres: () => connectServer('postgres'),
  mariadb: () => connectServer('mariadb'),
  sqlite: connectFile,
}

describe.each(['postgres', 'mariadb', 'sqlite'] as const)('fractions of a second in %s', (kind) => {
  let connected: Connected
  let bench: Bench
  let tableId: string
  let childId: string
  const path = () => `/api/v2/tables/${tableId}/records`

  beforeAll(async () => {
    connected = await ENGINES[kind]()
    bench = connected.bench
    const tables = await bench.trpc.schema.tables.query({ baseId: bench.baseId })
    tableId = tables.find((table) => table.tableName === 'moment')?.id ?? ''
    childId = tables.find((table) => table.tableName === 'child')?.id ?? ''
  })
  afterAll(() => connected.stop())

  const undo = () => bench.trpc.records.undo.mutate({ baseId: bench.baseId })
  const redo = () => bench.trpc.records.redo.mutate({ baseId: bench.baseId })
  const fieldOf = async (title: string, id = tableId) => {
    const { fields } = await bench.trpc.schema.table.query({ tableId: id })
    return fields.find((field) => field.title === title)!
  }
  const list = async (query: string): Promise<Record<string, unknown>[]> => {
    const { status, body } = await bench.rest.get(`${path()}?${query}`)
    expect([query, status]).toEqual([query, 200])
    return body.list
  }
  const ids = async (query: string) => (await list(query)).map(({ id }) => id)
  const where = (clause: string) => ids(`where=${encodeURIComponent(clause)}&sort=id`)

  test('are read with every digit, by REST and tRPC', async () => {
    const rows = await list('sort=id')
    expect({ at: rows.map(({ at }) => at), hour: rows.map(({ hour }) => hour) }).toEqual(READ)
    expect((await bench.rest.get(`${path()}/1`)).body).toMatchObject({ at: READ.at[0], hour: READ.hour[0] })
    const sorts = [{ fieldId: (await fieldOf('id')).id, direction: 'asc' as const }]
    const query = { tableId, limit: 10, offset: 0, sorts }
    const { fieldIds, rows: cells } = await bench.trpc.records.list.query({ query })
    for (const title of ['at', 'hour'] as const) {
      const at = fieldIds.indexOf((await fieldOf(title)).id)
      expect(cells.map((row) => row[at])).toEqual(READ[title])
    }
  })

  test('stay when another field is edited, also when the record is sent back whole', async () => {
    for (const id of [1, 4, 5]) {
      const before = await connected.stored(id)
      expect((await bench.rest.patch(path(), { id, note: 'changed' })).status).toBe(200)
      expect(await connected.stored(id)).toEqual(before)
      const { at, hour } = (await bench.rest.get(`${path()}/${id}`)).body
      expect((await bench.rest.patch(path(), { id, at, hour, note: 'again' })).status).toBe(200)
      expect((await bench.rest.get(`${path()}/${id}`)).body).toMatchObject({ at, hour })
      expect(await connected.stored(id)).toEqual(before)
      await undo()
      await undo()
      expect(await connected.stored(id)).toEqual(before)
    }
  })

  test('are written exactly, undone and redone', async () => {
    const before = await connected.stored(1)
    const values = { at: '2030-05-06T09:08:09.000001+02:00', hour: '07:08:09.000001' }
    expect((await bench.rest.patch(path(), { id: 1, ...values })).status).toBe(200)
    const shown = { at: '2030-05-06 07:08:09.000001+00:00', hour: '07:08:09.000001' }
    expect((await bench.rest.get(`${path()}/1`)).body).toMatchObject(shown)
    const after = await connected.stored(1)
    expect(JSON.stringify(after)).toContain('2030-05-06 07:08:09.000001')
    expect(JSON.stringify(after)).toContain('07:08:09.000001')
    await undo()
    expect(await connected.stored(1)).toEqual(before)
    await redo()
    expect(await connected.stored(1)).toEqual(after)
    await undo()

    const made = await bench.rest.post(path(), { id: 9, ...values })
    expect(made.status).toBe(200)
    const { id } = made.body
    expect((await bench.rest.get(`${path()}/${id}`)).body).toMatchObject(shown)
    expect((await bench.rest.delete(path(), { id })).status).toBe(200)
    await undo()
    expect((await bench.rest.get(`${path()}/${id}`)).body).toMatchObject(shown)
    await redo()

    const operations = [
      {
        kind: 'update' as const,
        tableId,
        rows: [{ id: 1, values: { [(await fieldOf('at')).id]: '2030-05-06 07:08:09.5+00:00' } }],
      },
    ]
    await bench.trpc.records.write.mutate({ change: { baseId: bench.baseId, operations } })
    expect((await bench.rest.get(`${path()}/1`)).body.at).toBe('2030-05-06 07:08:09.500+00:00')
    await undo()
    expect(await connected.stored(1)).toEqual(before)
  })

  test('count in filters, sorts and groups', async () => {
    expect(await where('(hour,eq,12:34:56.789012)')).toEqual([1])
    expect(await where('(hour,eq,12:34:56)')).toEqual([3])
    expect(await where('(hour,gt,12:34:56.789012)')).toEqual([2, 5])
    expect(await where('(hour,lt,12:34:56.789012)')).toEqual([3, 4])
    expect(await where('(hour,gte,23:59:59.5)')).toEqual([5])
    expect(await where('(at,eq,exactDate,2024-01-02)')).toEqual([1, 2, 3, 5])
    expect(await where('(at,eq,exactDate,1969-12-31)')).toEqual([4])
    expect(await where('(at,gt,exactDate,2024-01-02)')).toEqual([])
    expect(await ids('sort=at')).toEqual([6, 4, 3, 1, 2, 5])
    expect(await ids('sort=-hour')).toEqual([5, 2, 1, 3, 4, 6])

    for (const title of ['at', 'hour'] as const) {
      const { id } = await fieldOf(title)
      const groups = [{ fieldId: id, direction: 'asc' as const }]
      const answer = await bench.trpc.records.groups.query({
        request: { selection: { tableId }, groups, limit: 10, offset: 0 },
      })
      for (const { keys, count } of answer.groups) {
        const group = [{ fieldId: id, value: keys[0] ?? null }]
        const found = await bench.trpc.records.list.query({ query: { tableId, limit: 10, offset: 0, group } })
        expect([title, keys, found.ids.length]).toEqual([title, keys, count])
      }
      const keys = answer.groups.map((group) => group.keys[0] ?? null)
      const days = [null, '1969-12-31', '2024-01-02']
      expect(keys).toEqual(
        title === 'at' ? days : [...READ.hour].sort((a, b) => ((a ?? '') < (b ?? '') ? -1 : 1)),
      )
    }
  })

  test('reach lookups, rollups and formulas', async () => {
    const link = await fieldOf('moment', childId)
    const create = (title: string, field: object) =>
      bench.trpc.schema.createField.mutate({ tableId: childId, field: { title, ...field } as never })
    const relationFieldId = link.id
    const targets = { at: (await fieldOf('at')).id, hour: (await fieldOf('hour')).id }
    const rows = async () =>
      (await bench.rest.get(`/api/v2/tables/${childId}/records?sort=id`)).body.list as Record<
        string,
        unknown
      >[]
    for (const title of ['at', 'hour'] as const) {
      await create(`Their ${title}`, {
        type: 'Lookup',
        options: { relationFieldId, targetFieldId: targets[title] },
      })
      const values = (await rows()).map((row) => JSON.stringify(row[`Their ${title}`]))
      expect(values[0]).toContain(String(READ[title][0]))
      expect(values[1]).toContain(String(READ[title][3]))
    }
    await bench.trpc.schema.createField.mutate({
      tableId,
      field: {
        title: 'Text',
        type: 'Formula',
        options: { formula: 'CONCAT({hour}, " ", {at}, " ", DATETIME_DIFF({at}, "1970-01-01", "ms"))' },
      } as never,
    })
    const texts = (await list('sort=id')).map((row) => row.Text)
    expect(texts).toEqual([
      '12:34:56.789012 2024-01-02 03:04:05 1704164645123',
      '12:34:56.789013 2024-01-02 03:04:05 1704164645123',
      '12:34:56 2024-01-02 03:04:05 1704164645123',
      '00:00:00.000001 1969-12-31 23:59:59 -1',
      '23:59:59.500 2024-01-02 23:59:59 1704239999999',
      '  ',
    ])
  })

  test('stand in downloads', async () => {
    const url = `${bench.app.url}/api/v1/db/data/noco/${bench.baseId}/${tableId}/export/csv`
    const text = await (await fetch(url, { headers: { 'xc-auth': bench.owner.token } })).text()
    for (const hour of READ.hour) expect(text).toContain(hour ?? '')
    expect(text).toContain('2024-01-02 03:04:05.123456')
    expect(text).toContain('2024-01-02 03:04:05.123,')
  })
})

describe.each(['postgres', 'mariadb'] as const)('columns of few digits in %s', (kind) => {
  test('refuse finer times of day, and cut finer instants instead of rounding them', async () => {
    const bench = await createBench()
    const instant = kind === 'postgres' ? 'timestamp' : 'datetime'
    const foreign = await createForeign(kind, [
      `create table coarse (id int primary key, at0 ${instant}(0), at3 ${instant}(3), hour0 time(0), hour3 time(3), hour time)`,
      `insert into coarse values (1, null, null, '01:02:03', '01:02:03.5', '01:02:03')`,
    ])
    await connect(bench, foreign.sent)
    const [table] = await bench.trpc.schema.tables.query({ baseId: bench.baseId })
    const path = `/api/v2/tables/${table?.id}/records`
    const stored = async () => (await bench.rest.get(`${path}/1`)).body

    const before = await stored()
    const finer = { hour0: '23:59:59.9', hour3: '12:34:56.7891', hour: '12:34:56.1234567' }
    for (const [column, value] of Object.entries(finer)) {
      for (const answer of [
        await bench.rest.patch(path, { id: 1, [column]: value, at0: '2030-01-01 00:00:00' }),
        await bench.rest.post(path, { id: 2, [column]: value }),
      ]) {
        expect([column, answer.status]).toEqual([column, 422])
        expect(answer.body.message).toContain(column)
      }
    }
    expect(await stored()).toEqual(before)
    expect((await bench.rest.get(path)).body.pageInfo.totalRows).toBe(1)

    const sent = {
      at0: '2024-12-31T23:59:59.999Z',
      at3: '2024-12-31T23:59:59.9999Z',
      hour0: '23:59:59.000',
      hour3: '23:59:59.999000',
    }
    expect((await bench.rest.patch(path, { id: 1, ...sent })).status).toBe(200)
    expect(await stored()).toMatchObject({
      at0: expect.stringMatching(/^2024-12-31 23:59:59(\+00:00)?$/),
      at3: expect.stringMatching(/^2024-12-31 23:59:59\.999(\+00:00)?$/),
      hour0: '23:59:59',
      hour3: '23:59:59.999',
    })
    await bench.stop()
    await foreign.stop()
  })
})

describe('fractions of a second in a table of our own', () => {
  test('are kept to the millisecond in instants, and refused in times of day', async () => {
    const bench = await createBench()
    const table = await bench.table({ At: 'DateTime', Hour: 'Time' })
    const created = await bench.rest.post(table.path, {
      At: '2024-01-02 03:04:05.123456',
      Hour: '12:34:56.000',
    })
    expect(created.status).toBe(200)
    const [row] = await table.list()
    expect(row).toMatchObject({ At: '2024-01-02 03:04:05.123+00:00', Hour: '12:34:56' })
    const refused = await bench.rest.post(table.path, { Hour: '12:34:56.5' })
    expect([refused.status, await table.total()]).toEqual([422, 1])
    await bench.stop()
  })
})
