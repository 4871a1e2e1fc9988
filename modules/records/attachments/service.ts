import { join } from 'node:path'
import type { Actor, ShareActor } from '../../../src/core/actor.ts'
import { AppError, badRequest } from '../../../src/core/errors.ts'
import { nameIn } from '../../../src/core/fields/attachment-item.ts'
import { isSafeImage } from '../../../src/core/fields/attachment-kinds.ts'
import { createHttpClient } from '../../../src/http.ts'
import type { Kernel } from '../../../src/kernel.ts'
import type { AuthService } from '../../auth/index.ts'
import type { BasesService } from '../../bases/index.ts'
import type { SchemaReader } from '../../schema/index.ts'
import type { ViewsService } from '../../views/index.ts'
import { createAudiences, ownerOf, visitorOwner } from './audience.ts'
import { createFiles, type FileRow } from './files.ts'
import { createIncoming } from './incoming.ts'
import {
  createFileLinks,
  type FileSigner,
  placeOf,
  readThumbnailKey,
  readUntil,
  type Served,
  type SignedFile,
  signFile,
} from './links.ts'
import { addPaths, createSettle, namedFiles } from './resolve-items.ts'
import { createThumbnails } from './thumbnails.ts'

/** Time for a file to arrive from another server. */
const FETCH_TIMEOUT_MS = 5 * 60_000
const SWEEP_EVERY_MS = 3_600_000
/** A file that nothing names is looked for once more after this time: a value that names it may be on its way. */
const UNNAMED_KEPT_MS = 24 * 3_600_000
/** The same where somebody has just deleted for good what named it. Writes wait for their turn for less than that. */
const ERASED_KEPT_MS = 60_000

interface Deps {
  kernel: Kernel
  auth: Pick<AuthService, 'access' | 'shares'>
  bases: Pick<BasesService, 'require' | 'sourcesOf'>
  schema: Pick<SchemaReader, 'load' | 'homeTables'>
  views: Pick<ViewsService, 'load' | 'hasIntactFilter' | 'rowsForCopy'>
}

export type AttachmentsService = ReturnType<typeof createAttachments>

