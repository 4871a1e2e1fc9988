import { breathe, forEachBreathing } from '../../../src/breathe.ts'
import type { RecordChange, Values } from '../../../src/core/changes.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import type { TableModel } from '../../schema/index.ts'
import { chunks, columnName, idInText, perModel, readRecords, storedId } from '../table/index.ts'
import { readColumn } from './read-pairs.ts'
import {
  contextFor,
  isWholeId,
  type KeyRelation,
  type PairRelation,
  relationsKeptIn,
  type WriteScope,
} from './relation.ts'

/** The records that a link field gained and lost in a change: `both` for a link that was removed and added again. */
interface Mark {
  model: TableModel
  recordId: RecordId
  field: Field
  links: Map<RecordId, 'linked' | 'unlinked' | 'both'>
}

/**
 * Marks both ends of every link that a change made or removed, whatever wrote the keys and junction rows (a link, a
 * deletion, a program, an undo): the records get the link field’s id in their `after` with a `linkDelta`, and are
 * stamped as modified.
 *
 * The mark is only in `after`: undo reads `before`, which has the keys and junction rows themselves, and so ignores
 * it.
 *
 * @param changes one per record, as from `mergeChanges`
 * @returns the changes with marks, followed by those of records that are only marked
 */
export async function markLinks(scope: WriteScope, changes: RecordChange[]): Promise<RecordChange[]> {
  const marks = await collect(scope, changes)
  if (marks.length === 0) return changes
  const touched: RecordChange[] = []
  for (const [tableId, ofTable] of Map.groupBy(marks, ({ model }) => model.table.id)) {
    const known = new Map<string, RecordChange>()
    for (const change of changes) if (change.tableId === tableId) known.set(String(change.recordId), change)
    const others = ofTable.filter(({ recordId }) => !known.has(String(recordId)))
    const ids = new Set(others.map(({ recordId }) => recordId))
    for (const change of await stamp(scope, ofTable[0]!.model, [...ids])) {
      known.set(String(change.recordId), change)
      touched.push(change)
    }
    const marked = createMarked()
    await forEachBreathing(ofTable, ({ recordId, field, links }) => {
      const change = known.get(String(recordId))
      // Deleted records need no mark.
      if (change?.after) change.after = marked(change.after, field, deltaOf(links))
    })
  }
  return [...changes, ...touched]
}

/**
 * Returns values with a mark. Records that are linked to the same one get the same object, which is then written to the
 * log as one text.
 */
function createMarked() {
  let last: { after: Values; fieldId: string; delta: CellValue; marked: Values } | null = null
  return (after: Values, { id: fieldId }: Field, delta: CellValue): Values => {
    if (last?.after === after && last.fieldId === fieldId && last.delta === delta) return last.marked
    const marked = { ...after, [fieldId]: delta }
    last = { after, fieldId, delta, marked }
    return marked
  }
}

async function collect(scope: WriteScope, changes: RecordChange[]): Promise<Mark[]> {
  const byField = new Map<string, Map<RecordId, Mark>>()
  const markerOf: MarkerOf = (model, field) => {
    if (!field) return () => {}
    const marks = byField.get(field.id) ?? new Map<RecordId, Mark>()
    byField.set(field.id, marks)
    return (recordId, kind, other) => {
      const mark = marks.get(recordId)
      if (!mark) {
        marks.set(recordId, { model, recordId, field, links: new Map([[other, kind]]) })
        return
      }
      const { links } = mark
      links.set(other, (links.get(other) ?? kind) === kind ? kind : 'both')
    }
  }
  for (const [tableId, ofTable] of Map.groupBy(changes, (change) => change.tableId)) {
    const model = await scope.schema.loadWithKeys(tableId)
    for (const relation of await relationsKeptIn(scope.schema, model)) {
      if (!relation.isLive) continue
      if (relation.kind === 'key') await collectKeys(scope, relation, ofTable, markerOf)
      else await collectPairs(relation, ofTable, markerOf)
    }
  }
  const isChanged = ({ links }: Mark) => links.values().some((kind) => kind !== 'both')
  return byField
    .values()
    .flatMap((marks) => marks.values().filter(isChanged))
    .toArray()
}

function deltaOf(links: Mark['links']): CellValue {
  const linked: RecordId[] = []
  const unlinked: RecordId[] = []
  for (const [id, kind] of links) {
    if (kind === 'linked') linked.push(id)
    else if (kind === 'unlinked') unlinked.push(id)
  }
  return linkDelta(linked, unlinked)
}

/** Returns a function that marks records of one end of a link; one that does nothing for an end without a field. */
type MarkerOf = (
  model: TableModel,
  field: Field | null,
) => (recordId: RecordId, kind: 'linked' | 'unlinked', other: RecordId) => void

