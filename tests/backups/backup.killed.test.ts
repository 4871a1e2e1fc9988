import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import {
  BACKUP_TIMEOUT_MS,
  backupIn,
  enter,
  extractKept,
  fill,
  openPlace,
  type Place,
  readKept,
} from './support.ts'

setDefaultTimeout(BACKUP_TIMEOUT_MS)

/** Backups have the lowest priority: beside other tests on two slow cores they take minutes. */
const TIMEOUT_MS = 900_000

/** Set it to 40 for the whole series. */
const ROUNDS = Number(process.env.BACKUP_KILL_ROUNDS ?? 4)
/** Two in each step; other tests kill backups and restores as well. */
const UPGRADE_ROUNDS = Math.max(6, ROUNDS)
const ROWS = 8_000

let place: Place
let path: string
beforeAll(async () => {
  place = openPlace()
  const server = await place.start()
  path = (await fill(server.url, ROWS)).path
  await server.end('SIGTERM')
})
afterAll(() => place.remove())

/** Moments of a command that takes so long, evenly spread, in milliseconds from its start. */
const delays = (longestMs: number): number[] =>
  Array.from({ length: ROUNDS }, (_, round) => (longestMs * (round + 0.5)) / ROUNDS)

/** How long a command takes, and what it answers. */
async function timed(args: string[]): Promise<{ ms: number; result: Awaited<ReturnType<Place['sheaf']>> }> {
  const startedAt = performance.now()
  const result = await place.sheaf(args)
  return { ms: performance.now() - startedAt, result }
}

async function countIn(dataDir: string): Promise<number> {
  const server = await place.start(dataDir)
  const { rest } = await enter(server.url)
  const { count } = (await rest.get(`${path}/count`)).body
  await server.end('SIGTERM')
  return count
}

