import { type SQL, sql } from 'drizzle-orm'
import { breathe } from '../../../src/breathe.ts'
import type { RecordChange, Values } from '../../../src/core/changes.ts'
import { AppError } from '../../../src/core/errors.ts'
import type { CellValue, StorageKind } from '../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import { LOOKED_UP } from '../../../src/db/change-log/entry.ts'
import { logRows } from '../../../src/db/change-log/set-entries.ts'
import { loggedSet, selectDeletedIds } from '../../../src/db/change-log/sets.ts'
import type { Dialect, Engine } from '../../../src/dialects/dialect.ts'
import { m } from '../../../src/messages.gen.ts'
import type { TableModel } from '../../schema/index.ts'
import { deleteRecords, type SnapshotColumn, snapshot, updateRecords } from '../rows/index.ts'
import { chunks, columnName, isForeign, listOf } from '../table/index.ts'
import { keysOf } from './change-links.ts'
import { columnKey, followRules } from './reference-rules.ts'
import {
  columnIn,
  contextFor,
  idPart,
  isWholeId,
  type KeyRelation,
  LargeCascade,
  type LinkSchema,
  type PairRelation,
  type Relation,
  relationsAround,
  tableAs,
  type WriteScope,
} from './relation.ts'

/**
 * Removes the references to records that are about to be deleted: junction rows and the keys of children. In a number
 * of statements that grows with the table’s links, not with its records; logged with the same change, so that undo
 * restores it.
 *
 * @throws REQUIRED_FIELD_MISSING where a child that stays must have its parent (spec §5); DATABASE_ERROR where a
 *   foreign key of a connected database forbids the deletion; LargeCascade where it is more than `scope.cascade`
 */
export async function releaseLinks(
  scope: WriteScope,
  model: TableModel,
  ids: RecordId[],
): Promise<RecordChange[]> {
  if (ids.length === 0) return []
  // Connected databases have their own rules; links without a foreign key follow ours.
  const { changes, handled } = isForeign(model)
    ? await followRules(scope, model, ids)
    : { changes: [], handled: new Set<string>() }
  for (const relation of await relationsAround(scope.schema, model.table)) {
    if (handled.size > 0 && keysOfRelation(relation, model).some((key) => handled.has(key))) continue
    const left = scope.cascade?.left ?? Number.POSITIVE_INFINITY
    const part =
      relation.kind === 'pairs'
        ? await dropPairs(scope, relation, model, ids, left)
        : await clearKeys(scope, relation, model, ids, left)
    if (scope.cascade) scope.cascade.left -= part.length
    for (const change of part) changes.push(change)
  }
  return changes
}

/** The columns of a relation that refer to a table, as `columnKey`s. */
const keysOfRelation = (relation: KeyRelation | PairRelation, { table }: TableModel): string[] =>
  relation.kind === 'key'
    ? [columnKey(relation.child.table.tableName, columnName(relation.key))]
    : relation.sides
        .filter((side) => side.model.table.id === table.id)
        .map((side) => columnKey(relation.junction.table.tableName, columnName(side.key)))

async function dropPairs(
  scope: WriteScope,
  { junction, sides }: PairRelation,
  model: TableModel,
  ids: RecordId[],
  limit: number,
): Promise<RecordChange[]> {
  const ends = sides.filter((side) => side.model.table.id === model.table.id)
  const found = new Set<RecordId>()
  for (const { key } of ends) {
    for (const id of await idsWhere(scope, junction, key, ids, limit)) found.add(id)
  }
  return deleteRecords(contextFor(scope, junction), [...found])
}

async function clearKeys(
  scope: WriteScope,
  relation: KeyRelation,
  model: TableModel,
  ids: RecordId[],
  limit: number,
): Promise<RecordChange[]> {
  const { child, key, parent } = relation
  // A required key in the trash stays as it is: nobody could fill it.
  if (parent.table.id !== model.table.id || (key.required && !relation.isLive)) return []
  const keys = [...(await keysOf(scope, relation, ids)).values()].filter((value) => value !== null)
  const children = await idsWhere(scope, child, key, keys, limit)
  // Children that are deleted too keep their keys, and come back with them.
  const going = new Set(child.table.id === model.table.id ? ids.map(String) : [])
  const staying = children.filter((id) => !going.has(String(id)))
  if (key.required && staying.length > 0) throw refuseOrphans(relation, staying)
  return updateRecords(
    contextFor(scope, child),
    staying.map((id) => ({ id, values: { [key.id]: null } })),
  )
}

