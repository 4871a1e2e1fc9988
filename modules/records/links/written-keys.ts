import type { RecordChange, Values } from '../../../src/core/changes.ts'
import type { AppError } from '../../../src/core/errors.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { valueError } from '../../../src/core/fields/read.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import { m } from '../../../src/messages.gen.ts'
import type { TableModel } from '../../schema/index.ts'
import { updateRecords } from '../rows/index.ts'
import { foreignKeysOf, readRecords } from '../table/index.ts'
import { idsWhere } from './cascade.ts'
import { requiredLink } from './change-links.ts'
import { readColumn } from './read-pairs.ts'
import { contextFor, type KeyRelation, type Relation, relationsKeptIn, type WriteScope } from './relation.ts'

/** A record to write; without an id, a new one. */
export interface KeyedRow {
  id?: RecordId
  values: Values
}

/**
 * Checks keys that are written directly, by programs or by single links: each must refer to a record. In one-to-one
 * relations the previous child releases the parent; if several rows claim the same parent, the last one gets it and
 * the `values` of the others are cleared.
 *
 * @throws INVALID_VALUE_FOR_FIELD naming the field and the key; REQUIRED_FIELD_MISSING
 */
export async function resolveKeys(
  scope: WriteScope,
  model: TableModel,
  rows: KeyedRow[],
): Promise<RecordChange[]> {
  const given = foreignKeysOf(model).filter((field) =>
    rows.some(({ values }) => (values[field.id] ?? null) !== null),
  )
  if (given.length === 0) return []
  const changes: RecordChange[] = []
  const relations = await relationsKeptIn(scope.schema, model)
  for (const key of given) {
    const parent = parentOf(relations, key)
    if (!parent) continue
    const wanted = [...new Set(rows.map(({ values }) => values[key.id] ?? null))].filter((v) => v !== null)
    const there = await readColumn(scope, parent.model, { by: parent.field, wanted: parent.field }, wanted)
    const missing = wanted.find((value) => !there.has(String(value)))
    if (missing !== undefined) throw unknownParent(key, parent.model, missing)
    if (parent.relation?.isOneToOne) {
      for (const change of await releaseHolders(scope, parent.relation, rows, wanted)) changes.push(change)
    }
  }
  return changes
}

/** The parent that a key refers to; `relation` for keys of children, null for those of junctions. */
export function parentOf(
  relations: Relation[],
  key: Field,
): { model: TableModel; field: Field; relation: KeyRelation | null } | null {
  for (const relation of relations) {
    if (relation.kind === 'key') {
      if (relation.key.id === key.id) return { model: relation.parent, field: relation.parentField, relation }
      continue
    }
    const side = relation.sides.find((candidate) => candidate.key.id === key.id)
    if (side) return { model: side.model, field: side.model.primaryKey, relation: null }
  }
  return null
}

/** One-to-one: clears the key of the records that hold a key given to another. */
async function releaseHolders(
  scope: WriteScope,
  relation: KeyRelation,
  rows: KeyedRow[],
  wanted: CellValue[],
): Promise<RecordChange[]> {
  const { child, key } = relation
  const winners = new Map<string, KeyedRow>()
  for (const row of rows) {
    const value = row.values[key.id] ?? null
    if (value !== null) winners.set(String(value), row)
  }
  for (const row of rows) {
    const value = row.values[key.id] ?? null
    if (value === null || winners.get(String(value)) === row) continue
    if (key.required) throw requiredLink(relation)
    row.values[key.id] = null
  }
  const context = contextFor(scope, child)
  const holders = await idsWhere(scope, child, key, wanted)
  const held = await readRecords(context, holders, [key])
  const losing = holders.filter((id) => {
    const winner = winners.get(String(held.get(String(id))?.[key.id]))
    return winner?.id === undefined || String(winner.id) !== String(id)
  })
  const isRewritten = (id: RecordId) =>
    rows.some((row) => String(row.id) === String(id) && (row.values[key.id] ?? null) !== null)
  if (key.required && losing.some((id) => !isRewritten(id))) throw requiredLink(relation)
  return updateRecords(
    context,
    losing.map((id) => ({ id, values: { [key.id]: null } })),
  )
}

function unknownParent(key: Field, parent: TableModel, value: CellValue): AppError {
  return valueError(key, value, {
    ok: false,
    fault: 'value',
    message: m.records_error_no_parent({ table: parent.table.title, id: String(value) }),
  })
}
