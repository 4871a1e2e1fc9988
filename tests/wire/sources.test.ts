import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createForeign, type ForeignDatabase } from '../sources/support.ts'
import { M, openShop, outcome, type Shop } from './support.ts'

// Wire §6, with §13.2 for the job that makes a source: a base reads a database of its owner's.

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects of an answer
type Answer = Record<string, any>

const SCHEMA = [
  'create table maker (id serial primary key, name varchar(40) not null)',
  'create table part (id int primary key, maker_id int references maker(id), made_at timestamp, ok boolean)',
  'create view makers as select id, name from maker',
]

let shop: Shop
let database: ForeignDatabase
let path: string
let messages: Answer[]
let source: Answer
beforeAll(async () => {
  shop = await openShop()
  database = await createForeign('postgres', SCHEMA)
  path = `${M}/projects/${shop.baseId}/bases`
  const sent = { alias: 'Ext', type: 'pg', config: database.sent, inflection_table: 'none' }
  const { body } = await shop.rest.post(path, { ...sent, inflection_column: 'none' })
  messages = await listen(body.id)
  source = await shop.rest.get(`${path}/${messages.at(-2)?.data.data.result.id}`)
})
afterAll(async () => {
  await database.stop()
  await shop.app.stop()
})

/** Everything that a client hears of a job, as it asks again and again. */
async function listen(id: string): Promise<Answer[]> {
  const heard: Answer[] = []
  for (;;) {
    const { body } = await shop.rest.post('/jobs/listen', { _mid: heard.at(-1)?._mid ?? 0, data: { id } })
    heard.push(...(Array.isArray(body) ? body : [body]))
    if (heard.at(-1)?.status !== 'update') return heard
  }
}

const tablesOf = async (sourceId: string) =>
  (await shop.rest.get(`${M}/projects/${shop.baseId}/${sourceId}/tables`)).body.list as Answer[]
const wholeTable = async (title: string): Promise<Answer> => {
  const { id } = (await tablesOf(source.body.id)).find((table) => table.title === title) ?? {}
  return (await shop.rest.get(`${M}/tables/${id}`)).body
}

describe('POST M/projects/{b}/bases', () => {
  test('answers a job, which is heard of until it closes', () => {
    const id = messages[0]?.data.id
    expect(id).toMatch(/^job[a-z0-9]{14}$/)
    expect(messages.map(({ status }) => status)).toEqual([...messages.slice(1).map(() => 'update'), 'close'])
    const states = messages.flatMap(({ data }) => data?.status ?? [])
    expect(states.at(-1)).toBe('completed')
    expect(messages.at(-2)).toMatchObject({ data: { id, data: { result: { id: source.body.id } } } })
    expect(messages.slice(0, -1).map(({ _mid }) => _mid)).toEqual(messages.slice(1).map((_, at) => at + 1))
  })

  test('lists the job by its kind', async () => {
    const { status, body } = await shop.rest.post(`/api/v2/jobs/${shop.baseId}`, { job: 'source-create' })
    expect([status, body.length]).toEqual([201, 1])
    const keys = ['id', 'job', 'status', 'result', 'fk_user_id', 'fk_workspace_id', 'base_id']
    expect(Object.keys(body[0])).toEqual([...keys, 'created_at', 'updated_at'])
    expect(body[0]).toMatchObject({ job: 'source-create', status: 'completed', base_id: shop.baseId })
  })

  test('makes one source at a time', async () => {
    const sent = { alias: 'Again', type: 'pg', config: database.sent }
    const answers = await Promise.all([shop.rest.post(path, sent), shop.rest.post(path, sent)])
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.map(outcome)).toEqual([
      [400, { msg: 'Another source creation is in progress for this base.' }],
    ])
    const made = answers.find(({ status }) => status === 200)?.body.id
    const id = (await listen(made)).at(-2)?.data.data.result.id
    await listen((await shop.rest.delete(`${path}/${id}`)).body.id)
  })

  test.each<[unknown, string]>([
    [{}, 'A source needs a `config` with the client and its connection'],
    [{ type: 'nope', config: { client: 'nope', connection: {} } }, 'Database not supported'],
    [{ config: { client: 'pg', connection: 'x' } }, 'Invalid request body'],
    [[], 'Invalid request body'],
  ])('refuses %j', async (sent, msg) => {
    const { status, body } = await shop.rest.post(path, sent)
    expect([status, body.msg]).toEqual([400, msg])
    expect((await shop.rest.get(path)).body.list).toHaveLength(2)
  })
})

