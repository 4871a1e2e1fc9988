import { Share2 } from 'lucide-react'
import type { Action } from '../../../actions/action.ts'
import { m } from '../../../messages.gen.ts'
import { openShareDialog } from '../../shares/open-share-dialog.tsx'
import { KIND_INFO, KINDS } from '../../views/manage/kind-info.tsx'
import { createView } from '../../views/manage/view-commands.tsx'

/** A view of each kind for the table on the screen. */
export const createViewActions: readonly Action[] = KINDS.map((kind) => ({
  id: `view.create.${kind}`,
  label: KIND_INFO[kind].newLabel,
  group: () => m.shell_views(),
  icon: KIND_INFO[kind].Icon,
  hint: KIND_INFO[kind].purpose,
  when: ({ can, tableId }) => tableId !== null && can('view.create'),
  run({ base, tableId }) {
    if (base && tableId) createView(base.id, tableId, kind)
  },
}))

/** The public links of the view and the base on the screen. */
export const shareAction: Action = {
  id: 'view.share',
  label: () => m.common_share(),
  group: () => m.shell_this_base(),
  icon: Share2,
  shortcut: 'alt+i',
  when: ({ can }) => can('view.share') || can('base.share'),
  run({ base, tableId, viewId }) {
    if (!base) return
    openShareDialog({
      baseId: base.id,
      ...(tableId && { tableId }),
      ...(viewId && { viewId }),
    })
  },
}