/** The files of Attachment cells: taken in, named by cells, and given out by links that expire. */
export function createAttachments({ kernel, auth, bases, schema, views }: Deps) {
  const { config, secrets, files: store, log } = kernel
  const incoming = createIncoming(join(config.dataDir, 'incoming'))
  const links = createFileLinks(secrets.jwt, config.attachmentLinkSeconds * 1000)
  const audiences = createAudiences({ auth, bases, schema, views })
  const signerFor = async (actor: Actor | undefined): Promise<FileSigner> =>
    links.for(actor ? await audiences.of(actor) : null)
  const files = createFiles(kernel, auth)
  const thumbnails = createThumbnails({ files: store, incoming })
  const settle = createSettle(files, config.attachmentMaxCount)
  const http = createHttpClient(config)
  const sweep = async () => {
    await incoming.clean()
    return files.sweep(thumbnails.remove)
  }

  /**
   * Looks which files the base still names: in cells, also of tables, fields and records in the trash, in the change
   * log and in its views. Others are removed with the second look that does not find them. A base with a connected
   * database keeps all its files: the cells there are not searched, and others write to them.
   *
   * @param keptMs time between the two looks, at least
   */
  async function sweepBase(baseId: string, keptMs = UNNAMED_KEPT_MS): Promise<number> {
    if (!(await files.hasOld(baseId))) return 0
    const sources = (await bases.sourcesOf([baseId])).get(baseId) ?? []
    if (sources.some(({ isOwn }) => !isOwn)) return 0
    const unnamedBefore = new Date(Date.now() - keptMs).toISOString()
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
    const { forgotten } = await files.forgetUnnamed(baseId, named, unnamedBefore)
    if (forgotten > 0) log.info('files that the base no longer names', { baseId, files: forgotten })
    return forgotten
  }

  /** What was deleted for good takes its files along: within minutes, or with the daily round where the server stops. */
  function sweepSoon(baseId: string): void {
    const tell = (error: unknown) =>
      log.error('removing the files of deleted records failed', error, { baseId })
    const lookAgain = async () => {
      await sweepBase(baseId, ERASED_KEPT_MS)
      await sweep()
    }
    sweepBase(baseId).then(() => {
      const again = () => {
        lookAgain().catch(tell)
      }
      setTimeout(again, ERASED_KEPT_MS + 1_000).unref()
    }, tell)
  }

  setInterval(() => {
    sweep().catch((error) => log.error('removing unused files failed', error))
  }, SWEEP_EVERY_MS).unref()
  incoming.clean().catch((error) => log.error('removing unfinished uploads failed', error))

  /** @throws AUTHENTICATION_REQUIRED; whoever is signed in may upload (wire §19) */
  async function requireUploader(actor: Actor): Promise<string> {
    const owner = ownerOf(actor)
    // A visitor who may write records may bring their files.
    if (actor.kind === 'share' && actor.grant.kind === 'base' && actor.grant.role === 'editor' && owner)
      return owner
    await auth.access.authorize(actor, 'file.create')
    if (owner) return owner
    throw new AppError('AUTHENTICATION_REQUIRED', 'Authentication required - Invalid token')
  }

  async function receive(
    actor: Actor,
    { name, folder, body }: { name: string; folder: string | null; body: AsyncIterable<Uint8Array> },
  ): Promise<FileRow> {
    return keep(await requireUploader(actor), { name, folder, body })
  }

  async function keep(
    owner: string,
    { name, folder, body }: { name: string; folder: string | null; body: AsyncIterable<Uint8Array> },
    maxBytes = config.attachmentMaxBytes,
  ): Promise<FileRow> {
    const arrived = await incoming.receive(body, Math.min(maxBytes, config.attachmentMaxBytes))
    try {
      return await files.keep(owner, arrived, name, folder)
    } finally {
      // Where it was kept it has moved away.
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
      throw badRequest(`Failed to create file from URL: ${error.message}`)
    }
  }

  /** Keeps a file that the server has made for someone. It goes with the unused ones, a day later. */
  async function keepFor(
    userId: string,
    { name, folder, body }: { name: string; folder: string; body: AsyncIterable<Uint8Array> },
  ): Promise<FileRow> {
    const arrived = await incoming.receive(body, Number.POSITIVE_INFINITY)
    try {
      return await files.keep(userId, arrived, name, folder)
    } finally {
      await incoming.discard(arrived)
    }
  }

  /**
   * What a link opens, or null: it is forged, has expired, nothing lies there, or the public link by which somebody
   * was given it is closed, or another than it was.
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
    const small = await thumbnails.find(row.path, row.mimetype, thumbnail.size)
    return small && { ...small, title: row.title, keepUntil }
  }

  async function serve(row: FileRow, keepUntil: number | null): Promise<Served | null> {
    const file = await store.find(placeOf(row.path))
    return file && { file, mimetype: row.mimetype, title: row.title, keepUntil }
  }

  return {
    requireUploader,
    /** Takes a file in as it arrives. @throws PAYLOAD_TOO_LARGE, STORAGE_FULL */
    receive,
    /** Takes in a file of an answer to a form, whose door has found that it asks for one. @throws as `receive` */
    receiveAnswer: (
      actor: ShareActor,
      { name, body, maxBytes }: { name: string; body: AsyncIterable<Uint8Array>; maxBytes: number },
    ): Promise<FileRow> => keep(visitorOwner(actor), { name, folder: null, body }, maxBytes),
    /** Removes files that were uploaded for what came to nothing, as far as no cell names them. */
    async discard(paths: readonly string[]): Promise<void> {
      for (const path of paths) await files.removeUnused(path, thumbnails.remove)
    },
    /** Takes in what lies at a public address. @throws BAD_REQUEST saying why not, PAYLOAD_TOO_LARGE */
    receiveFrom,
    keepFor,
    open,
    settle,
    sweep,
    sweepBase,
    sweepSoon,
    /** Lets go of the files of a base that is gone for good, and removes those that no other base names. */
    async forgetBase(baseId: string): Promise<void> {
      await files.forgetBase(baseId)
      await sweep()
    },
    shareAll: files.shareAll,

    /**
     * Lets the forms of a base show a picture that the actor has brought.
     * @throws BAD_REQUEST for a file that is unknown, not for this person, or no picture
     */
    async keepPicture(actor: Actor, baseId: string, path: string): Promise<void> {
      const row = await files.find(path)
      if (row && !isSafeImage(row.mimetype)) throw badRequest('A form can only show images')
      await files.claim(actor, baseId, [path])
    },

    /** Which of these files cells of the base may name for this person; unknown ones are left out. */
    async claimKnown(
      actor: Actor,
      baseId: string,
      paths: readonly string[],
    ): Promise<Pick<FileRow, 'path' | 'mimetype' | 'size' | 'width' | 'height'>[]> {
      return files.claimKnown(actor, baseId, [...new Set(paths)])
    },

    /** The file of a path for someone who is signed in and may read it; null for everybody else. */
    async openFor(actor: Actor, path: string): Promise<Served | null> {
      await auth.access.authorize(actor, 'file.read')
      const row = await files.findFor(actor, path)
      return row && serve(row, null)
    },

    /** Links to those of the files that stand in cells of the base, for someone who may read it. */
    async sign(
      actor: Actor,
      baseId: string,
      paths: readonly string[],
    ): Promise<{ expiresAt: number; files: Record<string, SignedFile> }> {
      const rows = await files.ofBase(baseId, [...new Set(paths)])
      const signer = await signerFor(actor)
      const signed = rows.map(({ path, mimetype }) => [path, signFile(path, mimetype, signer)] as const)
      return { expiresAt: links.expiry(), files: Object.fromEntries(signed) }
    },

    /** The maker of links for an actor; absent: for everybody but visitors of a public link. */
    signerFor,
  }
}

/** Characters of a header that are looked at for a file's name. */
const MAX_DISPOSITION = 2_000

/** The name that a server gives its file. */
function nameOf(headers: Headers): string | null {
  const text = (headers.get('content-disposition') ?? '').slice(0, MAX_DISPOSITION)
  const encoded = /filename\*=UTF-8''([^;\s]+)/i.exec(text)?.[1]
  if (encoded !== undefined) return nameIn(encoded)
  return (/filename="([^"]+)"/i.exec(text) ?? /filename=([^;\s"]+)/i.exec(text))?.[1] ?? null
}
