import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import type { FeedConsumer, FeedCursor, FeedEntry, FeedRecord } from '../../modules/records/feed/index.ts'
import { pageOfEntry } from '../../modules/records/feed/index.ts'
import { defineRecordsTables } from '../../modules/records/tables.ts'
import { startServer } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import type { MetaStatement } from '../../src/db/meta.ts'
import { createTestApp, PASSWORD } from '../support/app.ts'
import { createRestClient, createTrpcClient } from '../support/client.ts'
import { createBase } from '../support/factories.ts'
import { createDatabase } from '../support/servers.ts'
import { until } from '../support/until.ts'
import { type Bench, benchOf, createBench } from './support.ts'

let bench: Bench
let feed: Bench['app']['services']['records']['feed']
beforeAll(async () => {
  bench = await createBench()
  feed = bench.app.services.records.feed
})
afterAll(() => bench.stop())

/** A consumer that keeps what it gets. */
function collector(name: string, take?: FeedConsumer['take']) {
  const entries: FeedEntry[] = []
  const consumer: FeedConsumer = {
    name,
    take: async (batch) => {
      const statements = (await take?.(batch)) ?? []
      entries.push(...batch.entries)
      return statements
    },
  }
  return { consumer, entries }
}

const ids = (entries: readonly FeedEntry[]): number[] => entries.map(({ id }) => id)
/** The statement that leaves a mark in the metadata, for counting how often it was run. */
const mark = (text: string): MetaStatement => {
  const { attachmentFiles } = bench.app.kernel.meta.tables(defineRecordsTables)
  return bench.app.kernel.meta.db.insert(attachmentFiles).values({
    path: `${text}-${crypto.randomUUID()}`,
    title: text,
    mimetype: 'text/plain',
    size: 0,
    isUsed: true,
    createdAt: new Date().toISOString(),
  })
}
async function marks(text: string): Promise<number> {
  const { attachmentFiles } = bench.app.kernel.meta.tables(defineRecordsTables)
  const { db } = bench.app.kernel.meta
  return (await db.select().from(attachmentFiles).where(eq(attachmentFiles.title, text))).length
}

describe('the feed of a base', () => {
  test('passes on every later entry, once and in order, with the numbers of touched records', async () => {
    const table = await bench.table()
    await bench.rest.post(table.path, { Title: 'before' })
    const { consumer, entries } = collector('all')
    feed.consume(consumer)
    const from = await feed.follow('all', bench.baseId)
    await bench.rest.post(table.path, [{ Title: 'a' }, { Title: 'b' }])
    await bench.rest.patch(table.path, [{ Id: 1, Title: 'c' }])
    await bench.rest.delete(table.path, [{ Id: 1 }, { Id: 2 }])
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
    await feed.settled(bench.baseId)
    expect(ids(entries)).toEqual([from + 1, from + 2, from + 3, from + 4])
    expect(entries.map(({ kind, tables }) => [kind, tables])).toEqual([
      ['records.insert', [{ tableId: table.id, inserted: 2, updated: 0, deleted: 0 }]],
      ['records.update', [{ tableId: table.id, inserted: 0, updated: 1, deleted: 0 }]],
      ['records.delete', [{ tableId: table.id, inserted: 0, updated: 0, deleted: 2 }]],
      ['undo', [{ tableId: table.id, inserted: 2, updated: 0, deleted: 0 }]],
    ])
    await feed.unfollow('all', bench.baseId)
    await bench.rest.post(table.path, { Title: 'later' })
    await feed.settled(bench.baseId)
    expect(entries).toHaveLength(4)
  })

  test('passes an entry again to a consumer that failed, while others go on', async () => {
    const table = await bench.table()
    let isFailing = true
    const failing = collector('failing', async () => {
      if (isFailing) throw new Error('not now')
      return [mark('failing')]
    })
    const other = collector('other')
    feed.consume(failing.consumer)
    feed.consume(other.consumer)
    await feed.follow('failing', bench.baseId)
    const from = await feed.follow('other', bench.baseId)
    await bench.rest.post(table.path, { Title: 'a' })
    await feed.settled(bench.baseId)
    await bench.rest.post(table.path, { Title: 'b' })
    await feed.settled(bench.baseId)
    // The delay of the one that failed does not hold back the others.
    expect([ids(failing.entries), ids(other.entries)]).toEqual([[], [from + 1, from + 2]])
    isFailing = false
    await until(async () => (await marks('failing')) > 0, 'The next try')
    expect([ids(failing.entries), ids(other.entries)]).toEqual([
      [from + 1, from + 2],
      [from + 1, from + 2],
    ])
    await feed.settled(bench.baseId)
    expect(await marks('failing')).toBe(1)
  })

  test('pages through the records of an entry, listed or stored as a range', async () => {
    const table = await bench.table()
    const { consumer, entries } = collector('pages')
    feed.consume(consumer)
    await feed.follow('pages', bench.baseId)
    const rows = Array.from({ length: 7 }, (_, index) => ({ Title: `${index}` }))
    await bench.rest.post(table.path, rows)
    await bench.rest.post(
      table.path,
      Array.from({ length: 5_000 }, () => ({})),
    )
    await feed.settled(bench.baseId)
    const engine = await bench.app.kernel.sources.engine(bench.baseId)
    const model = await bench.app.services.schema.load(table.id)
    const all = async (entry: FeedEntry): Promise<FeedRecord[]> => {
      const found: FeedRecord[] = []
      let after: FeedCursor | null = null
      do {
        const page = await pageOfEntry(engine, model, entry, { after, limit: 1_000 })
        found.push(...page.records)
        after = page.next
      } while (after)
      return found
    }
    const [listed, range] = entries
    expect((await all(listed!)).map(({ recordId, before }) => [recordId, before])).toEqual(
      rows.map((_, index) => [index + 1, null]),
    )
    expect(range!.tables).toEqual([{ tableId: table.id, inserted: 5_000, updated: 0, deleted: 0 }])
    expect((await all(range!)).map(({ recordId }) => recordId)).toEqual(
      Array.from({ length: 5_000 }, (_, index) => index + 8),
    )
  })

  test('forgets its positions with a base that is removed for good', async () => {
    const { id: baseId } = await createBase(bench.app, bench.owner)
    const own = benchOf(bench.app, bench.owner, baseId)
    await own.table()
    feed.consume(collector('forgotten').consumer)
    await feed.follow('forgotten', baseId)
    const { feedPositions } = bench.app.kernel.meta.tables(defineRecordsTables)
    const positions = () =>
      bench.app.kernel.meta.db.select().from(feedPositions).where(eq(feedPositions.baseId, baseId))
    expect(await positions()).toHaveLength(1)
    await bench.trpc.bases.delete.mutate({ baseId })
    expect(await positions()).toHaveLength(1)
    await bench.trpc.trash.purgeBase.mutate({ baseId })
    expect(await positions()).toHaveLength(0)
  })
})

