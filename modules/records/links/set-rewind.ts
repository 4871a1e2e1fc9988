import { type SQL, sql } from 'drizzle-orm'
import { positionKey, type Values } from '../../../src/core/changes.ts'
import type { StorageKind } from '../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { isForeignKey } from '../../../src/core/fields/traits.ts'
import type { Field } from '../../../src/core/model.ts'
import { hasKey } from '../../../src/db/change-log/keys.ts'
import { logRows } from '../../../src/db/change-log/set-entries.ts'
import { changedSet, type LoggedSet, selectDeletedIds } from '../../../src/db/change-log/sets.ts'
import type { Engine } from '../../../src/dialects/dialect.ts'
import type { TableModel } from '../../schema/index.ts'
import { type FormerFields, loggedValues, placeColumn, snapshot } from '../rows/index.ts'
import { columnName, isWritable } from '../table/index.ts'
import { planSetCascade } from './cascade.ts'
import {
  type KeyRelation,
  type LinkSchema,
  type Relation,
  relationsAround,
  relationsKeptIn,
} from './relation.ts'
import { dropLostKeys, isWhole, restoreStatements } from './set-restore.ts'
import { parentOf } from './written-keys.ts'

/** Sets of records with the values that they should have again. */
export interface Rewind {
  /** The table whose records are rewound; of others, only links to them. */
  tableId: string
  engine: Engine
  schema: LinkSchema
  /** Selects the log entry of this write. */
  newId: SQL
  /** Time and author to write with changed values. */
  stampOf(model: TableModel): Values
  /**
   * The set of a table. A record whose `before` is null should not exist. One with an `after` exists, and has its
   * values replaced where it still has those of `after`; one without is restored, or has its values replaced.
   */
  setOf(tableId: string, alias: string): LoggedSet
  /** True if the sets have the values that are expected now in `after`, as entries of the log do. */
  hasExpected: boolean
  /** The fields and the views (for positions) whose values are replaced. */
  fields: readonly Field[]
  viewIds: readonly string[]
  /** Fields whose former values do not fit any more: restored records have none in them. */
  except: ReadonlySet<string>
  /** What the fields were when the values of the sets were logged. */
  former: FormerFields
  /** The relations of the table that are rewound with it. */
  relations: readonly Relation[]
}

/** A value of a record: a field's column, or its position in a view. */
interface Cell {
  key: string
  storage: StorageKind
  /** What it is now. */
  now: SQL
  /** What it should be. */
  next: SQL
  field?: Field
  viewId?: string
}

/** Aliases of sets, which no table of a base has. */
const SET = 'sheaf_set'
const REMOVED = 'sheaf_removed'
const RESTORED = 'sheaf_restored'
const OWN = 'sheaf_own'

/** The relations of a table that hold links in other tables: children and pairs, without those in the trash. */
export async function relationsToRewind(schema: LinkSchema, model: TableModel): Promise<Relation[]> {
  const all = await relationsAround(schema, model.table)
  const { id } = model.table
  return all.filter(
    (relation) =>
      relation.isLive &&
      (relation.kind === 'pairs'
        ? relation.junction.table.id !== id
        : relation.parent.table.id === id &&
          relation.child.table.id !== id &&
          relation.parentField.isPrimaryKey),
  )
}

/** The table of a relation whose rows or keys are rewound. */
export const linkTableOf = (relation: Relation): TableModel =>
  relation.kind === 'pairs' ? relation.junction : relation.child

/**
 * The statements that give the records of a table the values of a set, with their links: they add, change and delete
 * records, and log each of them once. The order matters: children leave records before these are deleted, values that
 * must be unique are released before others take them, and pairs return last.
 *
 * @returns `counted` has the indexes of the statements that log records of the table
 */