describe('POST M/projects/ with sources', () => {
  const create = (title: string, sources: object[]) =>
    shop.rest.post(`${M}/projects/`, { title, type: 'database', sources })
  const unreachable = () => {
    const connection = { ...database.sent.connection, port: 1 }
    return { type: 'pg', config: { ...database.sent, connection } }
  }

  test('creates no base if a connection is refused', async () => {
    const wanted = { type: 'pg', config: database.sent }
    const config = { client: 'nope', connection: { host: 'x' } }
    expect(outcome(await create('Refused', [{ config }]))).toEqual([400, { msg: 'Database not supported' }])
    for (const sources of [[{}], [{ type: 'pg' }], [wanted, wanted], [unreachable()]])
      expect((await create('Refused', sources)).status).toBe(400)
    const { list } = (await shop.rest.get(`${M}/projects/`)).body
    expect(list.map(({ title }: Answer) => title)).not.toContain('Refused')
  })

  test('connects the new base', async () => {
    const { status, body } = await create('Connected', [{ type: 'pg', alias: 'Ext', config: database.sent }])
    expect(status).toBe(200)
    const [job] = (await shop.rest.post(`/api/v2/jobs/${body.id}`, { job: 'source-create' })).body
    await listen(job.id)
    const base = (await shop.rest.get(`${M}/projects/${body.id}`)).body
    expect(base.sources.map(({ alias }: Answer) => alias)).toEqual([null, 'Ext'])
    // A base that a client has read has no connections.
    const copied = await create('Copied', base.sources)
    expect([copied.status, copied.body.sources.length]).toEqual([200, 1])
    for (const { id } of [body, copied.body]) await shop.rest.delete(`${M}/projects/${id}`)
  })
})

describe('a source', () => {
  test('has every key, and of its connection the client alone', async () => {
    expect(source.body).toEqual({
      id: expect.stringMatching(/^b[a-z0-9]{14}$/),
      base_id: shop.baseId,
      alias: 'Ext',
      meta: null,
      is_meta: false,
      type: 'pg',
      inflection_column: 'none',
      inflection_table: 'none',
      enabled: true,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      order: 2,
      description: null,
      erd_uuid: null,
      deleted: false,
      is_schema_readonly: false,
      is_data_readonly: false,
      fk_integration_id: null,
      is_local: false,
      is_encrypted: true,
      integration_title: null,
      upgraderQueries: [],
      config: { client: 'pg' },
    })
    const { body } = await shop.rest.get(path)
    expect(body.list[1]).toEqual(source.body)
    expect(body.pageInfo).toEqual({
      totalRows: 2,
      page: 1,
      pageSize: 2,
      isFirstPage: true,
      isLastPage: true,
    })
    expect((await shop.rest.get(`${M}/projects/${shop.baseId}`)).body.sources).toEqual(body.list)
  })

  test('is counted in the report of the server, its views beside its tables', async () => {
    const { bases } = (await shop.rest.get('/api/v1/aggregated-meta-info')).body
    const counts = { external: true, tableCount: { table: 2, view: 1 } }
    expect(bases).toContainEqual(expect.objectContaining(counts))
  })

  test('is renamed, also by one that is sent back whole', async () => {
    const renamed = await shop.rest.patch(`${path}/${source.body.id}`, { alias: 'Parts' })
    expect(renamed.body.alias).toBe('Parts')
    const again = await shop.rest.patch(`${path}/${source.body.id}`, { ...renamed.body, alias: 'Ext' })
    expect([again.status, again.body.alias, again.body.type]).toEqual([200, 'Ext', 'pg'])
    const rows = await shop.rest.get(`/api/v2/tables/${(await wholeTable('maker')).id}/records`)
    expect(rows.status).toBe(200)
  })

  test('that is not there, and the base’s own, are refused as clients know it', async () => {
    expect(outcome(await shop.rest.get(`${path}/bnope`))).toEqual([
      404,
      { error: 'SOURCE_NOT_FOUND', message: "Source 'bnope' not found" },
    ])
    expect(outcome(await shop.rest.delete(`${path}/${shop.sourceId}`))).toEqual([
      400,
      { msg: 'Error: Cannot delete first base' },
    ])
    expect(await tablesOf('bnope')).toEqual([])
    const post = await shop.rest.post(`${M}/projects/${shop.baseId}/bnope/tables`, {
      title: 'x',
      columns: [],
    })
    expect(outcome(post)).toEqual([404, { msg: 'Source not found or source id not extracted' }])
  })
})

