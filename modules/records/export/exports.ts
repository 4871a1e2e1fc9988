import { LRUCache } from 'lru-cache'
import { breathe } from '../../../src/breathe.ts'
import { nowIso } from '../../../src/clock.ts'
import type { Actor, UserActor } from '../../../src/core/actor.ts'
import { AppError, notFound } from '../../../src/core/errors.ts'
import { shownType } from '../../../src/core/fields/field.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { readList } from '../../../src/core/fields/list-value.ts'
import { idsIn } from '../../../src/core/fields/people.ts'
import { isSecret, showsPeople } from '../../../src/core/fields/traits.ts'
import type { Field, Person, RecordId } from '../../../src/core/model.ts'
import type { Query } from '../../../src/core/query.ts'
import type { Events } from '../../../src/events.ts'
import type { JobContext } from '../../../src/jobs.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import {
  createPageWriter,
  type RecordFormat,
  type RecordTable,
  type RowsPage,
  type WrittenPage,
} from '../../../src/record-files/index.ts'
import { type AuthService, asPublicPerson, requireUser } from '../../auth/index.ts'
import type { BasesService } from '../../bases/index.ts'
import type { SchemaReader } from '../../schema/index.ts'
import { type AttachmentsService, visitorOwner } from '../attachments/index.ts'
import { type Opened, type Reader, select, wantedFields } from '../read/index.ts'
import { isKeyless } from '../table/index.ts'
import { type ExportContent, type ExportOptions, exportFormat } from './formats/index.ts'

/** A requested export. */
export interface ExportRequest {
  query: ExportQuery
  /** `csv`, `xlsx` (or `excel`), `json` or `ndjson`. */
  format: string
  /** File name; by default the table’s title with the view’s, `Tasks (Mine)`. */
  title?: string
  /** By default the view’s visible fields in its order, or all fields but system ones. */
  fieldIds?: string[]
  /** System fields that follow the visible ones. */
  systemFieldIds?: string[]
  options?: Partial<ExportOptions>
}

/** A requested export of several tables of a base in one file. */
export interface BaseExportRequest {
  baseId: string
  /** As of `ExportRequest`. */
  format: string
  /** In this order; default: all tables of the base in its order, without junction tables. */
  tableIds?: string[]
  timeZone?: string
  options?: Partial<ExportOptions>
}

/** A file that is written while it is sent. */
export interface ExportFile {
  name: string
  mediaType: string
  body: AsyncIterable<Uint8Array>
  /** Texts that were cut at the limit of the format while the body was written. */
  textsCut?(): number
}

/** The result of an export job (wire §13.4). */
export interface Exported {
  timestamp: string
  type: string
  title: string
  /** A temporary link without a session. */
  url: string
  name: string
  /** Texts that were cut at the limit of the format: 32,767 characters in a workbook. */
  textsCut?: number
}

interface Deps {
  kernel: Pick<Kernel, 'events' | 'jobs' | 'pool'>
  auth: Pick<AuthService, 'access' | 'people'>
  bases: Pick<BasesService, 'require'>
  schema: Pick<SchemaReader, 'tables'>
  reader: Pick<Reader, 'ids' | 'open' | 'page' | 'partsOf'>
  attachments: Pick<
    AttachmentsService,
    'keepExport' | 'keepLimited' | 'keepWritten' | 'requireRoom' | 'signerFor'
  >
}

/** The job's own name for REST clients (wire §13.4). */
export const EXPORT_JOB = 'data-export'

/** The job that exports several tables of a base. */
export const BASE_EXPORT_JOB = 'base-export'

/** Owner of the jobs of visitors, which are found only by their ids. */
export const VISITOR = 'visitor'

/** Limit of pending exports of all visitors of a base. */
const MAX_OF_VISITORS = 5
/** Limit of pending exports of a member, in all bases. */
const MAX_OF_MEMBER = 20

/** Folder of the files in the store. */
const FOLDER = 'exports'

