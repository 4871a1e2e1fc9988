import type { Values } from '../../../../src/core/changes.ts'
import { resolveZone } from '../../../../src/core/dates.ts'
import { isComputed, isNamedLink, shownType } from '../../../../src/core/fields/field.ts'
import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import { parseInstant } from '../../../../src/core/fields/instant-text.ts'
import { hasGroupKey } from '../../../../src/core/group-key.ts'
import type { Field, RecordId } from '../../../../src/core/model.ts'
import { type GroupNode, groupAt, placeOf } from '../../../grid/groups/tree.ts'
import { timeZone } from '../../../time-zone.ts'
import { fieldOf, isWritable, type TableContext } from '../context/table-context.ts'

/** Values that put a record into a group. */
export interface GroupValues {
  values: Values
  /** Computed or read-only fields whose value cannot be set. */
  unwritable: Field[]
}

/** The writable values that a record needs to be in a group. */
export function valuesOfGroup(context: TableContext, group: GroupNode): GroupValues {
  const tree = context.groups?.layout.tree.get()
  const values: Values = {}
  const unwritable: Field[] = []
  for (const [level, key] of group.keys.entries()) {
    const field = fieldOf(context, tree?.levels[level]?.fieldId ?? null)
    if (!field) continue
    const value = valueFor(context, field, key, group)
    if (value === undefined) unwritable.push(field)
    else values[field.id] = value
  }
  return { values, unwritable }
}

/** Undefined if the value cannot be written. */
function valueFor(
  context: TableContext,
  field: Field,
  key: CellValue,
  group: GroupNode,
): CellValue | undefined {
  if (isNamedLink(field)) return key === null ? null : linkIn(context, field, key, group)
  if (isComputed(field) || !isWritable(field)) return undefined
  if (key === null || shownType(field).type.storage !== 'datetime') return key
  const zone = typeof field.options.timeZone === 'string' ? field.options.timeZone : 'local'
  const ownZone = zone === 'local' ? timeZone : resolveZone(zone)
  return parseInstant(String(key), { format: 'YYYY-MM-DD', timeZone: ownZone }) ?? undefined
}

/** Link groups have only the name of the linked record, so its id comes from a record of the group. */
function linkIn(
  { store, groups }: TableContext,
  field: Field,
  key: CellValue,
  group: GroupNode,
): CellValue | undefined {
  const tree = groups?.layout.tree.get()
  const place = tree && placeOf(tree, group.keys)
  if (!place) return undefined
  for (let row = place.first; row < place.first + Math.min(place.node.count, MAX_LOOKED_AT); row++) {
    const value = store.source.getRow(row)?.values(field.id)
    if (value != null && hasGroupKey(field, value, key, timeZone)) return value
  }
  return undefined
}

const MAX_LOOKED_AT = 200

/**
 * Adds a draft record before another or at the end. In a grouped view it gets the values of the group of the row
 * `beside`. Returns its row; null if it cannot be created yet.
 */
export function offerRecord(
  context: TableContext,
  before: RecordId | null,
  beside: number | undefined,
): number | null {
  const { store, groups } = context
  const tree = groups?.layout.tree.get()
  const group = tree && beside !== undefined ? groupAt(tree, beside) : null
  if (!groups || !group) return store.addRow(before)
  const at = before === null ? undefined : store.source.indexOf(before)
  const end = group.first + group.node.count
  const isInside = at !== undefined && at >= group.first && at < end
  const { values } = valuesOfGroup(context, group.node)
  return groups.layout.insertInto(group.node, () =>
    store.addRow(isInside ? before : null, { index: isInside ? at : end, values }),
  )
}

/** Adds a draft record at the end of a group; returns its row. */
export function offerRecordIn(context: TableContext, group: GroupNode): number | null {
  const tree = context.groups?.layout.tree.get()
  const place = tree && placeOf(tree, group.keys)
  if (!place) return null
  const { values } = valuesOfGroup(context, place.node)
  const index = place.first + place.node.count
  return (
    context.groups?.layout.insertInto(place.node, () => context.store.addRow(null, { index, values })) ?? null
  )
}
