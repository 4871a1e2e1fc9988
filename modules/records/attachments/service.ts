import { join } from 'node:path'
import { nowMs } from '../../../src/clock.ts'
import type { Actor, ShareActor } from '../../../src/core/actor.ts'
import { AppError, badRequest } from '../../../src/core/errors.ts'
import { nameIn } from '../../../src/core/fields/attachment-item.ts'
import { isSafeImage } from '../../../src/core/fields/attachment-kinds.ts'
import { createHttpClient } from '../../../src/http.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import type { StoredFile } from '../../../src/storage/index.ts'
import type { AuthService } from '../../auth/index.ts'
import type { BasesService } from '../../bases/index.ts'
import type { SchemaReader } from '../../schema/index.ts'
import type { ViewsService } from '../../views/index.ts'
import { createAudiences, exportsOwner, ownerOf, visitorOwner } from './audience.ts'
import { createFiles, type FileRow } from './files.ts'
import { createIncoming } from './incoming.ts'
import {
  createFileLinks,
  type FileSigner,
  readThumbnailKey,
  readUntil,
  type Served,
  type SignedFile,
  signFile,
  storeKeyOf,
} from './links.ts'
import { addPaths, createItemResolver, namedFiles } from './resolve-items.ts'
import { createThumbnails } from './thumbnails.ts'

/** Time limit for downloading a file from another server. */
const FETCH_TIMEOUT_MS = 5 * 60_000
const SWEEP_EVERY_MS = 3_600_000
/** A file that nothing refers to is checked again after this time: a value that names it may be on its way. */
const UNNAMED_KEPT_MS = 24 * 3_600_000
/** Recheck interval after a permanent deletion. Writes wait for less time than this, jobs do not: see `hasJob`. */
const ERASED_KEPT_MS = 60_000

interface Deps {
  kernel: Kernel
  auth: Pick<AuthService, 'access' | 'shares'>
  bases: Pick<BasesService, 'require' | 'sourcesOf'>
  schema: Pick<SchemaReader, 'load' | 'homeTables'>
  views: Pick<ViewsService, 'load' | 'hasIntactFilter' | 'rowsForCopy'>
}

interface IncomingFile {
  name: string
  /** Requested by the client; null: a folder by date. */
  folder: string | null
  body: AsyncIterable<Uint8Array>
}

export type AttachmentsService = ReturnType<typeof createAttachments>

