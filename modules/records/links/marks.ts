import { breathe, breathing } from '../../../src/breathe.ts'
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
    for await (const { recordId, field, links } of breathing(ofTable)) {
      const change = known.get(String(recordId))
      // Deleted records need no mark.
      if (change?.after) change.after = { ...change.after, [field.id]: deltaOf(links) }
    }
  }
  return [...changes, ...touched]
}

async function collect(scope: WriteScope, changes: RecordChange[]): Promise<Mark[]> {
  const byField = new Map<string, Map<RecordId, Mark>>()
  const tell: Tell = (model, recordId, field, kind, other) => {
    if (!field) return
    const ofField = byField.get(field.id) ?? new Map<RecordId, Mark>()
    byField.set(field.id, ofField)
    const mark = ofField.get(recordId) ?? { model, recordId, field, links: new Map() }
    ofField.set(recordId, mark)
    mark.links.set(other, (mark.links.get(other) ?? kind) === kind ? kind : 'both')
  }
  for (const [tableId, ofTable] of Map.groupBy(changes, (change) => change.tableId)) {
    const model = await scope.schema.loadWithKeys(tableId)
    for (const relation of await relationsKeptIn(scope.schema, model)) {
      if (!relation.isLive) continue
      if (relation.kind === 'key') await collectKeys(scope, relation, ofTable, tell)
      else await collectPairs(relation, ofTable, tell)
    }
  }
  const isChanged = ({ links }: Mark) => links.values().some((kind) => kind !== 'both')
  return byField
    .values()
    .flatMap((marks) => marks.values().filter(isChanged))
    .toArray()
}

function deltaOf(links: Mark['links']): CellValue {
  const of = (kind: 'linked' | 'unlinked') => [...links].flatMap(([id, each]) => (each === kind ? [id] : []))
  return linkDelta(of('linked'), of('unlinked'))
}

type Tell = (
  model: TableModel,
  recordId: RecordId,
  field: Field | null,
  kind: 'linked' | 'unlinked',
  other: RecordId,
) => void

async function collectKeys(
  scope: WriteScope,
  { child, key, parent, parentField, childLink, parentLink }: KeyRelation,
  changes: RecordChange[],
  tell: Tell,
): Promise<void> {
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
  for await (const { recordId, from, to } of breathing(moves)) {
    for (const [value, kind] of [[from, 'unlinked'] as const, [to, 'linked'] as const]) {
      const parentId = value === null ? undefined : parents.get(String(value))
      if (parentId === undefined) continue
      tell(child, recordId, childLink, kind, parentId)
      tell(parent, parentId, parentLink, kind, recordId)
    }
  }
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

async function collectPairs({ sides }: PairRelation, changes: RecordChange[], tell: Tell): Promise<void> {
  const [one, other] = sides
  for await (const { before, after } of breathing(changes)) {
    const from = pairIn(before, one.key, other.key)
    const to = pairIn(after, one.key, other.key)
    for (const [pair, kind] of [[from, 'unlinked'] as const, [to, 'linked'] as const]) {
      if (!pair) continue
      const [left, right] = [storedId(one.model, pair[0]), storedId(other.model, pair[1])]
      tell(one.model, left, one.link, kind, right)
      tell(other.model, right, other.link, kind, left)
    }
  }
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

/** Stamps records as modified; deleted ones are skipped. */
async function stamp(scope: WriteScope, model: TableModel, ids: RecordId[]): Promise<RecordChange[]> {
  const { tx, dialect, now, actorId } = scope
  const stamps = stampsOf(model)
  const old = await readRecords(contextFor(scope, model), ids, stamps)
  const there = ids.filter((id) => old.has(String(id)))
  const stampedWith = (field: Field) => (columnName(field) === 'updated_at' ? now : actorId)
  const assignments = stamps.map(
    (field, index) => `${dialect.quote(columnName(field))} = ${dialect.placeholder(index)}`,
  )
  for (const chunk of stamps.length > 0 ? chunks(there) : []) {
    await breathe()
    const where = idInText(dialect, model, chunk, stamps.length)
    await tx.run({
      sql: `update ${dialect.quote(model.table.tableName)} set ${assignments.join(', ')} where ${where.sql}`,
      params: [...stamps.map(stampedWith), ...where.params],
    })
  }
  const after = Object.fromEntries(stamps.map((field) => [field.id, stampedWith(field)]))
  return there.map((id) => ({
    tableId: model.table.id,
    recordId: id,
    before: old.get(String(id)) ?? {},
    after: { ...after },
  }))
}

/**
 * The change of a record’s link field, stored under the field’s id in `after`: `{"linked":[3,4],"unlinked":[]}`. It
 * has no counterpart in `before` and is never the field’s value: views reload the link, the history shows these
 * records.
 */
export const linkDelta = (linked: RecordId[], unlinked: RecordId[]): CellValue =>
  JSON.stringify({ linked, unlinked })
