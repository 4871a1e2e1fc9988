import { and, count, desc, eq, inArray, isNotNull, isNull, lt, lte, not, or, sql, sum } from 'drizzle-orm'
import { nowIso, nowMs } from '../../../src/clock.ts'
import type { Actor } from '../../../src/core/actor.ts'
import { AppError } from '../../../src/core/errors.ts'
import { cleanFileName } from '../../../src/core/fields/attachment-item.ts'
import { randomText } from '../../../src/core/ids.ts'
import { holdsBaseRole } from '../../../src/core/roles.ts'
import type { MetaReader, MetaStatement } from '../../../src/db/meta.ts'
import { createMutex } from '../../../src/db/mutex.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import type { AuthService } from '../../auth/index.ts'
import { chunks } from '../table/index.ts'
import { defineRecordsTables } from '../tables.ts'
import { exportsOwner, isVisitor, ownerOf } from './audience.ts'
import { imageSize, sniffType } from './file-type.ts'
import type { ReceivedFile } from './incoming.ts'
import { pathOfKey, storeKeyOf } from './links.ts'

/** Uploads that no cell uses are deleted after this time. */
const UNUSED_KEPT_MS = 24 * 3_600_000
/** Limit of unused files per person, so that nobody fills the disk. */
const MAX_UNUSED = { files: 1000, bytes: 5 * 1024 ** 3 }
/** The same for all visitors of one public link together. */
const MAX_UNUSED_OF_LINK = { files: 200, bytes: 1024 ** 3 }
/** Files of a person's exports that are kept: the newest. */
const MAX_EXPORTS = { files: 200, bytes: 5 * 1024 ** 3 }

/** A stored file: the server’s own data, whatever a cell says. */
export interface FileRow {
  path: string
  userId: string | null
  title: string
  mimetype: string
  size: number
  width: number | null
  height: number | null
  /** Id of its store, see `FileStores`. */
  storeId: string | null
}

/** An upload asks for its turn while another server counts, but goes ahead after so many tries: one that stands still keeps its turn. */
const TAKE_AGAIN_MS = 20
const TAKE_TRIES = 200

/** Files whose content is looked up at the same time. */
const LOOKED_UP_AT_ONCE = 16

/** Newer files are never deleted. */
const dayAgo = (): string => new Date(nowMs() - UNUSED_KEPT_MS).toISOString()

/** Deletes the thumbnails of a file. */
type RemoveThumbnails = (file: Pick<FileRow, 'path' | 'storeId'>) => Promise<void>

export type Files = ReturnType<typeof createFiles>

