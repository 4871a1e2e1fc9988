import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readLinks } from '../../src/core/fields/list-value.ts'
import type { Base } from '../../src/core/model.ts'
import { META_DATABASES, PASSWORD, type TestApp, type TestUser } from '../support/app.ts'
import { createTrpcClient } from '../support/client.ts'
import { createMember } from '../support/factories.ts'
import { ownTableNames } from '../support/home.ts'
import { createDatabase, type TestDatabase } from '../support/servers.ts'
import { until } from '../support/until.ts'
import { type ServerProcess, startServerProcess } from './server-process.ts'
import {
  analyse,
  type Door,
  ended,
  formatOf,
  openImports,
  reportOf,
  resultOf,
  startImport,
  upload,
} from './support.ts'

const columns = [{ title: 'Name' }, { title: 'Age', type: 'Number' as const }]
/** Takes a third of a second to import, where nothing else runs: a test may cancel or kill it after its first rows. */
const LONG_ROWS = 100_000
const LONG = `Name,Age\n${'Somebody with quite a long name,42\n'.repeat(LONG_ROWS)}`

/** Time for an import to begin; it takes a tenth of a second where nothing else runs. */
const BEGINS_WITHIN_MS = 20_000

/**
 * Waits until an import has written some rows.
 * @param rows more than these
 * @throws Error saying how far it is, where that takes too long
 */
async function underWay({ url, token }: Door, jobId: string, rows = 5_000): Promise<void> {
  const client = createTrpcClient(url, token)
  const signal = AbortSignal.timeout(BEGINS_WITHIN_MS)
  for (let asked = 0; ; asked++) {
    const { progress, status } = await client.jobs.get.query({ jobId }, { signal }).catch((error) => {
      throw new Error(`The server did not say how far the import is (asked ${asked} times)`, { cause: error })
    })
    if (progress.done > rows) return
    if (status !== 'waiting' && status !== 'active') throw new Error(`The job is ${status} already`)
    if (signal.aborted) throw new Error(`The import is ${status} and at ${progress.done} rows`)
    await Bun.sleep(5)
  }
}

const OURS = /^(sqlite_|sheaf_changes$|sheaf_change_records$|sheaf_places$|sheaf_version$|sheaf_release$)/

/** Names of the tables in a base's home, without our own, as they lie there while the server is away. */
function tablesIn(path: string): string[] {
  const file = new Database(path, { readonly: true })
  try {
    const rows = file.query<{ name: string }, []>("select name from sqlite_master where type = 'table'").all()
    return rows.map(({ name }) => name).filter((name) => !OURS.test(name))
  } finally {
    file.close()
  }
}

async function tablesInSchema(url: string, schema: string): Promise<string[]> {
  await using sql = new Bun.SQL(url, { max: 1 })
  const rows: { name: string }[] =
    await sql`select tablename as name from pg_tables where schemaname = ${schema}`
  return rows.map(({ name }) => name).filter((name) => !OURS.test(name))
}

