import { afterEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ServerProcess, startServerProcess } from '../imports/server-process.ts'
import { ended } from '../imports/support.ts'
import { META_DATABASES, PASSWORD } from '../support/app.ts'
import { createRestClient, createTrpcClient } from '../support/client.ts'
import { createDatabase, type TestDatabase } from '../support/servers.ts'

const ROWS = 3_000
const PAGE = 1_000
const idsOf = (count: number) => Array.from({ length: count }, (_, at) => at + 1)
/** One record of each portion has a comment and a change. */
const MARKED = [500, 1_500, 2_500]

describe.each(META_DATABASES)('records that a job brings to another table in %s', (home) => {
  let dataDir = ''
  let database: TestDatabase | null = null
  let server: ServerProcess | null = null
  let token = ''

  afterEach(async () => {
    await server?.end('SIGKILL')
    server = null
    rmSync(dataDir, { recursive: true, force: true })
    await database?.drop()
    database = null
  })

  const url = () => server?.url ?? ''
  const trpc = () => createTrpcClient(url(), token)
  const rest = () => createRestClient(url(), token)
  const count = async (tableId: string) =>
    (await trpc().records.count.query({ selection: { tableId } })).count

  async function start(): Promise<void> {
    server = await startServerProcess(dataDir, database ? { DATABASE_URL: database.url } : {})
  }

  async function restart(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    await server?.end(signal)
    await start()
  }

  async function titlesIn(tableId: string): Promise<string[]> {
    const titles: string[] = []
    for (let offset = 0; ; offset += PAGE) {
      const path = `/api/v2/tables/${tableId}/records?fields=Title&limit=${PAGE}&offset=${offset}`
      const { list, pageInfo } = (await rest().get(path)).body
      titles.push(...list.map(({ Title }: { Title: string }) => Title))
      if (pageInfo.isLastPage) return titles
    }
  }

  async function idOf(tableId: string, title: string): Promise<number> {
    const { body } = await rest().get(`/api/v2/tables/${tableId}/records?where=(Title,eq,${title})`)
    return (body as { list: { Id: number }[] }).list[0]?.Id ?? 0
  }

  /** Two bases with a table each, of which the first has the records. */
  async function open() {
    dataDir = mkdtempSync(join(tmpdir(), 'sheaf-records-'))
    if (home === 'postgres') database = await createDatabase('postgres')
    await start()
    const visitor = createTrpcClient(url())
    ;({ token } = await visitor.auth.signUp.mutate({ email: 'ann@example.com', password: PASSWORD }))
    const createTable = async (title: string) => {
      const base = await trpc().bases.create.mutate({ title })
      const { table } = await trpc().schema.createTable.mutate({ baseId: base.id, title })
      return { baseId: base.id, id: table.id }
    }
    const source = await createTable('Source')
    const target = await createTable('Target')
    const path = `/api/v2/tables/${source.id}/records`
    for (let from = 0; from < ROWS; from += PAGE)
      await rest().post(
        path,
        idsOf(PAGE).map((id) => ({ Title: `record ${from + id}` })),
      )
    for (const recordId of MARKED) {
      await rest().patch(path, { Id: recordId, Title: `changed ${recordId}` })
      await trpc().comments.create.mutate({ tableId: source.id, recordId, text: `on ${recordId}` })
    }
    const titles = idsOf(ROWS).map((id) => (MARKED.includes(id) ? `changed ${id}` : `record ${id}`))
    return { source, target, titles: titles.toSorted() }
  }

  async function begin(sourceId: string, targetTableId: string, move: boolean): Promise<string> {
    const path = `/api/v2/tables/${sourceId}/records/copy`
    const { body } = await rest().post(path, { targetTableId, ids: idsOf(ROWS), move })
    return (body as { jobId: string }).jobId
  }

  /** Ends the server each time that the table has got more records: between their insertion and what follows it, mostly. */
  async function interrupt(jobId: string, tableId: string): Promise<void> {
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      const before = await count(tableId)
      for (;;) {
        const { status } = await trpc().jobs.get.query({ jobId })
        if (status !== 'waiting' && status !== 'active') return
        if ((await count(tableId)) > before) break
      }
      await restart(signal)
    }
  }

  test('are all in exactly one of them when the server is killed, with comments and history, and undo takes all back', async () => {
    const { source, target, titles } = await open()
    const jobId = await begin(source.id, target.id, true)
    await interrupt(jobId, target.id)
    const job = await ended({ url: url(), token }, jobId)
    expect(job).toMatchObject({
      status: 'completed',
      error: null,
      result: { copied: ROWS, deleted: ROWS, kept: null, refused: [], left: 0 },
    })
    expect(await count(source.id)).toBe(0)
    expect((await titlesIn(target.id)).toSorted()).toEqual(titles)
    for (const formerId of MARKED) {
      const on = { tableId: target.id, recordId: await idOf(target.id, `changed ${formerId}`) }
      const { comments } = await trpc().comments.list.query(on)
      expect(comments.map(({ text }) => text)).toEqual([`on ${formerId}`])
      const { entries } = await trpc().records.history.query(on)
      const changes = entries.flatMap(({ changes }) => changes.map(({ before, after }) => [before, after]))
      expect(changes.filter(([before]) => before === `record ${formerId}`)).toEqual([
        [`record ${formerId}`, `changed ${formerId}`],
      ])
    }
    await trpc().records.undo.mutate({ baseId: target.baseId })
    await trpc().records.undo.mutate({ baseId: source.baseId })
    expect(await count(target.id)).toBe(0)
    expect((await titlesIn(source.id)).toSorted()).toEqual(titles)
  })

  test('are copied once when the server is killed, and stay where they are', async () => {
    const { source, target, titles } = await open()
    const jobId = await begin(source.id, target.id, false)
    await interrupt(jobId, target.id)
    expect(await ended({ url: url(), token }, jobId)).toMatchObject({
      status: 'completed',
      result: { copied: ROWS, deleted: 0, kept: null, left: 0 },
    })
    expect((await titlesIn(source.id)).toSorted()).toEqual(titles)
    expect((await titlesIn(target.id)).toSorted()).toEqual(titles)
  })
})
