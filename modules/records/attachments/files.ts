import { and, count, eq, inArray, isNotNull, isNull, lt, lte, not, sql, sum } from 'drizzle-orm'
import type { Actor } from '../../../src/core/actor.ts'
import { AppError } from '../../../src/core/errors.ts'
import { cleanFileName } from '../../../src/core/fields/attachment-item.ts'
import { randomText } from '../../../src/core/ids.ts'
import { holdsBaseRole } from '../../../src/core/roles.ts'
import type { Kernel } from '../../../src/kernel.ts'
import type { AuthService } from '../../auth/index.ts'
import { defineRecordsTables } from '../tables.ts'
import { isVisitor, ownerOf } from './audience.ts'
import { imageSize, sniffType } from './file-type.ts'
import type { Arrived } from './incoming.ts'
import { pathOf, placeOf } from './links.ts'

/** Files that no cell names are kept this long: an upload whose record was never saved. */
const UNUSED_KEPT_MS = 24 * 3_600_000
/** Unused files that one person may have at a time, so that nobody fills the disk. */
const MAX_UNUSED = { files: 1000, bytes: 5 * 1024 ** 3 }
/** The same for all who come by one public link together. */
const MAX_UNUSED_OF_LINK = { files: 200, bytes: 1024 ** 3 }
/** Names in one statement. */
const CHUNK = 500

/** A file of the store: what the server knows of it, whatever a cell says. */
export interface FileRow {
  path: string
  userId: string | null
  title: string
  mimetype: string
  size: number
  width: number | null
  height: number | null
}

/** What is younger stays in any case. */
const dayAgo = (): string => new Date(Date.now() - UNUSED_KEPT_MS).toISOString()

export type Files = ReturnType<typeof createFiles>

