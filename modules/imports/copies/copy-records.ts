import { createHash } from 'node:crypto'
import { nowMs } from '../../../src/clock.ts'
import type { Actor, UserActor } from '../../../src/core/actor.ts'
import type { NewRow, Operation, Values } from '../../../src/core/changes.ts'
import { AppError, badRequest, notFound } from '../../../src/core/errors.ts'
import { readAttachments } from '../../../src/core/fields/attachment-item.ts'
import { cellFormatter, type TextOptions } from '../../../src/core/fields/cell-text.ts'
import { startValue } from '../../../src/core/fields/default-value.ts'
import { isEmptyWord } from '../../../src/core/fields/empty-words.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import {
  isExclusiveLink,
  isSingleLink,
  type LinkOptions,
  linkOf,
} from '../../../src/core/fields/link-options.ts'
import { readLinkIds, readLinks, readNameList } from '../../../src/core/fields/list-value.ts'
import { readValue } from '../../../src/core/fields/read.ts'
import {
  hasChoices,
  holdsFiles,
  inZone,
  isForeignKey,
  isImportable,
  isSecret,
  optionsForTextOf,
  withPeople,
} from '../../../src/core/fields/traits.ts'
import { randomText } from '../../../src/core/ids.ts'
import type { Field, Person, RecordId } from '../../../src/core/model.ts'
import {
  type CopyField,
  MAX_COPIED_IN_JOB,
  MAX_COPIED_RECORDS,
  type RecordCopy,
  type RecordCopyPreview,
  type RecordsCopied,
  type RefusedValues,
} from '../../../src/core/record-copies.ts'
import { roundsOf, type WriteRounds } from '../../../src/core/write-rounds.ts'
import { appendChange } from '../../../src/db/change-log/append.ts'
import { findSent } from '../../../src/db/change-log/entries.ts'
import type { ColumnValue } from '../../../src/db/column-values.ts'
import { readNames, recordsNamed } from '../../../src/db/names-of-records.ts'
import {
  isStopping,
  type JobContext,
  type JobKind,
  ServerStopping,
  WITHIN_TRANSACTION,
} from '../../../src/jobs.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import { explainStorage, isOutage } from '../../../src/storage-full.ts'
import { tidyUp } from '../../../src/tidy-up.ts'
import { type AuthService, requireUser } from '../../auth/index.ts'
import { parseRecordId, type RecordsService } from '../../records/index.ts'
import type { SchemaService, TableModel } from '../../schema/index.ts'
import { storageWithoutRollback } from '../targets/connected.ts'
import { COPIED_COMMENTS } from './copy-rows.ts'
import { openHistory, type RecordHistory, removeUnusedHistory } from './record-history.ts'

/** Refused values that a result shows for each field. */
const MAX_EXAMPLES = 5
const MAX_EXAMPLE_LENGTH = 80
/** Names that a reason lists. */
const MAX_NAMES = 5

export interface RecordCopyInput {
  /** The table of the originals. */
  tableId: string
  recordIds: readonly RecordId[]
  targetTableId: string
  /**
   * The fields to copy: ids or titles of fields of the target, each with a field of the source that fills it. Absent: fields
   * are matched by their titles.
   */
  mapping?: Readonly<Record<string, string | null>>
  /** Moves the originals to the trash afterwards. */
  isMove?: boolean
  /** IANA time zone of days and times whose field has none, and of defaults with the current date; by default UTC. */
  timeZone?: string
}

/** Job name on the wire. */
export const RECORDS_JOB = 'copy-records'

interface RecordsJobInput {
  /** With the id of the action that all its changes belong to. */
  owner: UserActor
  /** Of the target table. */
  title: string
  request: RecordCopyInput
  /** Absent in jobs of servers that do not know how to go on with them. */
  resumes?: true
}

/** What the next run of an interrupted job needs to know. */
interface Remembered {
  /** Without the portion. */
  result: RecordsCopied
  /** The portion that is being copied. */
  portion: {
    /** Position of its first record in the request. */
    from: number
    /** Digest of the originals and their values. */
    originals: string
    copied: number
    refused: RefusedValues[]
    /** The ids of the copies in a connected target, which is about to commit them; absent until then. */
    ids?: RecordId[]
    /** How its originals are removed; absent until they are. */
    removed?: Removal
  }
}

type Removal = Pick<RecordCopy, 'deleted' | 'kept'>

interface Deps {
  kernel: Pick<Kernel, 'jobs' | 'log' | 'registry' | 'sources'>
  auth: Pick<AuthService, 'access'>
  schema: Pick<SchemaService, 'openTable' | 'engineOf' | 'writeRefusal'>
  records: Pick<
    RecordsService,
    'open' | 'page' | 'people' | 'openLink' | 'heldTargets' | 'readStored' | 'apply' | 'attachments'
  >
}

/** A field of the target, and the field of the source that fills it. */
interface Pair {
  target: Field
  source: Field
}

interface OpenCopy {
  user: UserActor
  opened: Awaited<ReturnType<RecordsService['open']>>
  target: TableModel
  pairs: Pair[]
  /** Fields of the source that are read after those of the pairs: the creation of records that move. */
  stamps: Field[]
  recordIds: RecordId[]
  /** In which texts are written and read, so that times survive. */
  timeZone: string
}

/** A value as the target stores it. */
interface Converted {
  value: CellValue
  /** The original as text, and why the value is not the whole of it; null if it is. */
  refused: { value: string; reason: string } | null
  /** Of a link: positions of originals whose copies are linked, too. No other record has their names. */
  awaits?: readonly number[]
}

type Column = Converted[]

type OpenLink = Awaited<ReturnType<RecordsService['openLink']>>

