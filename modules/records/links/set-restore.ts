import { type SQL, sql } from 'drizzle-orm'
import type { Values } from '../../../src/core/changes.ts'
import { isForeignKey } from '../../../src/core/fields/traits.ts'
import { tablesOf } from '../../../src/db/change-log/records.ts'
import { logRows } from '../../../src/db/change-log/set-entries.ts'
import { type LoggedSet, loggedSet, selectInsertedIds } from '../../../src/db/change-log/sets.ts'
import type { Engine } from '../../../src/dialects/dialect.ts'
import type { TableModel } from '../../schema/index.ts'
import {
  type FormerFields,
  loggedValues,
  planRevert,
  RAW_PREFIX,
  type SnapshotColumn,
  snapshot,
  UNCHANGED_FIELDS,
} from '../rows/index.ts'
import { columnName } from '../table/index.ts'
import type { SetCascade } from './cascade.ts'
import { type LinkSchema, type PairRelation, relationsKeptIn } from './relation.ts'
import { parentOf } from './written-keys.ts'

interface RestoreContext {
  engine: Engine
  schema: LinkSchema
  /** The change that deleted the records. */
  changeId: number
  newId: SQL
  stampOf(model: TableModel): Values
}

/** Records to restore. */
interface Restored {
  /** The records of a table with the values that they had; those that exist, or have an `after`, are left out. */
  set: LoggedSet
  newId: SQL
  condition?: SQL
  /** Fields that stay empty. */
  except?: ReadonlySet<string>
  /** What the fields were when the values were logged; absent: as they are. */
  former?: FormerFields
}

/** The statements that restore deleted records of a table: the log’s, then the table’s. */
export function restoreStatements(
  { dialect }: Engine,
  model: TableModel,
  columns: SnapshotColumn[],
  { set: logged, newId, condition = sql``, except = new Set(), former = UNCHANGED_FIELDS }: Restored,
): { log: SQL; write: SQL } {
  // A field may have moved into or out of the trash since: its value is under the field’s id or the column’s name.
  const fieldIds = new Map([...model.trashedColumns].map(([id, column]) => [column, id]))
  const { readOrNull } = loggedValues(dialect, former)
  const values = columns.map(({ key, name, databaseType }) => {
    if (except.has(key)) return sql`cast(null as ${sql.raw(databaseType)})`
    const loggedAs = (under: string) => readOrNull(logged.before, under, { databaseType })
    return sql`coalesce(${loggedAs(fieldIds.get(name) ?? key)}, ${loggedAs(RAW_PREFIX + name)})`
  })
  const names = columns.map(({ column }) => column)
  const id = sql`${sql.identifier(columnName(model.primaryKey))}`
  const table = sql`${sql.identifier(model.table.tableName)}`
  const source = sql`from ${logged.table} where ${logged.where} and ${logged.before} is not null and ${logged.after} is null
    and ${logged.recordId} not in (select ${dialect.logId(id)} from ${table}) ${condition}`
  return {
    log: logRows(dialect, {
      changeId: newId,
      tableId: sql`${model.table.id}`,
      recordId: logged.recordId,
      before: sql`null`,
      after: dialect.jsonObject(
        columns.map(({ key, storage }, index) => ({ key, column: values[index]!, storage })),
      ),
      source,
    }),
    write: dialect.insertSelected({ into: table, columns: names, constants: [], values, source }),
  }
}

/**
 * Restores the junction rows and child keys that belong to records restored as a set, unless someone wrote them since
 * or the records they refer to are gone.
 *
 * @param model the table of the records, restored before these statements
 */
export async function planSetRestore(context: RestoreContext, model: TableModel): Promise<SetCascade> {
  const { engine, schema, changeId, newId, stampOf } = context
  const { dialect } = engine
  const touched = await tablesOf(engine, dialect, changeId)
  const statements: SQL[] = []
  for (const tableId of touched) {
    const other = tableId === model.table.id ? model : await schema.loadWithKeys(tableId)
    if (other.table.isJunction && other !== model) {
      const relations = await relationsKeptIn(schema, other)
      const pairs = relations.find((relation) => relation.kind === 'pairs')
      if (!pairs) continue
      const columns = await snapshot(other, engine)
      const set = loggedSet(changeId, tableId)
      const condition = isWhole(pairs, columns, engine, set)
      const { log, write } = restoreStatements(engine, other, columns, { set, newId, condition })
      statements.push(log, write)
      continue
    }
    const fieldIds = other.fields.filter(isForeignKey).map(({ id }) => id)
    if (fieldIds.length === 0) continue
    const { log, update } = planRevert(other, engine, { changeId, fieldIds }, stampOf(other), newId)
    statements.push(log, update)
  }
  statements.push(...(await dropLostKeys(context, model)))
  return { statements, tableIds: touched }
}

/** Matches logged pairs whose records both exist and that have not been added again. */
export function isWhole(
  { junction, sides }: PairRelation,
  columns: SnapshotColumn[],
  { dialect }: Engine,
  { before }: Pick<LoggedSet, 'before'>,
): SQL {
  const table = sql.identifier(junction.table.tableName)
  const values = sides.map(({ key }) => {
    const databaseType = columns.find(({ name }) => name === columnName(key))?.databaseType ?? ''
    return dialect.jsonValue(before, key.id, { databaseType })
  })
  const ends = sides.map(
    ({ model }, index) =>
      sql`and ${values[index]} in (select ${sql.identifier(columnName(model.primaryKey))} from ${sql.identifier(model.table.tableName)})`,
  )
  const same = sides.map(
    ({ key }, index) => sql`${table}.${sql.identifier(columnName(key))} = ${values[index]}`,
  )
  return sql`${sql.join(ends, sql` `)} and not exists (select 1 from ${table} where ${sql.join(same, sql` and `)})`
}

/** Clears keys of the restored records whose parent is gone, or has another only child. */
export async function dropLostKeys(
  { engine, schema, newId }: Pick<RestoreContext, 'engine' | 'schema' | 'newId'>,
  model: TableModel,
): Promise<SQL[]> {
  const { dialect } = engine
  const relations = await relationsKeptIn(schema, model)
  const table = sql`${sql.identifier(model.table.tableName)}`
  const id = columnName(model.primaryKey)
  const restored = (alias: SQL) => sql`${dialect.logId(sql`${alias}.${sql.identifier(id)}`)} in
    (${selectInsertedIds(newId, model.table.id)})`
  return model.fields.filter(isForeignKey).flatMap((key) => {
    const parent = parentOf(relations, key)
    if (!parent || key.required) return []
    const name = sql.identifier(columnName(key))
    const isLost = sql`not exists (select 1 from ${sql.identifier(parent.model.table.tableName)} as ${sql.identifier('~parent')}
      where ${sql.identifier('~parent')}.${sql.identifier(columnName(parent.field))} = ${table}.${name})`
    const other = sql`${sql.identifier('~other')}`
    const isTaken = sql`exists (select 1 from ${table} as ${other}
      where ${other}.${name} = ${table}.${name} and not ${restored(other)})`
    const where = parent.relation?.isOneToOne ? sql`(${isLost} or ${isTaken})` : isLost
    return [
      sql`update ${table} set ${name} = null where ${name} is not null and ${restored(table)} and ${where}`,
    ]
  })
}