/** The uploaded files: who brought them, and in the cells of which bases they stand. */
export function createFiles(
  { meta, files: store, log }: Pick<Kernel, 'meta' | 'files' | 'log'>,
  { access }: Pick<AuthService, 'access'>,
) {
  const { attachmentFiles, attachmentUses } = meta.tables(defineRecordsTables)

  /**
   * Keeps a file that has arrived, under a place that nobody can guess.
   * @param folder where the client would have it, `noco/base/table`; null: by the day
   * @throws TOO_MANY_REQUESTS where someone has too many files that no cell names
   */
  async function keep(
    userId: string,
    arrived: Arrived,
    name: string,
    folder: string | null,
  ): Promise<FileRow> {
    await refuseHoard(userId)
    await store.prepare(isUnused)
    const title = cleanFileName(name) ?? 'file'
    const mimetype = sniffType(arrived.head, title)
    const size = await imageSize(arrived.path, mimetype)
    const row: FileRow = {
      path: pathOf(newPlace(title, folder)),
      userId,
      title,
      mimetype,
      size: arrived.size,
      width: size?.width ?? null,
      height: size?.height ?? null,
    }
    // Known before it lies there: should the process end in between, the sweep finds and removes it.
    await meta.db
      .insert(attachmentFiles)
      .values({ ...row, isUsed: false, createdAt: new Date().toISOString() })
    try {
      await store.keep(placeOf(row.path), arrived.path, mimetype)
    } catch (error) {
      await meta.db.delete(attachmentFiles).where(eq(attachmentFiles.path, row.path))
      throw error
    }
    return row
  }

  /** True where no file was ever kept. */
  const isUnused = async (): Promise<boolean> =>
    (await meta.db.select({ path: attachmentFiles.path }).from(attachmentFiles).limit(1)).length === 0

  async function refuseHoard(userId: string): Promise<void> {
    const isWaiting = and(eq(attachmentFiles.userId, userId), eq(attachmentFiles.isUsed, false))
    const [waiting] = await meta.db
      .select({ files: count(), bytes: sum(attachmentFiles.size) })
      .from(attachmentFiles)
      .where(isWaiting)
    const most = isVisitor(userId) ? MAX_UNUSED_OF_LINK : MAX_UNUSED
    if ((waiting?.files ?? 0) < most.files && Number(waiting?.bytes ?? 0) < most.bytes) return
    throw new AppError(
      'TOO_MANY_REQUESTS',
      'Too many uploaded files are not attached to a record. Attach them or try again tomorrow.',
    )
  }

  async function rowsOf(paths: readonly string[]): Promise<Map<string, FileRow & { isUsed: boolean }>> {
    const found = new Map<string, FileRow & { isUsed: boolean }>()
    for (let start = 0; start < paths.length; start += CHUNK) {
      const wanted = inArray(attachmentFiles.path, paths.slice(start, start + CHUNK))
      for (const row of await meta.db.select().from(attachmentFiles).where(wanted)) found.set(row.path, row)
    }
    return found
  }

  async function usesOf(paths: readonly string[]): Promise<Map<string, Set<string>>> {
    const found = new Map<string, Set<string>>()
    for (let start = 0; start < paths.length; start += CHUNK) {
      const wanted = inArray(attachmentUses.path, paths.slice(start, start + CHUNK))
      for (const { path, baseId } of await meta.db.select().from(attachmentUses).where(wanted)) {
        found.set(path, (found.get(path) ?? new Set()).add(baseId))
      }
    }
    return found
  }

  /** A cell may have named the file meanwhile: only what is still unused goes. */
  async function removeUnused(path: string, removeAlso: (path: string) => Promise<void>): Promise<void> {
    const [gone] = await meta.db
      .delete(attachmentFiles)
      .where(
        and(
          eq(attachmentFiles.path, path),
          eq(attachmentFiles.isUsed, false),
          sql`not exists (select 1 from attachment_uses named where named.path = ${path})`,
        ),
      )
      .returning({ path: attachmentFiles.path })
    if (!gone) return
    await store.remove(placeOf(path))
    await removeAlso(path)
  }

  const mayReadBase = async (actor: Actor, baseId: string): Promise<boolean> =>
    holdsBaseRole(await access.baseRole(actor, baseId), 'viewer')

  /** True where the actor brought the file, or may now read a base in whose cells it stands. */
  async function mayRead(
    actor: Actor,
    row: FileRow,
    bases: ReadonlySet<string> = new Set(),
  ): Promise<boolean> {
    if (row.userId !== null && row.userId === ownerOf(actor)) return true
    for (const baseId of bases) if (await mayReadBase(actor, baseId)) return true
    return false
  }

  /** Those of the files that cells of the base may name for this person; `fresh`: no cell of the base has yet. */
  async function nameable(actor: Actor, baseId: string, paths: readonly string[]) {
    const [all, uses] = await Promise.all([rowsOf(paths), usesOf(paths)])
    const rows = new Map<string, FileRow>()
    for (const [path, row] of all) {
      const bases = uses.get(path)
      if (bases?.has(baseId) || (await mayRead(actor, row, bases))) rows.set(path, row)
    }
    return { rows, fresh: [...rows.keys()].filter((path) => !uses.get(path)?.has(baseId)) }
  }

  async function use(baseId: string, fresh: string[]): Promise<void> {
    for (let start = 0; start < fresh.length; start += CHUNK) {
      const some = fresh.slice(start, start + CHUNK)
      await meta.atomically([
        meta.db.update(attachmentFiles).set({ isUsed: true }).where(inArray(attachmentFiles.path, some)),
        meta.db
          .insert(attachmentUses)
          .values(some.map((path) => ({ path, baseId })))
          .onConflictDoNothing(),
      ])
    }
  }

  /** What is about to be named again is not removed, whatever a look that is going on has found. */
  async function keepNamed(baseId: string, paths: readonly string[]): Promise<void> {
    for (let start = 0; start < paths.length; start += CHUNK) {
      const some = inArray(attachmentUses.path, paths.slice(start, start + CHUNK))
      await meta.db
        .update(attachmentUses)
        .set({ unusedSince: null })
        .where(and(eq(attachmentUses.baseId, baseId), isNotNull(attachmentUses.unusedSince), some))
    }
  }

  /** Lets the sweep remove those of the files that no base names any more. */
  async function release(paths: readonly string[]): Promise<void> {
    const isNamed = sql`exists (select 1 from attachment_uses named where named.path = ${attachmentFiles.path})`
    for (let start = 0; start < paths.length; start += CHUNK) {
      const some = inArray(attachmentFiles.path, paths.slice(start, start + CHUNK))
      await meta.db
        .update(attachmentFiles)
        .set({ isUsed: false })
        .where(and(some, not(isNamed)))
    }
  }

  return {
    keep,
    removeUnused,

    /**
     * Lets cells of a base name these files from now on, and gives what is known of each. A file may be named
     * by who uploaded it and by those who may now read a base where it stands already, which the base itself
     * counts as: so a path that one has heard of, or could read once, opens nothing.
     *
     * @throws BAD_REQUEST naming the first that is unknown or not for this person, which look the same
     */
    async claim(actor: Actor, baseId: string, paths: readonly string[]): Promise<Map<string, FileRow>> {
      const { rows, fresh } = await nameable(actor, baseId, paths)
      const unknown = paths.find((path) => !rows.has(path))
      if (unknown !== undefined) {
        throw new AppError(
          'BAD_REQUEST',
          `Unknown file "${unknown.slice(-100)}". Upload it first.`,
          undefined,
          'msg',
        )
      }
      await use(baseId, fresh)
      await keepNamed(baseId, [...rows.keys()])
      return rows
    },

    /** As `claim`, for a list of which some may be unknown, or not for this person: those are left out. */
    async claimKnown(actor: Actor, baseId: string, paths: readonly string[]): Promise<FileRow[]> {
      const { rows, fresh } = await nameable(actor, baseId, paths)
      await use(baseId, fresh)
      await keepNamed(baseId, [...rows.keys()])
      return [...rows.values()]
    },

    /** Those of the files that stand, or stood, in cells of the base: for whoever may read it. */
    async ofBase(baseId: string, paths: readonly string[]): Promise<FileRow[]> {
      const found: FileRow[] = []
      for (let start = 0; start < paths.length; start += CHUNK) {
        const rows = await meta.db
          .select({ file: attachmentFiles })
          .from(attachmentUses)
          .innerJoin(attachmentFiles, eq(attachmentFiles.path, attachmentUses.path))
          .where(
            and(
              eq(attachmentUses.baseId, baseId),
              inArray(attachmentUses.path, paths.slice(start, start + CHUNK)),
            ),
          )
        found.push(...rows.map(({ file }) => file))
      }
      return found
    },

    /**
     * Lets the cells of a base name all that those of another one may: for copies of a base, whose records are
     * copied without the write door.
     */
    async shareAll(fromBaseId: string, toBaseId: string): Promise<void> {
      const both = meta.db
        .select({
          path: attachmentUses.path,
          baseId: sql<string>`${toBaseId}`.as('base_id'),
          unusedSince: sql<null>`null`.as('unused_since'),
        })
        .from(attachmentUses)
        .where(eq(attachmentUses.baseId, fromBaseId))
      await meta.db.insert(attachmentUses).select(both).onConflictDoNothing()
    },

    /** True where cells of the base name, or named, files that are old enough to be removed. */
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
     * Takes note of which files a base names no more. What a look finds unnamed for the first time only gets a date: a
     * value that is on its way to the base may name it. What was found so before `unnamedBefore`, and by nobody named
     * since, the base forgets; files that no base knows then go with the next sweep. Files of the last day stay.
     *
     * @param named all that the base names now
     * @param unnamedBefore ISO 8601
     */
    async forgetUnnamed(
      baseId: string,
      named: ReadonlySet<string>,
      unnamedBefore: string,
    ): Promise<{ forgotten: number }> {
      const now = new Date().toISOString()
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
      for (let start = 0; start < fresh.length; start += CHUNK) {
        const some = inArray(attachmentUses.path, fresh.slice(start, start + CHUNK))
        await meta.db
          .update(attachmentUses)
          .set({ unusedSince: now })
          .where(and(eq(attachmentUses.baseId, baseId), isNull(attachmentUses.unusedSince), some))
      }
      let forgotten = 0
      for (let start = 0; start < old.length; start += CHUNK) {
        const some = inArray(attachmentUses.path, old.slice(start, start + CHUNK))
        // Claimed in the meantime, it has no date.
        const gone = await meta.db
          .delete(attachmentUses)
          .where(and(eq(attachmentUses.baseId, baseId), lte(attachmentUses.unusedSince, unnamedBefore), some))
          .returning({ path: attachmentUses.path })
        await release(gone.map(({ path }) => path))
        forgotten += gone.length
      }
      return { forgotten }
    },

    /** Lets go of all files of a base that is gone for good: those that no other base names go with the next sweep. */
    async forgetBase(baseId: string): Promise<void> {
      const gone = await meta.db
        .delete(attachmentUses)
        .where(eq(attachmentUses.baseId, baseId))
        .returning({ path: attachmentUses.path })
      await release(gone.map(({ path }) => path))
    },

    /** A file by its path, or null. */
    find: async (path: string): Promise<FileRow | null> => (await rowsOf([path])).get(path) ?? null,

    /** The file, for someone who may read it without a link; null where it is not there, or not for them. */
    async findFor(actor: Actor, path: string): Promise<FileRow | null> {
      const row = (await rowsOf([path])).get(path)
      return row && (await mayRead(actor, row, (await usesOf([path])).get(path))) ? row : null
    },

    /**
     * Removes files that were uploaded a day ago and that no cell has named, or that nothing names any more. What a
     * cell has named once stays while the change log can bring it back (see `forgetUnnamed`).
     */
    async sweep(removeAlso: (path: string) => Promise<void>): Promise<number> {
      const isOld = and(eq(attachmentFiles.isUsed, false), lt(attachmentFiles.createdAt, dayAgo()))
      const old = await meta.db.select({ path: attachmentFiles.path }).from(attachmentFiles).where(isOld)
      for (const { path } of old) await removeUnused(path, removeAlso)
      if (old.length > 0) log.info('removed files that no record names', { files: old.length })
      return old.length
    },
  }
}

