import { ArrowDown, ArrowUp, Copy, FileUp, LayoutGrid, Pencil, Text, Trash2 } from 'lucide-react'
import type { Base, Table, View } from '../../../src/core/model.ts'
import { roleCan } from '../../../src/core/roles.ts'
import { t } from '../../i18n.ts'
import { cache } from '../../trpc.ts'
import type { MenuItem } from '../../ui/menu.tsx'
import { beforeAfterMove } from '../../ui/sortable.tsx'
import { pickImport } from './pick-import.ts'
import {
  createView,
  deleteTable,
  deleteView,
  describeTable,
  duplicateView,
  reorderTable,
  reorderView,
} from './table-commands.tsx'

/** The menu of a table, the same for "⋯" and a right click. `rename` starts editing in place. */
export function tableMenu(base: Base, table: Table, rename: () => void): MenuItem[] {
  const items: MenuItem[] = [{ kind: 'id', label: t('Table ID'), value: table.id }]
  const add = (
    label: string,
    icon: Icon,
    run: () => void,
    more: { tone?: 'danger'; shortcut?: string } = {},
  ) => items.push({ kind: 'action', label, icon, run, ...more })
  if (roleCan(base.role, 'table.update')) {
    add(t('Rename'), Pencil, rename, { shortcut: 'F2' })
    add(t('Description'), Text, () => describeTable(table))
  }
  if (roleCan(base.role, 'view.create'))
    add(t('New grid view'), LayoutGrid, () => void createView(base.id, table.id))
  if (roleCan(base.role, 'import.append')) {
    add(t('Import into this table'), FileUp, () => pickImport({ baseId: base.id, tableId: table.id }))
  }
  if (roleCan(base.role, 'table.update')) {
    const ids = cache.schema.tables.getData({ baseId: base.id })?.map(({ id }) => id) ?? []
    items.push(...moveItems(ids, table.id, (before) => void reorderTable(base.id, table.id, before)))
  }
  if (roleCan(base.role, 'table.delete')) {
    items.push({ kind: 'separator' })
    add(t('Delete table'), Trash2, () => void deleteTable(table), { tone: 'danger' })
  }
  return items
}

/** The menu of a view. The default view stays as long as its table. */
export function viewMenu(base: Base, view: View, siblings: View[], rename: () => void): MenuItem[] {
  const items: MenuItem[] = [{ kind: 'id', label: t('View ID'), value: view.id }]
  if (roleCan(base.role, 'view.update')) {
    items.push({ kind: 'action', label: t('Rename'), icon: Pencil, shortcut: 'F2', run: rename })
  }
  if (roleCan(base.role, 'view.create')) {
    items.push({
      kind: 'action',
      label: t('Duplicate'),
      icon: Copy,
      run: () => void duplicateView(base.id, view),
    })
  }
  if (roleCan(base.role, 'view.update')) {
    const ids = siblings.map(({ id }) => id)
    items.push(...moveItems(ids, view.id, (before) => void reorderView(view, before)))
  }
  if (roleCan(base.role, 'view.delete')) {
    items.push({ kind: 'separator' })
    items.push({
      kind: 'action',
      label: t('Delete view'),
      icon: Trash2,
      tone: 'danger',
      disabledReason: view.isDefault ? t('The default view stays with its table') : null,
      run: () => void deleteView(base.id, view),
    })
  }
  return items
}

type Icon = Extract<MenuItem, { kind: 'action' }>['icon']

/** The keyboard's way to what dragging does. */
function moveItems(ids: string[], id: string, move: (before: string | null) => void): MenuItem[] {
  const at = ids.indexOf(id)
  const items: MenuItem[] = []
  const to = (index: number) => () => move(beforeAfterMove(ids, id, index))
  if (at > 0) items.push({ kind: 'action', label: t('Move up'), icon: ArrowUp, run: to(at - 1) })
  if (at >= 0 && at < ids.length - 1) {
    items.push({ kind: 'action', label: t('Move down'), icon: ArrowDown, run: to(at + 1) })
  }
  return items
}
