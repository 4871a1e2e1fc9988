import type { Operation, Values } from '../../../src/core/changes.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { isForeignKey } from '../../../src/core/fields/traits.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import type { TableModel } from '../../schema/index.ts'
import {
  behindTheirChildren,
  contextFor,
  idsWhere,
  type KeyRelation,
  type PairRelation,
  parentOf,
  type Relation,
  readColumn,
  referencesTo,
  relationsKeptIn,
  type WriteScope,
} from '../links/index.ts'
import { isForeign, readRecords } from '../table/index.ts'
import type { CheckedOperation } from '../write/index.ts'

type Row = Extract<Operation, { kind: 'update' }>['rows'][number]

/**
 * Removes from undo and redo what is no longer possible: keys of deleted records, one-to-one partners that have
 * another one by now, and pairs that were added again. `skipped` counts them.
 */
export async function dropStaleOperations(
  scope: WriteScope,
  operations: CheckedOperation[],
): Promise<{ operations: CheckedOperation[]; skipped: number }> {
  let skipped = 0
  const remaining: CheckedOperation[] = []
  for (const operation of operations) {
    if (operation.kind !== 'restore' && operation.kind !== 'update') {
      remaining.push(operation)
      continue
    }
    const model = await scope.schema.loadWithKeys(operation.tableId)
    const rows = await dropStaleRows(scope, model, operation, operations, () => skipped++)
    if (rows.length > 0) remaining.push({ ...operation, rows })
  }
  return { operations: await inRunOrder(scope, remaining), skipped }
}

/** The stages of a run, in order, see `inRunOrder`. */
const STAGES = [
  'pairsGo',
  'keysLeave',
  'recordsGo',
  'valuesLeave',
  'parentsReturn',
  'childrenReturn',
  'pairsReturn',
  'values',
  'places',
] as const
type Stage = (typeof STAGES)[number]

/**
 * Sorts operations: junction rows are deleted before the records they name, which would take them along; required
 * keys change before the record they name is deleted; records are restored before the children and junction rows that
 * name them; values come last, when all records that their keys name exist. Unique values are cleared before records
 * with the same values are restored.
 */
async function inRunOrder(scope: WriteScope, operations: CheckedOperation[]): Promise<CheckedOperation[]> {
  const staged: { stage: Stage; operation: CheckedOperation }[] = []
  const returning = new Set(operations.filter(({ kind }) => kind === 'restore').map(({ tableId }) => tableId))
  for (const operation of operations) {
    const model = await scope.schema.loadWithKeys(operation.tableId)
    if (operation.kind === 'update') {
      const keys = requiredKeys(model, operation.rows, operations)
      if (keys.length > 0) staged.push({ stage: 'keysLeave', operation: { ...operation, rows: keys } })
      const emptied = returning.has(model.table.id) ? uniqueValues(model, operation.rows) : []
      if (emptied.length > 0)
        staged.push({ stage: 'valuesLeave', operation: { ...operation, rows: emptied } })
      staged.push({ stage: 'values', operation })
    } else if (operation.kind === 'restore') {
      const rows = parentsFirst(await relationsKeptIn(scope.schema, model), model, operation.rows)
      staged.push({ stage: await stageOf(scope, model, returning), operation: { ...operation, rows } })
    } else if (operation.kind === 'place') {
      staged.push({ stage: 'places', operation })
    } else {
      staged.push({ stage: model.table.isJunction ? 'pairsGo' : 'recordsGo', operation })
    }
  }
  const depths = await depthsOf(
    scope,
    operations.map(({ tableId }) => tableId),
  )
  const depth = ({ operation }: (typeof staged)[number]) => depths.get(operation.tableId) ?? 0
  return STAGES.flatMap((stage) =>
    staged
      .filter((one) => one.stage === stage)
      .toSorted((a, b) => (stage === 'recordsGo' ? depth(b) - depth(a) : depth(a) - depth(b)))
      .map(({ operation }) => operation),
  )
}