const DEFAULTS: ExportOptions = { isGuarded: true, delimiter: ',' }

export type Exports = ReturnType<typeof createExports>

/** Exports records: as a response, or by a job that gives a link. */
export function createExports({ kernel, auth, bases, schema, reader, attachments }: Deps) {
  kernel.jobs.register<{ actor: Actor; request: ExportRequest }>(EXPORT_JOB, {
    run: ({ actor, request }, context) => runJob(actor, request, context),
    hasPrivateResult: true,
    // Partial files are among the incoming ones, which are deleted at startup.
    recover: async () => null,
  })
  kernel.jobs.register<{ actor: UserActor; request: BaseExportRequest; title: string }>(BASE_EXPORT_JOB, {
    run: ({ actor, request }, context) => runBaseJob(actor, request, context),
    hasPrivateResult: true,
    recover: async () => null,
  })

  /**
   * Prepares an export, so that errors come before the first byte.
   *
   * @throws as the read door; FORBIDDEN through a link that does not allow downloads
   */
  async function open(
    actor: Actor,
    { format: name, options, ...request }: ExportRequest,
    onPage?: OnPage,
  ): Promise<ExportFile> {
    const format = exportFormat(name)
    const content = await contentOf(actor, request, onPage)
    const counted = countCuts([content])
    return {
      name: `${content.title}.${format.extension}`,
      mediaType: format.mediaType,
      body: format.write(counted.contents[0] ?? content, { ...DEFAULTS, ...options }),
      textsCut: counted.textsCut,
    }
  }

  /**
   * Prepares an export of several tables, as `open`.
   *
   * @throws as the read door; BASE_NOT_FOUND; TABLE_NOT_FOUND for a table of another base
   */
  async function openBase(
    actor: Actor,
    { baseId, format: name, tableIds, timeZone, options }: BaseExportRequest,
    onPage: (done: number, total: number) => void = () => {},
  ): Promise<ExportFile> {
    const format = exportFormat(name)
    const base = await bases.require(baseId)
    await auth.access.authorize(actor, 'record.export', base.id)
    const all = await schema.tables(actor, base.id)
    const contents: ExportContent[] = []
    let done = 0
    for (const tableId of tableIds ?? all.map(({ id }) => id)) {
      const table = all.find(({ id }) => id === tableId)
      if (!table) throw notFound('Table', tableId.slice(0, 64))
      let before = 0
      const content = await contentOf(actor, { query: { tableId, timeZone } }, (rows) => {
        done += rows - before
        before = rows
        onPage(done, done)
      })
      contents.push({ ...content, title: table.title })
    }
    const { extension, mediaType, write } = format.ofTables
    const counted = countCuts(contents)
    return {
      name: `${base.title}.${extension}`,
      mediaType,
      body: write(counted.contents, { ...DEFAULTS, ...options }),
      textsCut: counted.textsCut,
    }
  }

  /** The records of an export, which are read while they are written. @throws as `open` */
  async function contentOf(
    actor: Actor,
    { query, fieldIds, systemFieldIds = [], ...request }: Omit<ExportRequest, 'format' | 'options'>,
    onPage: OnPage = () => {},
  ): Promise<ExportContent> {
    const opened = await reader.open(actor, query.tableId, query.viewId, query.timeZone)
    await authorize(actor, opened)
    const fields = exportedFields(opened, fieldIds, systemFieldIds)
    // Checks the query now, as the response starts before the records are read.
    select(opened.context, query)
    const { model, context } = opened
    const title = request.title ?? titleOf(model.table.title, context.view?.title)
    const known = new Map<string, Person | null>()
    for (const person of context.moment.people ?? []) known.set(person.id, person)
    const parts = reader.partsOf(opened, query, fields)
    const isLarge = await parts.isLarge()
    // A small table is not worth a thread. The people of a page must be loaded before it is written.
    const isWrittenAsRead = isLarge && !isKeyless(model) && !fields.some(holdsPeople)
    const written = isWrittenAsRead ? await parts.written() : null

    function pages(format: RecordFormat): AsyncIterable<WrittenPage> {
      const table: RecordTable = { format, fields, people: [], timeZone: query.timeZone ?? 'UTC' }
      const ids = readIds(reader, opened, query, onPage)
      if (written) return writeAhead(ids, (recordIds, first) => written({ table, recordIds, first }))
      const rows = isKeyless(model)
        ? readByOffset(reader, opened, query, fields, onPage)
        : readAhead(ids, parts.rows)
      return writeAhead(rows, async (page, first) => {
        const people = await peopleIn(page, fields, known, peopleFor(actor))
        return isLarge
          ? writeInWorker({ ...table, people }, page, first, model.table.baseId)
          : createPageWriter({ ...table, people })(page, first)
      })
    }

    return { title, fields, pages }
  }

  async function writeInWorker(
    table: RecordTable,
    page: CellValue[][],
    first: number,
    baseId: string,
  ): Promise<WrittenPage> {
    const task: RowsPage = { table, rows: JSON.stringify(page), first }
    return (await kernel.pool.run('page.write', task, 'read', baseId)) as WrittenPage
  }

  async function authorize(actor: Actor, { model }: Opened): Promise<void> {
    if (actor.kind === 'share' && actor.grant.kind === 'view') {
      if (actor.grant.mayDownload) return
      throw new AppError('FORBIDDEN', m.wire_error_download())
    }
    await auth.access.authorize(actor, 'record.export', model.table.baseId)
  }

  /** Visitors see people by name only. */
  const peopleFor = (actor: Actor) => async (ids: string[]) => {
    const found = await auth.people(ids)
    return actor.kind === 'share' ? found.map(asPublicPerson) : found
  }

  const slots = createDownloadSlots(kernel.events)

  /** As `open`, for a response. @throws also TOO_MANY_REQUESTS for visitors */
  async function stream(actor: Actor, request: ExportRequest): Promise<ExportFile> {
    const file = await open(actor, request)
    return actor.kind === 'share' ? { ...file, body: slots.count(actor.shareId, file.body) } : file
  }

  /** Jobs run one after another, a few at a time on the whole server: exports of one person must not hold up the others. */
  async function refuseQueue(actor: Actor, baseId: string): Promise<void> {
    // Visitors of one link must not use up the space of others.
    if (actor.kind === 'share') await attachments.requireRoom(visitorOwner(actor))
    const isMember = actor.kind === 'user'
    const of = isMember ? { userId: actor.id } : { userId: VISITOR, baseId }
    const unfinished = await kernel.jobs.list({ ...of, unfinished: true })
    const waiting = unfinished.filter(({ kind }) => kind === EXPORT_JOB || kind === BASE_EXPORT_JOB)
    if (waiting.length < (isMember ? MAX_OF_MEMBER : MAX_OF_VISITORS)) return
    throw new AppError('TOO_MANY_REQUESTS', m.records_error_too_many_downloads(), {
      retryAfterSeconds: 60,
    })
  }

  async function runJob(actor: Actor, request: ExportRequest, context: JobContext): Promise<Exported> {
    const file = await open(actor, request, (done, total) => {
      context.signal.throwIfAborted()
      context.report({ done, total, unit: 'rows' })
    })
    return keepFile(actor, file, request.format)
  }

  async function runBaseJob(
    actor: UserActor,
    request: BaseExportRequest,
    context: JobContext,
  ): Promise<Exported> {
    const file = await openBase(actor, request, (done) => {
      context.signal.throwIfAborted()
      context.report({ done, total: null, unit: 'rows' })
    })
    return keepFile(actor, file, request.format)
  }

  /** Writes the file of a job and signs its link. */
  async function keepFile(
    actor: Actor,
    { name, body, textsCut }: ExportFile,
    type: string,
  ): Promise<Exported> {
    const file = { name, body, folder: FOLDER }
    const kept =
      actor.kind === 'share'
        ? await attachments.keepLimited(visitorOwner(actor), file, Number.POSITIVE_INFINITY)
        : await attachments.keepExport(requireUser(actor).id, file)
    const cut = textsCut?.() ?? 0
    return { ...(await exported(actor, { name, type }, kept)), ...(cut > 0 && { textsCut: cut }) }
  }

  async function exported(
    actor: Actor,
    { name, type }: { name: string; type: string },
    { path }: { path: string },
  ): Promise<Exported> {
    return {
      timestamp: nowIso(),
      type,
      title: name.replace(/\.[^.]*$/, ''),
      url: (await attachments.signerFor(actor)).signedPath(path),
      name,
    }
  }

  return {
    open,
    stream,
    /** Starts the job, which results in `Exported`. @throws as `open`; TOO_MANY_REQUESTS where too many of the actor wait */
    async start(actor: Actor, request: ExportRequest): Promise<{ jobId: string }> {
      // Errors go to the caller instead of failing the job.
      await open(actor, request)
      const opened = await reader.open(actor, request.query.tableId, request.query.viewId)
      const userId = actor.kind === 'user' ? actor.id : VISITOR
      const { baseId } = opened.model.table
      await refuseQueue(actor, baseId)
      const job = await kernel.jobs.start(EXPORT_JOB, { userId, baseId, input: { actor, request } })
      return { jobId: job.id }
    },
    contentOf,
    /** Stores a file that `write` creates at a path of this server's disk, as the result of an export job. */
    async keepWritten(
      actor: UserActor,
      { name, type }: { name: string; type: string },
      write: (path: string) => Promise<void>,
    ): Promise<Exported> {
      const row = await attachments.keepWritten({ userId: actor.id, name, folder: FOLDER, write })
      return exported(actor, { name, type }, row)
    },
    /** Starts the job, which results in `Exported`. For members only. @throws as `openBase`; TOO_MANY_REQUESTS as `start` */
    async startBase(actor: Actor, request: BaseExportRequest): Promise<{ jobId: string }> {
      const user = requireUser(actor)
      const { name } = await openBase(user, request)
      const { id: baseId } = await bases.require(request.baseId)
      await refuseQueue(user, baseId)
      const input = { actor: user, request, title: name }
      const job = await kernel.jobs.start(BASE_EXPORT_JOB, { userId: user.id, baseId, input })
      return { jobId: job.id }
    },
  }
}