describe('its tables', () => {
  test('keep the names of the database, views among them', async () => {
    const tables = await tablesOf(source.body.id)
    expect(tables.map(({ title, table_name, type }) => [title, table_name, type]).toSorted()).toEqual([
      ['maker', 'maker', 'table'],
      ['makers', 'makers', 'view'],
      ['part', 'part', 'table'],
    ])
    for (const { source_id: id, mm } of tables) expect([id, mm]).toEqual([source.body.id, false])
  })

  test('show a foreign key as the key and a link, with a has-many link on the other side', async () => {
    const [part, maker] = [await wholeTable('part'), await wholeTable('maker')]
    const shown = (table: Answer) =>
      table.columns.map(({ title, uidt, dt, pk }: Answer) => [title, uidt, dt, pk])
    expect(shown(part)).toEqual([
      ['id', 'Number', 'integer', true],
      ['maker_id', 'ForeignKey', 'integer', false],
      ['made_at', 'DateTime', 'timestamp without time zone', false],
      ['ok', 'Checkbox', 'boolean', false],
      ['maker', 'LinkToAnotherRecord', null, null],
    ])
    expect(shown(maker)).toEqual([
      ['id', 'ID', 'integer', true],
      ['name', 'SingleLineText', 'character varying', false],
      ['part', 'Links', null, null],
    ])
    const [many, one] = [maker.columns.at(-1).colOptions, part.columns.at(-1).colOptions]
    expect(many).toMatchObject({ type: 'hm', fk_related_model_id: part.id, rollup_function: 'count' })
    expect(one).toMatchObject({ type: 'bt', fk_related_model_id: maker.id })
    for (const key of ['fk_child_column_id', 'fk_parent_column_id']) expect(one[key]).toBe(many[key])
    expect([one.fk_child_column_id, one.fk_parent_column_id]).toEqual([
      part.columns[1].id,
      maker.columns[0].id,
    ])
  })

  test('are read and written as any other, by the rules of their database', async () => {
    const records = async (title: string) => `/api/v2/tables/${(await wholeTable(title)).id}/records`
    expect(outcome(await shop.rest.post(await records('maker'), { name: 'Acme' }))).toEqual([200, { id: 1 }])
    const row = { id: 5, maker_id: 1, made_at: '2024-01-02 03:04:05', ok: true }
    expect(outcome(await shop.rest.post(await records('part'), row))).toEqual([200, { id: 5 }])
    expect((await shop.rest.get(await records('part'))).body.list).toEqual([
      // A checkbox as PostgreSQL has it, whatever the base's home is.
      { ...row, made_at: '2024-01-02 03:04:05+00:00', maker: { id: 1, name: 'Acme' } },
    ])
    expect((await shop.rest.get(await records('maker'))).body.list).toEqual([
      { id: 1, name: 'Acme', part: 1 },
    ])
    const refused = async (title: string, body: object) => {
      const answer = await shop.rest.post(await records(title), body)
      return [answer.status, answer.body.error]
    }
    expect(await refused('maker', {})).toEqual([422, 'REQUIRED_FIELD_MISSING'])
    expect(await refused('part', { id: 5 })).toEqual([400, 'DATABASE_ERROR'])
    expect(await refused('part', { id: 6, maker_id: 77 })).toEqual([422, 'INVALID_VALUE_FOR_FIELD'])
    expect(await refused('makers', { name: 'x' })).toEqual([403, 'FORBIDDEN'])
  })
})

test('DELETE M/projects/{b}/bases/{s} answers a job, after which its tables are gone', async () => {
  const { id } = await wholeTable('maker')
  const heard = await listen((await shop.rest.delete(`${path}/${source.body.id}`)).body.id)
  expect(heard.at(-2)?.data.status).toBe('completed')
  expect((await shop.rest.get(`${path}/${source.body.id}`)).status).toBe(404)
  expect((await shop.rest.get(`${M}/tables/${id}`)).body.error).toBe('TABLE_NOT_FOUND')
  expect(await database.ask('select name from maker')).toEqual([{ name: 'Acme' }])
})