export async function planRewind(
  rewind: Rewind,
  model: TableModel,
): Promise<{ statements: SQL[]; counted: number[]; tableIds: string[]; models: TableModel[] }> {
  const { engine, schema, newId, stampOf, relations, except, former, setOf } = rewind
  const { dialect } = engine
  const table = tableOf(model)
  const id = idOf(rewind, model)
  const statements: SQL[] = []
  const counted: number[] = []
  const count = (statement: SQL) => counted.push(statements.push(statement) - 1)
  for (const child of childrenOf(relations)) {
    const cells = await cellsOf(rewind, child.model, child.keys, [])
    statements.push(logChanges(rewind, child.model, cells), writeChanges(rewind, child.model, cells))
  }
  const pairs = relations.filter((relation) => relation.kind === 'pairs')
  for (const { junction } of pairs) statements.push(...(await removePairs(rewind, junction)))
  const cells = await cellsOf(rewind, model, rewind.fields, rewind.viewIds)
  const columns = await snapshot(model, engine)
  const removed = removedCondition(rewind, model)
  if (cells.length > 0) count(logChanges(rewind, model, cells))
  count(
    logRows(dialect, {
      changeId: newId,
      tableId: sql`${model.table.id}`,
      recordId: id,
      before: dialect.jsonObject(columns),
      after: sql`null`,
      source: sql`from ${table} ${removed}`,
    }),
  )
  const unique = cells.flatMap(({ field }) => (field?.unique ? [field] : []))
  if (unique.length > 0) {
    const released = unique.map((field) => sql`${sql.identifier(columnName(field))} = null`)
    const listed = sql`select record_id from ${changedSet(newId, model.table.id, OWN).table}
      where ${changedSet(newId, model.table.id, OWN).where}`
    statements.push(
      sql`update ${table} set ${sql.join(released, sql`, `)}
        where ${id} in (${listed}) or ${id} in (${selectDeletedIds(newId, model.table.id)})`,
    )
  }
  if (cells.length > 0)
    statements.push(writeChanges(rewind, model, cells), ...writePlaces(rewind, model, cells))
  const cascade = await planSetCascade({ engine, schema, model, newId, stampOf }, removed)
  statements.push(
    ...cascade.statements,
    sql`delete from ${table} where ${id} in (${selectDeletedIds(newId, model.table.id)})`,
  )
  const restored = restoreStatements(engine, model, columns, {
    set: setOf(model.table.id, SET),
    newId,
    except,
    former,
  })
  count(restored.log)
  statements.push(restored.write)
  for (const relation of pairs) {
    const { junction } = relation
    const columnsOfPair = await snapshot(junction, engine)
    const set = setOf(junction.table.id, SET)
    const condition = isWhole(relation, columnsOfPair, engine, set)
    const { log, write } = restoreStatements(engine, junction, columnsOfPair, { set, newId, condition })
    statements.push(log, write)
  }
  statements.push(...(await dropLostKeys({ engine, schema, newId }, model)))
  const models = [model, ...relations.map(linkTableOf)]
  const tableIds = [...models.map((each) => each.table.id), ...cascade.tableIds]
  for (const { sides } of pairs) for (const side of sides) tableIds.push(side.model.table.id)
  return { statements, counted, tableIds: [...new Set(tableIds)], models }
}

/** The numbers of records that `planRewind` would change, delete and add: one statement, with these names. */
export async function countRewind(rewind: Rewind, model: TableModel): Promise<SQL> {
  const { dialect } = rewind.engine
  const table = tableOf(model)
  const id = idOf(rewind, model)
  const set = rewind.setOf(model.table.id, SET)
  const cells = await cellsOf(rewind, model, rewind.fields, rewind.viewIds)
  const differs = cells.length === 0 ? dialect.constant(false) : dialect.or(cells.map(differsNow(rewind)))
  return sql`select
    (select count(*) from ${table}, ${set.table} where ${set.where} and ${set.before} is not null
      and ${set.recordId} = ${id} and ${differs}) as changed,
    (select count(*) from ${table} ${removedCondition(rewind, model)}) as deleted,
    (select count(*) from ${set.table} where ${set.where} and ${set.before} is not null and ${set.after} is null
      and ${set.recordId} not in (select ${id} from ${table})) as added`
}

/**
 * The number of values, as `n`, that keep what someone has written since the change that the sets come from: for sets
 * with expected values.
 */
export async function countKept(rewind: Rewind, model: TableModel): Promise<SQL> {
  const set = rewind.setOf(model.table.id, SET)
  const cells = await cellsOf(rewind, model, rewind.fields, rewind.viewIds)
  const { dialect } = rewind.engine
  const { read, isGone } = loggedValues(dialect, rewind.former)
  const kept = cells.map(({ key, storage, now }) => {
    const expected = read(set.after, key, storage)
    const former = read(set.before, key, storage)
    const isEdited = dialect.and([
      dialect.not(dialect.isSame(now, expected)),
      dialect.not(dialect.isSame(now, former)),
    ])
    const isLost = isGone(key, former) ?? dialect.constant(false)
    return sql`case when ${hasKey(set.before, key)} and ${dialect.or([isEdited, isLost])} then 1 else 0 end`
  })
  const sum = kept.length === 0 ? sql`0` : sql.join(kept, sql` + `)
  return sql`select coalesce(sum(${sum}), 0) as n from ${tableOf(model)}, ${set.table}
    where ${set.where} and ${set.before} is not null and ${set.after} is not null
      and ${set.recordId} = ${idOf(rewind, model)}`
}

/** The fields of a table that `Rewind.fields` may name. */
export const rewindable = (model: TableModel): Field[] =>
  model.fields.filter((field) => isWritable(field) || (field.isSystem && columnName(field) === 'nc_order'))