/** Counts the texts that are cut while the contents are written. */
function countCuts(contents: readonly ExportContent[]): {
  contents: ExportContent[]
  textsCut: () => number
} {
  let count = 0
  async function* counted(pages: AsyncIterable<WrittenPage>): AsyncGenerator<WrittenPage> {
    for await (const page of pages) {
      count += page.textsCut ?? 0
      yield page
    }
  }
  return {
    contents: contents.map((content) => ({ ...content, pages: (format) => counted(content.pages(format)) })),
    textsCut: () => count,
  }
}

/** Called after each page. @param total null while it is unknown */
type OnPage = (done: number, total: number | null) => void

const titleOf = (table: string, view: string | undefined): string =>
  view === undefined || view === table ? table : `${table} (${view})`

/** The view’s visible fields in its order, then the system fields; callers may name fewer. */
function exportedFields(
  { model, context }: Opened,
  fieldIds: string[] | undefined,
  systemFieldIds: readonly string[],
): Field[] {
  const { view } = context
  const shown =
    view?.fields.flatMap(({ fieldId, show }) => (show ? (model.field(fieldId) ?? []) : [])) ??
    wantedFields(model, undefined)
  const further = model.fields.filter((field) => field.isSystem && systemFieldIds.includes(field.id))
  const written = [...new Set([...shown, ...further])].filter(
    (field) => fieldType(field.type).computed !== 'button' && !isSecret(field),
  )
  if (!fieldIds) return written
  return wantedFields(model, fieldIds).filter((field) => view === null || written.includes(field))
}