describe('jobs.cancel', () => {
  let app: TestApp
  let owner: TestUser
  let base: Base
  let door: Door

  beforeAll(async () => {
    ;({ app, owner, base, door } = await openImports())
  })
  afterAll(() => app.stop())

  test('ends an import in the midst, and nothing of it is left', async () => {
    const viewer = await createMember(app, base.id, 'viewer')
    const jobId = await startImport(door, base.id, LONG, { title: 'Cancelled', columns })
    await underWay(door, jobId)
    await expect(app.trpc(viewer.token).jobs.cancel.mutate({ jobId })).rejects.toThrow(
      'You do not have permission',
    )
    await app.trpc(owner.token).jobs.cancel.mutate({ jobId })
    expect(await ended(door, jobId)).toMatchObject({ status: 'cancelled', result: null, error: null })
    expect(await ownTableNames(app, base.id)).toEqual([])
    expect(await app.trpc(owner.token).schema.tables.query({ baseId: base.id })).toEqual([])
  })

  test('has nothing left to end where the thread of the import is gone, and the base takes writes again', async () => {
    const threads: Worker[] = []
    const RealWorker = globalThis.Worker
    globalThis.Worker = class extends RealWorker {
      constructor(...given: ConstructorParameters<typeof RealWorker>) {
        super(...given)
        if (String(given[0]).includes('import-worker')) threads.push(this)
      }
    }
    try {
      const jobId = await startImport(door, base.id, LONG, { title: 'Lost', columns })
      await underWay(door, jobId)
      for (const thread of threads) thread.terminate()
      expect(await ended(door, jobId)).toMatchObject({ status: 'failed' })
    } finally {
      globalThis.Worker = RealWorker
    }
    expect(await ownTableNames(app, base.id)).toEqual([])
    const { table } = await app
      .trpc(owner.token)
      .schema.createTable.mutate({ baseId: base.id, title: 'After' })
    await app.trpc(owner.token).schema.deleteTable.mutate({ tableId: table.id })
  })

  test('leaves a job alone that has ended', async () => {
    const jobId = await startImport(door, base.id, 'Name,Age\nAnn,1\n', { title: 'Done', columns })
    const job = await ended(door, jobId)
    await app.trpc(owner.token).jobs.cancel.mutate({ jobId })
    expect(await ended(door, jobId)).toEqual(job)
  })

  test('ends a job that still waits: of one base, one import runs at a time', async () => {
    const first = await startImport(door, base.id, LONG, { title: 'First', columns })
    const second = await startImport(door, base.id, 'Name,Age\nAnn,1\n', { title: 'Second', columns })
    await underWay(door, first)
    const client = app.trpc(owner.token)
    expect(await client.jobs.get.query({ jobId: second })).toMatchObject({ status: 'waiting' })
    expect((await client.jobs.unfinished.query()).map(({ id }) => id).sort()).toEqual([first, second].sort())
    // A page that is as old as that has started them itself.
    const pageAgeMs = 3_600_000
    expect(await client.jobs.unfinished.query({ pageAgeMs })).toEqual([])
    await client.jobs.cancel.mutate({ jobId: second })
    expect(await ended(door, second)).toMatchObject({ status: 'cancelled' })
    const third = await startImport(door, base.id, 'Name,Age\nAnn,1\n', { title: 'Third', columns })
    await client.jobs.cancel.mutate({ jobId: first })
    expect(await ended(door, third)).toMatchObject({ status: 'completed' })
    expect(await client.jobs.unfinished.query()).toEqual([])
  })

  test('is not known to those outside the base', async () => {
    const jobId = await startImport(door, base.id, 'Name,Age\nAnn,1\n', { title: 'Hidden', columns })
    const stranger = await app.signUp()
    await expect(app.trpc(stranger.token).jobs.get.query({ jobId })).rejects.toThrow(
      `Job '${jobId}' not found`,
    )
    await ended(door, jobId)
  })

  test('keeps the file, so that the import can be started again', async () => {
    const uploadId = await upload(door, LONG)
    const input = {
      baseId: base.id,
      uploadId,
      format: formatOf(LONG),
      width: 2,
      columns: [{ index: 0 }],
      table: { title: 'Again', fields: [{ title: 'Name', type: 'SingleLineText' as const }] },
    }
    const { jobId } = await app.trpc(owner.token).imports.start.mutate(input)
    await underWay(door, jobId)
    await app.trpc(owner.token).jobs.cancel.mutate({ jobId })
    await ended(door, jobId)
    const again = await app.trpc(owner.token).imports.start.mutate(input)
    expect(resultOf(await ended(door, again.jobId)).rows).toBe(LONG_ROWS)
    await expect(
      app
        .trpc(owner.token)
        .imports.start.mutate({ ...input, table: { ...input.table, title: 'Third time' } }),
    ).rejects.toThrow('no longer available')
  })
})

