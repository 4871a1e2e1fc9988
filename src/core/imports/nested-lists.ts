import { linkOf } from '../fields/link-options.ts'
import { isFilledByImport } from '../fields/traits.ts'
import type { Field } from '../model.ts'
import type { DraftColumn, DraftTarget } from './draft.ts'

/* Lists of objects within the records of a file, whose own records are linked to those that have the lists. */

/** True for a table of a connected database. An import links there only a new table to another one that it creates with it. */
const isConnected = (target: DraftTarget): boolean =>
  target.kind === 'new'
    ? target.sourceId !== undefined
    : target.fields.some(({ databaseType }) => databaseType !== null)

/** The link field that a column with lists is mapped to: their records go into its table. Null for no such field. */
export function fieldForList(target: DraftTarget, column: DraftColumn | undefined): Field | null {
  if (target.kind === 'new' || isConnected(target) || !column) return null
  const field = target.fields.find(({ id }) => id === column.fieldId)
  return field && linkOf(field) ? field : null
}

/** The fields of an existing table that link its records to those of another one. */
export function fieldsForParent(target: DraftTarget, parent: DraftTarget): Field[] {
  if (target.kind === 'new' || parent.kind === 'new' || isConnected(target)) return []
  return target.fields.filter((field) => {
    const link = linkOf(field)
    if (link?.relatedTableId !== parent.tableId) return false
    // The other end of a table's link to itself is a system field.
    const isOtherEnd = parent.fields.some(({ id }) => id === link.inverseFieldId)
    return isFilledByImport({ ...field, isSystem: field.isSystem && !isOtherEnd })
  })
}

/**
 * How the records of a list are linked to those that have it: by a field of the existing table that they go into, or by a new one
 * (null). Undefined if they cannot be linked.
 * @param own the column with the rows of the records that have them
 * @param parent the table of these records, and its column with the lists
 */
export function linkToParent(
  target: DraftTarget,
  own: DraftColumn,
  parent: { target: DraftTarget; list: DraftColumn | undefined },
): Field | null | undefined {
  if (target.kind === 'new') {
    const isNewBeside = parent.target.kind === 'new' && parent.target.sourceId === target.sourceId
    return isNewBeside || (!isConnected(target) && !isConnected(parent.target)) ? null : undefined
  }
  const fields = fieldsForParent(target, parent.target)
  const mapped = fieldForList(parent.target, parent.list)
  const inverseId = mapped && linkOf(mapped)?.inverseFieldId
  return fields.find(({ id }) => id === own.fieldId) ?? fields.find(({ id }) => id === inverseId) ?? fields[0]
}

/** The tables of an import that have a preview together: existing ones, and the lists in their records that go into existing ones. */
export function previewable<
  Draft extends { key: number; parent: { key: number } | null; target: DraftTarget },
>(drafts: readonly Draft[]): Draft[] {
  const isPreviewed = ({ target, parent }: Draft): boolean => {
    const above = drafts.find(({ key }) => key === parent?.key)
    return target.kind === 'append' && (above === undefined || isPreviewed(above))
  }
  return drafts.filter(isPreviewed)
}