/** Records per page: few, so that other requests run in between. */
const PAGE = 1_000
/** Pages that are read before they are wanted, so that reading and sending overlap. */
const PAGES_AHEAD = 2

/** The records to export. */
interface ExportQuery
  extends Pick<Query, 'filter' | 'sorts' | 'search' | 'groups' | 'group' | 'timeZone' | 'recordIds'> {
  tableId: string
  viewId?: string
}

/** Reads the records of a table without a key, which have no ids. */
async function* readByOffset(
  reader: Pick<Reader, 'page'>,
  opened: Opened,
  query: ExportQuery,
  fields: Field[],
  onPage: OnPage,
): AsyncIterable<CellValue[][]> {
  for (let offset = 0; ; offset += PAGE) {
    await breathe()
    const { ids, rows } = await reader.page(opened, { ...query, limit: PAGE, offset }, fields, 'all')
    if (rows.length > 0) yield rows
    onPage(offset + ids.length, null)
    if (ids.length < PAGE) return
  }
}

/**
 * The ids of a query's records by pages. All are read first, in order: records added meanwhile are not included, and none
 * is repeated.
 */
async function* readIds(
  reader: Pick<Reader, 'ids'>,
  opened: Opened,
  query: ExportQuery,
  onPage: OnPage,
): AsyncGenerator<RecordId[]> {
  const ids = await reader.ids(opened, query)
  for (let from = 0; from < ids.length; from += PAGE) {
    await breathe()
    yield ids.slice(from, from + PAGE)
    onPage(Math.min(ids.length, from + PAGE), ids.length)
  }
}