/** The error for a deletion that would leave children without a required parent. */
function refuseOrphans({ child, childLink, key }: KeyRelation, children: RecordId[]): AppError {
  const field = childLink ?? key
  const records = children.slice(0, 5).map((id) => `“${id}”`)
  if (children.length > 5) records.push('…')
  return new AppError(
    'REQUIRED_FIELD_MISSING',
    m.records_error_required_parent({
      field: field.title,
      records: records.join(', '),
      table: child.table.title,
    }),
    { fieldId: field.id, field: field.title, recordIds: children.slice(0, 100) },
  )
}

/**
 * The ids of the records with one of the values in a field.
 *
 * @throws LargeCascade where there are more than `limit`
 */
export async function idsWhere(
  { tx, dialect }: Pick<WriteScope, 'tx' | 'dialect'>,
  model: TableModel,
  column: Field,
  values: CellValue[],
  limit = Number.POSITIVE_INFINITY,
): Promise<RecordId[]> {
  const found: RecordId[] = []
  const id = idPart(model, 'child', 'id')
  for (const chunk of chunks(values)) {
    await breathe()
    const end = Number.isFinite(limit) ? sql`limit ${Math.max(0, limit - found.length) + 1}` : sql``
    const rows = await tx.all<Record<string, unknown>>(
      dialect.render(sql`select ${id.select} from ${tableAs(model, 'child')}
        where ${columnIn('child', column)} in (${listOf(chunk)}) ${end}`),
    )
    for (const row of rows) found.push(id.read(row))
    if (found.length > limit) throw new LargeCascade()
  }
  return found
}

/** The statements that accompany a set deletion, and the tables they touch. */
export interface SetCascade {
  /** To run after the deletion is logged and before the records are deleted. */
  statements: SQL[]
  tableIds: string[]
}

interface CascadeContext {
  engine: Engine
  schema: LinkSchema
  model: TableModel
  /** The log entry that lists the records. */
  newId: SQL
  /** The time and author fields to write with a cleared key. */
  stampOf(model: TableModel): Values
  /** The change that added the records, if it is undone: keys that it replaced are restored. */
  undone?: number
}

/**
 * As `releaseLinks` for a set deletion: deletes junction rows and clears the keys of children, by statements whose number
 * does not depend on the records.
 *
 * @param condition `where …` on the table
 * @throws REQUIRED_FIELD_MISSING where a child that stays must have its parent
 */
export async function planSetCascade(context: CascadeContext, condition: SQL): Promise<SetCascade> {
  const { schema, model } = context
  const relations = await relationsAround(schema, model.table)
  const isParent = (relation: KeyRelation) => relation.parent.table.id === model.table.id
  const children = relations.filter(
    (relation): relation is KeyRelation =>
      relation.kind === 'key' &&
      (isParent(relation) || gaveUp(context, relation)) &&
      // Required keys in the trash stay: nobody could fill them.
      (relation.isLive || !relation.key.required),
  )
  const statements: SQL[] = []
  const tableIds = new Set<string>()
  for (const ofTable of Map.groupBy(children, ({ child }) => child.table.id).values()) {
    for (const relation of ofTable.filter(isParent)) await refuseRequired(context, relation, condition)
    statements.push(...clearKeysAsSet(context, ofTable))
    tableIds.add(ofTable[0]!.child.table.id)
  }
  for (const relation of relations.filter(isPairsOf(model))) {
    statements.push(...dropPairsAsSet(context, relation, await snapshot(relation.junction, context.engine)))
    tableIds.add(relation.junction.table.id)
    for (const side of relation.sides) tableIds.add(side.model.table.id)
  }
  return { statements, tableIds: [...tableIds] }
}

