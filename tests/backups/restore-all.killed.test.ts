import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { ServerProcess } from '../imports/server-process.ts'
import { findFreePort } from '../support/free-port.ts'
import { createMetadataDatabase, type TestDatabase } from '../support/servers.ts'
import {
  BACKUP_TIMEOUT_MS,
  endedJob,
  enter,
  fill,
  openPlace,
  type Place,
  replacementsOf,
  settingsOf,
  untilRestarted,
} from './support.ts'

setDefaultTimeout(BACKUP_TIMEOUT_MS)

/** Set it to 40 for the whole series. */
const ROUNDS = Number(process.env.BACKUP_KILL_ROUNDS ?? 4)
const ROWS = 1_000

/** Backups have the lowest priority: beside other tests on two slow cores they take minutes. */
const TIMEOUT_MS = 900_000

describe.each(['files', 'PostgreSQL'])('a kill of a server that restores everything, in %s', (home) => {
  let place: Place
  let database: TestDatabase | null = null
  let path: string
  let backupId: string
  let port: string
  /** The server that the round before has started. */
  let server: ServerProcess
  /** Of the data, before the restore of the round. */
  let replacements = 0
  let own: Pick<Awaited<ReturnType<typeof enter>>, 'trpc' | 'rest'>

  beforeAll(async () => {
    database = home === 'files' ? null : await createMetadataDatabase()
    place = openPlace(database ? { DATABASE_URL: database.url } : {})
    port = String(await findFreePort())
    server = await start()
    const filled = await fill(server.url, ROWS)
    own = filled
    path = filled.path
    const { backups } = filled.trpc
    await backups.save.mutate({ ...settingsOf(place.backups), passphrase: 'sixteen letters or more' })
    const job = await endedJob(filled.trpc, (await backups.run.mutate()).jobId)
    backupId = (job.result as { backupId: string }).backupId
  })
  afterAll(async () => {
    await place.remove()
    await database?.drop()
  })

  const start = () => place.start(place.dataDir, { PORT: port })

  const restoreFolders = () => readdirSync(place.dataDir).filter((name) => name.startsWith('restore-'))
  /** True once the restored data are complete beside the present ones. */
  const isStaged = () =>
    restoreFolders().some((name) => existsSync(join(place.dataDir, name, 'restored.json')))

  /** Waits for a state of the restore, or for its end, if it was faster. */
  async function until(isReached: () => boolean): Promise<void> {
    while (!isReached() && replacementsOf(place.dataDir) === replacements) await Bun.sleep(2)
  }

  async function schemasLeft({ url }: TestDatabase): Promise<number> {
    await using sql = new Bun.SQL(url, { max: 1 })
    const [row] = await sql`select count(*)::int as n from pg_namespace where nspname ~ '^sheaf_restore_'`
    return row.n
  }

  /** Starts a restore, kills the server by `kill`, and checks the data of the next one. @returns true if they are restored */
  async function round(kill: () => Promise<unknown>): Promise<boolean> {
    await own.rest.post(path, { Name: 'After the backup' })
    expect((await own.rest.get(`${path}/count`)).body.count).toBe(ROWS + 1)
    replacements = replacementsOf(place.dataDir)
    const { jobId } = await own.trpc.backups.restoreAll.mutate({ backupId, confirm: backupId })
    await kill()
    server = await start()
    own = await enter(server.url)
    const { rest, trpc } = own
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
    return isRestored
  }

  test(
    'while the backup is written leaves the present data, and nothing beside them',
    async () => {
      // Its process needs some time to start.
      expect(await round(() => server.end('SIGKILL'))).toBe(false)
      await round(async () => {
        await until(() => restoreFolders().length > 0)
        await server.end('SIGKILL')
      })
    },
    TIMEOUT_MS,
  )

  test(
    'in and after the exchange leaves the present data or the restored ones',
    async () => {
      let longestMs = 0
      for (let at = 0; at < ROUNDS; at++) {
        const isRestored = await round(async () => {
          await until(isStaged)
          const startedAt = performance.now()
          // The first is not killed: the moments of the others are spread over its duration.
          if (at === 0) await untilRestarted(server.url, place.dataDir, replacements)
          else await Bun.sleep((longestMs * (at - 0.5)) / (ROUNDS - 1))
          longestMs ||= performance.now() - startedAt
          await server.end('SIGKILL')
        })
        if (at === 0) expect(isRestored).toBe(true)
      }
      if (!database) return
      // PostgreSQL may still have been at work for the last one.
      const before = replacementsOf(place.dataDir)
      await own.trpc.backups.restoreAll.mutate({ backupId, confirm: backupId })
      await untilRestarted(server.url, place.dataDir, before)
      expect(await schemasLeft(database)).toBe(0)
      own = await enter(server.url)
    },
    TIMEOUT_MS,
  )

  test(
    'with SIGTERM in the exchange completes it, and ends',
    async () => {
      const isRestored = await round(async () => {
        await until(isStaged)
        expect(await server.end('SIGTERM')).toBe(0)
      })
      // The signal may come before the exchange has begun, and is obeyed then.
      expect([true, false]).toContain(isRestored)
    },
    TIMEOUT_MS,
  )
})