/** Reads the pages in order, beginning the next while the caller writes the last. */
async function* readAhead<T>(
  pages: AsyncIterable<RecordId[]>,
  read: (recordIds: RecordId[]) => Promise<T>,
): AsyncGenerator<T> {
  const ahead: Promise<T>[] = []
  for await (const recordIds of pages) {
    const page = read(recordIds)
    // The caller may leave before it is read; else it is awaited below.
    page.catch(() => {})
    if (ahead.push(page) > PAGES_AHEAD) yield await (ahead.shift() as Promise<T>)
  }
  for (const page of ahead) yield await page
}

/**
 * Writes the pages in order, beginning the next while the caller sends the last. Where a page turns out to have fewer
 * records than expected, because some have been deleted, those after it are written again for their right positions.
 *
 * @param write takes the number of records before the page
 */
async function* writeAhead<T extends { length: number }>(
  pages: AsyncIterable<T>,
  write: (page: T, first: number) => Promise<WrittenPage>,
): AsyncGenerator<WrittenPage> {
  const ahead: { page: T; first: number; written: Promise<WrittenPage> }[] = []
  let [expected, sent] = [0, 0]

  async function next({ page, first, written }: (typeof ahead)[number]): Promise<WrittenPage> {
    const early = await written
    const right = first === sent ? early : await write(page, sent)
    expected -= page.length - right.rows
    sent += right.rows
    return right
  }

  for await (const page of pages) {
    const written = write(page, expected)
    // The caller may leave before it is written; else it is awaited above.
    written.catch(() => {})
    expected += page.length
    const { length } = ahead
    ahead.push({ page, first: expected - page.length, written })
    const [oldest] = ahead
    if (length < PAGES_AHEAD || !oldest) continue
    ahead.shift()
    yield await next(oldest)
  }
  for (const each of ahead) yield await next(each)
}

/** The people in the cells of a page, including former members. @param known receives those of the page; null for ids of nobody */
async function peopleIn(
  page: CellValue[][],
  fields: Field[],
  known: Map<string, Person | null>,
  read: (ids: string[]) => Promise<Person[]>,
): Promise<Person[]> {
  const ids = new Set<string>()
  for (const [at, field] of fields.entries()) {
    if (!holdsPeople(field)) continue
    const { isList } = shownType(field)
    for (const row of page) {
      const value = row[at] ?? null
      for (const id of (isList ? readList(value) : [value]).flatMap(idsIn)) ids.add(id)
    }
  }
  const unknown = [...ids].filter((id) => !known.has(id))
  if (unknown.length > 0) {
    const found = new Map((await read(unknown)).map((person) => [person.id, person]))
    for (const id of unknown) known.set(id, found.get(id) ?? null)
  }
  return [...ids].flatMap((id) => known.get(id) ?? [])
}