/** Copies and moves single records to other tables, of the same base or another one. */
export function createRecordCopies({ kernel, auth, schema, records }: Deps) {
  /** Checks the request and the rights in both bases. */
  async function open(actor: Actor, input: RecordCopyInput, max = MAX_COPIED_RECORDS): Promise<OpenCopy> {
    const user = requireUser(actor)
    const { timeZone = 'UTC' } = input
    const opened = await records.open(user, input.tableId, undefined, timeZone)
    const source = opened.model
    if (input.isMove) await auth.access.authorize(user, 'record.delete', source.table.baseId)
    const target = await schema.openTable(user, 'record.create', input.targetTableId)
    const junction = [source, target].find(({ table }) => table.isJunction)
    if (junction) throw badRequest(m.copies_error_junction({ table: junction.table.title }))
    if (source.table.id === target.table.id)
      throw badRequest(m.copies_error_same_table({ table: target.table.title }))
    if (source.keyFields.length === 0) throw badRequest(m.copies_error_no_key({ table: source.table.title }))
    for (const written of input.isMove ? [source, target] : [target]) {
      const refusal = await schema.writeRefusal(written)
      if (refusal !== null) throw badRequest(refusal)
    }
    const ids = input.recordIds.map((id) => parseRecordId(source, id))
    if (ids.length > max) throw badRequest(m.copies_error_too_many_records({ max }))
    const recordIds = [...new Map(ids.map((id) => [String(id), id])).values()]
    const pairs = pairsOf(source, target, input.mapping)
    const stamps = input.isMove ? creationOf(source) : []
    return { user, opened, target, pairs, stamps, recordIds, timeZone }
  }

  /** The values of the originals for each pair and stamp, in the order of the ids. @throws RECORD_NOT_FOUND */
  async function read(copy: OpenCopy): Promise<CellValue[][]> {
    const rows = await find(copy)
    return copy.recordIds.map((id) => {
      const row = rows.get(String(id))
      if (!row) throw notFound('Record', String(id).slice(0, 64))
      return row
    })
  }

  async function find({ opened, pairs, stamps, recordIds }: OpenCopy): Promise<Map<string, CellValue[]>> {
    const query = {
      tableId: opened.model.table.id,
      recordIds: [...recordIds],
      limit: recordIds.length,
      offset: 0,
    }
    const read = [...pairs.map(({ source }) => source), ...stamps]
    const fields = [...new Set(read)]
    const { ids, rows } = await records.page(opened, query, fields, 'all')
    const positions = read.map((field) => fields.indexOf(field))
    return new Map(
      ids.map((id, at) => [String(id), positions.map((position) => rows[at]?.[position] ?? null)]),
    )
  }

  /** The originals as the target stores them, pair by pair. */
  async function convert(copy: OpenCopy, rows: readonly CellValue[][]): Promise<Column[]> {
    const { user, opened, target, pairs, timeZone } = copy
    const sourcePeople = await records.people(user, opened.model.table.baseId)
    const targetPeople = await records.people(user, target.table.baseId)
    const columns: Column[] = []
    const formatOf = ({ source }: Pair) => cellFormatter(source, { people: sourcePeople, timeZone })
    const copied = namesOfCopies(copy, rows, formatOf)
    for (const [at, pair] of pairs.entries()) {
      const values = rows.map((row) => row[at] ?? null)
      if (holdsFiles(pair.target)) {
        columns.push(values.map((value) => filesFor(pair.target, value)))
        continue
      }
      const format = formatOf(pair)
      const link = linkOf(pair.target)
      columns.push(
        link
          ? await linksFor(copy, pair, link, { values, format, people: targetPeople, copied })
          : values.map((value) => textFor(pair, format(value), { people: targetPeople, timeZone })),
      )
    }
    return columns
  }

  /**
   * Links to the same records where both fields link to one table, else to records with the same names.
   *
   * @param copied the positions of the originals by the names of their copies
   */
  async function linksFor(
    { target, timeZone }: OpenCopy,
    pair: Pair,
    link: LinkOptions,
    {
      values,
      format,
      people,
      copied,
    }: {
      values: CellValue[]
      format: (value: CellValue) => string
      people: Person[]
      copied: ReadonlyMap<string, number>
    },
  ): Promise<Column> {
    const severalReason = m.imports_report_several_records({ field: pair.target.title })
    const texts = values.map(format)
    const open = await records.openLink(target, pair.target.id)
    if (linkOf(pair.source)?.relatedTableId === link.relatedTableId) {
      const column = values.map((value, at) => {
        const ids = readLinks(value).records.map(({ id }) => id)
        if (ids.length > 1 && isSingleLink(link)) return refusal(texts[at] ?? '', severalReason)
        return accepted(linkTo(ids))
      })
      return withoutHeld(open, column, texts)
    }
    const { displayField, table } = open.related
    if (fieldType(displayField.type).computed !== undefined) {
      const reason = m.records_error_computed_names({ table: table.title, field: displayField.title })
      return texts.map((text) => (text === '' ? accepted(null) : refusal(text, reason)))
    }
    const options = inZone(withPeople(displayField.type, displayField.options, people), timeZone)
    const engine = await schema.engineOf(table)
    const names = await recordsNamed(
      engine,
      { ...open.related, displayField: { ...displayField, options } },
      texts.flatMap((text) => (text === '' ? [] : [text, ...readNameList(text)])),
      (statement) => engine.all<ColumnValue>(statement, { scan: true }),
    )
    const column = texts.map((text): Converted => {
      const { ids, missing, isTooMany } = readNames(text, link, names)
      if (isTooMany) return refusal(text, severalReason)
      if (missing.length === 0) return accepted(linkTo(ids))
      const isOwn = table.id === target.table.id
      const awaits = isOwn ? missing.flatMap((name) => copied.get(name) ?? []) : []
      const unknown = missing.filter((name) => !isOwn || !copied.has(name))
      if (unknown.length === 0) return { ...accepted(linkTo(ids)), awaits }
      // The names that are known are linked.
      return { ...refusal(text, unknownNames(table.title, unknown)), value: linkTo(ids), awaits }
    })
    return withoutHeld(open, column, texts)
  }

  /**
   * Leaves out linked records that may belong to one record only and have it: a copy would take them from that one, which may
   * be an earlier copy.
   */
  async function withoutHeld(open: OpenLink, column: Column, texts: readonly string[]): Promise<Column> {
    if (!isExclusiveLink(open.options)) return column
    const all = new Set(column.flatMap(({ value }) => readLinkIds(value) ?? []))
    const held = await records.heldTargets(open, [...all])
    const heldCopies = new Set<number>()
    return column.map((cell, at) => {
      const ids = readLinkIds(cell.value) ?? []
      const awaits = cell.awaits ?? []
      const freeIds = ids.filter((id) => !held.has(String(id)))
      const freeCopies = awaits.filter((position) => !heldCopies.has(position))
      for (const id of freeIds) held.add(String(id))
      for (const position of freeCopies) heldCopies.add(position)
      if (freeIds.length === ids.length && freeCopies.length === awaits.length) return cell
      const text = texts[at] ?? ''
      const count = ids.length + awaits.length - freeIds.length - freeCopies.length
      const reason = m.copies_report_held({ count, table: open.model.table.title })
      const { refused } = cell.refused ? cell : refusal(text, reason)
      return { value: linkTo(freeIds), refused, awaits: freeCopies }
    })
  }

  /**
   * Writes the copies with their links to each other, as one change.
   *
   * @param job `clientId` of the change: one that is there is not written again; `committing` is called with the ids of copies in a
   *   connected database before that commits them
   * @returns the ids of the copies, in the order of the originals
   */
  async function write(
    copy: OpenCopy,
    columns: readonly Column[],
    read: readonly CellValue[][],
    job?: { clientId: string; committing?: (ids: RecordId[]) => Promise<void> },
  ): Promise<RecordId[]> {
    const { user, target, pairs, timeZone } = copy
    const { id: tableId, baseId } = target.table
    const rows = read.map((values, row) => ({ ...rowOf(pairs, columns, row), ...originIn(copy, values) }))
    const operations: Operation[] = [{ kind: 'insert', tableId, rows }]
    const { committing } = job ?? {}
    const { inserted } = await records.apply(
      user,
      { baseId, operations, timeZone, clientId: job?.clientId },
      committing && !isOwn(target) ? { finish: (_log, _dialect, _entryId, ids) => committing(ids) } : {},
    )
    return inserted
  }

  /** Leaves out files that the actor may not use, and registers the others for the base of the target. */
  async function claimFiles({ user, target, pairs }: OpenCopy, columns: readonly Column[]): Promise<void> {
    const cells = columns.flatMap((column, at) => (pairs[at] && holdsFiles(pairs[at].target) ? column : []))
    const pathsIn = ({ value }: Converted) => readAttachments(value).flatMap(({ path }) => path ?? [])
    const paths = cells.flatMap(pathsIn)
    if (paths.length === 0) return
    const known = await records.attachments.claimKnown(user, target.table.baseId, paths)
    const usable = new Set(known.map(({ path }) => path))
    for (const cell of cells) {
      const lost = readAttachments(cell.value).find(({ path }) => path !== undefined && !usable.has(path))
      if (!lost) continue
      const reason = m.imports_report_file_not_found({ file: lost.title })
      Object.assign(cell, refusal(fileNames(cell.value), reason))
    }
  }

  /** Copies the comments that are not copied yet. The originals keep theirs, which an undo or a restore brings back. */
  function copyComments(
    { opened, target, pairs, recordIds }: OpenCopy,
    newIds: readonly RecordId[],
  ): Promise<void> {
    const ids = new Map(pairs.map((pair) => [pair.source.id, pair.target.id]))
    const replaced = recordIds.flatMap((id, at) => {
      const newId = newIds[at]
      return newId === undefined ? [] : [[id, newId] as const]
    })
    const to = { model: target, ids, records: replaced }
    return kernel.registry.get(COPIED_COMMENTS).copyOfRecords(opened.model, to)
  }

  /** Null for connected databases. */
  async function historyOf(
    { opened, target, pairs, recordIds }: OpenCopy,
    jobId: string | null,
  ): Promise<RecordHistory | null> {
    const source = opened.model
    if (!isOwn(source) || !isOwn(target)) return null
    const same = pairs.filter(
      (pair) => pair.source.type === pair.target.type && fieldType(pair.source.type).computed === undefined,
    )
    return openHistory(
      { home: await schema.engineOf(source.table), tableId: source.table.id, recordIds },
      { home: await schema.engineOf(target.table), tableId: target.table.id },
      {
        fields: new Map(same.map((pair) => [pair.source.id, pair.target.id])),
        fileFields: new Set(same.flatMap((pair) => (holdsFiles(pair.source) ? pair.source.id : []))),
      },
      jobId,
    )
  }

  /**
   * Gives the copies the comments and the history of the originals, and deletes these, except those that changed after they were read. Never
   * throws, except where the next run of a job goes on: the copies stay.
   *
   * @param job `deleting` is called before they are deleted; `clientId`: of the deletion
   */
  async function removeOriginals(
    copy: OpenCopy,
    read: readonly CellValue[][],
    newIds: readonly RecordId[],
    history: RecordHistory | null,
    job?: { deleting: (removal: Removal) => Promise<void>; clientId: string },
  ): Promise<Removal> {
    const { user, opened, target, recordIds } = copy
    const { table } = opened.model
    const stateOf = stateOfOriginals(copy)
    try {
      await copyComments(copy, newIds)
      const replaced = new Map(recordIds.map((id, at) => [String(id), newIds[at] ?? id]))
      await history?.complete(replaced, async (paths) => {
        await records.attachments.claimKnown(user, target.table.baseId, paths)
      })
      const now = await find(copy)
      const ids: RecordId[] = []
      let changed = 0
      for (const [at, id] of recordIds.entries()) {
        const row = now.get(String(id))
        if (!row) continue
        if (stateOf(row) === stateOf(read[at] ?? [])) ids.push(id)
        else changed++
      }
      const kept = changed === 0 ? null : { count: changed, reason: m.copies_error_records_changed() }
      const removal = { deleted: ids.length, kept }
      await job?.deleting(removal)
      if (ids.length > 0) {
        const operations = [{ kind: 'delete' as const, tableId: table.id, ids }]
        await records.apply(user, { baseId: table.baseId, operations, clientId: job?.clientId })
        // Those that were written until then.
        await copyComments(copy, newIds).catch((error) =>
          kernel.log.error('comments on moved records stay with their originals', error, {
            tableId: table.id,
          }),
        )
      }
      return removal
    } catch (error) {
      if (error instanceof ServerStopping || (job && isAway(error))) throw error
      if (!(error instanceof AppError))
        kernel.log.error('moved records could not be deleted', error, { tableId: table.id })
      const reason = error instanceof AppError ? error.message : m.copies_error_not_deleted()
      return { deleted: 0, kept: { count: recordIds.length, reason } }
    }
  }

  /** The values of the copies. @throws as `copy` */
  async function checked(copy: OpenCopy, rows: readonly CellValue[][]): Promise<Column[]> {
    const columns = await convert(copy, rows)
    await claimFiles(copy, columns)
    refuseCircles(copy, columns)
    refuseMissing(copy, columns)
    return columns
  }

  /** Runs the job. While a connected database does not answer, waits for it and goes on as after a kill. */
  async function runJob(input: RecordsJobInput, job: JobContext): Promise<RecordsCopied> {
    const context: JobContext = {
      ...job,
      async remember(state, options) {
        await job.remember(state, options)
        context.remembered = state
      },
    }
    /** The portion at which the last run has ended, since when runs end there, and how many. */
    let last = { from: -1, sinceMs: 0, runs: 0 }
    for (;;) {
      try {
        return await runOnce(input, context)
      } catch (error) {
        if (!isAway(error) || isOutage(error) || isStopping(job.signal)) throw error
        const former = context.remembered as Remembered | null
        const from = former?.portion.from ?? 0
        if (from !== last.from) last = { from, sinceMs: nowMs(), runs: 0 }
        const isTooLong = ++last.runs >= MIN_FRUITLESS_RUNS && nowMs() - last.sinceMs > OUTAGE_PATIENCE_MS
        if (job.signal.aborted || isTooLong) throw await abandoned(input.owner, job.jobId, former, error)
        await job.awayFor(() => pause(job.signal))
        context.isResumed = true
      }
    }
  }

  async function runOnce(
    { owner, request }: RecordsJobInput,
    { jobId, signal, isResumed, remembered, remember, report }: JobContext,
  ): Promise<RecordsCopied> {
    const { isMove = false } = request
    const former = isResumed ? (remembered as Remembered | null) : null
    const all = await open(owner, request, MAX_COPIED_IN_JOB).catch(async (error) => {
      throw isResumed && !isAway(error) ? await abandoned(owner, jobId, former, error) : error
    })
    const total = all.recordIds.length
    let result: RecordsCopied = former?.result ?? {
      tableId: all.target.table.id,
      copied: 0,
      refused: [],
      deleted: 0,
      kept: null,
      left: total,
    }
    report({ done: total - result.left, total, unit: 'rows' })
    /** The records of a portion that are there. */
    async function portionAt(from: number): Promise<{ copy: OpenCopy; rows: CellValue[][] }> {
      const wanted = { ...all, recordIds: all.recordIds.slice(from, from + MAX_COPIED_RECORDS) }
      const found = await find(wanted)
      const copy = { ...wanted, recordIds: wanted.recordIds.filter((id) => found.has(String(id))) }
      return { copy, rows: copy.recordIds.map((id) => found.get(String(id)) ?? []) }
    }
    /** Each portion with the values of its copies. */
    async function* portions(first: number) {
      for (let from = first; from < total; from += MAX_COPIED_RECORDS) {
        const { copy, rows } = await portionAt(from)
        yield { from, copy, rows, columns: await checked(copy, rows) }
      }
    }
    const withPortion = (
      { from, copied, refused }: Remembered['portion'],
      { deleted, kept }: Removal,
    ): RecordsCopied => ({
      ...result,
      copied: result.copied + copied,
      deleted: result.deleted + deleted,
      refused: joined(result.refused, refused),
      kept: kept ? { ...kept, count: kept.count + (result.kept?.count ?? 0) } : result.kept,
      left: Math.max(0, total - from - MAX_COPIED_RECORDS),
    })
    /**
     * Logs a portion that a connected database has and the log has not: the server was killed, or a connection broke, between the two
     * commits.
     *
     * @returns the entry; null where the portion was not written
     * @throws CONFLICT where the records with the ids of the copies are not these copies, as when somebody has deleted one, or has changed an
     *   original; where the table cannot roll back and the ids are not known
     */
    async function logWritten({ from, ids }: Remembered['portion'], clientId: string) {
      const { table } = all.target
      const uncertain = () => new AppError('CONFLICT', m.copies_error_uncertain({ table: table.title }))
      if (!ids) {
        // Some of them may be there nevertheless.
        if ((await storageWithoutRollback(schema, all.target)) !== null) throw uncertain()
        return null
      }
      const stored = await records.readStored(all.target, ids)
      // All of them are written, or none.
      if (stored.size === 0) return null
      const { copy, rows } = await portionAt(from)
      const columns = await convert(copy, rows)
      const written = ids.flatMap((id, row) => {
        const values = stored.get(String(id))
        return values && isCopy(copy, columns, row, values) ? { id, values } : []
      })
      if (written.length !== ids.length || rows.length !== ids.length) throw uncertain()
      const home = await kernel.sources.engine(table.baseId)
      await home.write(async (tx) => {
        await appendChange(tx, home.dialect, {
          actorId: owner.id,
          actionId: owner.actionId,
          clientId,
          kind: 'records.insert',
          tableId: table.id,
          records: written.map(({ id, values }) => ({
            tableId: table.id,
            recordId: id,
            before: null,
            after: values,
          })),
          detail: { inserted: written.map(({ id }) => id) },
        })
      })
      return sentBefore(owner, table.baseId, clientId)
    }
    /** Completes the portion that an interrupted run was copying. False where it has not begun to. */
    async function completePortion({ portion }: Remembered, history: RecordHistory | null): Promise<boolean> {
      const sent = ({ table }: TableModel, clientId: string) => sentBefore(owner, table.baseId, clientId)
      const { insertion, deletion } = changeIds(jobId, portion.from)
      const inserted = (await sent(all.target, insertion)) ?? (await logWritten(portion, insertion))
      if (!inserted) return false
      const isUndone = inserted.undoneBy !== null
      const isDone = !isMove || isUndone || (await sent(all.opened.model, deletion)) !== null
      if (isDone) {
        result = withPortion(portion, (isUndone ? null : portion.removed) ?? NOT_REMOVED)
        return true
      }
      const { copy, rows } = await portionAt(portion.from)
      const { removed = NOT_REMOVED } = portion
      // A connected database commits the deletion before its entry.
      const isDeleted = removed.deleted > 0 && rows.length === portion.copied - removed.deleted
      if (isDeleted && !isOwn(all.opened.model)) {
        result = withPortion(portion, removed)
        return true
      }
      if (digestOf(copy, rows) !== portion.originals) {
        const reason = m.copies_error_records_changed()
        result = withPortion(portion, { deleted: 0, kept: { count: rows.length, reason } })
        return true
      }
      // Is not written again, and tells the ids of the copies.
      const newIds = await write(copy, await convert(copy, rows), rows, { clientId: insertion })
      const removal = await removeOriginals(copy, rows, newIds, history, {
        clientId: deletion,
        deleting: (removed) => remember({ result, portion: { ...portion, removed } } satisfies Remembered),
      })
      result = withPortion(portion, removal)
      return true
    }

    const history = isMove ? await historyOf(all, jobId) : null
    const removeUnused = () =>
      tidyUp(
        async () => history?.removeUnused(),
        (error) => kernel.log.error('history of records that were not moved is left', error, { jobId }),
      )
    try {
      let first = former?.portion.from ?? 0
      if (former && (await completePortion(former, history))) first += MAX_COPIED_RECORDS
      for await (const _ of portions(first)) if (signal.aborted) break
      if (!signal.aborted) await history?.begin(all.recordIds.slice(first))
      for await (const { from, copy, rows, columns } of portions(first)) {
        // What is copied stays: an undo takes it back.
        if (signal.aborted) break
        const portion: Remembered['portion'] = {
          from,
          originals: digestOf(copy, rows),
          copied: rows.length,
          refused: refusedIn(copy.pairs, columns),
        }
        const { insertion, deletion } = changeIds(jobId, from)
        await remember({ result, portion } satisfies Remembered)
        const newIds = await write(copy, columns, rows, {
          clientId: insertion,
          committing: (ids) =>
            remember({ result, portion: { ...portion, ids } } satisfies Remembered, WITHIN_TRANSACTION),
        })
        const removal = isMove
          ? await removeOriginals(copy, rows, newIds, history, {
              clientId: deletion,
              deleting: (removed) =>
                remember({ result, portion: { ...portion, removed } } satisfies Remembered),
            })
          : NOT_REMOVED
        result = withPortion(portion, removal)
        report({ done: total - result.left })
      }
      // The next run goes on.
      if (result.copied === 0 || isStopping(signal)) signal.throwIfAborted()
      if (result.left > 0) await removeUnused()
      return result
    } catch (error) {
      if (error instanceof ServerStopping) throw error
      // The next run goes on.
      if (isAway(error)) throw error
      await removeUnused()
      throw withCopied(error, result.copied)
    }
  }

  /**
   * The error of a job that may no longer open its tables when it goes on. The copies whose originals are still there stay: its owner may
   * not complete them.
   */
  async function abandoned(
    owner: UserActor,
    jobId: string,
    former: Remembered | null,
    error: unknown,
  ): Promise<unknown> {
    const baseId = (await kernel.jobs.find(jobId))?.baseId
    if (!baseId || !(await kernel.sources.exists(baseId))) return error
    await removeUnusedHistory(await kernel.sources.engine(baseId), jobId)
    if (former === null) return error
    const { result, portion } = former
    const begun = await sentBefore(owner, baseId, changeIds(jobId, portion.from).insertion)
    return withCopied(error, result.copied + (begun?.undoneBy === null ? portion.copied : 0))
  }

  /** The entry of a change that a person has sent, in the log of a base. */
  async function sentBefore({ id }: UserActor, baseId: string, clientId: string) {
    const home = await kernel.sources.engine(baseId)
    return findSent(home, home.dialect, { actorId: id, clientId })
  }

  const job: JobKind<RecordsJobInput> = {
    resumes: true,
    completes: true,
    run: runJob,
    // A job of another version: what was copied stays, and the originals that were not moved are there.
    recover: async ({ resumes }) => (resumes ? 'resume' : { error: m.copies_error_server_stopped() }),
    giveUp: async ({ owner }, { id, remembered, reason }) => {
      const ended = new AppError('CONFLICT', reason)
      const error = await abandoned(owner, id, remembered as Remembered | null, ended)
      return error instanceof AppError ? error.message : reason
    },
  }
  kernel.jobs.register(RECORDS_JOB, job)

  return {
    /**
     * What copying records would do. Nothing is written.
     *
     * @throws as `copy`, except for missing values
     */
    async preview(actor: Actor, input: RecordCopyInput): Promise<RecordCopyPreview> {
      const copy = await open(actor, input)
      const columns = await convert(copy, await read(copy))
      const sourceOf = new Map(copy.pairs.map(({ target, source }) => [target.id, source.id]))
      return {
        targets: targetsIn(copy.target).map((field) => ({
          ...described(field),
          required: isRequired(copy.target, field),
          sourceId: sourceOf.get(field.id) ?? null,
        })),
        sources: sourcesIn(copy.opened.model).map(described),
        left: leftIn(copy.opened.model, copy.pairs),
        refused: refusedIn(copy.pairs, columns),
        missing: missingIn(copy, columns).map(({ field, count }) => ({ title: field.title, count })),
      }
    },

    /**
     * Copies records to another table, as one action. A move deletes the originals in the same action; if that fails, or a
     * record was changed meanwhile, the originals stay and `kept` tells why.
     *
     * @throws TABLE_NOT_FOUND, RECORD_NOT_FOUND, FIELD_NOT_FOUND; PERMISSION_DENIED below viewer of the table and editor of
     *   the target, for a move below editor of both; REQUIRED_FIELD_MISSING where records have no value for a required
     *   field; BAD_REQUEST for the same table, too many records, fields that cannot be copied or filled and required links in a circle; the errors of the
     *   write door. Nothing is written then
     */
    async copy(actor: Actor, input: RecordCopyInput): Promise<RecordCopy> {
      const asked = await open(actor, input)
      const copy = { ...asked, user: inOneAction(asked.user) }
      const rows = await read(copy)
      const columns = await checked(copy, rows)
      const history = input.isMove ? await historyOf(copy, null) : null
      let ids: RecordId[]
      try {
        await history?.begin(copy.recordIds)
        ids = await write(copy, columns, rows)
      } catch (error) {
        await history?.removeUnused()
        throw error
      }
      const removal = input.isMove ? await removeOriginals(copy, rows, ids, history) : NOT_REMOVED
      return { ids, refused: refusedIn(copy.pairs, columns), ...removal }
    },

    /**
     * Starts a job that copies more records than `copy` does. They are checked first, and then copied in portions, all as one
     * action: records of different portions are linked to each other only if the one that is linked comes first.
     *
     * @throws as `copy`, except for what is wrong with records, which ends the job before it writes anything
     */
    async start(actor: Actor, input: RecordCopyInput): Promise<{ jobId: string }> {
      const { user, target } = await open(actor, input, MAX_COPIED_IN_JOB)
      const jobInput: RecordsJobInput = {
        owner: inOneAction(user),
        title: target.table.title,
        request: input,
        resumes: true,
      }
      const { baseId } = target.table
      const { id } = await kernel.jobs.start(RECORDS_JOB, { userId: user.id, baseId, input: jobInput })
      return { jobId: id }
    },
  }
}

