import {
  ArrowDown,
  ArrowUp,
  Copy,
  CopyPlus,
  FileUp,
  FolderInput,
  Gauge,
  Network,
  Pencil,
  Smile,
  Text,
  Trash2,
} from 'lucide-react'
import type { Base, Table } from '../../../src/core/model.ts'
import { roleCan } from '../../../src/core/roles.ts'
import { m } from '../../messages.gen.ts'
import { goTo, paths } from '../../navigation/paths.ts'
import { isVisitorPage } from '../../session/visitor.ts'
import { cache } from '../../trpc.ts'
import type { MenuItem } from '../../ui/menu.tsx'
import { beforeAfterMove } from '../../ui/sortable.tsx'
import { openImport } from '../imports/open-import.ts'
import {
  chooseTableIcon,
  copyToBase,
  deleteTable,
  describeTable,
  duplicateTable,
  openPerformance,
  reorderTable,
} from '../tables/table-commands.tsx'
import { duplicateView } from '../views/manage/view-commands.tsx'
import { newViewItems } from '../views/manage/view-menu.ts'

/** Menu items of a table; `rename` starts editing its title. */
export function tableMenu(base: Base, table: Table, rename: () => void): MenuItem[] {
  const items: MenuItem[] = [{ kind: 'id', label: m.bases_table_id(), value: table.id }]
  const add = (
    label: string,
    icon: Icon,
    run: () => void,
    more: { tone?: 'danger'; shortcut?: string } = {},
  ) => items.push({ kind: 'action', label, icon, run, ...more })
  if (roleCan(base.role, 'table.update')) {
    add(m.common_rename(), Pencil, rename, { shortcut: 'F2' })
    add(m.common_icon(), Smile, () => chooseTableIcon(table))
    add(m.common_description(), Text, () => describeTable(table))
  }
  if (roleCan(base.role, 'table.duplicate')) add(m.common_duplicate(), Copy, () => duplicateTable(table))
  if (!isVisitorPage) add(m.copies_copy_to_base(), CopyPlus, () => copyToBase(table, false))
  if (roleCan(base.role, 'table.delete'))
    add(m.copies_move_to_base(), FolderInput, () => copyToBase(table, true))
  if (roleCan(base.role, 'view.create')) {
    items.push({ kind: 'separator' }, ...newViewItems(base, table.id).map(withoutHint), { kind: 'separator' })
    const shown = cache.schema.table.getData({ tableId: table.id })?.views.find((view) => view.isDefault)
    if (shown) add(m.bases_duplicate_the_default_view(), Copy, () => void duplicateView(base.id, shown))
  }
  add(m.bases_relations(), Network, () => goTo(paths.relations(base.id, table.id)))
  if (roleCan(base.role, 'table.indexes')) add(m.indexes_performance(), Gauge, () => openPerformance(table))
  if (roleCan(base.role, 'import.append')) {
    add(m.bases_import_into_this_table(), FileUp, () =>
      openImport(null, { baseId: base.id, tableId: table.id }),
    )
  }
  if (roleCan(base.role, 'table.update')) {
    const ids = cache.schema.tables.getData({ baseId: base.id })?.map(({ id }) => id) ?? []
    items.push(...moveItems(ids, table.id, (before) => void reorderTable(base.id, table.id, before)))
  }
  if (roleCan(base.role, 'table.delete')) {
    items.push({ kind: 'separator' })
    add(m.bases_delete_table(), Trash2, () => void deleteTable(table), { tone: 'danger' })
  }
  return items
}

const withoutHint = (item: MenuItem): MenuItem =>
  item.kind === 'action' ? { ...item, hint: undefined } : item

type Icon = Extract<MenuItem, { kind: 'action' }>['icon']

/** Keyboard alternative to dragging. */
function moveItems(ids: string[], id: string, move: (before: string | null) => void): MenuItem[] {
  const at = ids.indexOf(id)
  const items: MenuItem[] = []
  const to = (index: number) => () => move(beforeAfterMove(ids, id, index))
  if (at > 0) items.push({ kind: 'action', label: m.bases_move_up(), icon: ArrowUp, run: to(at - 1) })
  if (at >= 0 && at < ids.length - 1) {
    items.push({ kind: 'action', label: m.bases_move_down(), icon: ArrowDown, run: to(at + 1) })
  }
  return items
}
