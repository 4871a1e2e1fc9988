import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { findFreePort } from '../support/free-port.ts'
import { createDatabase, type TestDatabase } from '../support/servers.ts'
import {
  BACKUP_TIMEOUT_MS,
  endedJob,
  enter,
  fill,
  openPlace,
  type Place,
  settingsOf,
  untilRestarted,
} from './support.ts'

setDefaultTimeout(BACKUP_TIMEOUT_MS)

/** Set it to 40 for the whole series. */
const ROUNDS = Number(process.env.BACKUP_KILL_ROUNDS ?? 6)
const ROWS = 1_000

/** Backups have the lowest priority: beside other tests on two slow cores they take minutes. */
const TIMEOUT_MS = 900_000

describe.each(['files', 'PostgreSQL'])('a kill of a server that restores everything, in %s', (home) => {
  let place: Place
  let database: TestDatabase | null = null
  let path: string
  let backupId: string
  let port: string

  beforeAll(async () => {
    database = home === 'files' ? null : await createDatabase('postgres')
    place = openPlace(database ? { DATABASE_URL: database.url } : {})
    port = String(await findFreePort())
    const server = await start()
    const { trpc, path: records } = await fill(server.url, ROWS)
    path = records
    await trpc.backups.save.mutate({ ...settingsOf(place.backups), passphrase: 'sixteen letters or more' })
    const job = await endedJob(trpc, (await trpc.backups.run.mutate()).jobId)
    backupId = (job.result as { backupId: string }).backupId
    await server.end('SIGTERM')
  })
  afterAll(async () => {
    await place.remove()
    await database?.drop()
  })

  const start = () => place.start(place.dataDir, { PORT: port })

  /** True once the restored data are complete beside the present ones. */
  const isStaged = () =>
    existsSync(place.dataDir) &&
    readdirSync(place.dataDir).some(
      (name) => name.startsWith('restore-') && existsSync(join(place.dataDir, name, 'restored.json')),
    )

  async function schemasLeft(): Promise<number> {
    if (!database) return 0
    await using sql = new Bun.SQL(database.url, { max: 1 })
    const [row] = await sql`select count(*)::int as n from pg_namespace where nspname ~ '^sheaf_restore_'`
    return row.n
  }

  /** Starts a restore, kills the server by `kill`, and checks the data of the next start. @returns true if they are restored */
  async function round(
    kill: (server: Awaited<ReturnType<typeof start>>) => Promise<unknown>,
  ): Promise<boolean> {
    const server = await start()
    const before = await enter(server.url)
    await before.rest.post(path, { Name: 'After the backup' })
    expect((await before.rest.get(`${path}/count`)).body.count).toBe(ROWS + 1)
    const { jobId } = await before.trpc.backups.restoreAll.mutate({ backupId, confirm: backupId })
    await kill(server)
    const again = await start()
    const { rest, trpc } = await enter(again.url)
    const { count } = (await rest.get(`${path}/count`)).body
    const isRestored = count === ROWS
    if (!isRestored) {
      expect(count).toBe(ROWS + 1)
      const [record] = (await rest.get(`${path}?where=(Name,eq,After the backup)&fields=Id`)).body.list
      await rest.delete(path, { Id: record.Id })
    }
    expect(await endedJob(trpc, jobId)).toMatchObject({ status: isRestored ? 'completed' : 'failed' })
    const { runningJobId, restored } = await trpc.backups.overview.query()
    expect(runningJobId).toBeNull()
    if (isRestored) expect(restored).toMatchObject({ backupId })
    // A draft of a file that a kill has interrupted is overwritten by the next one.
    const left = /^restore-|^restored\.json$|^replacement\.json$/
    expect(readdirSync(place.dataDir).filter((name) => left.test(name))).toEqual([])
    await again.end('SIGTERM')
    return isRestored
  }

  test(
    'while the backup is written leaves the present data, and nothing beside them',
    async () => {
      for (const delay of [0, 150, 400]) {
        const isRestored = await round(async (server) => {
          const until = performance.now() + delay
          while (performance.now() < until && !isStaged()) await Bun.sleep(1)
          await server.end('SIGKILL')
        })
        // On a fast machine the last one may come too late.
        if (delay === 0) expect(isRestored).toBe(false)
      }
    },
    TIMEOUT_MS,
  )

  test(
    'in and after the exchange leaves the present data or the restored ones',
    async () => {
      let longestMs = 0
      for (let at = 0; at < ROUNDS; at++) {
        const isRestored = await round(async (server) => {
          while (!isStaged()) await Bun.sleep(1)
          const startedAt = performance.now()
          // The first is not killed: the moments of the others are spread over its duration.
          if (at === 0) await untilRestarted(server.url)
          else await Bun.sleep((longestMs * (at - 0.5)) / (ROUNDS - 1))
          longestMs ||= performance.now() - startedAt
          await server.end('SIGKILL')
        })
        if (at === 0) expect(isRestored).toBe(true)
      }
      // PostgreSQL may still have been at work for the last one.
      const server = await start()
      const { trpc } = await enter(server.url)
      await trpc.backups.restoreAll.mutate({ backupId, confirm: backupId })
      await untilRestarted(server.url)
      expect(await schemasLeft()).toBe(0)
      await server.end('SIGTERM')
    },
    TIMEOUT_MS,
  )

  test(
    'with SIGTERM in the exchange completes it, and ends',
    async () => {
      const isRestored = await round(async (server) => {
        while (!isStaged()) await Bun.sleep(1)
        expect(await server.end('SIGTERM')).toBe(0)
      })
      // The signal may come before the exchange has begun, and is obeyed then.
      expect([true, false]).toContain(isRestored)
    },
    TIMEOUT_MS,
  )
})
