import { filterSetOf } from '../../../../src/core/fields/field.ts'
import type { FilterSet } from '../../../../src/core/fields/field-type.ts'
import { type Field, MAX_GROUPS, type Sort } from '../../../../src/core/model.ts'
import { m } from '../../../messages.gen.ts'
import { SortMenu } from './sort-menu.tsx'

export interface GroupsMenuProps {
  /** Groupable fields in view order. */
  fields: readonly Field[]
  groups: readonly Sort[]
  onChange: (groups: Sort[]) => void
}

/** Editor for a view's grouping, the outermost field first. */
export function GroupsMenu({ fields, groups, onChange }: GroupsMenuProps) {
  return (
    <SortMenu
      fields={fields}
      sorts={groups}
      onChange={onChange}
      max={MAX_GROUPS}
      suggest={suggestGroup}
      words={{
        none: m.views_group_records_same_value(),
        add: m.views_add_group(),
        remove: (field) => m.views_remove_group_by_field({ field }),
      }}
    />
  )
}

/** Field types whose values many records share, the most suitable first; a text field would give one record per group. */
const GROUPING_WELL: readonly FilterSet[] = ['select', 'checkbox', 'user', 'multiSelect', 'date']

/** The most suitable field for grouping; null if none is. */
function suggestGroup(fields: readonly Field[]): Field | null {
  for (const set of GROUPING_WELL) {
    const field = fields.find((one) => filterSetOf(one) === set)
    if (field) return field
  }
  return null
}