/** The number of ancestors of each table among the given ones: 0 for a table without a parent among them. */
async function depthsOf(scope: WriteScope, tableIds: string[]): Promise<Map<string, number>> {
  const among = new Map<string, TableModel>()
  for (const tableId of tableIds) among.set(tableId, await scope.schema.loadWithKeys(tableId))
  const parents = new Map<string, Set<string>>([...among.keys()].map((id) => [id, new Set()]))
  for (const [tableId, model] of among.size > 1 ? among : []) {
    for (const relation of await relationsKeptIn(scope.schema, model)) {
      const above = relation.kind === 'key' ? [relation.parent] : relation.sides.map((side) => side.model)
      for (const { table } of above) parents.get(tableId)?.add(table.id)
    }
    if (!isForeign(model)) continue
    // Foreign keys of several columns are not links.
    for (const { child } of await referencesTo(scope, model)) {
      const below = [...among.values()].find(({ table }) => table.tableName === child)
      if (below) parents.get(below.table.id)?.add(tableId)
    }
  }
  const depths = new Map<string, number>()
  const depthOf = (tableId: string, path: ReadonlySet<string>): number => {
    const known = depths.get(tableId)
    if (known !== undefined || path.has(tableId)) return known ?? 0
    const below = new Set(path).add(tableId)
    const above = [...(parents.get(tableId) ?? [])].filter((id) => id !== tableId && among.has(id))
    const depth = Math.max(0, ...above.map((id) => depthOf(id, below) + 1))
    depths.set(tableId, depth)
    return depth
  }
  for (const tableId of among.keys()) depthOf(tableId, new Set())
  return depths
}

/** Orders the rows of a self-referencing table, parents first. */
function parentsFirst<R extends Row>(relations: Relation[], model: TableModel, rows: R[]): R[] {
  const own = relations.flatMap((relation) =>
    relation.kind === 'key' && relation.parent.table.id === model.table.id ? [relation] : [],
  )
  if (own.length === 0 || rows.length < 2) return rows
  const byId = new Map(rows.map((row) => [String(row.id), row]))
  const parents = new Map<string, Set<string>>()
  for (const { key, parentField } of own) {
    const named = (row: R) => (parentField.isPrimaryKey ? row.id : row.values[parentField.id])
    const byValue = new Map(rows.map((row) => [String(named(row)), String(row.id)]))
    for (const row of rows) {
      const parent = byValue.get(String(row.values[key.id] ?? ''))
      if (parent === undefined || parent === String(row.id)) continue
      parents.set(String(row.id), (parents.get(String(row.id)) ?? new Set()).add(parent))
    }
  }
  const ids = rows.map(({ id }) => id)
  return behindTheirChildren(ids, parents)
    .toReversed()
    .flatMap((id) => byId.get(String(id)) ?? [])
}

async function stageOf(scope: WriteScope, model: TableModel, returning: Set<string>): Promise<Stage> {
  const relations = await relationsKeptIn(scope.schema, model)
  if (relations.some(({ kind }) => kind === 'pairs')) return 'pairsReturn'
  const isChild = relations.some(
    (relation) =>
      relation.kind === 'key' &&
      relation.parent.table.id !== model.table.id &&
      returning.has(relation.parent.table.id),
  )
  return isChild ? 'childrenReturn' : 'parentsReturn'
}

/** The required keys among the values, if the record they name already exists. */
function requiredKeys(model: TableModel, rows: Row[], operations: CheckedOperation[]): Row[] {
  const keys = model.fields.filter((field) => isForeignKey(field) && field.required)
  if (keys.length === 0 || !operations.some(({ kind }) => kind === 'delete')) return []
  const returning = new Set(
    operations.flatMap((operation) =>
      operation.kind === 'restore' ? operation.rows.map(({ id }) => String(id)) : [],
    ),
  )
  return rows.flatMap(({ id, values }) => {
    const given = keys.filter(
      (key) => (values[key.id] ?? null) !== null && !returning.has(String(values[key.id])),
    )
    return given.length > 0
      ? [{ id, values: Object.fromEntries(given.map((key) => [key.id, values[key.id] ?? null])) }]
      : []
  })
}

/** The rows with empty values in the unique fields that they change. */
function uniqueValues(model: TableModel, rows: Row[]): Row[] {
  return rows.flatMap(({ id, values }) => {
    const given = model.fields.filter((field) => field.unique && field.id in values)
    return given.length > 0
      ? [{ id, values: Object.fromEntries(given.map((field) => [field.id, null])) }]
      : []
  })
}

