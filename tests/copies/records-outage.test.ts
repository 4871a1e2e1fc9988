import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FROM_ANOTHER_BASE } from '../../src/db/change-log/entry.ts'
import { hasEnded, type Job } from '../../src/jobs.ts'
import { type ServerProcess, startServerProcess } from '../imports/server-process.ts'
import { createForeign, proxyCommits } from '../sources/support.ts'
import { PASSWORD } from '../support/app.ts'
import { createRestClient, createTrpcClient } from '../support/client.ts'
import { type CommitProxy, startCommitProxy } from '../support/database-proxy.ts'
import { type RestartablePostgres, startRestartablePostgres } from '../support/postgres.ts'
import { until } from '../support/until.ts'

const ROWS = 2_500
const PAGE = 1_000
/** Whether a record is one of the first thousand. */
const isOfFirst = (title: string) => Number(title.split(' ')[1]) <= 1_000
const idsOf = (count: number) => Array.from({ length: count }, (_, at) => at + 1)
/** One record of each portion has a comment and a change. */
const MARKED = [500, 1_500, 2_400]

describe('a PostgreSQL that goes away while a job brings records to another table', () => {
  let postgres: RestartablePostgres
  let proxy: CommitProxy
  let dataDir: string
  let server: ServerProcess
  let token: string

  beforeAll(async () => {
    postgres = await startRestartablePostgres()
    proxy = await startCommitProxy(postgres.url)
    dataDir = mkdtempSync(join(tmpdir(), 'sheaf-outage-'))
    server = await startServerProcess(dataDir, { DATABASE_URL: proxy.url })
    token = await signUp('ann@example.com')
  })
  afterAll(async () => {
    await server.end('SIGKILL')
    await proxy.stop()
    await postgres.remove()
    rmSync(dataDir, { recursive: true, force: true })
  })

  const signUp = async (email: string) =>
    (await createTrpcClient(server.url).auth.signUp.mutate({ email, password: PASSWORD })).token
  const trpc = () => createTrpcClient(server.url, token)
  const rest = () => createRestClient(server.url, token)

  async function titlesIn(tableId: string): Promise<string[]> {
    const titles: string[] = []
    for (let offset = 0; ; offset += PAGE) {
      const path = `/api/v2/tables/${tableId}/records?fields=Title&limit=${PAGE}&offset=${offset}`
      const { list, pageInfo } = (await rest().get(path)).body
      titles.push(...list.map(({ Title }: { Title: string }) => Title))
      if (pageInfo.isLastPage) return titles.toSorted()
    }
  }

  /** Two bases with a table each, of which the first has the records. */
  async function open() {
    const createTable = async (title: string) => {
      const base = await trpc().bases.create.mutate({ title })
      const { table } = await trpc().schema.createTable.mutate({ baseId: base.id, title })
      return { baseId: base.id, id: table.id }
    }
    const source = await createTable('Source')
    const target = await createTable('Target')
    const path = `/api/v2/tables/${source.id}/records`
    for (let from = 0; from < ROWS; from += PAGE) {
      const rows = idsOf(Math.min(PAGE, ROWS - from)).map((id) => ({ Title: `record ${from + id}` }))
      expect((await rest().post(path, rows)).status).toBe(200)
    }
    for (const recordId of MARKED) {
      await rest().patch(path, { Id: recordId, Title: `changed ${recordId}` })
      await trpc().comments.create.mutate({ tableId: source.id, recordId, text: `on ${recordId}` })
    }
    return { source, target, titles: await titlesIn(source.id) }
  }

  async function begin(sourceId: string, targetTableId: string, move: boolean, as = token): Promise<string> {
    const path = `/api/v2/tables/${sourceId}/records/copy`
    const { body } = await createRestClient(server.url, as).post(path, {
      targetTableId,
      ids: idsOf(ROWS),
      move,
    })
    return (body as { jobId: string }).jobId
  }

  /** Restarts PostgreSQL at a request of the job. */
  async function restartAt(
    text: RegExp,
    start: () => Promise<string>,
    meanwhile?: (jobId: string) => Promise<unknown>,
  ) {
    const holding = proxy.holdAt('before', { text })
    const jobId = await start()
    const held = await holding
    await meanwhile?.(jobId)
    await postgres.stop()
    held.cut()
    await postgres.start()
    return jobId
  }

  /** The job once it has ended. The server may answer a moment after its database is back. */
  async function ended(jobId: string) {
    let job: Job | null = null
    await until(async () => {
      job = (await trpc()
        .jobs.get.query({ jobId })
        .catch(() => null)) as Job | null
      return job !== null && hasEnded(job.status)
    }, 'The end of the job')
    return job as Job | null
  }

  /** Numbers of the entries that a job has brought along: those that list records, and the others. */
  async function historyOf(baseId: string, jobId: string) {
    await using sql = new Bun.SQL(postgres.url, { max: 1 })
    const log = `"nc_${baseId}"`
    const rows: { lists: boolean }[] = await sql.unsafe(
      `select exists (select 1 from ${log}.sheaf_change_records r where r.change_id = c.id) as lists
        from ${log}.sheaf_changes c where client_id like '${jobId} %' and undone_by = ${FROM_ANOTHER_BASE}`,
    )
    const used = rows.filter(({ lists }) => lists).length
    return { used, unused: rows.length - used }
  }

  test.each([
    ['before copies are stored', /job\w+ insert 1000/],
    ['when copies are there and their originals are', /job\w+ delete 1000/],
  ])('%s: the job goes on, and moves all records once', async (_, moment) => {
    const { source, target, titles } = await open()
    const jobId = await restartAt(moment, () => begin(source.id, target.id, true))
    expect(await ended(jobId)).toMatchObject({
      status: 'completed',
      error: null,
      result: { copied: ROWS, deleted: ROWS, kept: null, refused: [], left: 0 },
    })
    expect(await titlesIn(source.id)).toEqual([])
    expect(await titlesIn(target.id)).toEqual(titles)
    for (const formerId of MARKED) {
      const title = `changed ${formerId}`
      const { body } = await rest().get(`/api/v2/tables/${target.id}/records?where=(Title,eq,${title})`)
      const on = { tableId: target.id, recordId: (body as { list: { Id: number }[] }).list[0]?.Id ?? 0 }
      const { comments } = await trpc().comments.list.query(on)
      expect(comments.map(({ text }) => text)).toEqual([`on ${formerId}`])
      const { entries } = await trpc().records.history.query(on)
      const changes = entries.flatMap(({ changes }) => changes.map(({ before, after }) => [before, after]))
      expect(changes.filter(([before]) => before === `record ${formerId}`)).toEqual([
        [`record ${formerId}`, title],
      ])
    }
  })

  test('copies all records once as well', async () => {
    const { source, target, titles } = await open()
    const jobId = await restartAt(/job\w+ insert 1000/, () => begin(source.id, target.id, false))
    expect(await ended(jobId)).toMatchObject({
      status: 'completed',
      result: { copied: ROWS, deleted: 0, kept: null, left: 0 },
    })
    expect(await titlesIn(source.id)).toEqual(titles)
    expect(await titlesIn(target.id)).toEqual(titles)
  })

  test('copies all records once to a connected database that has them when their entry cannot be stored', async () => {
    const { source, target, titles } = await open()
    const foreign = await createForeign('postgres', [
      'create table part (id serial primary key, title varchar(50))',
    ])
    const connection = await proxyCommits(foreign.sent)
    try {
      const { id } = await trpc().sources.create.mutate({ baseId: target.baseId, ...connection.sent })
      expect(await ended(id)).toMatchObject({ status: 'completed' })
      const tables = await trpc().schema.tables.query({ baseId: target.baseId })
      const part = tables.find(({ tableName }) => tableName === 'part')
      const holding = connection.holdAt('after', { skip: 1 })
      const jobId = await begin(source.id, part?.id ?? '', false)
      const held = await holding
      await postgres.stop()
      held.pass()
      await postgres.start()
      expect(await ended(jobId)).toMatchObject({
        status: 'completed',
        error: null,
        result: { copied: ROWS, left: 0 },
      })
      const copies = await foreign.ask<{ title: string }>('select title from part')
      expect(copies.map(({ title }) => title).toSorted()).toEqual(titles)
    } finally {
      await connection.stop()
      await foreign.stop()
    }
  })

  test('completes a thousand that was begun if the job is cancelled meanwhile', async () => {
    const { source, target, titles } = await open()
    const jobId = await restartAt(
      /job\w+ delete 1000/,
      () => begin(source.id, target.id, true),
      (jobId) => trpc().jobs.cancel.mutate({ jobId }),
    )
    expect(await ended(jobId)).toMatchObject({
      status: 'completed',
      result: { copied: 2_000, deleted: 2_000, kept: null, left: ROWS - 2_000 },
    })
    const [here, there] = [await titlesIn(source.id), await titlesIn(target.id)]
    expect(there).toHaveLength(2_000)
    expect([...here, ...there].toSorted()).toEqual(titles)
    expect(await historyOf(target.baseId, jobId)).toEqual({ used: 4, unused: 0 })
  })

  test('ends a job whose owner may not go on, with the number of copies and without unused history', async () => {
    const { source, target, titles } = await open()
    const email = `${source.baseId}@example.com`
    const mover = await signUp(email)
    for (const { baseId } of [source, target])
      await trpc().bases.invite.mutate({ baseId, emails: [email], role: 'editor' })
    const { user } = await createTrpcClient(server.url, mover).auth.me.query()
    const jobId = await restartAt(
      /job\w+ delete 1000/,
      () => begin(source.id, target.id, true, mover),
      () => trpc().bases.removeMember.mutate({ baseId: source.baseId, userId: user?.id ?? '' }),
    )
    expect(await ended(jobId)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('Records copied before: 2000.'),
    })
    expect(await titlesIn(source.id)).toEqual(titles.filter((title) => !isOfFirst(title)))
    expect(await titlesIn(target.id)).toHaveLength(2_000)
    expect(await historyOf(target.baseId, jobId)).toEqual({ used: 4, unused: 0 })
  })
})
