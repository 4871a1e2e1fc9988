import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { closeSync, openSync, readdirSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { TRPCClientError } from '@trpc/client'
import { hasEnded } from '../../src/jobs.ts'
import { type ServerProcess, startServerProcess } from '../imports/server-process.ts'
import { ended, type JobAnswer } from '../imports/support.ts'
import { PASSWORD } from '../support/app.ts'
import { createRestClient, createTrpcClient, type TrpcClient } from '../support/client.ts'
import { mountSmallVolume, type SmallVolume } from '../support/small-volume.ts'
import { until } from '../support/until.ts'

const FULL = 'The server’s disk is full. Nothing was changed.'
const MEGABYTE = 1024 ** 2
const ROWS = 12_000
const TEXT = 'x'.repeat(500)

const mounted = mountSmallVolume(60)
if ('reason' in mounted) console.log(`Skipped: a full disk needs a small volume, and ${mounted.reason}`)

describe.skipIf('reason' in mounted)('moving and copying a table that does not fit on the disk', () => {
  const volume = mounted as SmallVolume
  const dataDir = () => join(volume.path, 'data')
  const filler = () => join(volume.path, 'filler')
  let server: ServerProcess
  let token = ''
  let trpc: TrpcClient
  let from = ''
  let to = ''
  let tableId = ''
  let known: string[] = []

  beforeAll(async () => {
    server = await startServerProcess(dataDir())
    ;({ token } = await createTrpcClient(server.url).auth.signUp.mutate({
      email: 'ann@example.com',
      password: PASSWORD,
    }))
    trpc = createTrpcClient(server.url, token)
    from = (await trpc.bases.create.mutate({ title: 'From' })).id
    to = (await trpc.bases.create.mutate({ title: 'To' })).id
    tableId = (await trpc.schema.createTable.mutate({ baseId: from, title: 'Long' })).table.id
    known = (await trpc.bases.list.query({})).map(({ id }) => id)
    for (let at = 0; at < ROWS; at += 1_000) {
      const rows = Array.from({ length: 1_000 }, () => ({ Title: TEXT }))
      expect((await rest().post(records(tableId), rows)).status).toBe(200)
    }
  })

  afterAll(async () => {
    await server?.end('SIGKILL')
    volume.remove()
  })

  const rest = () => createRestClient(server.url, token)
  const records = (id: string) => `/api/v2/tables/${id}/records`
  const countOf = async (id: string) => (await trpc.records.count.query({ selection: { tableId: id } })).count
  const tablesOf = async (baseId: string) =>
    (await trpc.schema.tables.query({ baseId })).map(({ title }) => title)
  const move = async () => await trpc.copies.tableToBase.mutate({ tableId, baseId: to, isMove: true })

  /** Takes the room of the disk but for some bytes. */
  function fill(left: number): void {
    const file = openSync(filler(), 'a')
    try {
      for (;;) {
        const { bavail, bsize } = statfsSync(volume.path)
        const room = bavail * bsize - left
        if (room <= 0) break
        writeSync(file, Buffer.alloc(Math.min(room, MEGABYTE)))
      }
    } catch (error) {
      // The server has written meanwhile.
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
    }
    closeSync(file)
  }

  /** Starts a job with little more room than its start needs. */
  async function begun(start: () => Promise<{ jobId: string }>): Promise<string> {
    let jobId = ''
    await until(async () => {
      fill(2 * MEGABYTE)
      try {
        ;({ jobId } = await start())
      } catch (error) {
        if (!(error instanceof TRPCClientError && error.message === FULL)) throw error
        // The server was still removing what the job before had left, which took the room.
        rmSync(filler())
      }
      return jobId !== ''
    }, 'The start of a job')
    return jobId
  }

  /** Takes all room as soon as a job has begun, so that nothing can be removed either. */
  async function endedOnFullDisk(jobId: string): Promise<JobAnswer> {
    for (;;) {
      const job = await trpc.jobs.get.query({ jobId })
      if (hasEnded(job.status)) return job
      if (job.progress.done > 0 || job.status === 'active') fill(0)
    }
  }

  /** What is in the files of bases that no base has. */
  function leftovers(): string[] {
    const files = readdirSync(join(dataDir(), 'bases')).filter((name) => name.endsWith('.db'))
    const unknown = files.filter((name) => !known.some((id) => name.startsWith(id)))
    const staging = [from, to].flatMap((baseId) => {
      const file = new Database(join(dataDir(), 'bases', `${baseId}.db`), { readonly: true })
      const found = file
        .query<{ name: string }, []>(
          `select name from sqlite_schema where name like 'sheaf\\_import%' escape '\\'`,
        )
        .all()
      file.close()
      return found.map(({ name }) => name)
    })
    return [...unknown, ...staging]
  }

  async function untilTidy(): Promise<string[]> {
    await until(() => leftovers().length === 0).catch(() => {})
    return leftovers()
  }

  test('fails with the reason, and leaves both bases as they were', async () => {
    const starts = [
      move,
      () => trpc.copies.tableToBase.mutate({ tableId, baseId: to, withHistory: true }),
      () => trpc.copies.base.mutate({ baseId: from }),
    ]
    for (const start of starts) {
      const job = await endedOnFullDisk(await begun(start))
      rmSync(filler())
      expect(job).toMatchObject({ status: 'failed', error: FULL })
    }
    expect([await tablesOf(from), await tablesOf(to)]).toEqual([['Long'], []])
    expect(await countOf(tableId)).toBe(ROWS)
    expect((await trpc.bases.list.query({})).map(({ id }) => id).toSorted()).toEqual(known.toSorted())
  })

  test('leaves nothing behind once there is room, and both bases take writes', async () => {
    expect((await rest().post(records(tableId), { Title: 'new' })).status).toBe(200)
    const { table } = await trpc.schema.createTable.mutate({ baseId: to, title: 'Short' })
    expect((await rest().post(records(table.id), { Title: 'new' })).status).toBe(200)
    expect(await untilTidy()).toEqual([])
  })

  test('succeeds then', async () => {
    const { jobId, tableId: movedId } = await move()
    expect(await ended({ url: server.url, token }, jobId)).toMatchObject({ status: 'completed', error: null })
    expect([await tablesOf(from), (await tablesOf(to)).toSorted()]).toEqual([[], ['Long', 'Short']])
    expect(await countOf(movedId)).toBe(ROWS + 1)
  })
})