const MAX_FOLDERS = 8
const MAX_FOLDER = 60
const MAX_NAME = 80

/**
 * A fresh place in the store: `2026/11/20/<40 hex>/photo_5s7sr.png`, or under the folder that a client asks
 * for. The 160 random bits are there in either case.
 */
function newPlace(title: string, folder: string | null): string {
  const random = Buffer.from(crypto.getRandomValues(new Uint8Array(20))).toString('hex')
  return [...foldersOf(folder), random, storedName(title)].join('/')
}

function foldersOf(folder: string | null): string[] {
  const asked = (folder ?? '').split(/[\\/]/).filter((part) => part !== '')
  if (asked.length === 0) return new Date().toISOString().slice(0, 10).split('-')
  return asked.slice(0, MAX_FOLDERS).map((part) => (part === '..' ? '_' : plain(part).slice(0, MAX_FOLDER)))
}

/** The name in plain letters with five random characters ahead of its ending. */
function storedName(title: string): string {
  const [, base = '', ending = ''] = /^(.*?)(\.[A-Za-z0-9]{1,10})?$/s.exec(title) ?? []
  return `${plain(base).slice(0, MAX_NAME)}_${randomText(5)}${ending}`
}

/** Letters, digits, `_`, `.` and `-`, the first of them one of the former: see `isKey`. */
const plain = (text: string): string => {
  const known = text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9_.-]/g, '_')
  return /^[A-Za-z0-9_]/.test(known) ? known : `_${known.slice(1)}`
}