async function collectKeys(
  scope: WriteScope,
  { child, key, parent, parentField, childLink, parentLink }: KeyRelation,
  changes: RecordChange[],
  markerOf: MarkerOf,
): Promise<void> {
  const [markChild, markParent] = [markerOf(child, childLink), markerOf(parent, parentLink)]
  const moves = changes.flatMap(({ recordId, before, after }) => {
    const [from, to] = [valueIn(before, key), valueIn(after, key)]
    return from === to ? [] : [{ recordId: storedId(child, recordId), from, to }]
  })
  const parents = await parentIds(
    scope,
    parent,
    parentField,
    moves.flatMap(({ from, to }) => [from, to]),
  )
  await forEachBreathing(moves, ({ recordId, from, to }) => {
    for (const [value, kind] of [[from, 'unlinked'] as const, [to, 'linked'] as const]) {
      const parentId = value === null ? undefined : parents.get(String(value))
      if (parentId === undefined) continue
      markChild(recordId, kind, parentId)
      markParent(parentId, kind, recordId)
    }
  })
}

/** The ids of parents by the key values of their children, as text. */
async function parentIds(
  scope: WriteScope,
  parent: TableModel,
  parentField: Field,
  values: CellValue[],
): Promise<Map<string, RecordId>> {
  const keys = [...new Set(values)].filter((value) => value !== null && typeof value !== 'boolean')
  if (isWholeId(parent, parentField)) {
    return new Map(keys.map((value) => [String(value), storedId(parent, value)]))
  }
  const found = await readColumn(scope, parent, { by: parentField, wanted: parent.primaryKey }, keys)
  return new Map([...found].map(([value, id]) => [value, storedId(parent, id as RecordId)]))
}

async function collectPairs(
  { sides: [one, other] }: PairRelation,
  changes: RecordChange[],
  markerOf: MarkerOf,
): Promise<void> {
  const [markOne, markOther] = [markerOf(one.model, one.link), markerOf(other.model, other.link)]
  const mark = (pair: [RecordId, RecordId] | null, kind: 'linked' | 'unlinked') => {
    if (!pair) return
    const [left, right] = [storedId(one.model, pair[0]), storedId(other.model, pair[1])]
    markOne(left, kind, right)
    markOther(right, kind, left)
  }
  await forEachBreathing(changes, ({ before, after }) => {
    mark(pairIn(before, one.key, other.key), 'unlinked')
    mark(pairIn(after, one.key, other.key), 'linked')
  })
}

const valueIn = (values: Values | null, key: Field): CellValue => values?.[key.id] ?? null

function pairIn(values: Values | null, one: Field, other: Field): [RecordId, RecordId] | null {
  const [left, right] = [valueIn(values, one), valueIn(values, other)]
  if (left === null || right === null || typeof left === 'boolean' || typeof right === 'boolean') return null
  return [left, right]
}

const stampsOf = perModel((model) =>
  model.fields.filter((field) => field.isSystem && /^updated_(at|by)$/.test(columnName(field))),
)

/**
 * Finds records by their ids, as text, and remembers what `markLinks` reads of them, so that it need not read them again
 * in the same transaction: a record that is changed before that is stamped by its own change.
 */
export async function readStamped(
  scope: WriteScope,
  model: TableModel,
  ids: RecordId[],
): Promise<Map<string, Values>> {
  const found = await readRecords(contextFor(scope, model), ids, stampsOf(model))
  scope.stamps ??= new Map()
  const known = scope.stamps.get(model) ?? new Map<string, Values>()
  scope.stamps.set(model, known)
  for (const [id, values] of found) known.set(id, values)
  return found
}

/** Stamps records as modified; deleted ones are skipped. */
async function stamp(scope: WriteScope, model: TableModel, ids: RecordId[]): Promise<RecordChange[]> {
  const { tx, dialect, now, actorId } = scope
  const stamps = stampsOf(model)
  const known = scope.stamps?.get(model)
  const unknown = known ? ids.filter((id) => !known.has(String(id))) : ids
  const read = unknown.length > 0 ? await readRecords(contextFor(scope, model), unknown, stamps) : null
  const oldOf = (id: RecordId) => known?.get(String(id)) ?? read?.get(String(id))
  const there = ids.filter((id) => oldOf(id))
  const stampedWith = (field: Field) => (columnName(field) === 'updated_at' ? now : actorId)
  const assignments = stamps.map(
    (field, index) => `${dialect.quote(columnName(field))} = ${dialect.placeholder(index)}`,
  )
  for (const chunk of stamps.length > 0 ? chunks(there) : []) {
    await breathe()
    const where = idInText(dialect, model, chunk, stamps.length)
    // Not waited for, as the number of records is known.
    await tx.runMany(
      `update ${dialect.quote(model.table.tableName)} set ${assignments.join(', ')} where ${where.sql}`,
      [[...stamps.map(stampedWith), ...where.params]],
    )
  }
  // Shared by all, see `createMarked`.
  const after = Object.fromEntries(stamps.map((field) => [field.id, stampedWith(field)]))
  const isSame = (a: Values, b: Values) => stamps.every(({ id }) => a[id] === b[id])
  let last: Values = {}
  return there.map((id) => {
    const before = oldOf(id) ?? {}
    if (!isSame(before, last)) last = before
    return { tableId: model.table.id, recordId: id, before: last, after }
  })
}

/**
 * The change of a record’s link field, stored under the field’s id in `after`: `{"linked":[3,4],"unlinked":[]}`. It
 * has no counterpart in `before` and is never the field’s value: views reload the link, the history shows these
 * records.
 */
export const linkDelta = (linked: RecordId[], unlinked: RecordId[]): CellValue =>
  JSON.stringify({ linked, unlinked })