describe.each(META_DATABASES)('a server with its bases in %s that is killed while an import runs', (home) => {
  let dataDir = ''
  let database: TestDatabase | null = null
  let server: ServerProcess | null = null
  let token = ''

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'sheaf-kill-'))
    if (home === 'postgres') database = await createDatabase('postgres')
    const account = { email: 'ann@example.com', password: PASSWORD }
    ;({ token } = await createTrpcClient(await spawn()).auth.signUp.mutate(account))
  })
  afterAll(async () => {
    await kill()
    rmSync(dataDir, { recursive: true, force: true })
    await database?.drop()
  })

  async function spawn(): Promise<string> {
    server = await startServerProcess(dataDir, database ? { DATABASE_URL: database.url } : {})
    return server.url
  }

  const tablesOf = (baseId: string) =>
    database ? tablesInSchema(database.url, `nc_${baseId}`) : tablesIn(join(dataDir, 'bases', `${baseId}.db`))

  const kill = () => server?.end('SIGKILL')

  /** A base with a table, in the server that the test before has left. */
  async function begin(): Promise<{ door: Door; baseId: string; tableId: string }> {
    const url = server?.url ?? ''
    const client = createTrpcClient(url, token)
    const { id: baseId } = await client.bases.create.mutate({ title: 'Killed' })
    const { table } = await client.schema.createTable.mutate({ baseId, title: 'Kept' })
    return { door: { url, token }, baseId, tableId: table.id }
  }

  /** What the home has after the last step of an import, when the server is killed before the metadata has the table. */
  async function publishInHome(baseId: string, staging: string): Promise<void> {
    const statements = [
      `create index "${staging}__nc_order_id" on "${staging}" (nc_order, id)`,
      `alter table "${staging}" rename to "Renamed"`,
    ]
    if (database) {
      await using sql = new Bun.SQL(database.url, { max: 1 })
      await sql.unsafe(`set search_path to "nc_${baseId}"`)
      for (const statement of statements) await sql.unsafe(statement)
      return
    }
    const file = new Database(join(dataDir, 'bases', `${baseId}.db`))
    for (const statement of statements) file.run(statement)
    file.close()
  }

  const rowsIn = async ({ url, token }: Door, tableId: string) =>
    (await createTrpcClient(url, token).records.count.query({ selection: { tableId } })).count

  test('goes on with it when it is back, and loses and repeats no row', async () => {
    const { door, baseId } = await begin()
    const jobId = await startImport(door, baseId, LONG, { title: 'Half', columns })
    await underWay(door, jobId)
    await kill()
    expect((await tablesOf(baseId)).filter((name) => name.startsWith('sheaf_import'))).toHaveLength(1)

    const again = { url: await spawn(), token: door.token }
    const { rows, tableId } = resultOf(await ended(again, jobId))
    expect(rows).toBe(LONG_ROWS)
    expect(await rowsIn(again, tableId)).toBe(LONG_ROWS)
    expect((await tablesOf(baseId)).toSorted()).toEqual(['Half', 'Kept'])
    await until(() => readdirSync(join(dataDir, 'reports')).length === 0, 'The reports are removed')
    expect(readdirSync(join(dataDir, 'uploads'))).toEqual([])
  })

  test('begins again where the home has the new table already, and the metadata does not', async () => {
    const { door, baseId } = await begin()
    const jobId = await startImport(door, baseId, LONG, { title: 'Renamed', columns })
    await underWay(door, jobId)
    await kill()
    await publishInHome(baseId, `sheaf_import_${jobId}`)
    const again = { url: await spawn(), token: door.token }
    const { rows, tableId } = resultOf(await ended(again, jobId))
    expect(rows).toBe(LONG_ROWS)
    expect(await rowsIn(again, tableId)).toBe(LONG_ROWS)
    expect((await tablesOf(baseId)).toSorted()).toEqual(['Kept', 'Renamed'])
  })

  test('updates a table once, however often it is killed, and reports refused rows once', async () => {
    const { door, baseId, tableId } = await begin()
    const { fields } = await createTrpcClient(door.url, door.token).schema.table.query({ tableId })
    const title = fields.find((field) => field.isDisplay)!
    const import_ = async (by: Door, file: string) => {
      const { jobId } = await createTrpcClient(by.url, by.token).imports.start.mutate({
        baseId,
        tableId,
        uploadId: await upload(by, file),
        format: formatOf(file),
        width: 1,
        columns: [{ index: 0, fieldId: title.id }],
        update: { keys: [title.id] },
      })
      return jobId
    }
    const first = await ended(door, await import_(door, 'Name\nkey 1\nkey 2\n'))
    expect(resultOf(first).rows).toBe(2)
    const lines = Array.from({ length: 60_000 }, (_, at) => `key ${at}`).join('\n')
    const jobId = await import_(door, `Name\nkey 0\n${lines}\n`)
    let by = door
    for (let round = 0; round < 3; round++) {
      await Bun.sleep(100 + 200 * round)
      await kill()
      by = { url: await spawn(), token: door.token }
    }
    const result = resultOf(await ended(by, jobId))
    expect(result).toMatchObject({ rowsRefused: 1, problems: 1 })
    expect(result.update).toMatchObject({ added: 59_998, changed: 0, unchanged: 2, repeated: 1 })
    expect(await rowsIn(by, tableId)).toBe(60_000)
    expect(await tablesOf(baseId)).toEqual(['Kept'])
  }, 180_000)

  test('drops an index that refuses a value, also if it is killed while readers delay that', async () => {
    if (!database) return
    const { door, baseId, tableId } = await begin()
    const client = createTrpcClient(door.url, door.token)
    const { table, fields } = await client.schema.table.query({ tableId })
    const title = fields.find((field) => field.isDisplay)!
    const terms = [{ fieldId: title.id, as: 'value' as const, direction: 'asc' as const }]
    const { id } = await client.indexes.create.mutate({ tableId, terms })
    const indexIn = async ({ url, token }: Door) =>
      (await createTrpcClient(url, token).indexes.list.query({ tableId })).find((index) => index.id === id)
    await until(async () => (await indexIn(door))?.state === 'ready', 'The index')
    const letters = Array.from({ length: 12_000 }, () => Math.random().toString(36)[2] ?? 'x').join('')
    const file = `Title\n${letters}\n`
    await using reader = new Bun.SQL(database.url, { max: 1 })
    await using watch = new Bun.SQL(database.url, { max: 1 })
    const isDropping = async () =>
      (
        await watch`select 1 from pg_stat_activity
          where query like ${`drop index concurrently%${id}%`} and wait_event_type = 'Lock'`
      ).length > 0
    let jobId = ''
    await reader.begin(async (sql) => {
      await sql.unsafe(`select 1 from "nc_${baseId}"."${table.tableName}" limit 1`)
      ;({ jobId } = await client.imports.start.mutate({
        baseId,
        tableId,
        uploadId: await upload(door, file),
        format: formatOf(file),
        width: 1,
        columns: [{ index: 0, fieldId: title.id }],
      }))
      await until(isDropping, 'The drop of the index')
      // Others write meanwhile: the import holds no lease.
      const values = { [title.id]: 'short' }
      const operations = [{ kind: 'insert' as const, tableId, rows: [{ values }] }]
      await client.records.write.mutate({ change: { baseId, operations } })
      await kill()
    })
    const again = { url: await spawn(), token: door.token }
    expect(resultOf(await ended(again, jobId)).rows).toBe(1)
    expect(await rowsIn(again, tableId)).toBe(2)
    await until(async () => (await indexIn(again))?.state === 'failed', 'The note of the refusal')
    expect((await indexIn(again))?.error).toContain('index row')
  }, 180_000)

  test('links the tables of an import completely, and creates each missing record once', async () => {
    const { door, baseId } = await begin()
    const lines = Array.from({ length: 50_000 }, (_, at) => `${at},Customer ${at % 5000}`)
    const table = async (title: string, file: string) => ({
      baseId,
      uploadId: await upload(door, file),
      format: formatOf(file),
      width: 2,
      table: { title, fields: ['No', 'Name'].map((name) => ({ title: name, type: 'LongText' as const })) },
    })
    const jobs = await createTrpcClient(door.url, door.token).imports.startAll.mutate([
      {
        ...(await table('Orders', `No,Name\n${lines.join('\n')}\n`)),
        columns: [{ index: 0 }, { index: 1, link: { to: { table: 1 }, missing: 'create' } }],
      },
      { ...(await table('Customers', 'No,Name\nCustomer 7,x\n')), columns: [{ index: 0 }, { index: 1 }] },
    ])
    let by = door
    const [ordersJob = '', customersJob = ''] = jobs.map(({ jobId }) => jobId)
    // While the larger table is filled, and twice while both are linked, which begins when they are filled.
    for (const isReached of [
      () => underWay(by, ordersJob, 0),
      () => ended(by, customersJob),
      () => Bun.sleep(150),
    ]) {
      await isReached()
      await Bun.sleep(30)
      await kill()
      by = { url: await spawn(), token: door.token }
    }
    const ends = await Promise.all(jobs.map(({ jobId }) => ended(by, jobId)))
    expect(ends.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed'])
    const [orders = '', customers = ''] = ends.map(({ result }) => (result as { tableId?: string }).tableId)
    expect(await rowsIn(by, customers)).toBe(5000)
    const client = createTrpcClient(by.url, by.token)
    const { fields } = await client.schema.table.query({ tableId: orders })
    const link = fields.find(({ title }) => title === 'Name')
    expect(link?.type).toBe('LinkToAnotherRecord')
    for (const offset of [0, 25_000, 49_000]) {
      const page = await client.records.list.query({
        query: { tableId: orders, fieldIds: [link?.id ?? ''], limit: 1000, offset },
      })
      expect(page.rows.filter(([cell]) => readLinks(cell ?? null).count === 1)).toHaveLength(1000)
    }
  }, 180_000)

  test('links lists with records of an existing table once, whether a row adds or finds its record', async () => {
    const { door, baseId, tableId } = await begin()
    const client = createTrpcClient(door.url, door.token)
    const fieldOf = async (by: Door, id: string, title: string) => {
      const { fields } = await createTrpcClient(by.url, by.token).schema.table.query({ tableId: id })
      return fields.find((field) => field.title === title)
    }
    const { table: lines } = await client.schema.createTable.mutate({
      baseId,
      title: 'Lines',
      fields: [{ title: 'Sku', type: 'SingleLineText' }],
    })
    const { id: linkId } = await client.schema.createField.mutate({
      tableId,
      field: { title: 'Lines', type: 'Links', options: { kind: 'hm', relatedTableId: lines.id } },
    })
    const { fields } = await client.schema.table.query({ tableId })
    const [name, sku, order] = [
      fields.find(({ isDisplay }) => isDisplay),
      await fieldOf(door, lines.id, 'Sku'),
      await fieldOf(door, lines.id, 'Kept'),
    ].map((field) => field?.id ?? '')
    await client.records.write.mutate({
      change: {
        baseId,
        operations: [
          { kind: 'insert', tableId, rows: [{ values: { [name!]: 'o7' } }, { values: { [name!]: 'o3' } }] },
        ],
      },
    })
    const orders = 10_000
    const file = Array.from({ length: orders }, (_, at) => ({
      name: `o${at}`,
      lines: [{ sku: `${at} a` }, { sku: `${at} b` }],
      notes: [{ text: `note ${at}` }],
    }))
    const uploadId = await upload(door, JSON.stringify(file), 'orders.json')
    const [own, ofLines, ofNotes] = (await analyse(door, uploadId)).map(({ analysis }) => analysis!)
    const common = { baseId, uploadId, timeZone: 'UTC' }
    const link = { to: { table: 0 }, by: 'row' as const, missing: 'report' as const }
    const jobs = await client.imports.startAll.mutate([
      {
        ...common,
        format: own!.format,
        width: own!.fields.length,
        tableId,
        columns: [{ index: 0, fieldId: name! }],
        update: { keys: [name!], mode: 'updateAndAdd', emptyCells: 'keep' },
      },
      {
        ...common,
        format: ofLines!.format,
        width: 2,
        tableId: lines.id,
        columns: [
          { index: 0, fieldId: order!, link },
          { index: 1, fieldId: sku! },
        ],
      },
      {
        ...common,
        format: ofNotes!.format,
        width: 2,
        table: {
          title: 'Notes',
          fields: [
            { title: 'Order', type: 'Number' },
            { title: 'Text', type: 'SingleLineText', isDisplay: true },
          ],
        },
        columns: [{ index: 0, link }, { index: 1 }],
      },
    ])
    let by = door
    const [ordersJob = '', linesJob = '', notesJob = ''] = jobs.map(({ jobId }) => jobId)
    const jobOf = (jobId: string) => createTrpcClient(by.url, by.token).jobs.get.query({ jobId })
    // Before the rows of the orders have records, while lines are linked with them, and while the links of notes are made.
    for (const isReached of [
      () => until(async () => (await jobOf(ordersJob)).status !== 'waiting'),
      () => ended(by, ordersJob),
      () => ended(by, linesJob),
      () => ended(by, notesJob),
    ]) {
      await isReached()
      await kill()
      by = { url: await spawn(), token: door.token }
    }
    const ends = await Promise.all(jobs.map(({ jobId }) => ended(by, jobId)))
    expect(ends.map(({ status, error }) => [status, error])).toEqual(jobs.map(() => ['completed', null]))
    const notesId = resultOf(ends[2]!).tableId
    expect(await rowsIn(by, tableId)).toBe(orders)
    expect(await rowsIn(by, lines.id)).toBe(2 * orders)
    expect(await rowsIn(by, notesId)).toBe(orders)
    const now = createTrpcClient(by.url, by.token)
    const notes = await fieldOf(by, tableId, 'Notes')
    for (const offset of [0, 5000, 9000]) {
      const page = await now.records.list.query({
        query: { tableId, fieldIds: [name!, linkId, notes?.id ?? ''], limit: 1000, offset },
      })
      for (const [title, linked, noted] of page.rows) {
        const number = String(title).slice(1)
        const titlesIn = (cell: typeof linked) =>
          readLinks(cell ?? null).records.map((record) => record.title)
        expect([titlesIn(linked), titlesIn(noted)]).toEqual([
          [`${number} a`, `${number} b`],
          [`note ${number}`],
        ])
      }
    }
    expect(readdirSync(join(dataDir, 'reports')).filter((file) => file.includes('.rows'))).toEqual([])
  }, 180_000)

  test('has added nothing to a table that exists where the file is gone', async () => {
    const { door, baseId, tableId } = await begin()
    const client = createTrpcClient(door.url, door.token)
    const { fields } = await client.schema.table.query({ tableId })
    const title = fields.find((field) => field.isDisplay)!
    const { jobId } = await client.imports.start.mutate({
      baseId,
      tableId,
      uploadId: await upload(door, LONG),
      format: formatOf(LONG),
      width: 2,
      columns: [{ index: 0, fieldId: title.id }],
    })
    await underWay(door, jobId)
    await kill()
    for (const name of readdirSync(join(dataDir, 'uploads'))) rmSync(join(dataDir, 'uploads', name))
    const again = { url: await spawn(), token: door.token }
    const job = await ended(again, jobId)
    expect(job).toMatchObject({ status: 'failed' })
    expect(job.error).toContain('The server stopped')
    expect(await rowsIn(again, tableId)).toBe(0)
    expect(await tablesOf(baseId)).toEqual(['Kept'])
  })

  describe('and whose table is gone when it is back', () => {
    /** Changes the row of a table in the metadata, as another server would. */
    async function patchTable(
      tableId: string,
      patch: { deletedAt: string; movedTo?: string },
    ): Promise<void> {
      const { deletedAt, movedTo = null } = patch
      if (database) {
        await using sql = new Bun.SQL(database.url, { max: 1 })
        await sql`update tables set deleted_at = ${deletedAt}, moved_to = ${movedTo} where id = ${tableId}`
        return
      }
      using file = new Database(join(dataDir, 'sheaf.db'))
      file.run('update tables set deleted_at = ?, moved_to = ? where id = ?', [deletedAt, movedTo, tableId])
    }

    test.each(['deleted', 'moved'] as const)(
      'says that it was %s, and adds and leaves nothing',
      async (end) => {
        const { door, baseId, tableId } = await begin()
        const client = createTrpcClient(door.url, door.token)
        const { fields } = await client.schema.table.query({ tableId })
        const title = fields.find((field) => field.isDisplay)!
        const other = await client.bases.create.mutate({ title: 'Other' })
        const there = (await client.schema.createTable.mutate({ baseId: other.id, title: 'New home' })).table
        const { jobId } = await client.imports.start.mutate({
          baseId,
          tableId,
          uploadId: await upload(door, LONG),
          format: formatOf(LONG),
          width: 2,
          columns: [{ index: 0, fieldId: title.id }],
        })
        await underWay(door, jobId)
        await kill()
        const deletedAt = new Date().toISOString()
        await patchTable(tableId, { deletedAt, ...(end === 'moved' && { movedTo: there.id }) })

        const again = { url: await spawn(), token: door.token }
        const { status, error, result } = await ended(again, jobId)
        expect({ status, result }).toEqual({ status: 'failed', result: null })
        expect(error).toContain('cannot go on')
        expect(error).toContain(end === 'moved' ? '“New home” was moved to the base “Other”' : 'was deleted')
        expect(error).toContain('Nothing was imported')
        expect(await rowsIn(again, there.id)).toBe(0)
        expect(await tablesOf(baseId)).toEqual(['Kept'])
        expect(readdirSync(join(dataDir, 'reports'))).not.toContain(`${jobId}.csv`)
        if (end === 'moved') return
        await createTrpcClient(again.url, again.token).schema.restoreTable.mutate({ tableId })
        expect(await rowsIn(again, tableId)).toBe(0)
      },
    )
  })

  test('goes on where it is told to stop, and can be cancelled then', async () => {
    const { door, baseId } = await begin()
    const jobId = await startImport(door, baseId, LONG, { title: 'Stopped', columns })
    const other = await startImport(door, baseId, LONG, { title: 'Waiting', columns })
    await underWay(door, jobId)
    expect(await server?.end('SIGTERM')).toBe(0)
    const again = { url: await spawn(), token: door.token }
    const client = createTrpcClient(again.url, again.token)
    expect((await client.jobs.unfinished.query()).map(({ id }) => id).toSorted()).toEqual(
      [jobId, other].toSorted(),
    )
    await client.jobs.cancel.mutate({ jobId: other })
    expect(resultOf(await ended(again, jobId)).rows).toBe(LONG_ROWS)
    expect(await ended(again, other)).toMatchObject({ status: 'cancelled' })
    expect((await tablesOf(baseId)).toSorted()).toEqual(['Kept', 'Stopped'])
  })

  test('leaves nothing of it where it was cancelled just before', async () => {
    const { door, baseId } = await begin()
    const jobId = await startImport(door, baseId, LONG, { title: 'Begun', columns })
    await underWay(door, jobId)
    await createTrpcClient(door.url, door.token).jobs.cancel.mutate({ jobId })
    await kill()
    const again = { url: await spawn(), token: door.token }
    const { status } = await ended(again, jobId)
    // On a machine that pauses it may have ended before it was cancelled.
    expect(['cancelled', 'completed']).toContain(status)
    expect((await tablesOf(baseId)).toSorted()).toEqual([
      ...(status === 'completed' ? ['Begun'] : []),
      'Kept',
    ])
  })

  test('leaves nothing of it where it is cancelled while it waits to go on', async () => {
    const { door, baseId } = await begin()
    const jobId = await startImport(door, baseId, LONG, { title: 'Begun', columns })
    const other = await startImport(door, baseId, LONG, { title: 'First', columns })
    await underWay(door, jobId)
    await kill()
    const early = '2026-01-01T00:00:00.000Z'
    if (database) {
      await using sql = new Bun.SQL(database.url, { max: 1 })
      await sql`update jobs set created_at = ${early} where id = ${other}`
    } else {
      using file = new Database(join(dataDir, 'sheaf.db'))
      file.run('update jobs set created_at = ? where id = ?', [early, other])
    }
    const again = { url: await spawn(), token: door.token }
    await createTrpcClient(again.url, again.token).jobs.cancel.mutate({ jobId })
    const { status } = await ended(again, jobId)
    expect(resultOf(await ended(again, other)).rows).toBe(LONG_ROWS)
    // On a machine that pauses it may have ended before it was cancelled.
    const begun = status === 'completed' ? ['Begun'] : []
    expect(['cancelled', 'completed']).toContain(status)
    expect((await tablesOf(baseId)).toSorted()).toEqual([...begun, 'First', 'Kept'])
  })
})