/** How long a job waits for a connected database without coming further, in some runs at least, and how often it tries again. */
const OUTAGE_PATIENCE_MS = 120_000
const MIN_FRUITLESS_RUNS = 3
const OUTAGE_POLL_MS = 1_000

/** True if a database does not answer: a connected one, or Sheaf's own. */
function isAway(error: unknown): boolean {
  const reason = explainStorage(error)
  return reason instanceof AppError && reason.code === 'DATABASE_UNREACHABLE'
}

/** Waits a moment, or until the signal is aborted. */
async function pause(signal: AbortSignal): Promise<void> {
  for (const until = nowMs() + OUTAGE_POLL_MS; !signal.aborted && nowMs() < until; ) await Bun.sleep(50)
}

/** True if a stored record has the values of a copy. */
function isCopy({ pairs }: OpenCopy, columns: readonly Column[], row: number, stored: Values): boolean {
  return pairs.every(({ target }, at) => {
    if (target.columnName === '') return true
    const value = columns[at]?.[row]?.value ?? null
    const found = stored[target.id] ?? null
    return value === null ? isEmptyCopy(target, found) : String(found) === String(value)
  })
}

/** True if a field of a copy has this value where the original has none, see `rowOf`. */
const isEmptyCopy = ({ type, required }: Field, stored: CellValue): boolean =>
  required || (stored ?? '') === '' || String(stored) === String(fieldType(type).initial ?? '')

