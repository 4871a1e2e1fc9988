import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createRestClient, createTrpcClient } from '../support/client.ts'
import { until } from '../support/until.ts'
import { createDataDir, type ServerProcess, startProcess } from './server-process.ts'

const PASSWORD = 'correct horse battery'

let data: ReturnType<typeof createDataDir>
let server: ServerProcess
let token: string
let tableId: string
let baseId: string
let fields: Record<string, string>

beforeEach(async () => {
  data = createDataDir()
  // Longer than any stop may take that waits for nothing.
  server = await startProcess(data.path, { STOP_SECONDS: '60' })
  token = (
    await createTrpcClient(server.url).auth.signUp.mutate({ email: 'a@example.com', password: PASSWORD })
  ).token
  const trpc = createTrpcClient(server.url, token)
  baseId = (await trpc.bases.create.mutate({ title: 'Storm' })).id
  const schema = await trpc.schema.createTable.mutate({
    baseId,
    title: 'Writes',
    fields: [
      { title: 'Title', type: 'SingleLineText' },
      { title: 'Num', type: 'Number' },
    ],
  })
  tableId = schema.table.id
  fields = Object.fromEntries(schema.fields.map(({ title, id }) => [title, id]))
})

afterEach(async () => {
  await server.end('SIGKILL')
  data.remove()
})

const path = () => `/api/v2/tables/${tableId}/records`

/** What the server has said is written. */
interface Acknowledged {
  inserted: Map<number, string>
  updated: Map<number, number>
  deleted: Set<number>
  /** Ids of each bulk insert, and how many each had. */
  bulks: number[][]
}

const BULK = 300

/** Writes of all kinds from several clients at once, which are under way when `kill` is called, until the server is gone. */
async function storm(url: string, kill: () => Promise<void>): Promise<Acknowledged> {
  const rest = createRestClient(url, token)
  const done: Acknowledged = { inserted: new Map(), updated: new Map(), deleted: new Set(), bulks: [] }
  let isOver = false
  const client = async (name: number) => {
    for (let step = 0; !isOver; step++) {
      const title = `${name}-${step}`
      const made = await rest.post(path(), { Title: title, Num: 0 })
      if (made.status !== 200) return
      const id: number = made.body.Id
      done.inserted.set(id, title)
      if ((await rest.patch(path(), { Id: id, Num: step + 1 })).status === 200) done.updated.set(id, step + 1)
      if (step % 5 === 4 && (await rest.delete(path(), { Id: id })).status === 200) done.deleted.add(id)
      if (step % 7 === name) {
        const bulk = await rest.post(
          path(),
          Array.from({ length: BULK }, () => ({ Title: `bulk ${title}` })),
        )
        if (bulk.status === 200) done.bulks.push(bulk.body.map(({ Id }: { Id: number }) => Id))
      }
    }
  }
  // The last request of each client is cut off; that is what they are here for.
  const clients = Promise.allSettled(Array.from({ length: 6 }, (_, name) => client(name)))
  await until(() => done.inserted.size > 5, 'The first writes')
  await kill()
  isOver = true
  await clients
  return done
}

interface Stored {
  id: number
  Title: string | null
  Num: number | null
}

interface Logged {
  record_id: number
  before: string | null
  after: string | null
}

function readBase(): {
  rows: Stored[]
  log: Logged[]
  ranges: { from: number; to: number }[]
  integrity: unknown
} {
  const file = new Database(join(data.path, 'bases', `${baseId}.db`), { readonly: true })
  try {
    const name = file
      .query<{ name: string }, []>(
        "select name from sqlite_master where type = 'table' and name like 'Writes%'",
      )
      .get()?.name
    return {
      rows: file.query<Stored, []>(`select id, "Title", "Num" from "${name}" order by id`).all(),
      log: file
        .query<Logged, []>('select record_id, before, after from sheaf_change_records order by change_id')
        .all(),
      ranges: file
        .query<{ detail: string }, []>(
          "select detail from sheaf_changes where detail is not null and kind = 'records.insert'",
        )
        .all()
        .map(({ detail }) => JSON.parse(detail)),
      integrity: file.query('pragma integrity_check').values(),
    }
  } finally {
    file.close()
  }
}

