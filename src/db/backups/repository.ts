import { hostname } from 'node:os'
import { z } from 'zod'
import { nowIso, nowMs } from '../../clock.ts'
import { randomText } from '../../core/ids.ts'
import { VERSION } from '../../version.ts'
import { isLaterVersion, writtenLater } from '../written-later.ts'
import {
  type Codec,
  type CodecSettings,
  createEncryption,
  createNameKey,
  DamagedObject,
  Encryption,
  NameKey,
  openCodec,
} from './codec.ts'
import { BackupSummary, FORMAT, Manifest, TestResult } from './manifest.ts'
import { openPacks, type Packs } from './packs.ts'
import type { BackupStore } from './stores/index.ts'
import { isRunning } from './temporary-folder.ts'

/*
 * The objects of a store:
 *
 *   sheaf-backups.json     the format, and the key of its names, or the encrypted keys of an encrypted store
 *   packs/3f/3f9a…         contents, shared by all backups that have them, and their indexes/<id>: see `packs.ts`
 *   manifests/<id>         what a backup consists of; stored last
 *   summaries/<id>         its facts, for lists
 *   tests/<id>             the result of its latest restore test
 *   locks/<id>             the operation that changes the store at the moment
 *   damaged/<id>           an index that failed a check, so that the next backup stores its contents anew
 */

const HEADER = 'sheaf-backups.json'
const Header = z
  .object({ format: z.int(), encryption: Encryption.nullable(), nameKey: NameKey.optional() })
  .refine(({ encryption, nameKey }) => (encryption === null) === (nameKey !== undefined))

const Lock = z.object({ host: z.string(), pid: z.int(), at: z.string() })
/** A lock that is not renewed for this time was left by a killed process. */
const LOCK_EXPIRES_MS = 10 * 60_000
const LOCK_RENEWED_MS = 60_000
/** Two operations that begin within this time both give way, and begin again after different times. */
const SHORT_MS = 2_000
const MAX_TRIES = 5

/** Pattern of the ids of backups. */
export const BACKUP_ID = /^\d{8}T\d{9}Z-[a-z0-9]{6}$/

const stampOf = (at: Date): string => at.toISOString().replace(/[-:.]/g, '')

/** The id of a backup of this moment. */
export const createBackupId = (at: Date): string => `${stampOf(at)}-${randomText(6)}`

/** Clocks of machines that share a place differ by less. */
const CLOCK_TOLERANCE_MS = 3_600_000

/** True for the id of a backup of a time that is still to come: a clock was ahead when it was made. */
export const isAhead = (id: string): boolean => id > stampOf(new Date(nowMs() + CLOCK_TOLERANCE_MS))

/** Ids of backups, oldest first. Those that are ahead stand before all others: they were made at some time before now. */
function inOrder(ids: readonly string[]): string[] {
  const sorted = ids.toSorted()
  return [...sorted.filter(isAhead), ...sorted.filter((id) => !isAhead(id))]
}

/** The backups in a store. */
export interface Repository {
  readonly store: BackupStore
  readonly codec: Codec
  /** Ids of all backups, oldest first; those that are ahead of the clock count as older than all others. */
  ids(): Promise<string[]>
  /** @throws Error for an unknown backup, and one that a later version has made; DamagedObject */
  manifest(id: string): Promise<Manifest>
  /** The facts of all backups, newest first. Of a damaged one only its id is known. */
  list(): Promise<ListedBackup[]>
  readonly packs: Packs
  /** @throws DamagedObject if it is missing or altered */
  getChunk(hash: string): Promise<Uint8Array>
  /** Completes a backup. */
  putManifest(manifest: Manifest): Promise<void>
  putTest(result: TestResult): Promise<void>
  removeBackup(id: string): Promise<void>
  /** Removes unfinished objects that killed processes have left. Others may be about to complete theirs without the lock. */
  removeDrafts(): Promise<void>
  /**
   * Runs `work` as the only operation that changes the store. It gets a function that throws if another operation has
   * taken over meanwhile, because this process stood still.
   *
   * @throws Error if another one changes the store
   */
  exclusively<T>(work: (requireLock: () => Promise<void>) => Promise<T>): Promise<T>
}

export interface ListedBackup {
  id: string
  /** Null if its facts are damaged. */
  summary: BackupSummary | null
  test: TestResult | null
}