/** Files of Attachment cells: uploads, their use in cells, and links that expire. */
export function createAttachments({ kernel, auth, bases, schema, views }: Deps) {
  const { config, secrets, files: stores, log } = kernel
  const incoming = createIncoming(join(config.dataDir, 'incoming'), kernel.meta.cluster.claims)
  const links = createFileLinks(secrets.jwt, config.attachmentLinkSeconds * 1000)
  const audiences = createAudiences({ auth, bases, schema, views })
  const signerFor = async (actor: Actor | undefined): Promise<FileSigner> =>
    links.for(actor ? await audiences.of(actor) : null)
  const files = createFiles(kernel, auth)
  const thumbnails = createThumbnails({ stores, incoming })
  const http = createHttpClient(config)
  const sweep = async () => {
    await incoming.clean()
    return files.sweep(thumbnails.remove)
  }

  /** Scans that bases still need before `sweepSoon` is done with them. */
  const scansLeft = new Map<string, number>()

  /** A job names files in rows that no scan finds before its last step: in its staging tables or its transaction. */
  const hasJob = async (baseId: string) => (await kernel.jobs.list({ baseId, unfinished: true })).length > 0

  /**
   * Finds the files that the base still uses: in cells, including the trash, in the change log and in views. Files
   * are deleted when a second scan does not find them either. A base with a connected database keeps all files, as
   * its cells are not searched.
   *
   * @param keptMs minimum time between the two scans
   * @returns false if the base has to be scanned later, because a job runs in it
   */
  async function sweepBase(baseId: string, keptMs = UNNAMED_KEPT_MS): Promise<boolean> {
    if (!(await files.hasOld(baseId))) return true
    const sources = (await bases.sourcesOf([baseId])).get(baseId) ?? []
    if (sources.some(({ isOwn }) => !isOwn)) return true
    if (await hasJob(baseId)) return false
    const unnamedBefore = new Date(nowMs() - keptMs).toISOString()
    const tables = await schema.homeTables(baseId)
    const engine = await kernel.sources.engine(baseId)
    const named = await namedFiles(
      engine,
      tables.map(({ tableName }) => tableName),
    )
    const { views: rows } = await views.rowsForCopy(
      tables.map(({ id }) => id),
      true,
    )
    for (const row of rows) addPaths(named, JSON.stringify(row))
    // A job that starts later claims its files itself, and a claim outlasts this scan.
    if (await hasJob(baseId)) return false
    const { forgotten } = await files.forgetUnnamed(baseId, named, unnamedBefore)
    if (forgotten > 0) log.info('files that the base no longer names', { baseId, files: forgotten })
    return true
  }

  /**
   * Deletes the files of permanently deleted records within minutes, or after the jobs that run in the base; with the
   * daily sweep if the server stops.
   */
  function sweepSoon(baseId: string): void {
    const isUnderWay = scansLeft.has(baseId)
    // The scan that is going on may have passed what is deleted now.
    scansLeft.set(baseId, isUnderWay ? 3 : 2)
    if (!isUnderWay) scanSoon(baseId)
  }

  function scanSoon(baseId: string): void {
    scanOnce(baseId).catch((error) => {
      scansLeft.delete(baseId)
      log.error('removing the files of deleted records failed', error, { baseId })
    })
  }

  async function scanOnce(baseId: string): Promise<void> {
    const isScanned = await sweepBase(baseId, ERASED_KEPT_MS)
    const left = (scansLeft.get(baseId) ?? 1) - (isScanned ? 1 : 0)
    if (left > 0) {
      scansLeft.set(baseId, left)
      setTimeout(() => scanSoon(baseId), ERASED_KEPT_MS + 1_000).unref()
      return
    }
    scansLeft.delete(baseId)
    await sweep()
  }

  setInterval(() => {
    sweep().catch((error) => log.error('removing unused files failed', error))
  }, SWEEP_EVERY_MS).unref()
  incoming.clean().catch((error) => log.error('removing unfinished uploads failed', error))

  /** @throws AUTHENTICATION_REQUIRED unless signed in (wire §19) */
  async function requireUploader(actor: Actor): Promise<string> {
    const owner = ownerOf(actor)
    // Visitors who may edit records may upload files.
    if (actor.kind === 'share' && actor.grant.kind === 'base' && actor.grant.role === 'editor' && owner)
      return owner
    await auth.access.authorize(actor, 'file.create')
    if (owner) return owner
    throw new AppError('AUTHENTICATION_REQUIRED', m.wire_error_invalid_token())
  }

  async function receive(actor: Actor, file: IncomingFile): Promise<FileRow> {
    const owner = await requireUploader(actor)
    return keepLimited(owner, file, config.attachmentMaxBytes)
  }

  /**
   * Stores a file that counts as an upload of `owner` until a cell uses it.
   * @throws PAYLOAD_TOO_LARGE, STORAGE_FULL; TOO_MANY_REQUESTS beyond the limit of unused files
   */
  async function keepLimited(owner: string, file: IncomingFile, maxBytes: number): Promise<FileRow> {
    return keepReceived(owner, file, maxBytes, true)
  }

  async function keepReceived(
    owner: string,
    { name, folder, body }: IncomingFile,
    maxBytes: number,
    isLimited = false,
  ): Promise<FileRow> {
    const arrived = await incoming.receive(body, maxBytes)
    try {
      return await files.keep(owner, arrived, { name, folder, isLimited })
    } finally {
      // After a successful upload the file was moved.
      await incoming.discard(arrived)
    }
  }

  async function receiveFrom(
    actor: Actor,
    { url, name, folder }: { url: string; name: string | null; folder: string | null },
  ): Promise<FileRow> {
    await auth.access.authorize(actor, 'file.create')
    try {
      const { headers, body, ...answer } = await http.get(url, {
        maxBytes: config.attachmentMaxBytes,
        timeoutMs: FETCH_TIMEOUT_MS,
      })
      return await receive(actor, {
        name: name ?? nameOf(headers) ?? nameIn(answer.url.pathname),
        folder,
        body,
      })
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'BAD_REQUEST') throw error
      throw badRequest(m.records_error_file_from_url({ reason: error.message }))
    }
  }

  /**
   * Stores a file of any size that the server fetches. It is deleted with unused files after a day.
   *
   * @param userId who may put it into cells
   */
  const keepFor = (userId: string, file: IncomingFile): Promise<FileRow> =>
    keepReceived(userId, file, Number.POSITIVE_INFINITY)

  /** Stores the file of a member's export, of any size, and deletes their oldest ones beyond the limits. */
  async function keepExport(userId: string, file: IncomingFile): Promise<FileRow> {
    const row = await keepReceived(exportsOwner(userId), file, Number.POSITIVE_INFINITY)
    await files.trimExports(userId, thumbnails.remove)
    return row
  }

  /** As `keepExport`, for a file that `write` creates at a path of this server's disk. */
  async function keepWritten({
    userId,
    name,
    folder,
    write,
  }: {
    userId: string
    name: string
    folder: string
    write: (path: string) => Promise<void>
  }): Promise<FileRow> {
    const path = incoming.place()
    try {
      await write(path)
      const row = await files.keep(exportsOwner(userId), await incoming.describe(path), { name, folder })
      await files.trimExports(userId, thumbnails.remove)
      return row
    } finally {
      await incoming.discard({ path })
    }
  }

  /** Stores a file of a cell of a base that is being imported. @throws PAYLOAD_TOO_LARGE, STORAGE_FULL */
  async function keepIn(
    baseId: string,
    userId: string,
    file: Omit<IncomingFile, 'folder'>,
  ): Promise<FileRow> {
    const row = await keepReceived(userId, { ...file, folder: null }, config.attachmentMaxBytes)
    await files.use(baseId, [row.path])
    return row
  }

  /** A stored file among those that the base uses, with its content; null if either is missing. */
  async function findIn(baseId: string, path: string): Promise<{ row: FileRow; file: StoredFile } | null> {
    const [row] = await files.ofBase(baseId, [path])
    const file = row && (await (await stores.get(row.storeId)).find(storeKeyOf(row.path)))
    return row && file ? { row, file } : null
  }

  /**
   * The file of a link; null if it is forged or expired, the file is missing, or the public link it was signed for
   * was closed or changed.
   */
  async function open(signature: string, until: string, place: string): Promise<Served | null> {
    const read = readUntil(until)
    if (!read) return null
    const audience = read.share && (await audiences.open(read.share))
    if (read.share && !audience) return null
    if (!links.isSigned(signature, until, place, audience)) return null
    const keepUntil = read.expiresAt
    const thumbnail = readThumbnailKey(place)
    const row = await files.find(thumbnail?.path ?? `download/${place}`)
    if (!row) return null
    if (!thumbnail) return serve(row, keepUntil)
    const small = await thumbnails.find(row, thumbnail.size)
    return small && { ...small, title: row.title, keepUntil }
  }

  async function serve(row: FileRow, keepUntil: number | null): Promise<Served | null> {
    const file = await (await stores.get(row.storeId)).find(storeKeyOf(row.path))
    return file && { file, mimetype: row.mimetype, title: row.title, keepUntil }
  }

  return {
    requireUploader,
    /** Receives an upload. @throws as `keepLimited` */
    receive,
    /** Receives a file for a form response, which the form door has allowed. @throws as `receive` */
    receiveAnswer: (
      actor: ShareActor,
      { name, body, maxBytes }: { name: string; body: AsyncIterable<Uint8Array>; maxBytes: number },
    ): Promise<FileRow> =>
      keepLimited(
        visitorOwner(actor),
        { name, folder: null, body },
        Math.min(maxBytes, config.attachmentMaxBytes),
      ),
    /** Deletes uploads of a failed operation, unless a cell uses them. */
    async discard(paths: readonly string[]): Promise<void> {
      for (const path of paths) await files.removeUnused(path, thumbnails.remove)
    },
    /** Downloads a file from a public address. @throws BAD_REQUEST with the reason, PAYLOAD_TOO_LARGE */
    receiveFrom,
    keepFor,
    keepExport,
    keepLimited,
    keepWritten,
    requireRoom: files.requireRoom,
    keepIn,
    findIn,
    open,
    resolveItems: createItemResolver(files, config.attachmentMaxCount),
    sweep,
    sweepBase,
    sweepSoon,
    /** Releases the files of a permanently deleted base, and deletes those that no other base uses. */
    async forgetBase(baseId: string): Promise<void> {
      await files.forgetBase(baseId)
      await sweep()
    },
    /** Deletes the files of a base that was not completed, except those that other bases use. */
    async abandonBase(baseId: string): Promise<void> {
      for (const path of await files.forgetBase(baseId)) await files.removeUnused(path, thumbnails.remove)
    },
    /** The files among these that cells of the base use or used. Does not check access. */
    ofBase: files.ofBase,
    /** The bases whose cells use or used each of these files. Does not check access. */
    usesOf: files.usesOf,
    sharing: files.sharing,
    usedIn: files.usedIn,
    shareKnown: files.shareKnown,
    keepAgain: files.keepAgain,
    /** The key of a file in its store. */
    storeKeyOf,
    sizesOfStores: files.sizesOfStores,

    /**
     * Allows the forms of a base to show an image of the actor.
     *
     * @throws BAD_REQUEST for files that are unknown, not accessible, or not images
     */
    async keepPicture(actor: Actor, baseId: string, path: string): Promise<void> {
      const row = await files.find(path)
      if (row && !isSafeImage(row.mimetype)) throw badRequest(m.records_error_form_images())
      await files.claim(actor, baseId, [path])
    },

    /** The files among these that cells of the base may use on behalf of this actor. */
    async claimKnown(
      actor: Actor,
      baseId: string,
      paths: readonly string[],
    ): Promise<Pick<FileRow, 'path' | 'mimetype' | 'size' | 'width' | 'height'>[]> {
      return files.claimKnown(actor, baseId, [...new Set(paths)])
    },

    /** The file of a path for a signed-in actor who may read it; else null. */
    async openFor(actor: Actor, path: string): Promise<Served | null> {
      await auth.access.authorize(actor, 'file.read')
      const row = await files.findFor(actor, path)
      return row && serve(row, null)
    },

    /** Links to the files among these that cells of the base use, and how long they work. */
    async sign(
      actor: Actor,
      baseId: string,
      paths: readonly string[],
    ): Promise<{ validMs: number; expiresAt: number; files: Record<string, SignedFile> }> {
      const rows = await files.ofBase(baseId, [...new Set(paths)])
      const signer = await signerFor(actor)
      const signed = rows.map(({ path, mimetype }) => [path, signFile(path, mimetype, signer)] as const)
      const expiresAt = links.expiry()
      // Pages of version 0.2.0 read `expiresAt`.
      return { validMs: expiresAt - nowMs(), expiresAt, files: Object.fromEntries(signed) }
    },

    /** Returns the link signer of an actor; without one, links for everyone but visitors. */
    signerFor,
  }
}

/** Length of a header that is searched for a file name. */
const MAX_DISPOSITION = 2_000

/** The file name in a server’s response. */
function nameOf(headers: Headers): string | null {
  const text = (headers.get('content-disposition') ?? '').slice(0, MAX_DISPOSITION)
  const encoded = /filename\*=UTF-8''([^;\s]+)/i.exec(text)?.[1]
  if (encoded !== undefined) return nameIn(encoded)
  return (/filename="([^"]+)"/i.exec(text) ?? /filename=([^;\s"]+)/i.exec(text))?.[1] ?? null
}
