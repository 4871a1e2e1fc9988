import { Download, FileUp } from 'lucide-react'
import type { TableSchema, View } from '../../../../src/core/model.ts'
import { type BaseRole, roleCan } from '../../../../src/core/roles.ts'
import { collectsAnswers } from '../../../../src/core/views/index.ts'
import { messageOf } from '../../../errors.ts'
import { m } from '../../../messages.gen.ts'
import { loadPart } from '../../../navigation/lazy-screen.ts'
import { isVisitorPage } from '../../../session/visitor.ts'
import type { MenuItem } from '../../../ui/menu.tsx'
import { toast } from '../../../ui/toast.ts'
import { openImport } from '../../imports/open-import.ts'

export interface ViewOfRole {
  schema: TableSchema
  view: View
  role: BaseRole
}

/** Import and export commands of a view, within the role's rights. */
export function fileItems({ schema, view, role }: ViewOfRole): MenuItem[] {
  const { id: tableId, baseId } = schema.table
  const items: MenuItem[] = []
  // Jobs and uploads require signing in.
  if (isVisitorPage) return items
  if (roleCan(role, 'import.append') && schema.readOnlyReason === null) {
    const run = () => openImport(null, { baseId, tableId })
    items.push({ kind: 'action', label: m.views_upload(), icon: FileUp, run })
  }
  // A form shows no records.
  if (roleCan(role, 'record.export') && !collectsAnswers(view)) {
    const run = () => void download(schema, view)
    items.push({ kind: 'action', label: m.common_download(), icon: Download, run })
  }
  return items
}

/** Downloads the saved view, without unsaved filters. Loaded on demand, so that the sidebar does not load filters. */
async function download(schema: TableSchema, view: View): Promise<void> {
  try {
    const { downloadView } = await loadPart(() => import('./download-view.ts'))
    downloadView(schema, view)
  } catch (error) {
    toast.error({ text: messageOf(error) })
  }
}