describe('a server that is killed between the rows of an import and its end', () => {
  test('keeps the file for the other tables of it when it is back', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'sheaf-kill-'))
    let server = await startServerProcess(dataDir)
    try {
      const account = { email: 'ann@example.com', password: PASSWORD }
      const { token } = await createTrpcClient(server.url).auth.signUp.mutate(account)
      const door = { url: server.url, token }
      const client = createTrpcClient(server.url, token)
      const { id: baseId } = await client.bases.create.mutate({ title: 'Killed' })
      const uploadId = await upload(door, LONG)
      const into = (title: string) => ({
        baseId,
        uploadId,
        format: formatOf(LONG),
        width: 2,
        columns: [{ index: 0 }],
        table: { title, fields: [{ title: 'Name', type: 'SingleLineText' as const }] },
      })
      // The ends cannot be stored.
      const meta = new Database(join(dataDir, 'sheaf.db'))
      meta.run('pragma busy_timeout = 20000')
      meta.run(
        `create trigger no_end before update on jobs when new.status in ('completed', 'failed')
        begin select raise(abort, 'not now'); end`,
      )
      const jobs = await client.imports.startAll.mutate([into('First'), into('Second')])
      await until(async () => {
        const tables = await client.schema.tables.query({ baseId })
        return tables.some(({ title }) => title === 'First')
      }, 'The first table')
      await server.end('SIGKILL')
      meta.run('drop trigger no_end')
      meta.close()
      server = await startServerProcess(dataDir)
      const again = { url: server.url, token }
      const ends = await Promise.all(jobs.map(({ jobId }) => ended(again, jobId)))
      expect(ends.map((job) => resultOf(job).rows)).toEqual([LONG_ROWS, LONG_ROWS])
      const left = () => readdirSync(join(dataDir, 'uploads'))
      await until(() => left().length === 0, 'The file is removed')
    } finally {
      await server.end('SIGKILL')
      rmSync(dataDir, { recursive: true, force: true })
    }
  }, 180_000)

  test.each([
    ['counts the refused rows and cells', { rowsRefused: 2, cellsRefused: 1, problems: 3 }, false],
    // As a loss of power may leave it.
    [
      'knows its rows, and that there are problems, if the file with the counts is empty',
      { problems: 1 },
      true,
    ],
  ])(
    '%s when it is back',
    async (_, counts, isEmpty) => {
      const dataDir = mkdtempSync(join(tmpdir(), 'sheaf-kill-'))
      let server = await startServerProcess(dataDir)
      try {
        const account = { email: 'ann@example.com', password: PASSWORD }
        const { token } = await createTrpcClient(server.url).auth.signUp.mutate(account)
        const door = { url: server.url, token }
        const client = createTrpcClient(server.url, token)
        const { id: baseId } = await client.bases.create.mutate({ title: 'Killed' })
        const { table, fields } = await client.schema.createTable.mutate({
          baseId,
          title: 'Kept',
          fields: [
            { title: 'Must', type: 'SingleLineText', required: true },
            { title: 'Age', type: 'Number' },
          ],
        })
        const file = `Must,Age\n${'Somebody,42\n'.repeat(LONG_ROWS)},1\n,2\nAnn,many\n`
        const { jobId } = await client.imports.start.mutate({
          baseId,
          tableId: table.id,
          uploadId: await upload(door, file),
          format: formatOf(file),
          width: 2,
          columns: ['Must', 'Age'].map((title, index) => ({
            index,
            fieldId: fields.find((field) => field.title === title)!.id,
          })),
        })
        await underWay(door, jobId)
        // The end cannot be stored.
        const meta = new Database(join(dataDir, 'sheaf.db'))
        meta.run('pragma busy_timeout = 20000')
        meta.run(
          `create trigger no_end before update on jobs when new.status in ('completed', 'failed')
          begin select raise(abort, 'not now'); end`,
        )
        const home = new Database(join(dataDir, 'bases', `${baseId}.db`), { readonly: true })
        const rows = home.query<{ n: number }, []>(`select count(*) as n from "${table.tableName}"`)
        await until(async () => (rows.get()?.n ?? 0) > 0, 'The rows of the import', 60_000)
        await server.end('SIGKILL')
        home.close()
        meta.run('drop trigger no_end')
        meta.close()
        if (isEmpty) writeFileSync(join(dataDir, 'reports', `${jobId}.counts.json`), '')
        server = await startServerProcess(dataDir)
        const result = resultOf(await ended({ url: server.url, token }, jobId))
        expect(result).toMatchObject({ rows: LONG_ROWS + 1, ...counts })
        expect(result.samples).toHaveLength(isEmpty ? 0 : 3)
        expect(await reportOf({ url: server.url, token }, jobId)).toHaveLength(3)
        const left = () => readdirSync(join(dataDir, 'reports')).join()
        await until(() => left() === `${jobId}.csv`, 'The counts are removed')
      } finally {
        await server.end('SIGKILL')
        rmSync(dataDir, { recursive: true, force: true })
      }
    },
    180_000,
  )
})