const isPairsOf =
  (model: TableModel) =>
  (relation: Relation): relation is PairRelation =>
    relation.kind === 'pairs' && relation.sides.some((side) => side.model.table.id === model.table.id)

/** True if an existing record may have lost its only partner to one of the records that are now removed. */
const gaveUp = ({ model, undone }: CascadeContext, { isOneToOne, child }: KeyRelation): boolean =>
  undone !== undefined && isOneToOne && child.table.id === model.table.id

/** Clears all keys of one table that refer to the records: a child with two of them gets one log row. */
function clearKeysAsSet(context: CascadeContext, relations: KeyRelation[]): SQL[] {
  const { engine, model, newId, stampOf } = context
  const { dialect } = engine
  const { child } = relations[0]!
  const table = tableOf(child)
  const id = dialect.logId(columnOfTable(child, child.primaryKey))
  const gone = selectDeletedIds(newId, model.table.id)
  const keys = relations.map((relation) => {
    const column = columnOfTable(child, relation.key)
    const former = formerKey(context, relation, (goner) => isDeleted(context, goner))
    const hits = [
      ...(relation.parent.table.id === model.table.id ? [leadsTo(relation, model, dialect, gone)] : []),
      ...(gaveUp(context, relation) ? [sql`(${column} is null and ${former} is not null)`] : []),
    ]
    return { field: relation.key, column, former, isHit: sql`(${sql.join(hits, sql` or `)})` }
  })
  const stamp = stampOf(child)
  const stamped = child.fields.filter((field) => field.id in stamp)
  // Children that go as well keep their keys: they come back with them.
  const stays = child.table.id === model.table.id ? sql`and ${id} not in (${gone})` : sql``
  const where = sql`where (${sql.join(
    keys.map(({ isHit }) => isHit),
    sql` or `,
  )}) ${stays}`
  const cleared = ({ isHit, former, column }: { isHit: SQL; former: SQL; column: SQL }) =>
    sql`case when ${isHit} then ${former} else ${column} end`
  const before = [
    ...keys.map(({ field, column }) => logPart(field, column)),
    ...stamped.map((field) => logPart(field, columnOfTable(child, field))),
  ]
  const after = [
    ...keys.map((key) => logPart(key.field, cleared(key))),
    ...stamped.map((field) => ({ key: field.id, column: sql`${stamp[field.id] ?? null}`, storage: null })),
  ]
  const assignments = [
    ...keys.map((key) => sql`${sql.identifier(columnName(key.field))} = ${cleared(key)}`),
    ...stamped.map((field) => sql`${sql.identifier(columnName(field))} = ${stamp[field.id] ?? null}`),
  ]
  return [
    logRows(dialect, {
      changeId: newId,
      tableId: sql`${child.table.id}`,
      recordId: id,
      before: dialect.jsonObject(before),
      after: dialect.jsonObject(after),
      source: sql`from ${table} ${where}`,
    }),
    sql`update ${table} set ${sql.join(assignments, sql`, `)} ${where}`,
  ]
}

/**
 * The key of a child before the undone change; null if that change did not write it, if the former parent is deleted
 * too or gone, or if that parent has another only child by now.
 */
function formerKey(
  { engine, model, undone }: CascadeContext,
  relation: KeyRelation,
  isGone: (id: SQL) => SQL,
): SQL {
  if (undone === undefined) return sql`null`
  const { dialect } = engine
  const { child, key, parent, parentField, isOneToOne } = relation
  const inTable = (alias: string, field: Field) =>
    sql`${sql.identifier(alias)}.${sql.identifier(columnName(field))}`
  const stays = ({ table }: TableModel, id: SQL) =>
    table.id === model.table.id ? sql`and not ${isGone(id)}` : sql``
  const isFree = isOneToOne
    ? sql`and not exists (select 1 from ${tableOf(child)} as ${sql.identifier('~other')}
        where ${inTable('~other', key)} = ${inTable('~former', parentField)}
          ${stays(child, inTable('~other', child.primaryKey))} ${LOOKED_UP})`
    : sql``
  const logged = loggedSet(undone, child.table.id, 'l')
  // A join would start from the parents, once for each child.
  const loggedKey = sql`select ${dialect.jsonValue(logged.before, key.id, fieldType(key.type).storage)}
    from ${logged.table} where ${logged.where}
      and ${logged.recordId} = ${sought(dialect, columnOfTable(child, child.primaryKey))}`
  return sql`(select ${inTable('~former', parentField)} from ${tableOf(parent)} as ${sql.identifier('~former')}
    where ${inTable('~former', parentField)} = (${loggedKey})
      ${stays(parent, inTable('~former', parent.primaryKey))} ${isFree})`
}

