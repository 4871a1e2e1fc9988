import { nowIso } from '../../../src/clock.ts'
import type { Actor, UserActor } from '../../../src/core/actor.ts'
import { AppError, badRequest } from '../../../src/core/errors.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import type { Field, Person } from '../../../src/core/model.ts'
import { entriesOfTableAfter, entryAt, logExtent } from '../../../src/db/change-log/entries.ts'
import { findEntry } from '../../../src/db/change-log/entry.ts'
import { authorsAfter } from '../../../src/db/change-log/records.ts'
import type { Engine } from '../../../src/dialects/dialect.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import type { AuthService } from '../../auth/index.ts'
import type { BasesService } from '../../bases/index.ts'
import {
  definitionsAt,
  type FieldDefinition,
  fieldChangesSince,
  formerChoices,
  type TableModel,
} from '../../schema/index.ts'
import type { LinkSchema } from '../links/index.ts'
import { isForeign, rangeOf } from '../table/index.ts'
import type { RewindTarget, SetWrites } from '../write/index.ts'

/** Limit of people whose changes are kept. */
export const MAX_KEPT_PEOPLE = 100

/** A moment of a table: a time, or the state right before an entry of the log. */
export interface TableMoment {
  tableId: string
  /** ISO 8601. */
  at?: string
  before?: number
  /** People whose later changes stay. */
  keep: readonly string[]
}

/** A field whose values stay as they are. */
export interface LeftField {
  title: string
  /** Its type was changed since, choices that it had are gone, it was deleted, or its links were created since. */
  reason: 'type' | 'choices' | 'deleted' | 'new-link'
}

export interface TableRestorePreview {
  /** The moment, as ISO 8601. */
  at: string
  changed: number
  deleted: number
  added: number
  /** Records that were deleted forever since: they cannot be restored. */
  purged: number
  /** Who changed how many records since. */
  authors: { actorId: string | null; records: number }[]
  people: Person[]
  left: LeftField[]
}

export interface TableRestored {
  /** The log entry; 0 if nothing was different. */
  changeId: number
  records: number
  left: LeftField[]
}

interface Deps {
  kernel: Pick<Kernel, 'sources'>
  auth: Pick<AuthService, 'access' | 'people'>
  bases: Pick<BasesService, 'require'>
  schema: LinkSchema
  sets: Pick<SetWrites, 'rewind' | 'previewRewind'>
}

/** Gives all records of a table the state of an earlier time, from the change log. */
export function createTableRestore({ kernel, auth, bases, schema, sets }: Deps) {
  /**
   * What restoring a table would do, and what it leaves out.
   *
   * @throws as `restore`
   */
  async function preview(actor: Actor, moment: TableMoment): Promise<TableRestorePreview> {
    const { user, model, engine } = await enter(actor, moment.tableId)
    const { target, left } = await targetOf(engine, model, moment)
    const counts = await sets.previewRewind(user, moment.tableId, target)
    const authors = await authorsOf(engine, moment.tableId, target.after)
    const people = await auth.people(authors.flatMap(({ actorId }) => actorId ?? []))
    const purges = await entriesOfTableAfter(engine, moment.tableId, target.after, 'records.purge')
    const purged = purges.reduce((sum, { records }) => sum + records, 0)
    return { at: target.at, ...counts, purged, authors, people, left }
  }

  /**
   * Restores the records of a table, with their links, as one change that can be undone. Links to records
   * that are gone are left out.
   *
   * @throws TABLE_NOT_FOUND; PERMISSION_DENIED below creator; BAD_REQUEST for a time that the log does not cover, before
   *   the table was created, and for tables of connected databases; DATABASE_ERROR where a value that must be unique is
   *   in a record that stays: nothing is restored then
   */
  async function restore(actor: Actor, moment: TableMoment): Promise<TableRestored> {
    const { user, model, engine } = await enter(actor, moment.tableId)
    const { target, left } = await targetOf(engine, model, moment)
    const { id, count } = await sets.rewind(user, moment.tableId, target)
    return { changeId: count === 0 ? 0 : id, records: count, left }
  }

  async function enter(
    actor: Actor,
    tableId: string,
  ): Promise<{ user: UserActor; model: TableModel; engine: Engine }> {
    const model = await schema.load(tableId)
    await auth.access.authorize(actor, 'record.rewind', model.table.baseId)
    if (actor.kind !== 'user') throw new AppError('AUTHENTICATION_REQUIRED', m.wire_error_invalid_token())
    if (isForeign(model)) throw badRequest(m.records_error_rewind_connected({ table: model.table.title }))
    return { user: actor, model, engine: await kernel.sources.engine(model.table.baseId) }
  }

  async function targetOf(
    engine: Engine,
    model: TableModel,
    { at, before, keep }: TableMoment,
  ): Promise<{ target: RewindTarget; left: LeftField[] }> {
    const { table } = model
    const moment = before === undefined ? await atTime(engine, at) : await atEntry(engine, before)
    await requireCovered(engine, (await bases.require(table.baseId)).historySince, moment)
    if (await isCreatedAfter(engine, table, moment))
      throw badRequest(m.records_error_rewind_no_table({ table: table.title }))
    const { left, except, exceptLinks } = await leftFieldsAfter(engine, model, moment, keep)
    return { target: { after: moment.after, at: moment.time, keep, except, exceptLinks }, left }
  }

  return { preview, restore }
}

