import type { RecordId } from '../../../../src/core/model.ts'
import { type GroupNode, groupAt, placeOf } from '../../../grid/groups/tree.ts'
import type { TableContext } from '../context/table-context.ts'
import { valuesOfGroup } from './group-values.ts'

/**
 * Offers a new record ahead of another, or at the end. In a grouped view it is one of the group of the row
 * `beside`, with the values of that group. Gives its row; null where it cannot be made yet.
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
  return groups.layout.into(group.node, () =>
    store.addRow(isInside ? before : null, { index: isInside ? at : end, values }),
  )
}

/** Offers a new record at the end of a group; gives its row. */
export function offerRecordIn(context: TableContext, group: GroupNode): number | null {
  const tree = context.groups?.layout.tree.get()
  const place = tree && placeOf(tree, group.keys)
  if (!place) return null
  const { values } = valuesOfGroup(context, place.node)
  const index = place.first + place.node.count
  return context.groups?.layout.into(place.node, () => context.store.addRow(null, { index, values })) ?? null
}
