import { type SQL, sql } from 'drizzle-orm'
import { forEachBreathing, mapBreathing } from '../../../src/breathe.ts'
import type { RecordChange, Values } from '../../../src/core/changes.ts'
import { AppError } from '../../../src/core/errors.ts'
import type { RecordId } from '../../../src/core/model.ts'
import { m } from '../../../src/messages.gen.ts'
import type { TableModel } from '../../schema/index.ts'
import { asStored, exactOf, readExactTexts } from '../foreign/index.ts'
import { deleteRecords } from '../rows/index.ts'
import { chunks, columnName, isKeyless, readRecords } from '../table/index.ts'
import { contextFor, idPart, LargeCascade, type LinkSchema, tableAs, type WriteScope } from './relation.ts'

/**
 * The foreign key rules of connected databases for records that refer to deleted ones. The rules are read from the database at
 * each deletion, so they are always current.
 */

/** Referential action on children whose parent is deleted (SQL:2016). */
export type DeleteRule = 'CASCADE' | 'SET NULL' | 'SET DEFAULT' | 'RESTRICT' | 'NO ACTION'

/** A foreign key that refers to a table. */
export interface Reference {
  /** The child’s schema if it differs from the parent’s. */
  childSchema: string | null
  child: string
  columns: { child: string; parent: string }[]
  rule: DeleteRule
}

interface ReferenceRow {
  name: string
  child_schema: string | null
  child: string
  child_column: string
  parent_column: string
  rule: string
}

type Reader = Pick<WriteScope, 'dialect'> & { tx: Pick<WriteScope['tx'], 'all'> }

/** The foreign keys that refer to a table, those that cascade or clear first. */
export async function referencesTo({ tx, dialect }: Reader, model: TableModel): Promise<Reference[]> {
  const rows = await tx.all<ReferenceRow>(dialect.listReferences(model.table.tableName))
  const references = [...Map.groupBy(rows, (row) => row.name).values()].flatMap((parts) => {
    const [first] = parts
    if (!first) return []
    const columns = parts.map((part) => ({ child: part.child_column, parent: part.parent_column }))
    const rule = first.rule.toUpperCase() as DeleteRule
    return [{ childSchema: first.child_schema, child: first.child, columns, rule }]
  })
  return references.toSorted((a, b) => Number(refuses(a)) - Number(refuses(b)))
}

export const refuses = ({ rule }: Reference): boolean => rule === 'RESTRICT' || rule === 'NO ACTION'

/** The rows of the child table that refer to the parents that meet the condition. */
function childrenOf(
  reference: Reference,
  parent: TableModel,
  isParent: SQL,
  aliases = { parent: 'parent', child: 'child' },
): { from: SQL; where: SQL } {
  const name = sql.identifier(reference.child)
  const table = reference.childSchema ? sql`${sql.identifier(reference.childSchema)}.${name}` : sql`${name}`
  return {
    from: sql`${table} as ${sql.identifier(aliases.child)}`,
    where: sql`exists (select 1 from ${tableAs(parent, aliases.parent)}
      where ${sql.join([matches(reference, aliases), isParent], sql` and `)})`,
  }
}

/** The join condition of a child and its parent. */
const matches = ({ columns }: Reference, { parent, child }: { parent: string; child: string }): SQL =>
  sql.join(
    columns.map(
      (column) =>
        sql`${sql.identifier(parent)}.${sql.identifier(column.parent)} = ${sql.identifier(child)}.${sql.identifier(column.child)}`,
    ),
    sql` and `,
  )

/** The table of the children, if it is known here and has a key; else null. */
async function childModel(
  schema: LinkSchema,
  reference: Reference,
  { table }: TableModel,
): Promise<TableModel | null> {
  if (reference.childSchema !== null) return null
  const found = await schema.tableInDatabase(table.sourceId, reference.child)
  const model = found && (await schema.loadWithKeys(found.id))
  return model && !isKeyless(model) ? model : null
}

/**
 * The ids of the children of records, without those that are deleted anyway.
 *
 * @throws LargeCascade where there are more than `limit`
 */