/** The uploaded files: their owners, and the bases whose cells use them. */
export function createFiles(
  { meta, files: stores, log }: Pick<Kernel, 'meta' | 'files' | 'log'>,
  { access }: Pick<AuthService, 'access'>,
) {
  const { attachmentFiles, attachmentUses } = meta.tables(defineRecordsTables)

  const { claims } = meta.cluster

  /** Uploads are counted and registered one after the other: each counts those before it. */
  const inTurn = createMutex()

  /**
   * Stores a received file under an unguessable key.
   *
   * @param userId its uploader
   * @param options `folder`: as the client asks, `noco/base/table`; null: a folder by date. `isLimited`: true if it counts as an
   *   upload until a cell uses it
   * @throws TOO_MANY_REQUESTS beyond the limit of unused files
   */
  async function keep(
    userId: string,
    arrived: ReceivedFile,
    { name, folder, isLimited = false }: { name: string; folder: string | null; isLimited?: boolean },
  ): Promise<FileRow> {
    const { id: storeId, store } = stores.current()
    await store.prepare(() => isUnused(storeId))
    const title = cleanFileName(name) ?? 'file'
    const mimetype = sniffType(arrived.head, title)
    const size = await imageSize(arrived.path, mimetype)
    const row: FileRow = {
      path: pathOfKey(newStoreKey(title, folder)),
      userId,
      title,
      mimetype,
      size: arrived.size,
      width: size?.width ?? null,
      height: size?.height ?? null,
      storeId,
    }
    // Registered before it is stored: if the process ends in between, the sweep removes it.
    await counting(isLimited ? userId : null, async () => {
      if (isLimited) await requireRoom(userId)
      await meta.db.insert(attachmentFiles).values({ ...row, isUsed: false, createdAt: nowIso() })
    })
    try {
      await store.keep(storeKeyOf(row.path), arrived.path, mimetype)
    } catch (error) {
      await meta.db.delete(attachmentFiles).where(eq(attachmentFiles.path, row.path))
      throw error
    }
    return row
  }

  /** Runs `work` while no other upload of a person is counted, by any server that goes on. */
  async function counting(userId: string | null, work: () => Promise<void>): Promise<void> {
    if (userId === null) return work()
    await inTurn(async () => {
      const claim = `uploads of ${userId}`
      // Tries are counted, not time: a pause of this process is no sign that the other one stands still.
      for (let tries = 1; !(await claims.take(claim)) && tries < TAKE_TRIES; tries++)
        await Bun.sleep(TAKE_AGAIN_MS)
      try {
        await work()
      } finally {
        await claims.release(claim)
      }
    })
  }

  const isIn = (storeId: string | null) =>
    storeId === null ? isNull(attachmentFiles.storeId) : eq(attachmentFiles.storeId, storeId)

  /** True if no file is in the store. */
  async function isUnused(storeId: string | null): Promise<boolean> {
    const any = meta.db.select({ path: attachmentFiles.path }).from(attachmentFiles)
    return (await any.where(isIn(storeId)).limit(1)).length === 0
  }

  /** False for a file whose content, or whose whole store, is gone. */
  async function hasContent(row: FileRow | undefined): Promise<boolean> {
    if (!row) return false
    try {
      return (await (await stores.get(row.storeId)).find(storeKeyOf(row.path))) !== null
    } catch (error) {
      if (error instanceof AppError && error.code === 'STORAGE_MISSING') return false
      throw error
    }
  }

  /** @throws TOO_MANY_REQUESTS beyond the limit of unused files */
  async function requireRoom(userId: string): Promise<void> {
    const isWaiting = and(eq(attachmentFiles.userId, userId), eq(attachmentFiles.isUsed, false))
    const [waiting] = await meta.db
      .select({ files: count(), bytes: sum(attachmentFiles.size) })
      .from(attachmentFiles)
      .where(isWaiting)
    const most = isVisitor(userId) ? MAX_UNUSED_OF_LINK : MAX_UNUSED
    if ((waiting?.files ?? 0) < most.files && Number(waiting?.bytes ?? 0) < most.bytes) return
    throw new AppError('TOO_MANY_REQUESTS', m.records_error_unused_files())
  }

  async function rowsOf(paths: readonly string[]): Promise<Map<string, FileRow & { isUsed: boolean }>> {
    const found = new Map<string, FileRow & { isUsed: boolean }>()
    for (const part of chunks(paths)) {
      const wanted = inArray(attachmentFiles.path, part)
      for (const row of await meta.db.select().from(attachmentFiles).where(wanted)) found.set(row.path, row)
    }
    return found
  }

  /** The bases that use each file, and since when a scan finds it unused there. */
  async function usesOf(paths: readonly string[]): Promise<Map<string, Map<string, string | null>>> {
    const found = new Map<string, Map<string, string | null>>()
    for (const part of chunks(paths)) {
      const wanted = inArray(attachmentUses.path, part)
      for (const { path, baseId, unusedSince } of await meta.db.select().from(attachmentUses).where(wanted)) {
        found.set(path, (found.get(path) ?? new Map()).set(baseId, unusedSince))
      }
    }
    return found
  }

  /**
   * Deletes a file unless a cell has used it in the meantime. Its row goes last: the next sweep tries again what a store
   * has refused.
   */
  async function removeUnused(path: string, removeAlso: RemoveThumbnails): Promise<void> {
    const isStillUnused = and(
      eq(attachmentFiles.path, path),
      eq(attachmentFiles.isUsed, false),
      sql`not exists (select 1 from attachment_uses named where named.path = ${path})`,
    )
    // Without an uploader and a use it is never used again: see `using`.
    const [going] = await meta.db
      .update(attachmentFiles)
      .set({ userId: null })
      .where(isStillUnused)
      .returning({ path: attachmentFiles.path, storeId: attachmentFiles.storeId })
    if (!going) return
    await (await stores.get(going.storeId)).remove(storeKeyOf(path))
    await removeAlso(going)
    await meta.db.delete(attachmentFiles).where(isStillUnused)
  }

  /** As `removeUnused`, and logs a failure: a bucket that is gone does not keep the files of others. */
  async function removeLogged(path: string, removeAlso: RemoveThumbnails): Promise<boolean> {
    try {
      await removeUnused(path, removeAlso)
      return true
    } catch (error) {
      log.error('an unused file could not be removed', error, { path })
      return false
    }
  }

  const mayReadBase = async (actor: Actor, baseId: string): Promise<boolean> =>
    holdsBaseRole(await access.baseRole(actor, baseId), 'viewer')

  /** True if the actor uploaded the file, or may read a base whose cells use it. */
  async function mayRead(
    actor: Actor,
    row: FileRow,
    bases: ReadonlyMap<string, unknown> = new Map(),
  ): Promise<boolean> {
    if (row.userId !== null && row.userId === ownerOf(actor)) return true
    for (const baseId of bases.keys()) if (await mayReadBase(actor, baseId)) return true
    return false
  }

  /**
   * The files that this actor may put into cells of the base, by path. `fresh`: those that the base does not use yet, or
   * only by a use that a scan may end at any time. Other uses outlast the write.
   */
  async function nameable(actor: Actor, baseId: string, paths: readonly string[]) {
    const [all, uses] = await Promise.all([rowsOf(paths), usesOf(paths)])
    const rows = new Map<string, FileRow>()
    for (const [path, row] of all) {
      const bases = uses.get(path)
      if (bases?.has(baseId) || (await mayRead(actor, row, bases))) rows.set(path, row)
    }
    return { rows, fresh: [...rows.keys()].filter((path) => uses.get(path)?.get(baseId) !== null) }
  }

  /**
   * Statements that record that cells of the base use these files, except those that `removeUnused` has begun to remove.
   * Whichever of the two updates the row of a file first decides.
   */
  function using(baseId: string, paths: string[]): MetaStatement[] {
    const some = inArray(attachmentFiles.path, paths)
    const isThere = or(isNotNull(attachmentFiles.userId), eq(attachmentFiles.isUsed, true))
    const used = meta.db
      .select({
        path: attachmentFiles.path,
        baseId: sql<string>`${baseId}`.as('base_id'),
        unusedSince: sql<null>`null`.as('unused_since'),
      })
      .from(attachmentFiles)
      .where(and(some, eq(attachmentFiles.isUsed, true)))
    return [
      meta.db.update(attachmentFiles).set({ isUsed: true }).where(and(some, isThere)),
      meta.db
        .insert(attachmentUses)
        .select(used)
        .onConflictDoUpdate({
          target: [attachmentUses.path, attachmentUses.baseId],
          set: { unusedSince: null },
        }),
    ]
  }

  /** Records that cells of the base use these files. Returns those that are not being removed. */
  async function use(baseId: string, paths: readonly string[]): Promise<Set<string>> {
    for (const some of chunks(paths)) await meta.atomically(using(baseId, some))
    const uses = await usesOf(paths)
    return new Set(paths.filter((path) => uses.get(path)?.has(baseId)))
  }

  /** As `use` for the files of `nameable`. Returns all of them that the base uses now. */
  async function register(
    baseId: string,
    { rows, fresh }: { rows: Map<string, FileRow>; fresh: string[] },
  ): Promise<Map<string, FileRow>> {
    const used = await use(baseId, fresh)
    const gone = new Set(fresh.filter((path) => !used.has(path)))
    return new Map([...rows].filter(([path]) => !gone.has(path)))
  }

  function refuseUnknown(paths: readonly string[], rows: ReadonlyMap<string, FileRow>): void {
    const unknown = paths.find((path) => !rows.has(path))
    if (unknown === undefined) return
    throw new AppError(
      'BAD_REQUEST',
      m.records_error_unknown_file({ path: unknown.slice(-100) }),
      undefined,
      'msg',
    )
  }

  /** Keeps files that a scan has found again. */
  async function keepNamed(baseId: string, paths: readonly string[]): Promise<void> {
    for (const part of chunks(paths)) {
      const some = inArray(attachmentUses.path, part)
      await meta.db
        .update(attachmentUses)
        .set({ unusedSince: null })
        .where(and(eq(attachmentUses.baseId, baseId), isNotNull(attachmentUses.unusedSince), some))
    }
  }

  /** Marks those of the files that no base uses, so that the sweep deletes them. */
  async function release(paths: readonly string[]): Promise<void> {
    const isNamed = sql`exists (select 1 from attachment_uses named where named.path = ${attachmentFiles.path})`
    for (const part of chunks(paths)) {
      const some = inArray(attachmentFiles.path, part)
      await meta.db
        .update(attachmentFiles)
        .set({ isUsed: false })
        .where(and(some, not(isNamed)))
    }
  }

  return {
    keep,
    use,
    removeUnused,

    /**
     * Registers the use of files in cells of a base, and returns their data. Actors may use files that they uploaded,
     * and files in bases that they may read, including this one: knowing a path, or having had access once, is not
     * enough.
     *
     * @throws BAD_REQUEST naming the first that is unknown or not for this person, which look the same
     */
    async claim(actor: Actor, baseId: string, paths: readonly string[]): Promise<Map<string, FileRow>> {
      const found = await nameable(actor, baseId, paths)
      refuseUnknown(paths, found.rows)
      const rows = await register(baseId, found)
      refuseUnknown(paths, rows)
      return rows
    },

    /** As `claim`, but ignores files that are unknown or not accessible. */
    async claimKnown(actor: Actor, baseId: string, paths: readonly string[]): Promise<FileRow[]> {
      const rows = await register(baseId, await nameable(actor, baseId, paths))
      return [...rows.values()]
    },

    /** The files among these that cells of the base use or used. */
    async ofBase(baseId: string, paths: readonly string[]): Promise<FileRow[]> {
      const found: FileRow[] = []
      for (const part of chunks(paths)) {
        const rows = await meta.db
          .select({ file: attachmentFiles })
          .from(attachmentUses)
          .innerJoin(attachmentFiles, eq(attachmentFiles.path, attachmentUses.path))
          .where(and(eq(attachmentUses.baseId, baseId), inArray(attachmentUses.path, part)))
        found.push(...rows.map(({ file }) => file))
      }
      return found
    },

    /** Which of these files exist, and the bases whose cells use or used each. */
    async usesOf(paths: readonly string[]): Promise<{ baseId: string; path: string }[]> {
      const found: { baseId: string; path: string }[] = []
      for (const part of chunks(paths)) {
        const rows = await meta.db
          .select({ baseId: attachmentUses.baseId, path: attachmentUses.path })
          .from(attachmentUses)
          .innerJoin(attachmentFiles, eq(attachmentFiles.path, attachmentUses.path))
          .where(inArray(attachmentUses.path, part))
        found.push(...rows)
      }
      return found
    },

    /**
     * The statement that registers all file uses of one base for another: for copies of a base, which bypass the write
     * door. It belongs in the transaction that publishes the copy, so that no copy is without its files.
     */
    sharing(fromBaseId: string, toBaseId: string): MetaStatement {
      const both = meta.db
        .select({
          path: attachmentUses.path,
          baseId: sql<string>`${toBaseId}`.as('base_id'),
          unusedSince: sql<null>`null`.as('unused_since'),
        })
        .from(attachmentUses)
        .where(eq(attachmentUses.baseId, fromBaseId))
      return meta.db.insert(attachmentUses).select(both).onConflictDoNothing()
    },

    /** The files that cells of a base use or used, by the metadata of a backup. */
    async usedIn(from: MetaReader, baseId: string): Promise<FileRow[]> {
      const rows = await from
        .select({ file: attachmentFiles })
        .from(attachmentUses)
        .innerJoin(attachmentFiles, eq(attachmentFiles.path, attachmentUses.path))
        .where(eq(attachmentUses.baseId, baseId))
      return rows.map(({ file: { isUsed: _, createdAt: __, ...file } }) => file)
    },

    /**
     * Registers files for a base, those that are stored.
     * @returns those whose row or content is gone
     */
    async shareKnown(baseId: string, rows: readonly FileRow[]): Promise<FileRow[]> {
      const known = await rowsOf(rows.map(({ path }) => path))
      // Registered first, so that no sweep removes what is found.
      const used = await use(baseId, [...known.keys()])
      const lost: FileRow[] = []
      for (let from = 0; from < rows.length; from += LOOKED_UP_AT_ONCE) {
        const some = rows.slice(from, from + LOOKED_UP_AT_ONCE)
        const found = await Promise.all(some.map(({ path }) => used.has(path) && hasContent(known.get(path))))
        lost.push(...some.filter((_, at) => !found[at]))
      }
      return lost
    },

    /** Stores a lost file again under its path, from a local file that is moved. */
    async keepAgain(baseId: string, { path, ...row }: FileRow, file: string): Promise<void> {
      const { id: storeId, store } = stores.current()
      await store.prepare(() => isUnused(storeId))
      const values = { ...row, path, storeId, isUsed: true, createdAt: nowIso() }
      await meta.atomically([
        meta.db
          .insert(attachmentFiles)
          .values(values)
          .onConflictDoUpdate({ target: attachmentFiles.path, set: { storeId, isUsed: true } }),
        ...using(baseId, [path]),
      ])
      await store.keep(storeKeyOf(path), file, row.mimetype)
    },

    /** True if the base uses, or used, files that are old enough to be removed. */
    async hasOld(baseId: string): Promise<boolean> {
      const [one] = await meta.db
        .select({ path: attachmentUses.path })
        .from(attachmentUses)
        .innerJoin(attachmentFiles, eq(attachmentFiles.path, attachmentUses.path))
        .where(and(eq(attachmentUses.baseId, baseId), lt(attachmentFiles.createdAt, dayAgo())))
        .limit(1)
      return one !== undefined
    },

    /**
     * Records which files a base no longer uses. The first scan that misses a file only sets a date, as a value that
     * names it may be on its way. Files missing since before `unnamedBefore` are released; those that no base uses
     * are deleted by the next sweep. Files of the last day stay.
     *
     * @param named all files that the base uses now
     * @param unnamedBefore ISO 8601
     */
    async forgetUnnamed(
      baseId: string,
      named: ReadonlySet<string>,
      unnamedBefore: string,
    ): Promise<{ forgotten: number }> {
      const now = nowIso()
      const rows = await meta.db
        .select({ path: attachmentUses.path, unusedSince: attachmentUses.unusedSince })
        .from(attachmentUses)
        .innerJoin(attachmentFiles, eq(attachmentFiles.path, attachmentUses.path))
        .where(and(eq(attachmentUses.baseId, baseId), lt(attachmentFiles.createdAt, dayAgo())))
      const pathsWhere = (meant: (row: (typeof rows)[number]) => boolean) =>
        rows.filter(meant).map(({ path }) => path)
      await keepNamed(
        baseId,
        pathsWhere(({ path, unusedSince }) => unusedSince !== null && named.has(path)),
      )
      const fresh = pathsWhere(({ path, unusedSince }) => unusedSince === null && !named.has(path))
      const old = pathsWhere(
        ({ path, unusedSince }) => unusedSince !== null && unusedSince <= unnamedBefore && !named.has(path),
      )
      for (const part of chunks(fresh)) {
        const some = inArray(attachmentUses.path, part)
        await meta.db
          .update(attachmentUses)
          .set({ unusedSince: now })
          .where(and(eq(attachmentUses.baseId, baseId), isNull(attachmentUses.unusedSince), some))
      }
      let forgotten = 0
      for (const part of chunks(old)) {
        const some = inArray(attachmentUses.path, part)
        // A file claimed in the meantime has no date.
        const gone = await meta.db
          .delete(attachmentUses)
          .where(and(eq(attachmentUses.baseId, baseId), lte(attachmentUses.unusedSince, unnamedBefore), some))
          .returning({ path: attachmentUses.path })
        await release(gone.map(({ path }) => path))
        forgotten += gone.length
      }
      return { forgotten }
    },

    /**
     * Releases all files of a permanently deleted base; the next sweep deletes those that no other base uses.
     * @returns their paths
     */
    async forgetBase(baseId: string): Promise<string[]> {
      const gone = await meta.db
        .delete(attachmentUses)
        .where(eq(attachmentUses.baseId, baseId))
        .returning({ path: attachmentUses.path })
      const paths = gone.map(({ path }) => path)
      await release(paths)
      return paths
    },

    /** Number and total size of the files in each store, by its id. */
    async sizesOfStores(): Promise<{ storeId: string | null; files: number; bytes: number }[]> {
      const rows = await meta.db
        .select({ storeId: attachmentFiles.storeId, files: count(), bytes: sum(attachmentFiles.size) })
        .from(attachmentFiles)
        .groupBy(attachmentFiles.storeId)
      return rows.map(({ bytes, ...row }) => ({ ...row, bytes: Number(bytes ?? 0) }))
    },

    /** A file by its path, or null. */
    find: async (path: string): Promise<FileRow | null> => (await rowsOf([path])).get(path) ?? null,

    requireRoom,

    /** The file, if the actor may read it; else null. */
    async findFor(actor: Actor, path: string): Promise<FileRow | null> {
      const row = (await rowsOf([path])).get(path)
      return row && (await mayRead(actor, row, (await usesOf([path])).get(path))) ? row : null
    },

    /** Deletes the oldest files of a person's exports beyond the limits. The newest stays, whatever its size. */
    async trimExports(userId: string, removeAlso: RemoveThumbnails): Promise<void> {
      const rows = await meta.db
        .select({ path: attachmentFiles.path, size: attachmentFiles.size })
        .from(attachmentFiles)
        .where(eq(attachmentFiles.userId, exportsOwner(userId)))
        .orderBy(desc(attachmentFiles.createdAt))
      let bytes = 0
      for (const [at, { path, size }] of rows.entries()) {
        bytes += size
        if (at > 0 && (at >= MAX_EXPORTS.files || bytes > MAX_EXPORTS.bytes))
          await removeLogged(path, removeAlso)
      }
    },

    /**
     * Deletes uploads older than a day that no cell uses. Files that a cell once used stay while the change log can
     * restore it (see `forgetUnnamed`).
     */
    async sweep(removeAlso: RemoveThumbnails): Promise<number> {
      const isOld = and(eq(attachmentFiles.isUsed, false), lt(attachmentFiles.createdAt, dayAgo()))
      const old = await meta.db.select({ path: attachmentFiles.path }).from(attachmentFiles).where(isOld)
      let removed = 0
      for (const { path } of old) {
        if (await removeLogged(path, removeAlso)) removed++
      }
      if (removed > 0) log.info('removed files that no record names', { files: removed })
      return removed
    },
  }
}

