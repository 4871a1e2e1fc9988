import { type SQL, sql } from 'drizzle-orm'
import type { Actor, UserActor } from '../../../src/core/actor.ts'
import type { Values } from '../../../src/core/changes.ts'
import { AppError, badRequest } from '../../../src/core/errors.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { isComputed } from '../../../src/core/fields/result.ts'
import type { Field, Person, RecordId } from '../../../src/core/model.ts'
import type { Engine } from '../../../src/dialects/dialect.ts'
import type { Kernel } from '../../../src/kernel.ts'
import type { AuthService } from '../../auth/index.ts'
import type { SchemaService, TableModel } from '../../schema/index.ts'
import type { AttachmentsService } from '../attachments/index.ts'
import { type LinkSchema, relationsAround } from '../links/index.ts'
import { cellText } from '../read/index.ts'
import { isForeign, maskValues, storedId } from '../table/index.ts'
import type { Door, SetWrites } from '../write/index.ts'
import { settleOperations } from './drop-stale.ts'
import { invert, type LoggedRecord } from './invert.ts'
import { FINAL, type Undone } from './undo.ts'

/** Records that one page lists, and that one call restores or deletes by their ids. */
export const MAX_TRASH_PAGE = 100
export const MAX_TRASH_IDS = 1_000

/** Counting stops here: a screen says "more than". */
export const MAX_TRASH_COUNT = 100_000

/** Deletions of so many records come back as a set, in a worker thread. */
const SET_FROM = 1_000

/** A deleted record. */
export interface TrashedRecord {
  recordId: RecordId
  /** The entry of the log that deleted it, with how many other records. */
  changeId: number
  deletedWith: number
  deletedAt: string
  deletedBy: string | null
  /** Its name: the text of the display field, else its id. */
  title: string
  /** Its values by field id, as far as the fields are still there. Links are not among them, but come back. */
  values: Values
}

/** The records after this one, in the order of the trash: newest deletion first. */
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

/** Which deleted records of a table: by their ids, all of one deletion, or all there are. */
export type TrashSelection = { tableId: string } & (
  | { recordIds: RecordId[] }
  | { changeId: number }
  | { all: true }
)

interface Deps {
  kernel: Pick<Kernel, 'sources' | 'events'>
  auth: Pick<AuthService, 'access' | 'people' | 'peopleOf'>
  schema: LinkSchema & Pick<SchemaService, 'tables'>
  door: Door
  sets: SetWrites
  undo: (actor: Actor, baseId: string, entryId: number) => Promise<Undone>
  attachments: Pick<AttachmentsService, 'sweepSoon'>
}

interface Row {
  record_id: RecordId
  change_id: number
  before: string
  at: string
  actor_id: string | null
  records: number
}

/**
 * The records that are in the trash: what the log has deleted and nothing has brought back since. `r` is the line of
 * the deletion. Read by the index of deletions, whatever else the log holds.
 */
const isTrashed = (
  tableId: string,
): SQL => sql`r.table_id = ${tableId} and r.after is null and r.before is not null
  and not exists (select 1 from sheaf_change_records later where later.table_id = r.table_id
    and later.record_id = r.record_id and later.change_id > r.change_id)`