async function childIds(
  { tx, dialect }: Reader,
  reference: Reference,
  parent: TableModel,
  child: TableModel,
  ids: RecordId[],
  going: Going,
  limit = Number.POSITIVE_INFINITY,
): Promise<RecordId[]> {
  const found = new Map<string, RecordId>()
  const end = Number.isFinite(limit) ? sql`limit ${Math.max(0, limit) + 1}` : sql``
  const id = idPart(child, 'child', 'id')
  for (const chunk of chunks(ids)) {
    const { from, where } = childrenOf(reference, parent, idPart(parent, 'parent', 'id').isIn(chunk))
    const rows = await tx.all<Record<string, unknown>>(
      dialect.render(sql`select ${id.select} from ${from} where ${where} ${end}`),
    )
    await forEachBreathing(rows, (row) => {
      found.set(String(id.read(row)), id.read(row))
    })
    if (found.size > limit) throw new LargeCascade()
  }
  const gone = going.get(child.table.id)
  return [...found].flatMap(([key, value]) => (gone?.has(key) ? [] : [value]))
}

/** The number of rows that refer to records. */
async function countChildren(
  { tx, dialect }: Reader,
  reference: Reference,
  parent: TableModel,
  ids: RecordId[],
): Promise<number> {
  let count = 0
  for (const chunk of chunks(ids)) {
    const { from, where } = childrenOf(reference, parent, idPart(parent, 'parent', 'id').isIn(chunk))
    const [row] = await tx.all<{ n: number | string }>(
      dialect.render(sql`select count(*) as n from ${from} where ${where}`),
    )
    count += Number(row?.n ?? 0)
  }
  return count
}

/** A column as the key of a set; case-insensitive, as in SQLite. */
export const columnKey = (table: string, column: string): string => `${table}.${column}`.toLowerCase()

/** Records being deleted, by table id. */
type Going = Map<string, Set<string>>

function mark(going: Going, { table }: TableModel, ids: RecordId[]): void {
  const known = going.get(table.id) ?? new Set()
  for (const id of ids) known.add(String(id))
  going.set(table.id, known)
}

/**
 * Prepares the records that refer to others which are about to be deleted, so that they are logged and undo restores them:
 * deletes those of `cascade`, and reads those that the database will give no or their default parent. Tables that are not
 * known here are left to the database.
 *
 * @returns the changes, and the `columnKey`s of the foreign keys that were handled
 * @throws DATABASE_ERROR naming the table and the number of records that prevent the deletion; LargeCascade beyond
 *   `scope.cascade`
 */
export async function followRules(
  scope: WriteScope,
  model: TableModel,
  ids: RecordId[],
  going: Going = new Map(),
): Promise<{ changes: RecordChange[]; handled: Set<string> }> {
  mark(going, model, ids)
  const changes: RecordChange[] = []
  const handled = new Set<string>()
  for (const reference of await referencesTo(scope, model)) {
    for (const column of reference.columns) handled.add(columnKey(reference.child, column.child))
    const child = await childModel(scope.schema, reference, model)
    if (refuses(reference)) {
      await refuseOthers(scope, reference, model, child, ids, going)
      continue
    }
    if (!child) continue
    const children = await childIds(scope, reference, model, child, ids, going, scope.cascade?.left)
    if (children.length === 0) continue
    if (scope.cascade) scope.cascade.left -= children.length
    const part =
      reference.rule === 'CASCADE'
        ? await removeChildren(scope, child, children, going)
        : await aboutToBeCleared(scope, reference, child, children)
    for (const change of part) changes.push(change)
  }
  return { changes, handled }
}

async function removeChildren(
  scope: WriteScope,
  child: TableModel,
  ids: RecordId[],
  going: Going,
): Promise<RecordChange[]> {
  const { changes } = await followRules(scope, child, ids, going)
  const ordered = await childrenFirst(scope, child, ids)
  return [...changes, ...(await deleteRecords(contextFor(scope, child), ordered))]
}

/**
 * Records whose keys the database empties or sets to their default as soon as their parents are deleted. Only the database
 * knows which columns it sets (`set null (…)`) and evaluates defaults, so `withCleared` reads the values afterwards.
 */