const NOT_REMOVED: Removal = { deleted: 0, kept: null }

/** Ids of the changes of a portion, which are written once, however often the job runs. */
const changeIds = (jobId: string, from: number) => ({
  insertion: `${jobId} insert ${from}`,
  deletion: `${jobId} delete ${from}`,
})

/** The error that ends a job, with the number of records that are copied. */
function withCopied(error: unknown, copied: number): unknown {
  const reason = explainStorage(error)
  if (copied === 0 || !(reason instanceof AppError)) return reason
  const message = m.copies_error_records_stopped({ copied, reason: reason.message })
  return new AppError(reason.code, message, reason.details)
}

/** The values of an original that only people change, as text: computed ones may change by themselves. */
function stateOfOriginals({ pairs }: OpenCopy): (row: readonly CellValue[]) => string {
  const stored = pairs.map(({ source }) => {
    const { computed } = fieldType(source.type)
    return computed === undefined || computed === 'link'
  })
  return (row) => JSON.stringify(row.filter((_, at) => stored[at]))
}

/** Differs where originals are changed or missing. */
const digestOf = (copy: OpenCopy, rows: readonly CellValue[][]): string =>
  createHash('sha256')
    .update(JSON.stringify([copy.recordIds, rows.map(stateOfOriginals(copy))]))
    .digest('base64')