/** A moment in the log of a base. */
export interface LogMoment {
  /** The last entry at that time. */
  after: number
  /** ISO 8601. */
  time: string
}

/** @throws BAD_REQUEST for a text that is no time, and for the future */
export async function atTime(engine: Engine, at: string | undefined): Promise<LogMoment> {
  const time = at === undefined || Number.isNaN(Date.parse(at)) ? null : new Date(at).toISOString()
  if (time === null) throw badRequest(m.records_error_rewind_moment())
  if (time > nowIso()) throw badRequest(m.records_error_rewind_future())
  return { after: await entryAt(engine, time), time }
}

async function atEntry(engine: Engine, entryId: number): Promise<LogMoment> {
  const entry = await findEntry(engine, entryId)
  if (!entry) throw badRequest(m.records_error_rewind_moment())
  return { after: entry.id - 1, time: entry.at }
}

/**
 * @param historySince when the log begins; null: with the base
 * @throws BAD_REQUEST if the log does not reach back to the moment
 */
export async function requireCovered(
  engine: Engine,
  historySince: string | null,
  { after, time }: LogMoment,
): Promise<void> {
  if (historySince === null) return
  if (time < historySince || (await isForgotten(engine, after)))
    throw badRequest(m.records_error_rewind_retention({ since: historySince }))
}

/** True for a table that did not exist at the moment. */
export async function isCreatedAfter(
  engine: Engine,
  { id, createdAt }: TableModel['table'],
  { after, time }: LogMoment,
): Promise<boolean> {
  return createdAt > time || (await entriesOfTableAfter(engine, id, after, 'table.create')).length > 0
}

/** True if entries right after one are removed from the log already. */
async function isForgotten(engine: Engine, after: number): Promise<boolean> {
  const { oldest } = await logExtent(engine)
  return oldest !== null && after + 1 < (await entryAt(engine, oldest))
}

/** Who changed records of a table since an entry, with those that were added as a range. */
async function authorsOf(
  engine: Engine,
  tableId: string,
  after: number,
): Promise<TableRestorePreview['authors']> {
  const counts = new Map(
    (await authorsAfter(engine, tableId, after)).map((one) => [one.actorId, one.records]),
  )
  for (const entry of await entriesOfTableAfter(engine, tableId, after, 'records.%')) {
    const range = entry.kind === 'records.insert' || entry.kind === 'records.import' ? rangeOf(entry) : null
    if (range) counts.set(entry.actorId, (counts.get(entry.actorId) ?? 0) + range.to - range.from + 1)
  }
  return [...counts]
    .map(([actorId, records]) => ({ actorId, records }))
    .toSorted((a, b) => b.records - a.records)
}

/**
 * The fields whose former values do not fit any more, by the changes of fields since.
 *
 * @param keep people whose values are kept: they may be of any time since
 */
async function leftFieldsAfter(
  engine: Engine,
  model: TableModel,
  { after }: LogMoment,
  keep: readonly string[],
): Promise<{ left: LeftField[]; except: Set<string>; exceptLinks: Set<string> }> {
  const { id: tableId } = model.table
  const left = new Map<string, LeftField>()
  const except = new Set<string>()
  const exceptLinks = new Set<string>()
  const leaveLink = ({ id, title }: Field) => {
    exceptLinks.add(id)
    left.set(id, { title, reason: 'new-link' })
  }
  for (const { kind, detail } of await entriesOfTableAfter(engine, tableId, after, 'field.%')) {
    const { fieldId = '', title = fieldId } = (detail ?? {}) as { fieldId?: string; title?: string }
    const field = model.field(fieldId)
    if (!field && kind === 'field.delete' && !left.has(fieldId))
      left.set(fieldId, { title, reason: 'deleted' })
    if (field && kind === 'field.create' && linkOf(field)) leaveLink(field)
  }
  for (const [id, definitions] of definitionsAt(await fieldChangesSince(engine, tableId, after))(after)) {
    const [field, then] = [model.field(id), definitions[0]]
    if (!field || !then || left.has(id)) continue
    if (linkOf(field)) {
      if (then.type !== field.type) leaveLink(field)
      continue
    }
    const isConverted = then.type !== field.type || then.columnName !== field.columnName
    const given = keep.length > 0 ? definitions : [then]
    const isOtherwise = given.some((_, at) => hasOtherChoices(definitions.slice(at), field))
    const reason = isConverted ? 'type' : isOtherwise ? 'choices' : null
    if (reason === null || fieldType(field.type).computed !== undefined) continue
    except.add(id)
    left.set(id, { title: field.title, reason })
  }
  return { left: [...left.values()], except, exceptLinks }
}

/** True if an option that the field had first was renamed or removed since: values of that time name it otherwise, or not at all. */
const hasOtherChoices = ([then, ...later]: readonly FieldDefinition[], now: Field): boolean =>
  then !== undefined && [...later, now].some((each) => formerChoices([then], each) !== null)