async function aboutToBeCleared(
  scope: WriteScope,
  { columns }: Reference,
  child: TableModel,
  ids: RecordId[],
): Promise<RecordChange[]> {
  const names = new Set(columns.map((column) => column.child.toLowerCase()))
  const fields = child.fields.filter((field) => names.has(columnName(field).toLowerCase()))
  // Columns that are not known here are left to the database.
  if (fields.length === 0) return []
  const context = contextFor(scope, child)
  const cells = await readRecords(context, ids, fields)
  // Of each field: a record that is deleted as well is restored from its exact texts.
  const exact = await readExactTexts(context, ids, fields)
  return mapBreathing(ids, (recordId) => {
    const values = Object.fromEntries(fields.map(({ id }) => [id, cells.get(String(recordId))?.[id] ?? null]))
    const before = { ...values, ...exact.get(String(recordId)) }
    return { tableId: child.table.id, recordId, before, after: values }
  })
}

/**
 * The changes of `followRules` with the values that the database has set since; without records that it left as they were.
 * Records that are deleted as well keep the values they had: when their deletion was logged, their keys were empty.
 */
export async function withCleared(scope: WriteScope, changes: RecordChange[]): Promise<RecordChange[]> {
  const stored = new Map<RecordChange, RecordChange | null>()
  const keyOf = ({ tableId, recordId }: RecordChange) => `${tableId} ${recordId}`
  // Without any, the keys of all deleted records are not needed.
  if (changes.every(({ after }) => after === null)) return changes
  const deleted = new Set<string>()
  await forEachBreathing(changes, (change) => {
    if (change.after === null) deleted.add(keyOf(change))
  })
  const updates: RecordChange[] = []
  await forEachBreathing(changes, (change) => {
    if (!deleted.has(keyOf(change))) updates.push(change)
  })
  for (const [tableId, own] of Map.groupBy(updates, (change) => change.tableId)) {
    const child = await scope.schema.loadWithKeys(tableId)
    const now = await asStored(contextFor(scope, child), own)
    await forEachBreathing(own, (change, index) => {
      stored.set(change, changedPart(child, now[index] ?? change))
    })
  }
  return changes.flatMap((change) => (stored.has(change) ? (stored.get(change) ?? []) : change))
}

/** A change of fewer fields: those whose values differ. Null without any. */
function changedPart(
  { fields }: TableModel,
  { before, after, ...record }: RecordChange,
): RecordChange | null {
  const changed = fields.filter(({ id }) => after && id in after && after[id] !== before?.[id])
  if (changed.length === 0) return null
  const valuesOf = (values: Values | null): Values =>
    Object.fromEntries(changed.map(({ id }) => [id, values?.[id] ?? null]))
  return {
    ...record,
    before: { ...valuesOf(before), ...exactOf(before ?? {}, changed) },
    after: valuesOf(after),
  }
}

async function refuseOthers(
  scope: WriteScope,
  reference: Reference,
  model: TableModel,
  child: TableModel | null,
  ids: RecordId[],
  going: Going,
): Promise<void> {
  // If some of the children are deleted too, they have to be identified.
  const count =
    child && going.has(child.table.id)
      ? (await childIds(scope, reference, model, child, ids, going)).length
      : await countChildren(scope, reference, model, ids)
  if (count > 0) throw refusedByReference(model, child?.table.title ?? reference.child, count)
}

const refusedByReference = ({ table }: TableModel, childTitle: string, count: number): AppError => {
  return new AppError(
    'DATABASE_ERROR',
    m.records_error_referred({ count, child: childTitle, table: table.title }),
    { table: childTitle, count },
  )
}

/**
 * Orders the ids so that a self-referencing table can delete them: children before their parents. Circular references
 * keep their order.
 */