const inOneAction = (user: UserActor): UserActor => ({ ...user, actionId: user.actionId ?? randomText(20) })

/** Refused values of two portions. */
function joined(first: readonly RefusedValues[], second: readonly RefusedValues[]): RefusedValues[] {
  const byField = new Map(first.map((one) => [one.fieldId, one]))
  for (const one of second) {
    const { count = 0, examples = [] } = byField.get(one.fieldId) ?? {}
    const different = new Map([...examples, ...one.examples].map((example) => [example.value, example]))
    byField.set(one.fieldId, {
      ...one,
      count: count + one.count,
      examples: [...different.values()].slice(0, MAX_EXAMPLES),
    })
  }
  return [...byField.values()]
}

const described = (field: Field): CopyField => ({
  id: field.id,
  title: field.title,
  holdsFiles: holdsFiles(field),
})

/** The fields whose values can be copied. */
const sourcesIn = ({ fields }: TableModel): Field[] =>
  fields.filter((field) => {
    const { computed } = fieldType(field.type)
    const isShown = computed !== 'code' && computed !== 'button' && field.error === null
    return isShown && !field.isSystem && !isForeignKey(field) && !isSecret(field)
  })

/** The titles of the fields with values that no pair copies. Keys and stamps always stay behind, and are left out. */
const leftIn = ({ fields }: TableModel, pairs: readonly Pair[]): string[] =>
  fields
    .filter((field) => {
      const { computed, readOnly } = fieldType(field.type)
      const hasValues = computed !== 'code' && computed !== 'button' && !readOnly
      const isOwn = !field.isSystem && !field.isPrimaryKey && !isForeignKey(field)
      return hasValues && isOwn && !pairs.some(({ source }) => source.id === field.id)
    })
    .map(({ title }) => title)