/** The tables with keys of the rewound records, each with these keys. */
function childrenOf(relations: readonly Relation[]): { model: TableModel; keys: Field[] }[] {
  const keyed = relations.filter((relation): relation is KeyRelation => relation.kind === 'key')
  return [...Map.groupBy(keyed, ({ child }) => child.table.id).values()].map((ofTable) => ({
    model: ofTable[0]!.child,
    keys: ofTable.map(({ key }) => key),
  }))
}

async function cellsOf(
  rewind: Rewind,
  model: TableModel,
  fields: readonly Field[],
  viewIds: readonly string[],
): Promise<Cell[]> {
  const { engine, schema, hasExpected, setOf } = rewind
  const { dialect } = engine
  const set = setOf(model.table.id, SET)
  const relations = await relationsKeptIn(schema, model)
  const { read, isGone } = loggedValues(dialect, rewind.former)
  const cellOf = (key: string, storage: StorageKind, now: SQL): Cell => {
    const target = read(set.before, key, storage)
    const gone = isGone(key, target)
    const isDue = dialect.and([
      hasKey(set.before, key),
      ...(hasExpected ? [dialect.isSame(now, read(set.after, key, storage))] : []),
      ...(gone ? [dialect.not(gone)] : []),
    ])
    return { key, storage, now, next: sql`case when ${isDue} then ${target} else ${now} end` }
  }
  const ofFields = fields.map((field): Cell => {
    const now = sql`${tableOf(model)}.${sql.identifier(columnName(field))}`
    const cell = cellOf(field.id, fieldType(field.type).storage, now)
    const parent = isForeignKey(field) ? parentOf(relations, field) : null
    if (!parent) return { ...cell, field }
    const stands = possibleKey(rewind, model, { key: field, next: cell.next, parent })
    return { ...cell, field, next: stands }
  })
  const ofViews = viewIds.map((viewId) => ({
    ...cellOf(positionKey(viewId), 'real', placeColumn(model, viewId)),
    viewId,
  }))
  return [...ofFields, ...ofViews]
}

/** The next value of a key, which stays if its record is gone or belongs to another child. */
function possibleKey(
  rewind: Rewind,
  model: TableModel,
  { key, next, parent }: { key: Field; next: SQL; parent: NonNullable<ReturnType<typeof parentOf>> },
): SQL {
  const { engine, setOf } = rewind
  const { dialect } = engine
  const now = sql`${tableOf(model)}.${sql.identifier(columnName(key))}`
  const above = sql.identifier('~parent')
  const exists = sql`exists (select 1 from ${tableOf(parent.model)} as ${above}
    where ${above}.${sql.identifier(columnName(parent.field))} = ${next})`
  const isRewound = parent.model.table.id === rewind.tableId
  const back = setOf(parent.model.table.id, RESTORED)
  const isBack = sql`${dialect.logId(next)} in (select ${back.recordId} from ${back.table}
    where ${back.where} and ${back.before} is not null and ${back.after} is null)`
  const gone = setOf(parent.model.table.id, REMOVED)
  const isGone = (value: SQL) => sql`${dialect.logId(value)} in (select ${gone.recordId} from ${gone.table}
    where ${gone.where} and ${gone.before} is null)`
  const other = sql.identifier('~other')
  const own = setOf(model.table.id, OWN)
  const isFree = parent.relation?.isOneToOne
    ? sql`and not exists (select 1 from ${tableOf(model)} as ${other}
        where ${other}.${sql.identifier(columnName(key))} = ${next}
          and ${dialect.logId(sql`${other}.${sql.identifier(columnName(model.primaryKey))}`)}
            not in (select ${own.recordId} from ${own.table} where ${own.where}))`
    : sql``
  const isThere = isRewound ? sql`(${exists} or ${isBack}) and not ${isGone(next)}` : exists
  // A key that stays must not name a record that is deleted.
  const stays = isRewound && !key.required ? sql`case when ${isGone(now)} then null else ${now} end` : now
  return sql`case when ${next} is null or (${isThere} ${isFree}) then ${next} else ${stays} end`
}

const differsNow =
  ({ engine: { dialect } }: Rewind) =>
  ({ now, next }: Cell): SQL =>
    dialect.not(dialect.isSame(now, next))