export async function childrenFirst(
  scope: WriteScope,
  model: TableModel,
  ids: RecordId[],
): Promise<RecordId[]> {
  if (ids.length < 2) return ids
  const own = (await referencesTo(scope, model)).filter(
    ({ child, childSchema }) => childSchema === null && child === model.table.tableName,
  )
  if (own.length === 0) return ids
  const parents = new Map<string, Set<string>>()
  for (const reference of own) {
    for (const [child, parent] of await pairsWithin(scope, reference, model, ids)) {
      if (child !== parent) parents.set(child, (parents.get(child) ?? new Set()).add(parent))
    }
  }
  return parents.size === 0 ? ids : behindTheirChildren(ids, parents)
}

async function pairsWithin(
  { tx, dialect }: WriteScope,
  reference: Reference,
  model: TableModel,
  ids: RecordId[],
): Promise<[child: string, parent: string][]> {
  const [child, parent] = [idPart(model, 'child', 'c'), idPart(model, 'parent', 'p')]
  const pairs: [string, string][] = []
  for (const chunk of chunks(ids)) {
    const rows = await tx.all<Record<string, unknown>>(
      dialect.render(sql`select ${child.select}, ${parent.select} from ${tableAs(model, 'child')}
        join ${tableAs(model, 'parent')} on ${matches(reference, { parent: 'parent', child: 'child' })}
        where ${child.isIn(chunk)}`),
    )
    for (const row of rows) pairs.push([String(child.read(row)), String(parent.read(row))])
  }
  return pairs
}

/** @param parents the records that each record refers to */
export function behindTheirChildren(
  ids: RecordId[],
  parents: ReadonlyMap<string, ReadonlySet<string>>,
): RecordId[] {
  const byText = new Map(ids.map((id) => [String(id), id]))
  const ordered: RecordId[] = []
  const seen = new Set<string>()
  // Collects parents first and reverses the list; uses an explicit stack, as chains may be long.
  for (const id of byText.keys()) {
    const stack = [{ id, isDone: false }]
    for (let at = stack.pop(); at; at = stack.pop()) {
      const record = byText.get(at.id)
      if (at.isDone && record !== undefined) ordered.push(record)
      if (at.isDone || record === undefined || seen.has(at.id)) continue
      seen.add(at.id)
      stack.push({ id: at.id, isDone: true })
      for (const parent of parents.get(at.id) ?? []) stack.push({ id: parent, isDone: false })
    }
  }
  return ordered.toReversed()
}

/** The effect of a deletion on the records of one table that refer to the deleted ones. */
export interface DeletionEffect {
  /** The table’s title, or its name in the database if it is not shown here. */
  table: string
  count: number
  rule: DeleteRule
}

/** Limit of listed effects: chains of cascades may reach every table. */
const MAX_EFFECTS = 30

/**
 * The effects of a deletion, including cascades of cascades; nothing is changed.
 *
 * @param isDeleted condition for the deleted records under an alias of their table
 */
export async function deletionEffects(
  reader: Reader & { schema: LinkSchema },
  model: TableModel,
  isDeleted: (alias: string) => SQL,
): Promise<DeletionEffect[]> {
  const effects: DeletionEffect[] = []
  const visited = new Set([model.table.id])
  const queue = [{ model, condition: isDeleted('r0'), depth: 0 }]
  for (let at = queue.shift(); at && effects.length < MAX_EFFECTS; at = queue.shift()) {
    const aliases = { parent: `r${at.depth}`, child: `r${at.depth + 1}` }
    for (const reference of await referencesTo(reader, at.model)) {
      const { from, where } = childrenOf(reference, at.model, at.condition, aliases)
      const child = await childModel(reader.schema, reference, at.model)
      // Records that are deleted anyway are not counted.
      const isOther =
        child?.table.id === model.table.id ? sql`${where} and not (${isDeleted(aliases.child)})` : where
      const [row] = await reader.tx.all<{ n: number | string }>(
        reader.dialect.render(sql`select count(*) as n from ${from} where ${isOther}`),
      )
      const count = Number(row?.n ?? 0)
      if (count === 0) continue
      effects.push({ table: child?.table.title ?? reference.child, count, rule: reference.rule })
      if (reference.rule !== 'CASCADE' || !child || visited.has(child.table.id)) continue
      visited.add(child.table.id)
      queue.push({ model: child, condition: where, depth: at.depth + 1 })
    }
  }
  return effects
}
