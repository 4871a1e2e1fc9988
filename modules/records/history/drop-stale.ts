import type { Operation, Values } from '../../../src/core/changes.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { isForeignKey } from '../../../src/core/fields/traits.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import type { TableModel } from '../../schema/index.ts'
import {
  behindTheirChildren,
  idsWhere,
  type KeyRelation,
  type PairRelation,
  parentOf,
  type Relation,
  readColumn,
  referencesTo,
  relationsKeptIn,
  type WriteScope,
  within,
} from '../links/index.ts'
import { isForeign, readRecords } from '../table/index.ts'
import type { CheckedOperation } from '../write/index.ts'

type Row = Extract<Operation, { kind: 'update' }>['rows'][number]

/**
 * What undo and redo are about to write, without what can stand no more: keys of records that are gone by
 * now, partners that have another one since, and pairs that someone has made again. All of that is left
 * as others have made it. `skipped` counts it.
 */
export async function settleOperations(
  scope: WriteScope,
  operations: CheckedOperation[],
): Promise<{ operations: CheckedOperation[]; skipped: number }> {
  let skipped = 0
  const settled: CheckedOperation[] = []
  for (const operation of operations) {
    if (operation.kind !== 'restore' && operation.kind !== 'update') {
      settled.push(operation)
      continue
    }
    const model = await scope.schema.loadWithKeys(operation.tableId)
    const rows = await settleRows(scope, model, operation, operations, () => skipped++)
    if (rows.length > 0) settled.push({ ...operation, rows })
  }
  return { operations: await inOrder(scope, settled), skipped }
}

/** The order in which operations are run, see `inOrder`. */
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
 * Pairs go before the records that they name, which would take the pairs with them; keys that must not be
 * empty lead elsewhere before the record that they name goes; records come back before the children and pairs
 * that name them, and values come last, once all that keys among them name is there. What is unique is let go
 * before records come back that have it.
 */
async function inOrder(scope: WriteScope, operations: CheckedOperation[]): Promise<CheckedOperation[]> {
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

/** How many of the tables stand above each of them, as parents of parents: 0 for one without a parent among them. */
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
    // Foreign keys of several columns are no links.
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

/** Rows of a table that refers to itself, each behind the record that it names. */
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

/** Of rows' values the keys that must not be empty, where the record that they name is there already. */
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

/** The rows with nothing in the unique fields that they are about to change. */
function uniqueValues(model: TableModel, rows: Row[]): Row[] {
  return rows.flatMap(({ id, values }) => {
    const given = model.fields.filter((field) => field.unique && field.id in values)
    return given.length > 0
      ? [{ id, values: Object.fromEntries(given.map((field) => [field.id, null])) }]
      : []
  })
}

async function settleRows(
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
      return without(row, key, { isRestore: operation.kind === 'restore', isPair: model.table.isJunction })
    })
  }
  const pairs = relations.find((relation) => relation.kind === 'pairs')
  return pairs && operation.kind === 'restore' ? dropDoubles(scope, pairs, rows, operations) : rows
}

/** The row without a key that cannot be: a pair that lacks one is none. */
function without(
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

/** What the records that come back in the same change have in a field. */
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

/** Keys of parents that have one child alone, and have another by now, which this change leaves as it is. */
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
  const held = await readRecords(within(scope, child), holders, [key])
  return new Set([...held.values()].map((values) => String(values[key.id])))
}

/** Without the pairs that are there already under another id. */
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
  const known = await readRecords(within(scope, junction), staying, [one.key, other.key])
  const pairOf = (values: Values) => `${values[one.key.id]} ${values[other.key.id]}`
  const present = new Set([...known.values()].map(pairOf))
  return rows.filter(({ values }) => !present.has(pairOf(values)))
}