/** Logs the records whose values change. */
function logChanges(rewind: Rewind, model: TableModel, cells: Cell[]): SQL {
  const { engine, newId, stampOf, hasExpected, setOf } = rewind
  const { dialect } = engine
  const set = setOf(model.table.id, SET)
  const stamp = stampOf(model)
  const stamped = model.fields.filter((field) => field.id in stamp)
  const object = (cellFor: (cell: Cell) => SQL, stampFor: (field: Field) => SQL) =>
    dialect.jsonObject([
      ...cells.map((cell) => ({ key: cell.key, column: cellFor(cell), storage: cell.storage })),
      ...stamped.map((field) => ({ key: field.id, column: stampFor(field), storage: null })),
    ])
  return logRows(dialect, {
    changeId: newId,
    tableId: sql`${model.table.id}`,
    recordId: idOf(rewind, model),
    before: object(
      ({ now }) => now,
      (field) => sql`${tableOf(model)}.${sql.identifier(columnName(field))}`,
    ),
    after: object(
      ({ next }) => next,
      (field) => sql`${stamp[field.id] ?? null}`,
    ),
    source: sql`from ${tableOf(model)}, ${set.table} where ${set.where} and ${set.before} is not null
      ${hasExpected ? sql`and ${set.after} is not null` : sql``} and ${set.recordId} = ${idOf(rewind, model)}
      and ${dialect.or(cells.map(differsNow(rewind)))}`,
  })
}

/** Writes the values that `logChanges` logged. */
function writeChanges(rewind: Rewind, model: TableModel, cells: Cell[]): SQL {
  const { engine, newId, stampOf } = rewind
  const logged = changedSet(newId, model.table.id, SET)
  const stamp = stampOf(model)
  const columns = [sql`${logged.recordId} as record_id`]
  const assignments: SQL[] = []
  for (const { key, storage, field } of cells) {
    if (!field) continue
    const alias = sql.identifier(`v${columns.length}`)
    columns.push(sql`${engine.dialect.jsonValue(logged.after, key, storage)} as ${alias}`)
    assignments.push(sql`${sql.identifier(columnName(field))} = sheaf_logged.${alias}`)
  }
  for (const field of model.fields.filter(({ id }) => id in stamp))
    assignments.push(sql`${sql.identifier(columnName(field))} = ${stamp[field.id] ?? null}`)
  const select = sql`select ${sql.join(columns, sql`, `)} from ${logged.table} where ${logged.where}`
  return sql`update ${tableOf(model)} set ${sql.join(assignments, sql`, `)}
    from (${engine.dialect.computedOnce?.(select) ?? select}) as sheaf_logged
    where sheaf_logged.record_id = ${idOf(rewind, model)}`
}

/** Writes the positions in views that `logChanges` logged. */
function writePlaces(rewind: Rewind, model: TableModel, cells: Cell[]): SQL[] {
  const { engine, newId } = rewind
  const { dialect } = engine
  const logged = changedSet(newId, model.table.id, SET)
  return cells.flatMap(({ key, storage, viewId }) => {
    if (viewId === undefined) return []
    const place = dialect.jsonValue(logged.after, key, storage)
    const id = sql`${tableOf(model)}.${sql.identifier(columnName(model.primaryKey))}`
    const source = sql`from ${tableOf(model)}, ${logged.table}
      where ${logged.where} and ${logged.recordId} = ${idOf(rewind, model)}`
    return [
      sql`delete from sheaf_places where view_id = ${viewId} and record_id in (select ${id} ${source})`,
      dialect.insertSelected({
        into: sql`sheaf_places`,
        columns: ['view_id', 'table_id', 'record_id', 'place'].map((name) => sql.raw(name)),
        constants: [],
        values: [sql`cast(${viewId} as text)`, sql`cast(${model.table.id} as text)`, id, place],
        source: sql`${source} and ${place} is not null`,
      }),
    ]
  })
}

/** Logs and deletes the pairs that should not exist. */
async function removePairs(rewind: Rewind, junction: TableModel): Promise<SQL[]> {
  const { engine, newId } = rewind
  const { dialect } = engine
  const id = idOf(rewind, junction)
  return [
    logRows(dialect, {
      changeId: newId,
      tableId: sql`${junction.table.id}`,
      recordId: id,
      before: dialect.jsonObject(await snapshot(junction, engine)),
      after: sql`null`,
      source: sql`from ${tableOf(junction)} ${removedCondition(rewind, junction)}`,
    }),
    sql`delete from ${tableOf(junction)} where ${id} in (${selectDeletedIds(newId, junction.table.id)})`,
  ]
}

/** `where …` for the records of a table that should not exist. */
function removedCondition(rewind: Rewind, model: TableModel): SQL {
  const set = rewind.setOf(model.table.id, REMOVED)
  return sql`where ${idOf(rewind, model)} in
    (select ${set.recordId} from ${set.table} where ${set.where} and ${set.before} is null)`
}

const tableOf = (model: TableModel): SQL => sql`${sql.identifier(model.table.tableName)}`

/** A record's id as the log keeps it. */
const idOf = ({ engine: { dialect } }: Rewind, model: TableModel): SQL =>
  dialect.logId(sql`${tableOf(model)}.${sql.identifier(columnName(model.primaryKey))}`)
