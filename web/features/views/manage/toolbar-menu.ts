import { Copy, Link2, Share2 } from 'lucide-react'
import { roleCan } from '../../../../src/core/roles.ts'
import { t } from '../../../i18n.ts'
import type { MenuItem } from '../../../ui/menu.tsx'
import type { TableContext } from '../../records/context/table-context.ts'
import { openShareDialog } from '../../shares/open-share-dialog.tsx'
import { shareRefusal } from '../../shares/share-target.ts'
import { filterAutoSave, setFilterAutoSave } from '../state/filter-auto-save.ts'
import { copyViewLink, duplicateView } from './view-commands.tsx'
import { fileItems } from './view-files.ts'
import { modeItems } from './view-menu.ts'

/** The "⋮" of a view's toolbar: its id, its mode, and whether filters are saved as one makes them. */
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
    label: t('Duplicate view'),
    icon: Copy,
    run: () => void duplicateView(baseId, view),
  }
  const autoSave: MenuItem = {
    kind: 'action',
    label: t('Save filters and sorts automatically'),
    checked: saves,
    toggles: true,
    hint: t('Otherwise your changes are visible only to you until you save them'),
    run: () => setFilterAutoSave(!saves),
  }
  return [
    { kind: 'id', label: t('View ID'), value: view.id },
    { kind: 'action', label: t('Copy link'), icon: Link2, run: () => void copyViewLink(baseId, view) },
    {
      kind: 'action',
      label: t('Share'),
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
