import { type Field, MAX_GROUPS, type Sort } from '../../../src/core/model.ts'
import { t } from '../../i18n.ts'
import { SortMenu } from './sort-menu.tsx'

export interface GroupsMenuProps {
  /** Fields that one can group by, in the order of the view. */
  fields: readonly Field[]
  groups: readonly Sort[]
  onChange: (groups: Sort[]) => void
}

/** By which fields the records are grouped, the outermost first. */
export function GroupsMenu({ fields, groups, onChange }: GroupsMenuProps) {
  return (
    <SortMenu
      fields={fields}
      sorts={groups}
      onChange={onChange}
      max={MAX_GROUPS}
      words={{
        none: t('Group records that have the same value.'),
        add: t('Add group'),
        remove: (field) => t('Remove group by {field}', { field }),
      }}
    />
  )
}