/** The fields that copied values can fill. */
const targetsIn = ({ fields }: TableModel): Field[] =>
  fields.filter((field) => {
    if (field.isSystem || field.readOnlyReason !== null || field.error !== null) return false
    return linkOf(field) !== null || isImportable(field.type)
  })

/** Everything but files passes through text. */
const fits = ({ source, target }: Pair): boolean => !holdsFiles(target) || holdsFiles(source)

/** The fields to copy. @throws FIELD_NOT_FOUND; BAD_REQUEST for fields that cannot be copied or filled */
function pairsOf(source: TableModel, target: TableModel, mapping: RecordCopyInput['mapping']): Pair[] {
  const sources = sourcesIn(source)
  const targets = targetsIn(target)
  if (mapping === undefined) {
    const byTitle = new Map(sources.toReversed().map((field) => [titleKey(field), field]))
    return targets
      .flatMap((field) => {
        const found = byTitle.get(titleKey(field))
        return found && !found.isPrimaryKey ? [{ source: found, target: field }] : []
      })
      .filter(fits)
  }
  const pairs = new Map<string, Pair>()
  for (const [to, from] of Object.entries(mapping)) {
    const filled = fieldNamed(target, to)
    if (!targets.includes(filled)) throw badRequest(m.copies_error_field_not_filled({ field: filled.title }))
    if (from === null) continue
    const copied = fieldNamed(source, from)
    if (!sources.includes(copied)) throw badRequest(m.copies_error_field_not_copied({ field: copied.title }))
    const pair = { source: copied, target: filled }
    if (!fits(pair))
      throw badRequest(m.copies_error_files_only({ field: filled.title, source: copied.title }))
    pairs.set(filled.id, pair)
  }
  return [...pairs.values()]
}