describe('a kill at any moment', () => {
  test(
    'of a backup leaves earlier ones complete, and the next one succeeds at once',
    async () => {
      const { ms, result } = await timed(['backup', '--to', place.backups])
      const first = backupIn(result)
      let killed = 0
      for (const [round, delay] of delays(ms).entries()) {
        // Each encrypts anew, so that there is something to store.
        const target = place.path(`target-${round}`)
        const { wasKilled } = await place.sheaf(
          ['backup', '--to', target, '--keep-last', '1'],
          {},
          { afterMs: delay },
        )
        if (wasKilled) killed++
        const made = await place.sheaf(['backup', '--to', target, '--keep-last', '1'])
        expect([made.code, made.errors]).toEqual([0, ''])
        const checked = await place.sheaf(['backup', '--verify', backupIn(made), '--to', target])
        expect([checked.code, checked.errors]).toEqual([0, ''])
      }
      expect(killed).toBeGreaterThan(0)
      const checked = await place.sheaf(['backup', '--verify', first, '--to', place.backups])
      expect([checked.code, checked.errors]).toEqual([0, ''])
    },
    TIMEOUT_MS,
  )

  test(
    'of a restore leaves the present data or the restored ones',
    async () => {
      backupIn(await place.sheaf(['backup', '--to', place.backups, '--with-secrets']))
      const server = await place.start()
      const { rest } = await enter(server.url)
      await rest.post(path, { Name: 'After the backup' })
      await server.end('SIGTERM')
      const { ms } = await timed(['restore', '--from', place.backups, '--to', place.path('elsewhere')])
      for (const delay of delays(ms)) {
        await place.sheaf(['restore', '--from', place.backups, '--replace'], {}, { afterMs: delay })
        expect([ROWS, ROWS + 1]).toContain(await countIn(place.dataDir))
      }
      const last = await place.sheaf(['restore', '--from', place.backups, '--replace'])
      expect([last.code, last.errors]).toEqual([0, ''])
      expect(await countIn(place.dataDir)).toBe(ROWS)
      expect(readdirSync(place.dataDir).filter((name) => name.startsWith('restore-'))).toEqual([])
      expect(existsSync(place.path('data', 'replacement.json'))).toBe(false)
    },
    TIMEOUT_MS,
  )

  test(
    'of an upgrade leaves the earlier version untouched or is completed, and can be rolled back',
    async () => {
      const untouched = new Set<boolean>()
      for (const [round, kill] of killsOfUpgrade().entries()) {
        const dataDir = place.path(`upgraded-${round}`)
        const kept = await extractKept('0.2.0-sqlite.tar.gz', dataDir)
        const env = { DATA_DIR: dataDir }
        const before = stateOf(dataDir)
        await place.sheaf(['upgrade'], env, kill)
        const after = stateOf(dataDir)
        const isUntouched = after.migrations === before.migrations
        untouched.add(isUntouched)
        // The earlier version reads these very files.
        if (isUntouched) expect(after).toEqual(before)
        const upgraded = await place.sheaf(['upgrade'], env)
        expect([upgraded.code, upgraded.errors]).toEqual([0, ''])
        expect(stateOf(dataDir).migrations).toBeGreaterThan(before.migrations)
        expect(readdirSync(dataDir).filter((name) => name.startsWith('restore-'))).toEqual([])
        if (round === 0) expect(await readKept(place, dataDir, kept)).toMatchObject(kept.tables)
        const back = await place.sheaf(['rollback', '--yes'], env)
        expect([back.code, back.errors]).toEqual([0, ''])
        expect(stateOf(dataDir)).toEqual(before)
        rmSync(dataDir, { recursive: true })
      }
      expect(untouched).toEqual(new Set([true, false]))
    },
    TIMEOUT_MS,
  )

  test(
    'of a rollback leaves the upgraded data or those before, keeps the upgraded ones, and can be repeated',
    async () => {
      let longestMs = 0
      for (let round = 0; round <= ROUNDS; round++) {
        const dataDir = place.path(`rolled-back-${round}`)
        await extractKept('0.2.0-sqlite.tar.gz', dataDir)
        const env = { DATA_DIR: dataDir }
        const before = stateOf(dataDir)
        expect(await place.sheaf(['upgrade'], env)).toMatchObject({ code: 0, errors: '' })
        const upgraded = stateOf(dataDir)
        const startedAt = performance.now()
        // The first is not killed. The program needs half of the time to start.
        const afterMs = longestMs * (0.5 + (0.5 * (round - 0.5)) / ROUNDS)
        const ended = await place.sheaf(['rollback', '--yes'], env, round === 0 ? undefined : { afterMs })
        if (round === 0) longestMs = performance.now() - startedAt
        // Until it is repeated, or a server starts.
        else if (!existsSync(join(dataDir, 'replacement.json')))
          expect([before, upgraded]).toContainEqual(stateOf(dataDir))
        if (ended.wasKilled) {
          const again = await place.sheaf(['rollback', '--yes'], env)
          if (again.code !== 0) expect(again.errors).toContain('There is no upgrade')
        }
        expect(stateOf(dataDir)).toEqual(before)
        const replaced = readdirSync(dataDir).filter((name) => name.startsWith('replaced-'))
        expect(replaced.map((name) => stateOf(join(dataDir, name)))).toContainEqual(upgraded)
        expect(readdirSync(dataDir).filter((name) => /^(restore-|replacement|upgrade)/.test(name))).toEqual(
          [],
        )
        const forth = await place.sheaf(['upgrade'], env)
        expect([forth.code, forth.errors]).toEqual([0, ''])
        expect(stateOf(dataDir)).toEqual(upgraded)
        rmSync(dataDir, { recursive: true })
      }
    },
    TIMEOUT_MS,
  )
})

/** Moments in each step of an upgrade: the backup, the rehearsal, and the steps in the data. */
function killsOfUpgrade(): { afterMs: number; since: string }[] {
  const steps = ['migrations of the metadata are pending', 'Backed up', 'Rehearsed on a copy']
  return Array.from({ length: UPGRADE_ROUNDS }, (_, round) => ({
    since: steps[round % steps.length] ?? '',
    // The last step is short.
    afterMs: round % steps.length === 2 ? (round * 8) % 56 : (round * 7) % 60,
  }))
}

/** The version of the metadata, and the rows of all tables of all bases. */
function stateOf(dataDir: string): { migrations: number; rows: Record<string, unknown> } {
  const read = <T>(name: string, work: (file: Database) => T): T => {
    const file = new Database(join(dataDir, name), { readonly: true })
    try {
      return work(file)
    } finally {
      file.close()
    }
  }
  const migrations = read('sheaf.db', (file) => file.query('select name from migrations').values().length)
  const rows: Record<string, unknown> = {}
  for (const name of readdirSync(join(dataDir, 'bases')).filter((file) => file.endsWith('.db')))
    rows[name] = read(`bases/${name}`, (file) =>
      file
        .query<{ name: string }, []>(`select name from sqlite_schema where type = 'table' order by name`)
        .all()
        .map((table) => [table.name, file.query(`select * from "${table.name}"`).values()]),
    )
  return { migrations, rows }
}