test('after a restart, a consumer gets what was written while it did not run', async () => {
  const database = process.env.TEST_HOME === 'postgres' ? await createDatabase('postgres') : null
  const dataDir = mkdtempSync(join(tmpdir(), 'sheaf-feed-'))
  const environment = { PORT: '0', HOST: '127.0.0.1', DATA_DIR: dataDir, LOG_LEVEL: 'silent' }
  const config = readConfig({ ...environment, DATABASE_URL: database?.url })
  let server = await startServer(config)
  try {
    const { token } = await createTrpcClient(server.url).auth.signUp.mutate({
      email: 'ada@example.com',
      password: PASSWORD,
    })
    const trpc = () => createTrpcClient(server.url, token)
    const { id: baseId } = await trpc().bases.create.mutate({ title: 'Restarted' })
    const schema = await trpc().schema.createTable.mutate({ baseId, title: 'Rows' })
    const path = `/api/v2/tables/${schema.table.id}/records`
    const write = (Title: string) => createRestClient(server.url, token).post(path, { Title })

    const first = collector('restarted')
    server.services.records.feed.consume(first.consumer)
    const from = await server.services.records.feed.follow('restarted', baseId)
    await write('taken')
    await server.services.records.feed.settled(baseId)
    expect(ids(first.entries)).toEqual([from + 1])
    await server.services.records.feed.close()
    await write('missed')
    await server.stop()
    expect(ids(first.entries)).toEqual([from + 1])

    server = await startServer(config)
    const second = collector('restarted')
    server.services.records.feed.consume(second.consumer)
    await server.services.records.feed.settled(baseId)
    expect(ids(second.entries)).toEqual([from + 2])
  } finally {
    await server.stop()
    await database?.drop()
    rmSync(dataDir, { recursive: true, force: true })
  }
})

test('of two servers, one reads a log, and the other goes on when it ends', async () => {
  const app = await createTestApp({ database: 'postgres' })
  const other = await startServer({ ...app.config, port: 0 })
  try {
    const owner = await app.signUp()
    const { id: baseId } = await createBase(app, owner)
    const table = await benchOf(app, owner, baseId).table()
    const taken: [server: string, id: number][] = []
    const take = (server: string): FeedConsumer => ({
      name: 'shared',
      async take({ entries }) {
        taken.push(...entries.map(({ id }): [string, number] => [server, id]))
        await Bun.sleep(5)
        return [
          app.kernel.meta.db
            .update(app.kernel.meta.tables(defineRecordsTables).attachmentFiles)
            .set({ title: 'none' }),
        ]
      },
    })
    app.services.records.feed.consume(take('first'))
    other.services.records.feed.consume(take('second'))
    const from = await other.services.records.feed.follow('shared', baseId)
    const rest = createRestClient(other.url, owner.token)
    const write = (count: number) =>
      Promise.all(Array.from({ length: count }, (_, n) => rest.post(table.path, { Title: `${n}` })))
    const untilTaken = async (count: number) => {
      await until(() => taken.length >= count, `${count} entries`)
      expect(taken.map(([, id]) => id)).toEqual(Array.from({ length: count }, (_, n) => from + 1 + n))
    }
    await write(30)
    await untilTaken(30)
    const [reader] = taken[0]!
    expect(new Set(taken.map(([server]) => server))).toEqual(new Set([reader]))
    // The server that reads ends; what is written afterwards goes to the other one.
    if (reader === 'second') return
    await app.services.records.feed.close()
    await app.kernel.meta.cluster.claims.release(`feed ${baseId}`)
    await write(10)
    await untilTaken(40)
    expect(taken.at(-1)![0]).toBe('second')
  } finally {
    await other.stop()
    await app.stop()
  }
})