const titleKey = ({ title }: Field): string => title.trim().toLowerCase()

/** @throws FIELD_NOT_FOUND */
function fieldNamed(model: TableModel, idOrTitle: string): Field {
  const field = model.field(idOrTitle) ?? model.byTitle(idOrTitle)
  if (!field) throw notFound('Field', idOrTitle.slice(0, 64))
  return field
}

/** The limits of the field decide; the files stay where they are stored. */
function filesFor(field: Field, value: CellValue): Converted {
  const read = readValue(field, value)
  return read.ok ? accepted(read.value) : refusal(fileNames(value), read.message)
}

const fileNames = (value: CellValue): string =>
  readAttachments(value)
    .map(({ title }) => title)
    .join(', ')

/** The value that pasting the text would give. */
function textFor({ source, target }: Pair, text: string, { people, timeZone }: TextOptions): Converted {
  if (text === '') return accepted(null)
  const type = fieldType(target.type)
  const named = withPeople(target.type, optionsForTextOf(source, target), people)
  const value = type.parse(text, inZone(named, timeZone), '.')
  if (value !== null || text.trim() === '' || isEmptyWord(text, type)) return accepted(value)
  const reason = hasChoices(target)
    ? m.imports_report_not_an_option()
    : m.imports_report_invalid({ type: type.label() })
  return refusal(text, reason)
}

const accepted = (value: CellValue): Converted => ({ value, refused: null })

const refusal = (text: string, reason: string): Converted => ({
  value: null,
  refused: { value: text.slice(0, MAX_EXAMPLE_LENGTH).toWellFormed(), reason },
})

const linkTo = (ids: readonly RecordId[]): CellValue => (ids.length === 0 ? null : JSON.stringify(ids))

function unknownNames(table: string, missing: readonly string[]): string {
  const listed = missing
    .slice(0, MAX_NAMES)
    .map((name) => `“${name.slice(0, MAX_EXAMPLE_LENGTH)}”`)
    .join(', ')
  const count = missing.length - MAX_NAMES
  const names = count > 0 ? m.imports_report_names_and_more({ names: listed, count }) : listed
  return m.imports_report_unknown_records({ table, names })
}