/** What the records must be by the log alone. */
function replay({ log, ranges }: ReturnType<typeof readBase>): Map<number, { Num: unknown }> {
  const records = new Map<number, { Num: unknown }>()
  for (const { from, to } of ranges) for (let id = from; id <= to; id++) records.set(id, { Num: null })
  for (const { record_id: id, after } of log) {
    if (after === null) {
      records.delete(id)
      continue
    }
    const values: Record<string, unknown> = JSON.parse(after)
    const num = fields.Num!
    records.set(id, { Num: num in values ? values[num] : records.get(id)?.Num })
  }
  return records
}

describe('kill -9 amid a storm of writes', () => {
  test.each([250, 600, 900])(
    'loses nothing that was acknowledged and leaves nothing half done (after %i ms)',
    async (delay) => {
      const done = await storm(server.url, async () => {
        await Bun.sleep(delay)
        await server.end('SIGKILL')
      })
      expect(done.inserted.size).toBeGreaterThan(5)

      server = await startProcess(data.path)
      const rest = createRestClient(server.url, token)
      const { body } = await rest.get(`${path()}?limit=1`)
      const base = readBase()
      const stored = new Map(base.rows.map((row) => [row.id, row]))
      expect(base.integrity).toEqual([['ok']])

      // What was acknowledged is there.
      for (const [id, title] of done.inserted) {
        if (done.deleted.has(id)) expect([id, stored.has(id)]).toEqual([id, false])
        // Its deletion may have been written and cut off before the answer.
        else if (stored.has(id)) {
          expect(stored.get(id)?.Title).toBe(title)
          const num = done.updated.get(id)
          if (num !== undefined) expect(stored.get(id)?.Num).toBe(num)
        } else expect(base.log.some(({ record_id, after }) => record_id === id && after === null)).toBe(true)
      }
      for (const ids of done.bulks) expect(ids.every((id) => stored.has(id))).toBe(true)

      // A bulk insert is there with all its records, or with none.
      const bulks = Map.groupBy(
        base.rows.filter(({ Title }) => Title?.startsWith('bulk')),
        ({ Title }) => Title,
      )
      for (const [title, rows] of bulks) expect([title, rows.length]).toEqual([title, BULK])

      // The log says what the table says.
      const replayed = replay(base)
      expect([...replayed.keys()].sort((a, b) => a - b)).toEqual([...stored.keys()])
      for (const [id, { Num }] of replayed)
        expect([id, stored.get(id)?.Num]).toEqual([id, Num as number | null])

      // The server counts what is there, and goes on.
      expect(body.pageInfo.totalRows).toBe(stored.size)
      expect((await rest.post(path(), { Title: 'after' })).status).toBe(200)
      expect((await createTrpcClient(server.url, token).records.undo.mutate({ baseId })).kind).toBe(
        'records.insert',
      )
    },
  )
})

describe('SIGTERM', () => {
  test('lets requests that have begun finish, and leaves no log behind that is not in its file', async () => {
    const rest = createRestClient(server.url, token)
    const rows = Array.from({ length: 10_000 }, (_, index) => ({ Title: `row ${index}` }))
    const writing = rest.post(path(), rows)
    // What is answered now was asked later: the server has begun with the rows.
    for (let asked = 0; asked < 3; asked++) await fetch(`${server.url}/api/v1/health`)
    const ended = server.end('SIGTERM')
    const { status, body } = await writing
    expect([status, body.length]).toEqual([200, 10_000])
    expect(await ended).toBe(0)
    const file = join(data.path, 'bases', `${baseId}.db`)
    for (const database of [file, join(data.path, 'sheaf.db')]) {
      expect(existsSync(`${database}-wal`) ? Bun.file(`${database}-wal`).size : 0).toBe(0)
    }
    expect(readBase().rows).toHaveLength(10_000)
    server = await startProcess(data.path)
    expect((await createRestClient(server.url, token).get(`${path()}?limit=1`)).body.pageInfo.totalRows).toBe(
      10_000,
    )
  })

  test('ends a server that has idle connections, soon', async () => {
    await createRestClient(server.url, token).get(path())
    const startedAt = performance.now()
    expect(await server.end('SIGTERM')).toBe(0)
    expect(performance.now() - startedAt).toBeLessThan(30_000)
  })
})

describe('a second server on the same folder', () => {
  test('does not start, and says why; the first goes on', async () => {
    await expect(startProcess(data.path)).rejects.toThrow(
      `Another server is already using the data folder ${data.path}`,
    )
    expect((await createRestClient(server.url, token).post(path(), {})).status).toBe(200)
  })

  test('starts at once after the first was killed', async () => {
    await server.end('SIGKILL')
    server = await startProcess(data.path)
    expect((await createRestClient(server.url, token).get(path())).status).toBe(200)
  })
})
