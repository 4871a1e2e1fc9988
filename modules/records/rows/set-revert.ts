import { type SQL, sql } from 'drizzle-orm'
import type { Values } from '../../../src/core/changes.ts'
import type { StorageKind } from '../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import type { Field } from '../../../src/core/model.ts'
import { logRows } from '../../../src/db/change-log/set-entries.ts'
import { loggedSet } from '../../../src/db/change-log/sets.ts'
import type { Engine } from '../../../src/dialects/dialect.ts'
import type { TableModel } from '../../schema/index.ts'
import { columnName, isWritable } from '../table/index.ts'
import { type FormerFields, loggedValues, UNCHANGED_FIELDS } from './former-fields.ts'
import { RAW_PREFIX } from './write.ts'

/** A logged change to revert: all its records got values for the same fields. */
export interface Reverted {
  changeId: number
  fieldIds: string[]
  /** What the fields were at the change; absent: as they are. */
  former?: FormerFields
}

/** A field’s column with its values after and before the change. */
interface Side {
  field: Field
  column: SQL
  before: SQL
  /** True where the value after the change is still present and the one before can come back. */
  isDue: SQL
}

/**
 * Plans to restore the values before a change as a set, where the value after it is still present. `log` is the log
 * statement, `update` the write, and `countSkipped` counts the values that were changed since.
 *
 * @param stamp time and author to write with the values
 */
export function planRevert(
  model: TableModel,
  { dialect }: Engine,
  { changeId, fieldIds, former = UNCHANGED_FIELDS }: Reverted,
  stamp: Values,
  newId: SQL,
) {
  const table = sql`${sql.identifier(model.table.tableName)}`
  const { read: readLogged, isGone } = loggedValues(dialect, former)
  const fields = fieldIds.flatMap((id) => model.field(id) ?? []).filter(isWritable)
  const sides = fields.map((field, at): Side => {
    const sideAs = (name: string) => sql`sheaf_logged.${sql.identifier(`${name}${at}`)}`
    // Qualified, because a field’s column may have the name of one of the log.
    const [column, after, before] = [columnOf(field), sideAs('after'), sideAs('before')]
    const gone = isGone(field.id, before)
    const isUnedited = dialect.isSame(column, after)
    return { field, column, before, isDue: gone ? dialect.and([isUnedited, dialect.not(gone)]) : isUnedited }
  })
  const once = loggedSides((select) => dialect.computedOnce?.(select) ?? select)
  // A read may compare each record with the whole set, unless it can look its record up in the log itself.
  const merged = loggedSides((select) => select)
  const recordId = dialect.logId(columnOf(model.primaryKey))
  const touched = sql`sheaf_logged.record_id = ${recordId}`
  const stamped = model.fields.filter((field) => field.id in stamp)
  const stands = ({ column, before, isDue }: Side) =>
    dialect.and([isDue, dialect.not(dialect.isSame(column, before))])
  const anyStands = sides.length > 0 ? dialect.or(sides.map(stands)) : dialect.constant(false)
  const where = sql`where ${touched} and ${anyStands}`
  const restored = ({ column, before, isDue }: Side): SQL =>
    sql`case when ${isDue} then ${before} else ${column} end`
  const json = (cellOf: (side: Side) => SQL, stampOf: (field: Field) => SQL): SQL =>
    dialect.jsonObject([
      ...sides.map((side) => ({
        key: side.field.id,
        column: cellOf(side),
        storage: fieldType(side.field.type).storage,
      })),
      ...stamped.map((field) => ({ key: field.id, column: stampOf(field), storage: null })),
    ])
  const assignments = [
    ...sides.map((side) => sql`${sql.identifier(columnName(side.field))} = ${restored(side)}`),
    ...stamped.map((field) => sql`${sql.identifier(columnName(field))} = ${stamp[field.id] ?? null}`),
  ]
  const changed = sides.map(({ isDue }) => sql`case when ${isDue} then 0 else 1 end`)
  return {
    log: logRows(dialect, {
      changeId: newId,
      tableId: sql`${model.table.id}`,
      recordId,
      before: json(({ column }) => column, columnOf),
      after: json(restored, (field) => sql`${stamp[field.id] ?? null}`),
      source: sql`from ${table}, ${once} ${where}`,
    }),
    update: sql`update ${table} set ${sql.join(assignments, sql`, `)} from ${once} ${where}`,
    countSkipped: sql`select coalesce(sum(${changed.length > 0 ? sql.join(changed, sql` + `) : sql`0`}), 0) as n
      from ${table}, ${merged} where ${touched}`,
  }

  function columnOf(field: Field): SQL {
    return sql`${table}.${sql.identifier(columnName(field))}`
  }

  /**
   * The logged records with the values of both sides.
   *
   * @param as the form of a select, such as one whose values are computed once, however often they are named
   */
  function loggedSides(as: (select: SQL) => SQL): SQL {
    const { table: log, where: isLogged, ...logged } = loggedSet(changeId, model.table.id)
    const [after, before] = [logged.after, logged.before].map((text) => dialect.parsedJson?.(text) ?? text)
    const read = as(sql`select ${logged.recordId} as record_id, ${after} as after, ${before} as before
      from ${log} where ${isLogged}`)
    const values = fields.flatMap(({ id, type }, at) => {
      const { storage } = fieldType(type)
      return (['after', 'before'] as const).map(
        (side) =>
          sql`${readLogged(sql`sheaf_read.${sql.raw(side)}`, id, storage)} as ${sql.identifier(`${side}${at}`)}`,
      )
    })
    return sql`(${as(sql`select ${sql.join([sql`sheaf_read.record_id`, ...values], sql`, `)}
      from (${read}) as sheaf_read`)}) as sheaf_logged`
  }
}

/** A column in the log of a deleted record. */
export interface SnapshotColumn {
  /** The field’s id; for a column without a live field, its name after `RAW_PREFIX`. */
  key: string
  name: string
  column: SQL
  storage: StorageKind | null
  /** The column type in the database. */
  databaseType: string
}

/** Every column of a table. */
export async function snapshot(model: TableModel, engine: Engine): Promise<SnapshotColumn[]> {
  const fields = new Map(
    model.fields
      .filter((field) => columnName(field) === field.columnName)
      .map((field) => [field.columnName, field]),
  )
  const columns = await engine.all<{ name: string; type: string }>(
    engine.dialect.listColumns(model.table.tableName),
  )
  return columns.map(({ name, type: databaseType }) => {
    const field = fields.get(name)
    return {
      key: field?.id ?? RAW_PREFIX + name,
      name,
      databaseType,
      column: sql`${sql.identifier(name)}`,
      storage: field ? fieldType(field.type).storage : null,
    }
  })
}
