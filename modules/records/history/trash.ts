import { type SQL, sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { Actor, UserActor } from '../../../src/core/actor.ts'
import type { Values } from '../../../src/core/changes.ts'
import { addDays, fromStored, makeDay, resolveZone, startOfDay, toStored } from '../../../src/core/dates.ts'
import { AppError, badRequest } from '../../../src/core/errors.ts'
import { cellText, type TextOptions } from '../../../src/core/fields/cell-text.ts'
import { parseDay } from '../../../src/core/fields/date-text.ts'
import { isComputed } from '../../../src/core/fields/field.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { type InstantOptions, parseInstant, withoutTime } from '../../../src/core/fields/instant-text.ts'
import { fieldInZone } from '../../../src/core/fields/traits.ts'
import { createBuild } from '../../../src/core/formula/build.ts'
import { dateFormatOf } from '../../../src/core/formula/date-format.ts'
import { compileToWall } from '../../../src/core/formula/instants.ts'
import type { Field, Person, RecordId, Table } from '../../../src/core/model.ts'
import { MAX_COUNTED_RECORDS } from '../../../src/core/trash.ts'
import { entriesOfAction } from '../../../src/db/change-log/actions.ts'
import { findEntry } from '../../../src/db/change-log/entry.ts'
import type { LoggedRecord } from '../../../src/db/change-log/records.ts'
import {
  countDeleted,
  countOfDeletions,
  type DeletedOf,
  type DeletedRecord,
  type DeletedSelection,
  deletionRecords,
  findDeleted,
  listDeleted,
  purgeDeleted,
  purgeDeletedUntil,
  stillDeleted,
} from '../../../src/db/change-log/trash.ts'
import type { Engine } from '../../../src/dialects/dialect.ts'
import { anyOf } from '../../../src/dialects/standard-sql.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import type { AuthService } from '../../auth/index.ts'
import {
  definitionsAt,
  type FieldChanges,
  fieldChangesSince,
  type SchemaReader,
  type TableModel,
} from '../../schema/index.ts'
import type { AttachmentsService } from '../attachments/index.ts'
import { type LinkSchema, relationsAround } from '../links/index.ts'
import { fitsSet, formerFields, withPresentTitles } from '../rows/index.ts'
import { isForeign, listOf, maskValues, storedId } from '../table/index.ts'
import type { Door, SetWrites } from '../write/index.ts'
import { dropStaleOperations } from './drop-stale.ts'
import { invert } from './invert.ts'
import type { Undone } from './undo.ts'

/** Limits of one page, and of one call that restores or deletes by ids. */
export const MAX_TRASH_PAGE = 100
export const MAX_TRASH_IDS = 1_000

/** From this many records on, deletions are restored as a set, in a worker thread. */
const SET_FROM = 1_000

/** A deleted record. */
export interface TrashedRecord {
  recordId: RecordId
  /** The log entry that deleted it, and how many records of the table are in the trash by it (see `MAX_COUNTED_RECORDS`). */
  changeId: number
  deletedWith: number
  deletedAt: string
  deletedBy: string | null
  /** The text of the display field, else the id. */
  title: string
  /** Values by field id, of the fields that still exist. Links are not listed, but are restored. */
  values: Values
}

/** The last record of the previous page; the newest deletion comes first. */
export interface TrashCursor {
  changeId: number
  recordId: RecordId
}

export interface TrashRequest {
  tableId: string
  search?: string
  after?: TrashCursor
  limit: number
}

/** Deleted records of a table: by id, all of one deletion, or all. */
export type TrashSelection = { tableId: string } & (
  | { recordIds: RecordId[] }
  | { changeId: number }
  | { all: true }
)

export interface BaseTrashRequest extends Pick<TrashRequest, 'search' | 'limit'> {
  baseId: string
  /** Absent: all tables. */
  tableId?: string
  /** Id of the user who deleted them. */
  deletedBy?: string
  /** ISO 8601: only records that were deleted by then. */
  until?: string
  /** The last record of the page before, if that was deleted at `until`. */
  after?: TrashCursor & { tableId: string }
  /** The tables of the base, if the caller has read them. */
  tables?: readonly Table[]
  /** Of times in titles and previews, and of the search; by default UTC. */
  timeZone?: string
}

/** A deleted record in the list of a base. */
export interface FoundRecord extends Omit<TrashedRecord, 'values'> {
  table: Table
  /** The texts of its first values that are not blank, beside its title. */
  preview: { title: string; text: string }[]
}

const MAX_PREVIEW_FIELDS = 5
const MAX_PREVIEW_TEXT = 200

interface Deps {
  kernel: Pick<Kernel, 'sources' | 'events' | 'works'>
  auth: Pick<AuthService, 'access' | 'people' | 'peopleOf'>
  schema: LinkSchema & Pick<SchemaReader, 'tables' | 'tableIds'>
  door: Door
  sets: SetWrites
  undo: (actor: Actor, baseId: string, entryId: number) => Promise<Undone>
  attachments: Pick<AttachmentsService, 'sweepSoon'>
}

/** Lists, restores and permanently deletes the records in the trash. They are stored in the change log. */
export function createTrash({ kernel, auth, schema, door, sets, undo, attachments }: Deps) {
  async function enter(
    actor: Actor,
    right: 'record.restore' | 'record.purge',
    tableId: string,
  ): Promise<{ user: UserActor; model: TableModel; engine: Engine }> {
    const model = await schema.load(tableId)
    await auth.access.authorize(actor, right, model.table.baseId)
    if (actor.kind !== 'user') throw new AppError('AUTHENTICATION_REQUIRED', m.wire_error_invalid_token())
    return { user: actor, model, engine: await kernel.sources.engine(model.table.baseId) }
  }

  /**
   * The deleted records of a table, newest deletion first, with the people who deleted them. A search covers the
   * stored values of all fields that still exist.
   *
   * @throws TABLE_NOT_FOUND; PERMISSION_DENIED below editor
   */
  async function list(
    actor: Actor,
    { tableId, search, after, limit }: TrashRequest,
  ): Promise<{ records: TrashedRecord[]; people: Person[]; next: TrashCursor | null }> {
    const { model, engine } = await enter(actor, 'record.restore', tableId)
    const rows = await listDeleted(
      engine,
      [
        {
          tableId,
          after: after && { changeId: after.changeId, recordId: asLogged(engine, model, after.recordId) },
          matches: search
            ? (line) => matches(engine, model, { text: search, timeZone: 'UTC' }, line)
            : undefined,
        },
      ],
      { limit: limit + 1 },
    )
    const members = await auth.peopleOf(model.table.baseId)
    const shown = rows.slice(0, limit)
    const deletedWith = await sizesOfDeletions(engine, shown)
    const texts: TextOptions = { people: members, timeZone: 'UTC' }
    const records = shown.map((row) => present(model, row, texts, deletedWith(row)))
    const last = records.at(-1)
    const hasMore = rows.length > limit && last !== undefined
    const known = new Set(members.map(({ id }) => id))
    const others = records.flatMap(({ deletedBy }) =>
      deletedBy !== null && !known.has(deletedBy) ? deletedBy : [],
    )
    return {
      records,
      people: [...members, ...(await auth.people([...new Set(others)]))],
      next: hasMore ? { changeId: last.changeId, recordId: last.recordId } : null,
    }
  }

  /**
   * The deleted records of the tables of a base, or one of them, newest deletion first, then by entry, table and record.
   *
   * @throws BASE_NOT_FOUND, TABLE_NOT_FOUND; PERMISSION_DENIED below editor
   */
  async function listOfBase(
    actor: Actor,
    { baseId, tableId, deletedBy, search, until, after, limit, timeZone = 'UTC', ...known }: BaseTrashRequest,
  ): Promise<FoundRecord[]> {
    const tables = known.tables ?? (await schema.tables(actor, baseId))
    await auth.access.authorize(actor, 'record.restore', baseId)
    const asked = tableId === undefined ? tables : tables.filter(({ id }) => id === tableId)
    if (asked.length === 0) return []
    const engine = await kernel.sources.engine(baseId)
    const searched = await Promise.all(
      asked.map(async ({ id }) => {
        const model = search || id === after?.tableId ? await schema.load(id) : null
        return {
          tableId: id,
          after: after && positionIn(id, after, (recordId) => model && asLogged(engine, model, recordId)),
          matches:
            search && model
              ? (line: { recordId: SQL; before: SQL }) =>
                  matches(engine, model, { text: search, timeZone }, line)
              : undefined,
        }
      }),
    )
    const rows = await listDeleted(engine, searched, { actorId: deletedBy, until, limit })
    if (rows.length === 0) return []
    const members = await auth.peopleOf(baseId)
    const deletedWith = await sizesOfDeletions(engine, rows)
    const texts: TextOptions = { people: members, timeZone }
    const found: FoundRecord[] = []
    for (const row of rows) {
      const model = await schema.load(row.table_id)
      const { values, ...record } = present(model, row, texts, deletedWith(row))
      const preview = shownFields(model)
        .filter((field) => !field.isDisplay)
        .map((field) => ({
          title: field.title,
          text: cellText(field, values[field.id] ?? null, texts).slice(0, MAX_PREVIEW_TEXT),
        }))
        .filter(({ text }) => text !== '')
      found.push({ ...record, table: model.table, preview: preview.slice(0, MAX_PREVIEW_FIELDS) })
    }
    return found
  }

  /**
   * The number of deleted records per table of a base (see `MAX_COUNTED_RECORDS`); tables without any are omitted.
   *
   * @throws BASE_NOT_FOUND; PERMISSION_DENIED below editor
   */
  async function counts(actor: Actor, baseId: string): Promise<{ tableId: string; count: number }[]> {
    const tables = await schema.tables(actor, baseId)
    await auth.access.authorize(actor, 'record.restore', baseId)
    if (tables.length === 0) return []
    const engine = await kernel.sources.engine(baseId)
    const tableIds = tables.map(({ id }) => id)
    return countDeleted(engine, tableIds, MAX_COUNTED_RECORDS + 1)
  }

  /**
   * Restores deleted records with their values and links, as one action that undo reverts. Leaves out links to
   * records that no longer exist and values that their field rejects. Existing records stay unchanged.
   *
   * @throws TABLE_NOT_FOUND, PERMISSION_DENIED below editor; RECORD_NOT_FOUND where none of them is in the trash;
   *   DATABASE_ERROR where a value that must be unique is in another record by now: nothing is restored then
   */
  async function restore(
    actor: Actor,
    selection: TrashSelection,
  ): Promise<{ restored: number; changeId: number }> {
    const { tableId } = selection
    const { user, model, engine } = await enter(actor, 'record.restore', tableId)
    if ('all' in selection) throw badRequest(m.records_error_restore_selection())
    const work = { kind: 'restore', baseId: model.table.baseId, table: model.table } as const
    return kernel.works.follow(user, work, () => restoreNow(user, model, engine, selection))
  }

  async function restoreNow(
    user: UserActor,
    model: TableModel,
    engine: Engine,
    selection: Exclude<TrashSelection, { all: true }>,
  ): Promise<{ restored: number; changeId: number }> {
    const { tableId } = selection
    const { baseId } = model.table
    if ('changeId' in selection) {
      const { changeId } = selection
      const entry = await findEntry(engine, changeId)
      const trashed = await findDeleted(engine, tableId, { changeId }, MAX_SET)
      if (!entry || trashed.length === 0) throw notInTrash()
      // A complete deletion of the actor’s own is undone, so that it can be redone and is not undone twice. Not one that is
      // part of a larger action, such as a move of records: the rest of it stays.
      const isOwnDeletion =
        entry.kind === 'records.delete' && entry.undoneBy === null && entry.actorId === user.id
      const isWhole = isOwnDeletion && (await entriesOfAction(engine, entry, 'undo')).length === 1
      if (isWhole && entry.tableId === tableId) {
        const { records, applied } = await undo(user, baseId, changeId)
        return { restored: records, changeId: applied?.id ?? 0 }
      }
      // Counts linked records too: one record may have more of them than can be written one by one.
      const size = entry.tableId === tableId ? Number(entry.records) : trashed.length
      const now = await schema.loadWithKeys(tableId)
      const fieldChanges = await fieldChangesSince(engine, tableId, changeId)
      const isSet = size >= SET_FROM && !isForeign(now)
      if (isSet && fitsSet(formerFields(now, definitionsAt(fieldChanges)(changeId)))) {
        const { count, id } = await sets.restoreFrom(user, tableId, changeId, {
          kind: 'records.restore',
          fieldChanges,
          async requireDue() {
            // Some of them tell whether the deletion is gone.
            const some = trashed.slice(0, SET_FROM).map(({ record_id }) => record_id)
            if ((await stillDeleted(engine, tableId, changeId, some)).size === 0) throw notInTrash()
          },
        })
        if (count === 0) throw notInTrash()
        return { restored: count, changeId: id }
      }
      return restoreSelected(user, model, engine, { changeId })
    }
    const recordIds = loggedIds(engine, model, selection.recordIds)
    const trashed = await findDeleted(engine, tableId, { recordIds }, MAX_TRASH_IDS)
    if (trashed.length === 0) throw notInTrash()
    const [deletion, ...others] = [...new Set(trashed.map(({ change_id }) => Number(change_id)))]
    // All records of one deletion are restored as that deletion.
    if (deletion !== undefined && others.length === 0) {
      const all = await findDeleted(engine, tableId, { changeId: deletion }, trashed.length + 1)
      if (all.length === trashed.length)
        return restoreNow(user, model, engine, { tableId, changeId: deletion })
    }
    return restoreSelected(user, model, engine, { recordIds })
  }

  async function restoreSelected(
    user: UserActor,
    model: TableModel,
    engine: Engine,
    selection: DeletedSelection,
  ): Promise<{ restored: number; changeId: number }> {
    for (let tries = 1; ; tries++) {
      const selected = await readDeletions(model, engine, selection)
      try {
        return await restoreDeletions(user, model, engine, selected)
      } catch (error) {
        if (!(error instanceof TrashChanged)) throw error
        if (tries === MAX_TRIES) throw new AppError('CONFLICT', m.records_error_trash_changed())
      }
    }
  }

  /**
   * The selected records in the trash, by the entry that deleted them.
   *
   * @throws RECORD_NOT_FOUND where none of them is in the trash
   */
  async function readDeletions(
    model: TableModel,
    engine: Engine,
    selection: DeletedSelection,
  ): Promise<Deletions> {
    const trashed = await findDeleted(engine, model.table.id, selection, MAX_SET)
    if (trashed.length === 0) throw notInTrash()
    const byEntry = Map.groupBy(trashed, ({ change_id }) => Number(change_id))
    const oldest = byEntry.keys().reduce((one, other) => Math.min(one, other))
    const fieldChanges = await fieldChangesSince(engine, model.table.id, oldest)
    const deletions: Deletion[] = []
    let size = 0
    for (const [changeId, records] of byEntry) {
      const ids = records.map(({ record_id }) => record_id)
      const lines = await linesOf(engine, schema, model, changeId, ids)
      deletions.push({ changeId, ids, lines })
      size += lines.length
      if (size > MAX_SET) throw badRequest(m.records_error_restore_size({ max: MAX_SET }))
    }
    return { deletions, oldest, fieldChanges }
  }

  /** @throws TrashChanged if the records were deleted forever, restored or changed since their rows were read */
  async function restoreDeletions(
    user: UserActor,
    { table: { id: tableId, baseId } }: TableModel,
    engine: Engine,
    { deletions, oldest, fieldChanges }: Deletions,
  ): Promise<{ restored: number; changeId: number }> {
    let restored = 0
    const written = await door.write(
      user,
      { baseId },
      {
        entry: { kind: 'records.restore', tableId },
        async plan(scope) {
          for (const { changeId, ids, lines } of deletions) {
            const now = await stillDeleted(engine, tableId, changeId, ids)
            const own = lines.filter((line) => line.table_id === tableId && line.after === null)
            const isAsRead = own.every(({ record_id, before }) => now.get(record_id) === before)
            if (!isAsRead || now.size < ids.length) throw new TrashChanged()
          }
          const model = await schema.loadWithKeys(tableId)
          const then = definitionsAt(await fieldChangesSince(engine, tableId, oldest, fieldChanges))
          const logged = deletions.flatMap(({ changeId, lines }) => {
            const former = formerFields(model, then(changeId))
            return lines.map((line) => withPresentTitles(line, former))
          })
          const inverse = await invert(scope, logged)
          const { operations } = await dropStaleOperations(scope, inverse.operations)
          restored = operations.reduce(
            (sum, one) => sum + (one.kind === 'restore' && one.tableId === tableId ? one.rows.length : 0),
            0,
          )
          return operations
        },
      },
    )
    return { restored, changeId: written.id }
  }

  /**
   * Deletes records permanently: removes all their values from the log, including their history. Cannot be undone.
   * Files that nothing else uses are removed within minutes. Returns the number of records.
   *
   * @throws TABLE_NOT_FOUND; PERMISSION_DENIED below creator; RECORD_NOT_FOUND where none of them is in the trash
   */
  async function purge(actor: Actor, selection: TrashSelection): Promise<{ deleted: number }> {
    const { tableId } = selection
    const { user, model, engine } = await enter(actor, 'record.purge', tableId)
    const meant: DeletedSelection =
      'recordIds' in selection ? { recordIds: loggedIds(engine, model, selection.recordIds) } : selection
    const work = { kind: 'purge', baseId: model.table.baseId, table: model.table } as const
    const deleted = await kernel.works.follow(user, work, () =>
      purgeDeleted(engine, { actorId: user.id, tableId, selection: meant }),
    )
    if (deleted === 0) throw notInTrash()
    attachments.sweepSoon(model.table.baseId)
    return { deleted }
  }

  /**
   * Permanently deletes the records of a base that were deleted up to an entry of its log, in portions. Does not check
   * access.
   */
  async function purgeUntil(baseId: string, until: number): Promise<number> {
    const engine = await kernel.sources.engine(baseId)
    return purgeDeletedUntil(engine, await schema.tableIds(baseId), until)
  }

  return { list, listOfBase, counts, restore, purge, purgeUntil }
}

/** Counts the records that the deletions of some records have in the trash of their tables. */
async function sizesOfDeletions(
  engine: Engine,
  rows: readonly DeletedRecord[],
): Promise<(row: DeletedRecord) => number> {
  const keyOf = (row: DeletedRecord): string => `${row.table_id} ${row.change_id}`
  const deletions = [...new Map(rows.map((row) => [keyOf(row), row])).values()]
  const counts = await countOfDeletions(
    engine,
    deletions.map((row) => ({ tableId: row.table_id, changeId: Number(row.change_id) })),
    MAX_COUNTED_RECORDS + 1,
  )
  const byKey = new Map(deletions.map((row, at) => [keyOf(row), counts[at]]))
  return (row) => byKey.get(keyOf(row)) ?? 1
}

/** A deleted record as a reader of the trash sees it. */
function present(
  model: TableModel,
  row: DeletedRecord,
  texts: TextOptions,
  deletedWith: number,
): TrashedRecord {
  const before = maskValues(model, JSON.parse(row.before))
  const recordId = storedId(model, row.record_id)
  const name = before[model.displayField.id] ?? null
  return {
    recordId,
    changeId: Number(row.change_id),
    deletedWith,
    deletedAt: row.at,
    deletedBy: row.actor_id,
    title: cellText(model.displayField, name, texts) || `#${recordId}`,
    values: Object.fromEntries(shownFields(model).map(({ id }) => [id, before[id] ?? null])),
  }
}

/** Where the next page begins in one of several tables, whose records follow each other within a deletion. */
function positionIn(
  tableId: string,
  after: NonNullable<BaseTrashRequest['after']>,
  logged: (recordId: RecordId) => SQL | null,
): DeletedOf['after'] {
  const { changeId } = after
  if (tableId === after.tableId) return { changeId, recordId: logged(after.recordId) ?? undefined }
  return { changeId: tableId > after.tableId ? changeId + 1 : changeId }
}

/** Records that one entry deleted, and its log rows that restore them. */
interface Deletion {
  changeId: number
  ids: RecordId[]
  lines: LoggedRecord[]
}

interface Deletions {
  deletions: readonly Deletion[]
  /** The first of them. */
  oldest: number
  /** The changes of the fields since. */
  fieldChanges: FieldChanges
}

/** Limit of records in one change. */
const MAX_SET = 50_000
/** Times that a restoration reads again what others are removing. */
const MAX_TRIES = 10

/** What a restoration has read is not what is in the trash once it has the write lease. */
class TrashChanged extends Error {}

const notInTrash = (): AppError => new AppError('RECORD_NOT_FOUND', m.records_error_not_in_trash())

/** The fields that a deleted record is shown with. */
const shownFields = (model: TableModel): Field[] =>
  model.fields.filter((field) => {
    const { internal } = fieldType(field.type)
    return !field.isSystem && !field.isPrimaryKey && !isComputed(field) && internal !== true
  })

/** Matches the instants, which the log has in UTC, that a field shows to its reader with a text. */
function showsInstant(
  { dialect }: Engine,
  field: Field,
  { text, timeZone }: { text: string; timeZone: string },
  value: SQL,
): SQL {
  const options = fieldInZone(field, timeZone).options as unknown as InstantOptions
  const zone = resolveZone(options.timeZone)
  const between = (from: number, until: number) =>
    sql`(${value} >= ${loggedInstant(from)} and ${value} < ${loggedInstant(until)})`
  const contains = (part: string) =>
    dialect.search(zone === 'UTC' ? value : textInZone(dialect, value, zone), 'text', part)
  const isAtTime = (time: string) => anyOf(partsOfTime(time, options).map(contains))
  const day = withoutTime(text)
  const month = monthOnly(day)
  if (month) {
    const isInMonth = between(startOfDay(month.first, zone), startOfDay(month.next, zone))
    const time = text.slice(day.length).replace(/^[T ,]+/, '')
    return time === '' ? isInMonth : sql`(${isInMonth} and ${isAtTime(time)})`
  }
  if (TIME_ONLY.test(text)) return isAtTime(text)
  const instants = instantsShownAs(text, options, zone)
  if (instants) return between(instants.from, instants.until)
  // No instant has a text without digits, and its text in a zone is a large expression.
  return /\d/.test(text) ? contains(text) : dialect.search(value, 'text', text)
}

/** The day or the time that a text names; null if it names neither. */
function instantsShownAs(
  text: string,
  options: InstantOptions,
  zone: string,
): { from: number; until: number } | null {
  const day = parseDay(text, options.format)
  if (day !== null) return { from: startOfDay(day, zone), until: startOfDay(addDays(day, 1), zone) }
  const at = parseInstant(text, options)
  const from = at === null ? null : fromStored(at)
  if (from === null) return null
  return { from, until: from + (from % MINUTE_MS === 0 ? MINUTE_MS : SECOND_MS) }
}

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS

/** An instant as the log has it, without its zone. */
const loggedInstant = (ms: number): string => (toStored(ms) ?? '').replace('+00:00', '')

/** `2024-03`: its first day, and that of the next month; null for other text. */
function monthOnly(text: string): { first: string; next: string } | null {
  const match = /^(\d{4})[-/ ](\d{1,2})$/.exec(text)
  const [year, month] = [Number(match?.[1]), Number(match?.[2])]
  const first = match && makeDay(year, month, 1)
  const next = month === 12 ? makeDay(year + 1, 1, 1) : makeDay(year, month + 1, 1)
  return first && next ? { first, next } : null
}

/** A time of day: `14:30`, `2:30 pm`. */
const TIME_ONLY = /^([01]?\d|2[0-3]):(\d{2}(?::\d{2})?)(?: ?(am|pm))?$/i

const HOURS = Array.from({ length: 24 }, (_, hour) => hour)

/**
 * What texts of instants in 24 hours contain if the field shows a time of day in them: `2:30` is also part of `12:30`, and of the night and
 * the afternoon where a field shows 12 hours.
 */
function partsOfTime(time: string, { time12h, seconds, milliseconds }: InstantOptions): string[] {
  const [, digits = '', rest, half] = TIME_ONLY.exec(time) ?? []
  if (rest === undefined) return []
  // The text itself, which may be minutes and seconds.
  if ((seconds || milliseconds) && !time12h && !half) return [time]
  const isShown = (hour: number): boolean => {
    const ofTwelve = hour % 12 || 12
    if (half && half.toLowerCase() !== (hour < 12 ? 'am' : 'pm')) return false
    if (half && !time12h) return ofTwelve === Number(digits)
    const shown = time12h ? ofTwelve : hour
    return twoDigits(shown).endsWith(digits) || (!half && hour === Number(digits))
  }
  return HOURS.filter(isShown).map((hour) => ` ${twoDigits(hour)}:${rest}`)
}

const twoDigits = (value: number): string => String(value).padStart(2, '0')

const LOGGED_FORMAT = dateFormatOf('YYYY-MM-DD HH:mm:ss')

/** An instant of the log as a text in a zone, `2024-03-05 08:20:00`; NULL for other values. */
function textInZone(dialect: Engine['dialect'], value: SQL, zone: string): SQL {
  if (!LOGGED_FORMAT) throw new Error('The format of instants in the log is unknown')
  const { formula } = dialect
  const toSeconds = formula.part(value, formula.constant(1), formula.constant(LOGGED_FORMAT.text.length))
  const ms = formula.readDate(toSeconds, LOGGED_FORMAT)
  const text = sql.raw(wallTextSql(dialect, zone))
  return formula.once([{ sql: ms, type: 'datetime' }], [INSTANT], () => text)
}

const INSTANT = 'deleted_ms'
/** By the client of a dialect and the zone: these texts are long, and take long to build for each field. */
const wallTexts = new LRUCache<string, string>({ max: 50 })

/** SQL for the text of `INSTANT` in a zone. */
function wallTextSql({ client, formula, render }: Engine['dialect'], zone: string): string {
  const key = `${client} ${zone}`
  const known = wallTexts.get(key)
  if (known !== undefined) return known
  const build = createBuild(formula, {
    now: 0,
    zone,
    recordId: sql`''`,
    createdTime: sql`null`,
    modifiedTime: sql`null`,
    prefix: 'deleted_',
  })
  const wall = compileToWall({ sql: sql.raw(INSTANT), type: 'datetime', isSimple: true }, build)
  const { sql: text, params } = render(formula.dateText(wall, true))
  if (params.length > 0) throw new Error('The text of an instant has parameters')
  wallTexts.set(key, text)
  return text
}

/** Matches a deleted record with the text in one of its values, ignoring case; a day or a time as its reader sees it. */
function matches(
  engine: Engine,
  model: TableModel,
  { text, timeZone }: { text: string; timeZone: string },
  { recordId, before }: { recordId: SQL; before: SQL },
): SQL {
  const { dialect } = engine
  const columns = shownFields(model).flatMap((field) => {
    const { storage } = fieldType(field.type)
    // Passwords must not be searchable.
    const isSecret = maskValues(model, { [field.id]: '1' })[field.id] !== '1'
    if (isSecret || storage === 'boolean') return []
    // As text, because the value may have the field’s former type.
    const value = dialect.jsonValue(before, field.id, 'text')
    return storage === 'datetime'
      ? [showsInstant(engine, field, { text, timeZone }, value)]
      : [dialect.search(value, 'text', text)]
  })
  const id = dialect.search(sql`cast(${recordId} as text)`, 'text', text)
  return anyOf([id, ...columns])
}

/** A record’s id in the log; PostgreSQL’s log stores text. */
export const asLogged = ({ dialect }: Engine, model: TableModel, id: RecordId): SQL =>
  dialect.logId(sql`${storedId(model, id)}`)

function loggedIds(engine: Engine, model: TableModel, ids: readonly RecordId[]): SQL[] {
  if (ids.length === 0) throw badRequest(m.records_error_no_records())
  return ids.map((id) => asLogged(engine, model, id))
}

/**
 * The log rows of records that a change deleted: their own, those of the junction rows that named them, and those of
 * the keys of their children.
 */
export async function linesOf(
  engine: Engine,
  schema: LinkSchema,
  model: TableModel,
  changeId: number,
  ids: readonly RecordId[],
): Promise<LoggedRecord[]> {
  const { dialect } = engine
  const read = (
    tableId: string,
    isDeleted: boolean,
    where: (line: { recordId: SQL; before: SQL }) => SQL,
  ): Promise<LoggedRecord[]> =>
    deletionRecords(engine, { changeId, tableId, isDeleted, where, limit: MAX_SET + 1 })
  const listed = (values: readonly unknown[]) => listOf(values)
  const names =
    (key: Field, values: readonly unknown[]) =>
    ({ before }: { before: SQL }) =>
      sql`cast(${dialect.jsonValue(before, key.id, 'text')} as text) in (${listed(values.map(String))})`
  const found: LoggedRecord[] = []
  for (let at = 0; at < ids.length; at += IDS_AT_ONCE) {
    const some = ids.slice(at, at + IDS_AT_ONCE)
    const own = await read(model.table.id, true, ({ recordId }) => sql`${recordId} in (${listed(some)})`)
    for (const line of own) found.push(line)
    for (const relation of await relationsAround(schema, model.table)) {
      if (relation.kind === 'pairs') {
        for (const side of relation.sides) {
          if (side.model.table.id !== model.table.id) continue
          const where = names(side.key, some)
          for (const line of await read(relation.junction.table.id, true, where)) found.push(line)
        }
      } else if (relation.parent.table.id === model.table.id) {
        const { parentField } = relation
        const values = parentField.isPrimaryKey
          ? some
          : own.flatMap(({ before }) => (before && JSON.parse(before)[parentField.id]) ?? [])
        if (values.length === 0) continue
        const where = names(relation.key, values)
        for (const line of await read(relation.child.table.id, false, where)) found.push(line)
      }
    }
  }
  // Pairs of two restored records, and links of a table to itself, are found from both ends.
  return [...new Map(found.map((line) => [`${line.table_id} ${line.record_id}`, line])).values()]
}

/** Ids per statement, well below every engine’s limit. */
const IDS_AT_ONCE = 400