/** Deleted records: to list, restore and delete forever. They lie in the change log, so a base needs no second store. */
export function createTrash({ kernel, auth, schema, door, sets, undo, attachments }: Deps) {
  async function enter(
    actor: Actor,
    right: 'record.restore' | 'record.purge',
    tableId: string,
  ): Promise<{ user: UserActor; model: TableModel; engine: Engine }> {
    const model = await schema.load(tableId)
    await auth.access.authorize(actor, right, model.table.baseId)
    if (actor.kind !== 'user')
      throw new AppError('AUTHENTICATION_REQUIRED', 'Authentication required - Invalid token')
    return { user: actor, model, engine: await kernel.sources.engine(model.table.baseId) }
  }

  /**
   * The deleted records of a table, the newest deletion first, with the people who deleted them. A search looks
   * through the stored values of all fields that the table still has.
   *
   * @throws TABLE_NOT_FOUND; PERMISSION_DENIED below editor
   */
  async function list(
    actor: Actor,
    { tableId, search, after, limit }: TrashRequest,
  ): Promise<{ records: TrashedRecord[]; people: Person[]; next: TrashCursor | null }> {
    const { model, engine } = await enter(actor, 'record.restore', tableId)
    const shown = shownFields(model)
    const found = search ? sql`and ${matches(engine, model, shown, search)}` : sql``
    const from = after
      ? sql`and (r.change_id < ${after.changeId} or (r.change_id = ${after.changeId} and r.record_id > ${asLogged(engine, model, after.recordId)}))`
      : sql``
    const rows = await engine.all<Row>(
      engine.dialect.render(sql`select r.record_id, r.change_id, r.before, c.at, c.actor_id, c.records
        from sheaf_change_records r join sheaf_changes c on c.id = r.change_id
        where ${isTrashed(tableId)} ${from} ${found}
        order by r.change_id desc, r.record_id limit ${limit + 1}`),
      { scan: true },
    )
    const members = await auth.peopleOf(model.table.baseId)
    const records = rows.slice(0, limit).map((row): TrashedRecord => {
      const before = maskValues(model, JSON.parse(row.before))
      const recordId = storedId(model, row.record_id)
      const name = before[model.displayField.id] ?? null
      return {
        recordId,
        changeId: Number(row.change_id),
        deletedWith: Number(row.records),
        deletedAt: row.at,
        deletedBy: row.actor_id,
        title: cellText(model.displayField, name, { people: members, timeZone: 'UTC' }) || `#${recordId}`,
        values: Object.fromEntries(shown.map(({ id }) => [id, before[id] ?? null])),
      }
    })
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
   * How many deleted records each table of a base has, counted up to `MAX_TRASH_COUNT`; tables without any are left
   * out.
   *
   * @throws BASE_NOT_FOUND; PERMISSION_DENIED below editor
   */
  async function counts(actor: Actor, baseId: string): Promise<{ tableId: string; count: number }[]> {
    const tables = await schema.tables(actor, baseId)
    await auth.access.authorize(actor, 'record.restore', baseId)
    if (tables.length === 0) return []
    const engine = await kernel.sources.engine(baseId)
    const parts = tables.map(
      ({ id }) => sql`select ${id} as table_id, (select count(*) from
        (select 1 from sheaf_change_records r where ${isTrashed(id)} limit ${MAX_TRASH_COUNT}) as listed) as n`,
    )
    const found: { tableId: string; count: number }[] = []
    for (let at = 0; at < parts.length; at += TABLES_AT_ONCE) {
      const rows = await engine.all<{ table_id: string; n: number }>(
        engine.dialect.render(sql.join(parts.slice(at, at + TABLES_AT_ONCE), sql` union all `)),
        { scan: true },
      )
      for (const { table_id, n } of rows)
        if (Number(n) > 0) found.push({ tableId: table_id, count: Number(n) })
    }
    return found
  }

  /**
   * Brings deleted records back with their values and links, as one action that undo takes back. What stands in
   * the way now is left out: links to records that are gone, values that their field refuses. Records that are
   * there already stay as they are.
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
    const { baseId } = model.table
    if ('all' in selection)
      throw badRequest('Restore records by their ids, or by the deletion they went with')
    if ('changeId' in selection) {
      const { changeId } = selection
      const [entry] = await engine.all<{
        kind: string
        table_id: string | null
        records: number
        undone_by: number | null
        actor_id: string | null
      }>(
        engine.dialect.render(
          sql`select kind, table_id, records, undone_by, actor_id from sheaf_changes where id = ${changeId}`,
        ),
      )
      const trashed = await trashedOf(engine, model, sql`r.change_id = ${changeId}`, MAX_SET)
      if (!entry || trashed.length === 0) throw notInTrash()
      // The whole of one's own deletion: its undo, so that it can be redone and is not undone a second time.
      const isOwnDeletion =
        entry.kind === 'records.delete' && entry.undone_by === null && entry.actor_id === user.id
      if (isOwnDeletion && entry.table_id === tableId) {
        const { records, applied } = await undo(user, baseId, changeId)
        return { restored: records, changeId: applied?.id ?? 0 }
      }
      // With the records linked to them: one record may have more of these than may be written one by one.
      const size = entry.table_id === tableId ? Number(entry.records) : trashed.length
      if (size >= SET_FROM && !isForeign(await schema.loadWithKeys(tableId))) {
        const { count, id } = await sets.restoreFrom(user, tableId, changeId, { kind: 'records.restore' })
        return { restored: count, changeId: id }
      }
      return restoreIds(user, model, engine, trashed)
    }
    const trashed = await trashedOf(engine, model, idsIn(engine, model, selection.recordIds), MAX_TRASH_IDS)
    if (trashed.length === 0) throw notInTrash()
    const [deletion, ...others] = [...new Set(trashed.map(({ change_id }) => Number(change_id)))]
    // All that went in one deletion: restored as that.
    if (deletion !== undefined && others.length === 0) {
      const all = await trashedOf(engine, model, sql`r.change_id = ${deletion}`, trashed.length + 1)
      if (all.length === trashed.length) return restore(actor, { tableId, changeId: deletion })
    }
    return restoreIds(user, model, engine, trashed)
  }

  async function restoreIds(
    user: UserActor,
    model: TableModel,
    engine: Engine,
    trashed: readonly Pick<Row, 'record_id' | 'change_id'>[],
  ): Promise<{ restored: number; changeId: number }> {
    const { id: tableId, baseId } = model.table
    const lines: LoggedRecord[] = []
    for (const [changeId, records] of Map.groupBy(trashed, ({ change_id }) => Number(change_id))) {
      const ids = records.map(({ record_id }) => record_id)
      for (const line of await linesOf(engine, schema, model, changeId, ids)) lines.push(line)
      if (lines.length > MAX_SET)
        throw badRequest(
          `These records were linked to more than ${MAX_SET} others. Restore the whole deletion they went with`,
        )
    }
    let restored = 0
    const written = await door.write(
      user,
      { baseId },
      {
        entry: { kind: 'records.restore', tableId },
        async plan(scope) {
          const inverse = await invert(scope, lines)
          const { operations } = await settleOperations(scope, inverse.operations)
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
   * Deletes records of the trash forever: the log forgets all their values, also those of their history. Cannot be
   * undone. Files that nothing else names go within minutes. Gives how many records there were.
   *
   * @throws TABLE_NOT_FOUND; PERMISSION_DENIED below creator; RECORD_NOT_FOUND where none of them is in the trash
   */
  async function purge(actor: Actor, selection: TrashSelection): Promise<{ deleted: number }> {
    const { tableId } = selection
    const { user, model, engine } = await enter(actor, 'record.purge', tableId)
    const meant =
      'all' in selection
        ? sql`1 = 1`
        : 'changeId' in selection
          ? sql`r.change_id = ${selection.changeId}`
          : idsIn(engine, model, selection.recordIds)
    const trashed = sql`select r.record_id from sheaf_change_records r where ${isTrashed(tableId)} and ${meant}`
    const at = new Date().toISOString()
    const [added, entry] = await engine.writeScript(
      [
        // Cannot be undone, so undo passes it over.
        engine.dialect.insertSelected({
          into: sql`sheaf_changes`,
          columns: [sql`at`, sql`actor_id`, sql`kind`, sql`table_id`, sql`undone_by`, sql`records`],
          constants: [
            sql`${at}`,
            sql`${user.id}`,
            sql`'records.purge'`,
            sql`${tableId}`,
            sql.raw(String(FINAL)),
          ],
          values: [sql`n`],
          source: sql`from (select count(*) as n from (${trashed}) as gone) as counted where n > 0`,
        }),
        sql`select records from sheaf_changes where id = (select max(id) from sheaf_changes)`,
        // Found once, before anything is deleted: PostgreSQL would look for the later changes of each record again and again.
        sql`with gone as materialized (${trashed})
          delete from sheaf_change_records
          where table_id = ${tableId} and record_id in (select record_id from gone)`,
      ].map((statement) => engine.dialect.render(statement)),
    )
    if ((added?.changes ?? 0) === 0) throw notInTrash()
    attachments.sweepSoon(model.table.baseId)
    return { deleted: Number(entry?.rows[0]?.records ?? 0) }
  }

  return { list, counts, restore, purge }
}

/** Tables whose records one statement counts. */
const TABLES_AT_ONCE = 100
/** Records that one change may write. */
const MAX_SET = 50_000

const notInTrash = (): AppError => new AppError('RECORD_NOT_FOUND', 'None of these records is in the trash')

/** The fields whose values a deleted record is shown with. */
const shownFields = (model: TableModel): Field[] =>
  model.fields.filter((field) => {
    const { internal } = fieldType(field.type)
    return !field.isSystem && !field.isPrimaryKey && !isComputed(field) && internal !== true
  })

/** True where a value of the deleted record holds the words, in any case. */
function matches({ dialect }: Engine, model: TableModel, fields: readonly Field[], text: string): SQL {
  const columns = fields.flatMap((field) => {
    const { storage } = fieldType(field.type)
    // Of a password nobody may find out more than that there is one.
    const isSecret = maskValues(model, { [field.id]: '1' })[field.id] !== '1'
    if (isSecret || storage === 'boolean') return []
    // As text: the value may be of a type that the field had before.
    return [dialect.search(dialect.jsonValue(sql`r.before`, field.id, 'text'), 'text', text)]
  })
  const id = dialect.search(sql`cast(r.record_id as text)`, 'text', text)
  return sql`(${sql.join([id, ...columns], sql` or `)})`
}

/** A record's id as the log keeps it: PostgreSQL's keeps text. */
const asLogged = ({ dialect }: Engine, model: TableModel, id: RecordId): SQL =>
  dialect.logId(sql`${storedId(model, id)}`)

function idsIn(engine: Engine, model: TableModel, ids: readonly RecordId[]): SQL {
  if (ids.length === 0) throw badRequest('Name at least one record')
  return sql`r.record_id in (${sql.join(
    ids.map((id) => asLogged(engine, model, id)),
    sql`, `,
  )})`
}

/** The ids of deleted records with the deletion of each. */
const trashedOf = (
  engine: Engine,
  model: TableModel,
  where: SQL,
  limit: number,
): Promise<Pick<Row, 'record_id' | 'change_id'>[]> =>
  engine.all(
    engine.dialect.render(sql`select r.record_id, r.change_id from sheaf_change_records r
      where ${isTrashed(model.table.id)} and ${where} limit ${limit}`),
    { scan: true },
  )

/**
 * What a change of the log says of some of the records that it deleted: their own lines, the pairs that named them,
 * and the keys of their children.
 */
async function linesOf(
  engine: Engine,
  schema: LinkSchema,
  model: TableModel,
  changeId: number,
  ids: readonly RecordId[],
): Promise<LoggedRecord[]> {
  const { dialect } = engine
  const read = (tableId: string, where: SQL): Promise<LoggedRecord[]> =>
    engine.all<LoggedRecord>(
      dialect.render(sql`select table_id, record_id, before, after from sheaf_change_records
        where change_id = ${changeId} and table_id = ${tableId} and before is not null and ${where}
        limit ${MAX_SET + 1}`),
      { scan: true },
    )
  const listed = (values: readonly unknown[]) =>
    sql.join(
      values.map((value) => sql`${value}`),
      sql`, `,
    )
  const named = (key: Field, values: readonly unknown[]) =>
    sql`cast(${dialect.jsonValue(sql`before`, key.id, 'text')} as text)
      in (${listed(values.map(String))})`
  const found: LoggedRecord[] = []
  for (let at = 0; at < ids.length; at += IDS_AT_ONCE) {
    const some = ids.slice(at, at + IDS_AT_ONCE)
    const own = await read(model.table.id, sql`after is null and record_id in (${listed(some)})`)
    for (const line of own) found.push(line)
    for (const relation of await relationsAround(schema, model.table)) {
      if (relation.kind === 'pairs') {
        for (const side of relation.sides) {
          if (side.model.table.id !== model.table.id) continue
          const where = sql`after is null and ${named(side.key, some)}`
          for (const line of await read(relation.junction.table.id, where)) found.push(line)
        }
      } else if (relation.parent.table.id === model.table.id) {
        const { parentField } = relation
        const values = parentField.isPrimaryKey
          ? some
          : own.flatMap(({ before }) => (before && JSON.parse(before)[parentField.id]) ?? [])
        if (values.length === 0) continue
        const where = sql`after is not null and ${named(relation.key, values)}`
        for (const line of await read(relation.child.table.id, where)) found.push(line)
      }
    }
  }
  // A pair of two records that come back together, and a link of a table to itself, are found from both ends.
  return [...new Map(found.map((line) => [`${line.table_id} ${line.record_id}`, line])).values()]
}

/** Ids in one list: well within what every engine binds. */
const IDS_AT_ONCE = 400
