import {
  ArrowDown,
  ArrowUp,
  Bell,
  BookOpen,
  Copy,
  Download,
  Import,
  Network,
  Pencil,
  Trash2,
} from 'lucide-react'
import type { Base } from '../../../src/core/model.ts'
import { roleCan } from '../../../src/core/roles.ts'
import { m } from '../../messages.gen.ts'
import { currentPath, goTo, paths } from '../../navigation/paths.ts'
import { api, cache } from '../../trpc.ts'
import { attempt, showError } from '../../ui/attempt.ts'
import { lazyDialog } from '../../ui/lazy-dialog.ts'
import type { MenuItem } from '../../ui/menu.tsx'
import { openDialog } from '../../ui/open-dialog.tsx'
import { shortcutLabel } from '../../ui/shortcuts.ts'
import { beforeAfterMove, moveBefore } from '../../ui/sortable.tsx'
import { toast } from '../../ui/toast.ts'
import { openBaseImport } from '../base-imports/open-base-import.ts'

/** The shell preloads it when idle. */
export const BaseDialog = lazyDialog(() => import('./base-dialogs.tsx'), 'BaseDialog')
const DuplicateBaseDialog = lazyDialog(() => import('../copies/duplicate-dialog.tsx'), 'DuplicateBaseDialog')
const ExportBaseDialog = lazyDialog(() => import('../exports/export-base-dialog.tsx'), 'ExportBaseDialog')
const BaseFileDialog = lazyDialog(() => import('../imports/base-file-dialog.tsx'), 'BaseFileDialog')
const DeleteBaseDialog = lazyDialog(() => import('./base-dialogs.tsx'), 'DeleteBaseDialog')

/** Opens the dialog that creates a base. */
export const createBase = (): void => void openDialog((close) => <BaseDialog onClose={close} />)

/** Opens the dialog for name and colours of a base. */
export const editBase = (base: Base): void =>
  void openDialog((close) => <BaseDialog base={base} onClose={close} />)

/** Opens the dialog that duplicates a base. */
const duplicateBase = (base: Base): void =>
  void openDialog((close) => <DuplicateBaseDialog base={base} onClose={close} />)

/** Opens the dialog that exports a base. */
const exportBase = (base: Base): void =>
  void openDialog((close) => <ExportBaseDialog base={base} onClose={close} />)

/** Opens the dialog that opens a Sheaf file as a base. */
export const importBaseFile = (): void => void openDialog((close) => <BaseFileDialog onClose={close} />)

/** Deletes a base after confirmation in `DeleteBaseDialog`. */
const deleteBase = (base: Base): void =>
  void openDialog((close) => (
    <DeleteBaseDialog base={base} onClose={close} onConfirm={() => void trashBase(base)} />
  ))

/** Moves a base to the trash, with an Undo message. */
async function trashBase(base: Base): Promise<void> {
  const before = cache.bases.list.getData({})
  cache.bases.list.setData({}, (list) => list?.filter(({ id }) => id !== base.id))
  if (currentPath().includes(`/${base.id}`)) goTo(paths.bases())
  try {
    await api.bases.delete.mutate({ baseId: base.id })
  } catch (error) {
    cache.bases.list.setData({}, before)
    showError(error)
    return
  }
  void cache.bases.list.invalidate()
  toast.success({
    text: m.bases_base_title_moved_trash_tables({ title: base.title }),
    action: { label: m.common_undo(), run: () => restoreBase(base) },
  })
}

/** Restores a base from the trash. */
export async function restoreBase(base: Base): Promise<void> {
  await attempt(async () => {
    await api.bases.restore.mutate({ baseId: base.id })
    await cache.bases.invalidate()
    toast.success({ text: m.bases_base_title_was_restored({ title: base.title }) })
  })
}

/** Moves a base before another one in the user's list, or to the end (null). */
export async function reorderBase(baseId: string, before: string | null): Promise<void> {
  const previous = cache.bases.list.getData({})
  cache.bases.list.setData({}, (list) => list && moveBefore(list, baseId, before))
  try {
    await api.bases.reorder.mutate({ baseId, before })
  } catch (error) {
    cache.bases.list.setData({}, previous)
    showError(error)
  }
}

/** Opens the API documentation of a base, or of the server (null), in a new tab. */
export function openApiDocs(base: Base | null): void {
  const address = base ? `/api/v2/meta/bases/${encodeURIComponent(base.id)}/swagger` : '/api/docs/'
  window.open(address, '_blank', 'noopener')
}

/** Menu items of a base. */
export function baseMenu(base: Base): MenuItem[] {
  const ids = cache.bases.list.getData({})?.map(({ id }) => id) ?? []
  const at = ids.indexOf(base.id)
  const move = (index: number) => void reorderBase(base.id, beforeAfterMove(ids, base.id, index))
  const items: MenuItem[] = [{ kind: 'id', label: m.bases_base_id(), value: base.id }]
  if (roleCan(base.role, 'base.update')) {
    items.push({
      kind: 'action',
      label: m.bases_edit_name_and_colour(),
      icon: Pencil,
      run: () => editBase(base),
    })
  }
  items.push({
    kind: 'action',
    label: m.bases_relations(),
    icon: Network,
    run: () => goTo(paths.relations(base.id)),
  })
  items.push({
    kind: 'action',
    label: m.bases_api_documentation(),
    icon: BookOpen,
    shortcut: shortcutLabel('mod+j'),
    run: () => openApiDocs(base),
  })
  items.push({
    kind: 'action',
    label: m.notifications_settings(),
    icon: Bell,
    run: () => goTo(paths.notifications(base.id)),
  })
  if (roleCan(base.role, 'record.restore')) {
    items.push({
      kind: 'action',
      label: m.common_trash(),
      icon: Trash2,
      run: () => goTo(paths.trash(base.id)),
    })
  }
  if (roleCan(base.role, 'base.duplicate')) {
    items.push({ kind: 'action', label: m.common_duplicate(), icon: Copy, run: () => duplicateBase(base) })
  }
  if (roleCan(base.role, 'import.create')) {
    items.push({
      kind: 'action',
      label: m.base_imports_import_from_product(),
      icon: Import,
      run: () => openBaseImport(base.id),
    })
  }
  items.push({ kind: 'action', label: m.bases_export(), icon: Download, run: () => exportBase(base) })
  if (at > 0) items.push({ kind: 'action', label: m.bases_move_up(), icon: ArrowUp, run: () => move(at - 1) })
  if (at >= 0 && at < ids.length - 1) {
    items.push({ kind: 'action', label: m.bases_move_down(), icon: ArrowDown, run: () => move(at + 1) })
  }
  if (roleCan(base.role, 'base.delete')) {
    items.push({ kind: 'separator' })
    items.push({
      kind: 'action',
      label: m.bases_delete_base(),
      icon: Trash2,
      tone: 'danger',
      run: () => deleteBase(base),
    })
  }
  return items
}
