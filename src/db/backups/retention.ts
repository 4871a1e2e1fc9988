import { DamagedObject } from './codec.ts'
import { chunksOf } from './manifest.ts'
import { LaterBackup, type Repository } from './repository.ts'

/** How many backups are kept: the latest ones, and the latest of so many days, weeks and months (in UTC). */
export interface Retention {
  last: number
  daily: number
  weekly: number
  monthly: number
}

/** Everything is kept. */
export const KEEP_ALL: Retention = { last: 0, daily: 0, weekly: 0, monthly: 0 }

const PERIODS: { of: 'daily' | 'weekly' | 'monthly'; nameOf(at: Date): string }[] = [
  { of: 'daily', nameOf: (at) => at.toISOString().slice(0, 10) },
  // Weeks begin on Monday; 1970-01-01 was a Thursday.
  { of: 'weekly', nameOf: (at) => String(Math.floor((at.getTime() / 86_400_000 + 3) / 7)) },
  { of: 'monthly', nameOf: (at) => at.toISOString().slice(0, 7) },
]

/**
 * The backups that a retention does not keep. The newest one is always kept, and with `KEEP_ALL` every one.
 *
 * @param ids oldest first
 */
function expired(ids: readonly string[], retention: Retention): string[] {
  const newestFirst = ids.toReversed()
  if (Object.values(retention).every((count) => count === 0)) return []
  const kept = new Set(newestFirst.slice(0, Math.max(1, retention.last)))
  for (const { of, nameOf } of PERIODS) {
    const periods = new Set<string>()
    for (const id of newestFirst) {
      const period = nameOf(timeOfBackup(id))
      if (periods.has(period) || periods.size >= retention[of]) continue
      periods.add(period)
      kept.add(id)
    }
  }
  return newestFirst.filter((id) => !kept.has(id))
}

/** The time in the id of a backup. */
export function timeOfBackup(id: string): Date {
  const [, year, month, day, hour, minute, second, ms] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z/.exec(id) ?? []
  return new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`)
}

/**
 * Removes the backups that the retention does not keep, and then the chunks that no backup has.
 *
 * @param keep backups that stay whatever the retention says
 * @returns the number of backups, and stored bytes of their chunks
 * @throws Error if another operation changes the store; DamagedObject for a damaged manifest, whose chunks are unknown:
 *   no chunk is removed then
 */
export async function prune(
  repository: Repository,
  retention: Retention,
  keep: readonly string[] = [],
): Promise<{ backups: number; bytes: number }> {
  return repository.exclusively(async (requireLock) => {
    const removed = expired(await repository.ids(), retention).filter((id) => !keep.includes(id))
    for (const id of removed) await repository.removeBackup(id)
    const used = new Set<string>()
    for (const id of await repository.ids()) {
      const manifest = await repository.manifest(id).catch(unlessLater)
      // Its chunks are unknown: all stay until the retention has removed it.
      if (manifest === null) return { backups: removed.length, bytes: 0 }
      for (const hash of chunksOf(manifest)) used.add(hash)
    }
    const bytes = await repository.packs.prune((hash) => used.has(hash), requireLock)
    await repository.removeDrafts()
    return { backups: removed.length, bytes }
  })
}

/**
 * Reads and checks all chunks of a backup. Damaged ones are forgotten, so that the next backup stores them again if
 * their contents still exist.
 *
 * @returns a line for each file or table that cannot be restored
 */
export async function verifyChunks(repository: Repository, id: string): Promise<string[]> {
  const { files, postgres = [] } = await repository.manifest(id)
  const tables = new Map(
    postgres.flatMap(({ baseId, tables: own }) =>
      own.map(({ name, path }) => [path, `The table ${name} of ${baseId ?? 'the metadata'}`] as const),
    ),
  )
  const damaged = new Map<string, boolean>()
  const isDamaged = async (hash: string): Promise<boolean> => {
    const known = damaged.get(hash)
    if (known !== undefined) return known
    const found = await repository.getChunk(hash).then(
      () => false,
      (error) => {
        if (error instanceof DamagedObject) return true
        throw error
      },
    )
    damaged.set(hash, found)
    return found
  }
  const problems: string[] = []
  for (const { path, chunks } of files) {
    let count = 0
    for (const hash of new Set(chunks)) if (await isDamaged(hash)) count++
    if (count > 0)
      problems.push(
        `${tables.get(path) ?? path}: ${count} of ${new Set(chunks).size} chunks are missing or damaged`,
      )
  }
  const bad = [...damaged].filter(([, isBad]) => isBad).map(([hash]) => hash)
  if (bad.length > 0) await repository.exclusively(() => repository.packs.forget(bad))
  return problems
}

function unlessLater(error: unknown): null {
  if (error instanceof LaterBackup) return null
  throw error
}
