import {
  ArrowDown,
  ArrowUp,
  Bell,
  Copy,
  Eye,
  Link2,
  Lock,
  Pencil,
  Share2,
  Smile,
  Text,
  Trash2,
  UserRound,
  Users,
} from 'lucide-react'
import type { Base, View } from '../../../../src/core/model.ts'
import { roleCan } from '../../../../src/core/roles.ts'
import { m } from '../../../messages.gen.ts'
import { loadPart } from '../../../navigation/lazy-screen.ts'
import { session } from '../../../session/index.ts'
import { cache } from '../../../trpc.ts'
import { attempt } from '../../../ui/attempt.ts'
import type { MenuItem } from '../../../ui/menu.tsx'
import { beforeAfterMove } from '../../../ui/sortable.tsx'
import { openShareDialog } from '../../shares/open-share-dialog.tsx'
import { shareRefusal } from '../../shares/share-target.ts'
import { watched, watchKey } from '../../watches/watched.ts'
import { keptBecause } from '../state/view-changes.ts'
import { KIND_INFO, KINDS } from './kind-info.tsx'
import {
  chooseViewers,
  chooseViewIcon,
  copyViewLink,
  createView,
  deleteView,
  describeView,
  duplicateView,
  renameViewInDialog,
  reorderView,
  setViewMode,
} from './view-commands.tsx'
import { fileItems } from './view-files.ts'
import { heldReason } from './view-lock.ts'

type Place = Pick<Base, 'id' | 'role'>

/** Menu items for creating a view of each kind. */
export const newViewItems = (base: Place, tableId: string): MenuItem[] =>
  KINDS.map((kind) => {
    const { Icon, newLabel, purpose } = KIND_INFO[kind]
    return {
      kind: 'action',
      label: newLabel(),
      hint: purpose(),
      icon: Icon,
      run: () => createView(base.id, tableId, kind),
    }
  })

/** The menu of a view. `rename` edits the name inline, where possible. The default view cannot be deleted. */
export function viewMenu(
  base: Place,
  view: View,
  siblings: readonly View[],
  rename = () => renameViewInDialog(view),
): MenuItem[] {
  const mayUpdate = roleCan(base.role, 'view.update')
  const disabledReason = heldReason(view)
  const watchTarget = { tableId: view.tableId, viewId: view.id }
  const items: MenuItem[] = [{ kind: 'id', label: m.views_view_id(), value: view.id }]
  if (mayUpdate) {
    items.push(
      { kind: 'action', label: m.common_rename(), icon: Pencil, shortcut: 'F2', disabledReason, run: rename },
      ...[
        { label: m.common_icon(), icon: Smile, run: () => chooseViewIcon(view) },
        { label: m.common_description(), icon: Text, run: () => describeView(view) },
      ].map((item): MenuItem => ({ kind: 'action', disabledReason, ...item })),
      {
        kind: 'action',
        label: m.views_view_visibility(),
        icon: Eye,
        run: () => chooseViewers(view),
        disabledReason: view.isDefault ? m.views_default_view_visible_everyone() : null,
      },
    )
  }
  if (roleCan(base.role, 'view.create')) {
    const run = () => void duplicateView(base.id, view)
    items.push({ kind: 'action', label: m.common_duplicate(), icon: Copy, run })
  }
  items.push(
    { kind: 'separator' },
    {
      kind: 'action',
      label: m.watches_watch_view(),
      icon: Bell,
      checked: watched.getState()?.has(watchKey(watchTarget)) ?? false,
      toggles: true,
      run: () =>
        void attempt(async () => {
          const { toggleWatch } = await loadPart(() => import('../../watches/watch-commands.ts'))
          await toggleWatch(watchTarget)
        }),
    },
    { kind: 'action', label: m.views_copy_link(), icon: Link2, run: () => void copyViewLink(base.id, view) },
    {
      kind: 'action',
      label: m.common_share(),
      icon: Share2,
      disabledReason: shareRefusal(base.role),
      run: () => openShareDialog({ baseId: base.id, tableId: view.tableId, viewId: view.id }),
    },
  )
  const schema = cache.schema.table.getData({ tableId: view.tableId })
  if (schema) items.push({ kind: 'separator' }, ...fileItems({ schema, view, role: base.role }))
  if (mayUpdate) {
    items.push({ kind: 'separator' }, ...moveItems(view, siblings), { kind: 'separator' }, ...modeItems(view))
  }
  if (roleCan(base.role, 'view.delete')) {
    items.push(
      { kind: 'separator' },
      {
        kind: 'action',
        label: m.views_delete_view(),
        icon: Trash2,
        tone: 'danger',
        disabledReason: view.isDefault ? m.views_default_view_cant_deleted() : disabledReason,
        run: () => void deleteView(base.id, view),
      },
    )
  }
  return items
}

/** Menu items that move a view, as alternative to dragging. */
function moveItems(view: View, siblings: readonly View[]): MenuItem[] {
  const ids = siblings.map(({ id }) => id)
  const at = ids.indexOf(view.id)
  const to = (index: number) => () => void reorderView(view, beforeAfterMove(ids, view.id, index))
  return [
    ...(at > 0 ? [{ ...MOVE, label: m.views_move_up(), icon: ArrowUp, run: to(at - 1) }] : []),
    ...(at >= 0 && at < ids.length - 1
      ? [{ ...MOVE, label: m.views_move_down(), icon: ArrowDown, run: to(at + 1) }]
      : []),
  ]
}

const MOVE = { kind: 'action' } as const

const MODE_ICONS = { collaborative: Users, locked: Lock, personal: UserRound }

/** Menu items for a view's lock mode. */
export function modeItems(view: View): MenuItem[] {
  const isOthers = keptBecause(view, true, session.userId()) === 'personal'
  const item = (lock: View['lock'], label: string, hint: string): MenuItem => ({
    kind: 'action',
    label,
    hint,
    icon: MODE_ICONS[lock],
    checked: view.lock === lock,
    run: () => void setViewMode(view, lock),
  })
  return [
    { kind: 'heading', label: m.views_view_mode() },
    item('collaborative', m.views_collaborative(), m.views_collaborative_view_hint()),
    item('locked', m.views_locked(), m.views_locked_view_hint()),
    item(
      'personal',
      m.views_personal(),
      isOthers ? m.views_take_over_view_hint() : m.views_personal_view_hint(),
    ),
  ]
}