const logPart = (field: Field, column: SQL): { key: string; column: SQL; storage: StorageKind } => ({
  key: field.id,
  column,
  storage: fieldType(field.type).storage,
})

/** The record’s id for finding its log row: SQLite uses an untyped index only for untyped values. */
const sought = (dialect: Dialect, id: SQL): SQL => sql`coalesce(${dialect.logId(id)}, '')`

/** True for the id of a record that the log lists as deleted. */
function isDeleted({ engine, model, newId }: CascadeContext, id: SQL): SQL {
  const logged = loggedSet(newId, model.table.id, 'g')
  return sql`exists (select 1 from ${logged.table} where ${logged.where}
    and ${logged.recordId} = ${sought(engine.dialect, id)} and ${logged.after} is null)`
}

/** True for children that refer to a deleted record. */
function leadsTo(
  { child, key, parentField }: KeyRelation,
  model: TableModel,
  dialect: Dialect,
  gone: SQL,
): SQL {
  const column = columnOfTable(child, key)
  if (isWholeId(model, parentField)) return sql`${dialect.logId(column)} in (${gone})`
  const parent = sql.identifier('~parent')
  const inParent = (field: Field) => sql`${parent}.${sql.identifier(columnName(field))}`
  return sql`${column} in (select ${inParent(parentField)} from ${tableOf(model)} as ${parent}
    where ${dialect.logId(inParent(model.primaryKey))} in (${gone}))`
}

function dropPairsAsSet(
  { engine, model, newId }: CascadeContext,
  { junction, sides }: PairRelation,
  columns: SnapshotColumn[],
): SQL[] {
  const { dialect } = engine
  const gone = selectDeletedIds(newId, model.table.id)
  const hits = sides
    .filter((side) => side.model.table.id === model.table.id)
    .map(({ key }) => sql`${dialect.logId(columnOfTable(junction, key))} in (${gone})`)
  const id = dialect.logId(columnOfTable(junction, junction.primaryKey))
  return [
    logRows(dialect, {
      changeId: newId,
      tableId: sql`${junction.table.id}`,
      recordId: id,
      before: dialect.jsonObject(columns),
      after: sql`null`,
      source: sql`from ${tableOf(junction)} where ${sql.join(hits, sql` or `)}`,
    }),
    sql`delete from ${tableOf(junction)} where ${id} in (${selectDeletedIds(newId, junction.table.id)})`,
  ]
}

async function refuseRequired(context: CascadeContext, relation: KeyRelation, condition: SQL): Promise<void> {
  const { engine, model } = context
  const { child, key, parentField } = relation
  if (!key.required) return
  const inner = (field: Field) =>
    sql`select ${columnOfTable(model, field)} from ${tableOf(model)} ${condition}`
  const id = columnOfTable(child, child.primaryKey)
  const stays = child.table.id === model.table.id ? sql`and ${id} not in (${inner(model.primaryKey)})` : sql``
  const former = formerKey(context, relation, (goner) => sql`${goner} in (${inner(model.primaryKey)})`)
  const rows = await engine.all<{ id: RecordId }>(
    engine.dialect.render(sql`select ${id} as id from ${tableOf(child)}
      where ${columnOfTable(child, key)} in (${inner(parentField)}) and ${former} is null ${stays} limit 6`),
    { scan: true },
  )
  if (rows.length > 0) {
    throw refuseOrphans(
      relation,
      rows.map((row) => row.id),
    )
  }
}

const tableOf = (model: TableModel): SQL => sql`${sql.identifier(model.table.tableName)}`

const columnOfTable = (model: TableModel, field: Field): SQL =>
  sql`${tableOf(model)}.${sql.identifier(columnName(field))}`