const holdsPeople = (field: Field): boolean => showsPeople({ type: shownType(field).type.name })

/** Simultaneous downloads per public link, on all servers together: each keeps the database busy. */
const MAX_AT_ONCE = 3
/** A stalled download no longer counts after this time. */
const IDLE_MS = 60_000

/** How often a server repeats how many downloads it has: one that joined, or has lost messages, learns of it. */
const REPEAT_EVERY_MS = 5_000
/** What a server has said counts for this time: it may have ended. */
const SAID_TTL_MS = 3 * REPEAT_EVERY_MS
/** Links with downloads on other servers. */
const MAX_ELSEWHERE = 10_000

/**
 * Limits the simultaneous downloads of each public link. Those of other servers are known from events, so that a download waits
 * for no database: of downloads that begin within the same milliseconds on several servers, more may run.
 */
function createDownloadSlots(events: Events) {
  const server = crypto.randomUUID()
  const taken = new Map<string, number>()
  /** Downloads on other servers, by link and server. */
  const elsewhere = new LRUCache<string, { shareId: string; count: number }>({
    max: MAX_ELSEWHERE,
    ttl: SAID_TTL_MS,
  })
  events.on('downloads.running', ({ server: from, shareId, count }) => {
    const key = `${shareId} ${from}`
    if (from === server) return
    if (count > 0) elsewhere.set(key, { shareId, count })
    else elsewhere.delete(key)
  })
  let repeating: Timer | null = null

  function set(shareId: string, count: number): void {
    if (count > 0) taken.set(shareId, count)
    else taken.delete(shareId)
    say(shareId)
    if (taken.size === 0 && repeating) {
      clearInterval(repeating)
      repeating = null
    } else if (taken.size > 0) {
      repeating ??= setInterval(() => [...taken.keys()].forEach(say), REPEAT_EVERY_MS).unref()
    }
  }

  const say = (shareId: string): void =>
    events.emit('downloads.running', { server, shareId, count: taken.get(shareId) ?? 0 })

  function countOf(shareId: string): number {
    let count = taken.get(shareId) ?? 0
    for (const other of elsewhere.values()) if (other.shareId === shareId) count += other.count
    return count
  }

  return {
    /**
     * Passes the chunks on, and counts the download until it ends or stalls.
     *
     * @throws TOO_MANY_REQUESTS where the link has too many downloads under way
     */
    count(shareId: string, pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
      if (countOf(shareId) >= MAX_AT_ONCE) {
        throw new AppError('TOO_MANY_REQUESTS', m.records_error_too_many_link_downloads(), {
          retryAfterSeconds: 60,
        })
      }
      set(shareId, (taken.get(shareId) ?? 0) + 1)
      let isHeld = true
      const release = () => {
        clearTimeout(idle)
        if (!isHeld) return
        isHeld = false
        set(shareId, (taken.get(shareId) ?? 1) - 1)
      }
      let idle = setTimeout(release, IDLE_MS)
      idle.unref()
      const inner = pieces[Symbol.asyncIterator]()
      const iterator: AsyncIterator<Uint8Array> = {
        async next() {
          clearTimeout(idle)
          try {
            const piece = await inner.next()
            if (piece.done) release()
            else if (isHeld) {
              idle = setTimeout(release, IDLE_MS)
              idle.unref()
            }
            return piece
          } catch (error) {
            release()
            throw error
          }
        },
        async return(value) {
          release()
          return (await inner.return?.(value)) ?? { done: true, value }
        },
      }
      return { [Symbol.asyncIterator]: () => iterator }
    },
  }
}