async function dropStaleRows(
  scope: WriteScope,
  model: TableModel,
  operation: Extract<CheckedOperation, { kind: 'restore' | 'update' }>,
  operations: CheckedOperation[],
  skip: () => void,
): Promise<Row[]> {
  let rows: Row[] = operation.rows
  const relations = await relationsKeptIn(scope.schema, model)
  for (const key of model.fields.filter(isForeignKey)) {
    const parent = parentOf(relations, key)
    if (!parent) continue
    const wanted = valuesOf(rows, key)
    const there = new Set([
      ...(await readColumn(scope, parent.model, { by: parent.field, wanted: parent.field }, wanted)).keys(),
      ...restoredValues(operations, parent.model, parent.field),
    ])
    for (const id of deletedIds(operations, parent.model)) there.delete(id)
    const taken = parent.relation?.isOneToOne
      ? await takenKeys(scope, parent.relation, operations, wanted)
      : null
    rows = rows.flatMap((row) => {
      const value = row.values[key.id] ?? null
      const stands = value === null || (there.has(String(value)) && !taken?.has(String(value)))
      if (stands) return [row]
      skip()
      return withoutKey(row, key, { isRestore: operation.kind === 'restore', isPair: model.table.isJunction })
    })
  }
  const pairs = relations.find((relation) => relation.kind === 'pairs')
  return pairs && operation.kind === 'restore' ? dropDoubles(scope, pairs, rows, operations) : rows
}

/** Removes a key from a row; drops junction rows whose key is missing. */
function withoutKey(
  row: Row,
  key: Field,
  { isRestore, isPair }: { isRestore: boolean; isPair: boolean },
): Row[] {
  if (isPair) return []
  const { [key.id]: _, ...values } = row.values
  if (isRestore) return [{ ...row, values: { ...values, [key.id]: null } }]
  return Object.keys(values).length > 0 ? [{ ...row, values }] : []
}

const valuesOf = (rows: { values: Values }[], field: Field): CellValue[] =>
  [...new Set(rows.map(({ values }) => values[field.id] ?? null))].filter((value) => value !== null)

/** The values of a field in the records that the same change restores. */
function* restoredValues(operations: CheckedOperation[], model: TableModel, field: Field): Generator<string> {
  for (const operation of operations) {
    if (operation.kind !== 'restore' || operation.tableId !== model.table.id) continue
    for (const { id, values } of operation.rows) {
      yield String(field.isPrimaryKey ? id : (values[field.id] ?? null))
    }
  }
}

function* deletedIds(operations: CheckedOperation[], model: TableModel): Generator<string> {
  for (const operation of operations) {
    if (operation.kind !== 'delete' || operation.tableId !== model.table.id) continue
    for (const id of operation.ids) yield String(id)
  }
}

/** Keys of one-to-one parents that have another child which this change leaves alone. */
async function takenKeys(
  scope: WriteScope,
  { child, key }: KeyRelation,
  operations: CheckedOperation[],
  wanted: CellValue[],
): Promise<Set<string>> {
  const ours = new Set(
    operations.flatMap((operation) => {
      if (operation.tableId !== child.table.id) return []
      if (operation.kind === 'delete') return operation.ids.map(String)
      if (operation.kind !== 'update' && operation.kind !== 'restore') return []
      return operation.rows.filter(({ values }) => key.id in values).map(({ id }) => String(id))
    }),
  )
  const holders = (await idsWhere(scope, child, key, wanted)).filter((id) => !ours.has(String(id)))
  const held = await readRecords(contextFor(scope, child), holders, [key])
  return new Set([...held.values()].map((values) => String(values[key.id])))
}

/** Drops pairs that already exist under another id. */
async function dropDoubles(
  scope: WriteScope,
  { junction, sides }: PairRelation,
  rows: Row[],
  operations: CheckedOperation[],
): Promise<Row[]> {
  const [one, other] = sides
  const going = new Set(deletedIds(operations, junction))
  const lefts = valuesOf(rows, one.key)
  const standing = await idsWhere(scope, junction, one.key, lefts)
  const staying: RecordId[] = standing.filter((id) => !going.has(String(id)))
  const known = await readRecords(contextFor(scope, junction), staying, [one.key, other.key])
  const pairOf = (values: Values) => `${values[one.key.id]} ${values[other.key.id]}`
  const present = new Set([...known.values()].map(pairOf))
  return rows.filter(({ values }) => !present.has(pairOf(values)))
}