/**
 * Opens the backups of a store.
 *
 * @param passphrase null for backups without encryption
 * @param mayCreate whether a store without backups is prepared for the first one
 * @throws Error that says what is wrong: no backups, a wrong passphrase, a format of a later version
 */
export async function openRepository(
  store: BackupStore,
  passphrase: string | null,
  { mayCreate }: { mayCreate: boolean },
): Promise<Repository> {
  const codec = await openHeader(store, passphrase, mayCreate)
  const packs = openPacks(store, codec)

  async function getObject<T>(schema: z.ZodType<T>, name: string): Promise<T | null> {
    const stored = await store.get(name)
    if (stored === null) return null
    const read = schema.safeParse(parse(name, await codec.decode(name, stored)))
    if (!read.success) throw new DamagedObject(`${name} is damaged`)
    return read.data
  }

  async function putObject(name: string, value: unknown): Promise<void> {
    await store.put(name, await codec.encode(name, new TextEncoder().encode(JSON.stringify(value))))
  }

  const ids = async (): Promise<string[]> => {
    const found = await store.list('manifests/')
    return inOrder(
      found.map(({ name }) => name.slice('manifests/'.length)).filter((id) => BACKUP_ID.test(id)),
    )
  }

  return {
    store,
    codec,
    packs,
    ids,
    async manifest(id) {
      const name = `manifests/${id}`
      const stored = BACKUP_ID.test(id) ? await store.get(name) : null
      if (stored === null) throw new Error(`There is no backup ${id.slice(0, 60)} in ${store.label}`)
      const value = parse(name, await codec.decode(name, stored))
      refuseLater(value, id)
      const read = Manifest.safeParse(value)
      if (!read.success) throw new DamagedObject(`${name} is damaged: ${z.prettifyError(read.error)}`)
      return read.data
    },
    async list() {
      const [known, tested] = [await ids(), new Set((await store.list('tests/')).map(({ name }) => name))]
      const listed = known.map(async (id): Promise<ListedBackup> => {
        const ignoreDamage = (error: unknown): null => {
          if (error instanceof DamagedObject) return null
          throw error
        }
        const summary = await getObject(BackupSummary, `summaries/${id}`).catch(ignoreDamage)
        const test = tested.has(`tests/${id}`)
          ? await getObject(TestResult, `tests/${id}`).catch(ignoreDamage)
          : null
        return { id, summary, test }
      })
      return (await Promise.all(listed)).toReversed()
    },
    async getChunk(hash) {
      const stored = await packs.get(hash)
      if (stored === null) throw new DamagedObject(`The chunk ${hash} is missing in ${store.label}`)
      return codec.unpack(hash, stored).catch((error) => {
        if (!(error instanceof DamagedObject)) throw error
        throw new DamagedObject(`The chunk ${hash} is damaged`, { cause: error })
      })
    },
    async putManifest(manifest) {
      await putObject(`summaries/${manifest.summary.id}`, manifest.summary)
      await putObject(`manifests/${manifest.summary.id}`, manifest)
    },
    putTest: (result) => putObject(`tests/${result.backupId}`, result),
    async removeBackup(id) {
      // The manifest first: without it the backup does not exist.
      for (const folder of ['manifests', 'summaries', 'tests']) await store.remove(`${folder}/${id}`)
    },
    async removeDrafts() {
      // The lock of this operation has the time of the store: clocks of machines differ.
      const now = Math.max(...(await store.list('locks/')).map(({ storedAt }) => storedAt))
      for (const { name, storedAt } of await store.list('drafts/'))
        if (now - storedAt > LOCK_EXPIRES_MS) await store.remove(name)
    },
    async exclusively(work) {
      for (let tries = 1; ; tries++) {
        try {
          return await exclusively(store, work)
        } catch (error) {
          if (!(error instanceof BegunTogether)) throw error
          if (tries === MAX_TRIES) throw new Error(error.message)
          await Bun.sleep(SHORT_MS * (0.2 + Math.random()))
        }
      }
    },
  }
}

/** Another operation began at nearly the same time, and may give way as well. */
class BegunTogether extends Error {}

function parse(name: string, bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch (error) {
    throw new DamagedObject(`${name} is damaged`, { cause: error })
  }
}

/** A later version has made the backup: this one may not know its format or its database. */
export class LaterBackup extends Error {
  override readonly name = 'LaterBackup'
}