const MAX_FOLDERS = 8
const MAX_FOLDER = 60
const MAX_NAME = 80

/**
 * A new store key: `2026/11/20/<40 hex>/photo_5s7sr.png`, or under the folder that a client requests. Always has 160
 * random bits.
 */
function newStoreKey(title: string, folder: string | null): string {
  const random = Buffer.from(crypto.getRandomValues(new Uint8Array(20))).toString('hex')
  return [...foldersFor(folder), random, storedName(title)].join('/')
}

function foldersFor(folder: string | null): string[] {
  const asked = (folder ?? '').split(/[\\/]/).filter((part) => part !== '')
  if (asked.length === 0) return nowIso().slice(0, 10).split('-')
  return asked.slice(0, MAX_FOLDERS).map((part) => (part === '..' ? '_' : plain(part).slice(0, MAX_FOLDER)))
}

/** The name in ASCII, with five random characters before its extension. */
function storedName(title: string): string {
  const [, base = '', ending = ''] = /^(.*?)(\.[A-Za-z0-9]{1,10})?$/s.exec(title) ?? []
  return `${plain(base).slice(0, MAX_NAME)}_${randomText(5)}${ending}`
}

/** Letters, digits, `_`, `.` and `-`; starts with none of the last two: see `isKey`. */
const plain = (text: string): string => {
  const known = text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9_.-]/g, '_')
  return /^[A-Za-z0-9_]/.test(known) ? known : `_${known.slice(1)}`
}