/** The refused values of each field that has any. */
function refusedIn(pairs: readonly Pair[], columns: readonly Column[]): RefusedValues[] {
  return pairs.flatMap(({ target: { id, title } }, at) => {
    const refused = (columns[at] ?? []).flatMap((cell) => cell.refused ?? [])
    if (refused.length === 0) return []
    const different = [...new Map(refused.map((one) => [one.value, one])).values()]
    return [{ fieldId: id, title, count: refused.length, examples: different.slice(0, MAX_EXAMPLES) }]
  })
}

/** The field that fills a required one: the link whose key it is, or itself. */
const filling = ({ fields }: TableModel, required: Field): Field =>
  (isForeignKey(required) &&
    fields.find((field) => {
      const link = linkOf(field)
      return link?.holdsKey === true && link.keyFieldId === required.id
    })) ||
  required

/** The fields that a new record must have a value for, because nothing else gives them one. */
const requiredIn = (model: TableModel): Field[] =>
  model.fields
    .filter((field) => {
      const { readOnly, computed } = fieldType(field.type)
      if (!field.required || field.isSystem || field.readOnlyReason !== null) return false
      return !readOnly && computed === undefined && (startValue(field, { ms: 0 }) ?? '') === ''
    })
    .map((field) => filling(model, field))

const isRequired = (model: TableModel, field: Field): boolean => requiredIn(model).includes(field)

/** Required fields that some records have no value for. */
function missingIn(
  { target, pairs, recordIds }: Pick<OpenCopy, 'target' | 'pairs' | 'recordIds'>,
  columns: readonly Column[],
): { field: Field; count: number }[] {
  const { stuck } = roundsFor(target, pairs, columns, recordIds.length)
  const isMissing = ({ value, awaits = [] }: Converted, row: number) =>
    (value ?? '') === '' && (awaits.length === 0 || stuck.has(row))
  return requiredIn(target).flatMap((field) => {
    const column = columns[pairs.findIndex((pair) => pair.target.id === field.id)]
    const count = column ? column.filter(isMissing).length : recordIds.length
    return count === 0 ? [] : [{ field, count }]
  })
}

/** @throws BAD_REQUEST where copies cannot be written one after the other, because a required link of each needs another one */
function refuseCircles({ target, pairs, recordIds }: OpenCopy, columns: readonly Column[]): void {
  const { stuck } = roundsFor(target, pairs, columns, recordIds.length)
  if (stuck.size === 0) return
  const at = pairs.findIndex(
    (pair, index) =>
      isRequired(target, pair.target) &&
      columns[index]?.some(
        ({ awaits = [] }, row) => stuck.has(row) && awaits.some((other) => stuck.has(other)),
      ),
  )
  const field = pairs[at]?.target.title ?? ''
  throw badRequest(m.records_error_circle({ field, table: target.table.title, count: stuck.size }))
}

/** @throws REQUIRED_FIELD_MISSING */
function refuseMissing(copy: OpenCopy, columns: readonly Column[]): void {
  const [missing] = missingIn(copy, columns)
  if (!missing) return
  const { id, title } = missing.field
  const { title: table } = copy.target.table
  throw new AppError(
    'REQUIRED_FIELD_MISSING',
    m.copies_error_required_values({ field: title, table, count: missing.count }),
    { fieldId: id, field: title },
  )
}

/** The positions of the originals by the names that their copies will have, of which the first counts. */
function namesOfCopies(
  { target, pairs }: OpenCopy,
  rows: readonly CellValue[][],
  formatOf: (pair: Pair) => (value: CellValue) => string,
): Map<string, number> {
  const at = pairs.findIndex((pair) => pair.target.id === target.displayField.id)
  const pair = pairs[at]
  if (!pair) return new Map()
  const format = formatOf(pair)
  return new Map(rows.map((row, position) => [format(row[at] ?? null), position] as const).toReversed())
}

/** The originals that can be copied one after the other, as far as required links of their copies need each other. */
function roundsFor(
  target: TableModel,
  pairs: readonly Pair[],
  columns: readonly Column[],
  count: number,
): WriteRounds {
  const needing = columns.filter((_, at) => pairs[at] && isRequired(target, pairs[at].target))
  return roundsOf(count, (row) => needing.flatMap((column) => column[row]?.awaits ?? []))
}

/** The fields with the time and the author of a record's creation; none in connected databases. */
const creationOf = ({ fields }: TableModel): Field[] =>
  fields.filter(
    ({ isSystem, columnName }) => isSystem && (columnName === 'created_at' || columnName === 'created_by'),
  )

/** True for a table of a base, whose log has the history of its records. */
const isOwn = (model: TableModel): boolean => creationOf(model).length > 0

/** The creation of a record that moves. @param values as they were read */
function originIn({ pairs, stamps }: OpenCopy, values: readonly CellValue[]): Pick<NewRow, 'origin'> {
  const of = (column: string): string | undefined => {
    const at = stamps.findIndex(({ columnName }) => columnName === column)
    const value = at < 0 ? null : values[pairs.length + at]
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const [createdAt, createdBy] = [of('created_at'), of('created_by')]
  if (createdAt === undefined && createdBy === undefined) return {}
  return { origin: { ...(createdAt && { createdAt }), ...(createdBy && { createdBy }) } }
}

/** One copy. An empty cell stays empty; only a required field gets its default then. */
function rowOf(pairs: readonly Pair[], columns: readonly Column[], row: number): NewRow {
  const values: Values = {}
  const siblings: Record<string, number[]> = {}
  for (const [at, { target }] of pairs.entries()) {
    const { value = null, awaits = [] } = columns[at]?.[row] ?? {}
    if (awaits.length > 0) siblings[target.id] = [...awaits]
    if (value === null && (target.required || awaits.length > 0)) continue
    values[target.id] = value ?? fieldType(target.type).initial ?? null
  }
  return Object.keys(siblings).length === 0 ? { values } : { values, siblings }
}