/** @throws LaterBackup */
function refuseLater(value: unknown, id: string): void {
  const { format, summary } = value as { format?: unknown; summary?: { version?: unknown } }
  const version = typeof summary?.version === 'string' ? summary.version : null
  if (version !== null && isLaterVersion(version, VERSION))
    throw new LaterBackup(writtenLater(`The backup ${id}`, version))
  if (typeof format === 'number' && format > FORMAT)
    throw new LaterBackup(writtenLater(`The backup ${id}`, version))
}

async function openHeader(store: BackupStore, passphrase: string | null, mayCreate: boolean): Promise<Codec> {
  const stored = await store.get(HEADER)
  if (stored !== null) {
    const read = Header.safeParse(parse(HEADER, stored))
    if (!read.success) throw new Error(`${HEADER} in ${store.label} is damaged`)
    if (read.data.format > FORMAT) throw new Error(writtenLater(`The backups in ${store.label}`, null))
    const { encryption } = read.data
    if (encryption === null && passphrase !== null && mayCreate)
      throw new Error(`The backups in ${store.label} are not encrypted: use another place for encrypted ones`)
    return openCodec(read.data, passphrase)
  }
  if (!mayCreate) throw new Error(`There are no backups in ${store.label}`)
  // The key of existing backups would be lost with a new header.
  if ((await store.list('manifests/')).length > 0)
    throw new Error(`${HEADER} in ${store.label} is missing: restore it from a copy`)
  const settings: CodecSettings =
    passphrase === null
      ? { encryption: null, nameKey: createNameKey() }
      : { encryption: await createEncryption(passphrase) }
  await store.put(HEADER, new TextEncoder().encode(JSON.stringify({ format: FORMAT, ...settings }, null, 2)))
  // Of two that start at once, the later one has won.
  const winner = await store.get(HEADER)
  return openCodec(winner === null ? settings : Header.parse(parse(HEADER, winner)), passphrase)
}

async function exclusively<T>(
  store: BackupStore,
  work: (requireLock: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const name = `locks/${nowMs()}-${randomText(8)}`
  const write = () =>
    store.put(
      name,
      new TextEncoder().encode(
        JSON.stringify({
          host: hostname(),
          pid: process.pid,
          at: nowIso(),
        } satisfies z.output<typeof Lock>),
      ),
    )
  const isHeld = async () => (await store.get(name)) !== null
  await write()
  let renewedAt = Date.now()
  let renewing = Promise.resolve()
  const renewal = setInterval(() => {
    renewing = renewing
      .then(async () => {
        const at = Date.now()
        // One that another operation has removed, or may be about to remove, stays lost.
        if (at - renewedAt > LOCK_EXPIRES_MS - LOCK_RENEWED_MS || !(await isHeld())) return
        await write()
        renewedAt = at
      })
      // The lock of a store that cannot be reached expires; the work itself fails as well.
      .catch(() => {})
  }, LOCK_RENEWED_MS)
  const requireLock = async () => {
    if (!(await isHeld()))
      throw new Error(`Another operation has changed ${store.label}, as this one stood still for too long`)
  }
  try {
    const locks = await store.list('locks/')
    const own = locks.find((lock) => lock.name === name)
    for (const other of locks) {
      if (other === own) continue
      const holder = await readLock(store, other.name)
      // Times of the store, which has just stored the own lock: clocks of machines differ.
      const age = (own?.storedAt ?? 0) - other.storedAt
      if (holder === null || age > LOCK_EXPIRES_MS || hasEnded(holder)) {
        await store.remove(other.name)
        continue
      }
      const text = `Another backup or clean-up uses ${store.label} (process ${holder.pid} on ${holder.host}, since ${holder.at})`
      throw age < SHORT_MS ? new BegunTogether(text) : new Error(text)
    }
    return await work(requireLock)
  } finally {
    clearInterval(renewal)
    await renewing
    await store.remove(name)
  }
}

async function readLock(store: BackupStore, name: string): Promise<z.output<typeof Lock> | null> {
  const stored = await store.get(name)
  if (stored === null) return null
  try {
    return Lock.parse(parse(name, stored))
  } catch {
    // Cut off by a crash.
    return null
  }
}

/** True for the lock of a process of this machine that was killed. */
const hasEnded = ({ host, pid }: z.output<typeof Lock>): boolean => host === hostname() && !isRunning(pid)
