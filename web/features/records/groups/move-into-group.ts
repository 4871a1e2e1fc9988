import type { Operation } from '../../../../src/core/changes.ts'
import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import { hasGroupKey } from '../../../../src/core/group-key.ts'
import type { RecordId } from '../../../../src/core/model.ts'
import type { GroupNode } from '../../../grid/groups/tree.ts'
import { m } from '../../../messages.gen.ts'
import { timeZone } from '../../../time-zone.ts'
import { toast } from '../../../ui/toast.ts'
import type { TableContext } from '../context/table-context.ts'
import { valuesOfGroup } from './group-values.ts'

/**
 * Sets the values of a group in records and, in table order, moves them to a position in it, as one change. Leaves
 * equal values unchanged.
 */
export async function moveIntoGroup(
  context: TableContext,
  ids: readonly RecordId[],
  before: RecordId | null,
  group: GroupNode,
): Promise<void> {
  const { store, schema, groups } = context
  const tree = groups?.layout.tree.get()
  if (!groups || !tree) return
  const { id: tableId } = schema.table
  const { values, unwritable } = valuesOfGroup(context, group)
  const hasKey = (id: RecordId, fieldId: string, key: CellValue) => {
    const field = schema.fields.find((each) => each.id === fieldId)
    return field ? hasGroupKey(field, store.row(id)?.values(fieldId) ?? null, key, timeZone) : key === null
  }
  const differing = (id: RecordId) =>
    tree.levels.filter((level, at) => {
      const key = group.keys[at]
      return key !== undefined && !hasKey(id, level.fieldId, key)
    })
  const fixed = unwritable.find((field) =>
    ids.some((id) => differing(id).some((l) => l.fieldId === field.id)),
  )
  if (fixed) {
    toast.error({
      text: m.records_field_read_only_records_cant({ field: fixed.title }),
    })
    return
  }
  const rows = ids.flatMap((id) => {
    const own = differing(id).map(({ fieldId }) => [fieldId, values[fieldId] ?? null] as const)
    return own.length === 0 ? [] : [{ id, values: Object.fromEntries(own) }]
  })
  const isSorted = store.query().sorts.length > 0
  if (isSorted && rows.length === 0) {
    toast.warning({ text: m.records_remove_sort_reorder_records_manually() })
    return
  }
  const operations: Operation[] = [
    ...(isSorted ? [] : [{ kind: 'move' as const, tableId, ids: [...ids], before }]),
    ...(rows.length === 0 ? [] : [{ kind: 'update' as const, tableId, rows }]),
  ]
  await groups.layout.insertInto(group, () => store.apply(operations))
  if (rows.length > 0) store.refreshSoon()
}
