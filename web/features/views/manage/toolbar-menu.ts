import { Copy, Link2, Share2 } from 'lucide-react'
import { roleCan } from '../../../../src/core/roles.ts'
import { m } from '../../../messages.gen.ts'
import type { MenuItem } from '../../../ui/menu.tsx'
import type { TableContext } from '../../records/context/table-context.ts'
import { openShareDialog } from '../../shares/open-share-dialog.tsx'
import { shareRefusal } from '../../shares/share-target.ts'
import { filterAutoSave, setFilterAutoSave } from '../state/filter-auto-save.ts'
import { copyViewLink, duplicateView } from './view-commands.tsx'
import { fileItems } from './view-files.ts'
import { modeItems } from './view-menu.ts'

/** The “⋮” menu of a view's toolbar: view id, lock mode, and automatic saving of filters. */
export function toolbarMenu({
  schema,
  state,
  role,
}: Pick<TableContext, 'schema' | 'state' | 'role'>): MenuItem[] {
  const { baseId } = schema.table
  const { view } = state
  const saves = filterAutoSave()
  const duplicate: MenuItem = {
    kind: 'action',
    label: m.views_duplicate_view(),
    icon: Copy,
    run: () => void duplicateView(baseId, view),
  }
  const autoSave: MenuItem = {
    kind: 'action',
    label: m.views_save_filters_and_sorts_automatically(),
    checked: saves,
    toggles: true,
    hint: m.views_save_automatically_hint(),
    run: () => setFilterAutoSave(!saves),
  }
  return [
    { kind: 'id', label: m.views_view_id(), value: view.id },
    { kind: 'action', label: m.views_copy_link(), icon: Link2, run: () => void copyViewLink(baseId, view) },
    {
      kind: 'action',
      label: m.common_share(),
      icon: Share2,
      disabledReason: shareRefusal(role),
      run: () => openShareDialog({ baseId, tableId: view.tableId, viewId: view.id }),
    },
    ...(roleCan(role, 'view.create') ? [duplicate] : []),
    { kind: 'separator' },
    ...fileItems({ schema, view, role }),
    { kind: 'separator' },
    ...(roleCan(role, 'view.update') ? modeItems(view) : []),
    { kind: 'separator' },
    ...(state.isSaved ? [autoSave] : []),
  ]
}
