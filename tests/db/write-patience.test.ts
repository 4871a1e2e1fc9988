import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { asCaller } from '../../src/caller.ts'
import { postgresConnection } from '../../src/db/connection.ts'
import { openPostgresDatabase, openPostgresEngine } from '../../src/db/postgres/engine.ts'
import type { Engine } from '../../src/dialects/dialect.ts'
import { ENGINES, type TestEngine } from '../dialects/engines.ts'
import { createTestApp } from '../support/app.ts'
import { createRestClient } from '../support/client.ts'
import { createDatabase } from '../support/servers.ts'

const PATIENCE_MS = 300
/** After this time without a sign of life, the transaction of a process ends. */
const IDLE_MS = 3_000
/** Begins a write in a process of its own. */
const WRITER = join(import.meta.dir, 'still-writer.ts')

/** Runs a write as a request does that may take so long. */
const asRequest = <T>(write: () => Promise<T>): Promise<T> =>
  asCaller(new Request('http://localhost/'), PATIENCE_MS, write)

/** Keeps a change of whole tables running until it is let go. */
function hold(engine: Engine): { isRunning: Promise<void>; releaseLinks(): void; ended: Promise<unknown> } {
  const running = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const ended = engine.writeScript(async () => {
    running.resolve()
    await gate.promise
    return []
  })
  return { isRunning: running.promise, releaseLinks: gate.resolve, ended }
}

const busy = { code: 'BASE_BUSY', status: 503 }

describe.each(ENGINES)('behind a change of whole tables in $client', ({ open }) => {
  let made: TestEngine
  beforeAll(async () => {
    made = await open()
  })
  afterAll(() => made.close())

  test('writes of requests wait for so long and are refused; those that must be made wait on', async () => {
    const { engine } = made
    const change = hold(engine)
    await change.isRunning
    let runs = 0
    const run = async () => ++runs
    const startedAt = performance.now()
    await expect(asRequest(() => engine.write(run))).rejects.toMatchObject(busy)
    await expect(asRequest(() => engine.writeTogether(run))).rejects.toMatchObject(busy)
    expect(performance.now() - startedAt).toBeLessThan(200 * PATIENCE_MS)
    const followUp = asRequest(() => engine.write(run, undefined, { isFollowUp: true }))
    const ofJob = engine.write(run)
    await Bun.sleep(2 * PATIENCE_MS)
    expect(runs).toBe(0)
    change.releaseLinks()
    await Promise.all([followUp, ofJob, change.ended])
    expect(runs).toBe(2)
    expect(await asRequest(() => engine.write(run))).toBe(3)
  })
})

test('a write of another process is waited for as long, in PostgreSQL', async () => {
  const made = await createDatabase('postgres')
  const databases = [1, 2].map(() =>
    openPostgresDatabase(postgresConnection(made.url), undefined, { idleInTransactionMs: 60_000 }),
  )
  const [one, other] = databases.map((database) => openPostgresEngine(database, 'public', 'the test'))
  if (!one || !other) throw new Error('Two engines are needed')
  try {
    const change = hold(one)
    await change.isRunning
    const run = async () => 'written'
    const publish = async () => {}
    await expect(asRequest(() => other.write(run))).rejects.toMatchObject(busy)
    await expect(asRequest(() => other.write(run, publish))).rejects.toMatchObject(busy)
    await expect(asRequest(() => other.writeTogether(run))).rejects.toMatchObject(busy)
    change.releaseLinks()
    await change.ended
    expect(await asRequest(() => other.write(run, publish))).toBe('written')
    // The limit counted for the lock alone.
    const [row] = await other.write((tx) =>
      tx.all<{ lock_timeout: string }>({ sql: 'show lock_timeout', params: [] }),
    )
    expect(row?.lock_timeout).toBe('0')
  } finally {
    await Promise.all(databases.map((database) => database.close()))
    await made.drop()
  }
})

test('edits, new fields and undo of a busy base are answered by 503 BASE_BUSY over HTTP', async () => {
  const app = await createTestApp({ config: { queryTimeoutSeconds: 1 } })
  try {
    const ann = await app.signUp()
    const trpc = app.trpc(ann.token)
    const { id: baseId } = await trpc.bases.create.mutate({ title: 'Busy' })
    const { table } = await trpc.schema.createTable.mutate({
      baseId,
      title: 'People',
      fields: [{ title: 'Name', type: 'SingleLineText' }],
    })
    const rest = createRestClient(app.url, ann.token)
    const records = `/api/v2/tables/${table.id}/records`
    await rest.post(records, { Name: 'Ann' })
    const change = hold(await app.kernel.sources.engine(baseId))
    await change.isRunning
    const [edit, field, undone] = await Promise.all([
      rest.patch(records, { Id: 1, Name: 'Bob' }),
      rest.post(`/api/v2/meta/tables/${table.id}/columns`, { title: 'City', uidt: 'SingleLineText' }),
      trpc.records.undo.mutate({ baseId }).catch((error) => error.data.appCode),
    ])
    expect([edit.status, edit.body.error, edit.headers.get('retry-after')]).toEqual([503, 'BASE_BUSY', '5'])
    expect([field.status, field.body.error]).toEqual([503, 'BASE_BUSY'])
    expect(undone).toBe('BASE_BUSY')
    // Reads go on.
    expect((await rest.get(`${records}/1`)).body.Name).toBe('Ann')
    change.releaseLinks()
    await change.ended
    expect((await rest.patch(records, { Id: 1, Name: 'Bob' })).status).toBe(200)
    expect(
      (await rest.get(`/api/v2/meta/tables/${table.id}`)).body.columns.map((c: { title: string }) => c.title),
    ).not.toContain('City')
  } finally {
    await app.stop()
  }
})

test('only a process that stands still loses its write to others', async () => {
  const made = await createDatabase('postgres')
  const database = openPostgresDatabase(postgresConnection(made.url), undefined, {
    idleInTransactionMs: IDLE_MS,
  })
  const engine = openPostgresEngine(database, 'public', 'the test')
  const insert = (id: number) => ({ sql: `insert into t values (${id})`, params: [] })
  const ids = () => engine.values({ sql: 'select id from t order by id', params: [] })
  const child = Bun.spawn([process.execPath, WRITER, made.url, String(IDLE_MS)], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const said = child.stdout.pipeThrough(new TextDecoderStream()).getReader()
  try {
    await engine.write((tx) => tx.run({ sql: 'create table t (id integer)', params: [] }))
    // A write waits for something else, such as a connected database.
    await engine.write(async (tx) => {
      await tx.run(insert(1))
      await Bun.sleep(1.5 * IDLE_MS)
      await tx.run(insert(2))
    })
    expect(await ids()).toEqual([[1], [2]])

    await child.stdin.write('begin\n')
    await child.stdin.flush()
    expect(await said.read()).toMatchObject({ value: 'begun\n' })
    await expect(asRequest(() => engine.write(async () => null))).rejects.toMatchObject(busy)
    child.kill('SIGSTOP')
    await engine.write((tx) => tx.run(insert(3)))
    child.kill('SIGCONT')
    await child.stdin.write('go on\n')
    await child.stdin.flush()
    expect(await said.read()).toMatchObject({ value: 'DATABASE_UNREACHABLE\n' })
    expect(await ids()).toEqual([[1], [2], [3]])
  } finally {
    child.kill('SIGKILL')
    await database.close()
    await made.drop()
  }
})
