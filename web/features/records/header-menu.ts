import {
  ArrowDownAZ,
  ArrowDownToDot,
  ArrowLeftToLine,
  ArrowRightToLine,
  ArrowUpAZ,
  EyeOff,
  Filter,
  MoveHorizontal,
  Pencil,
  Pin,
  Sigma,
  Star,
  Trash2,
} from 'lucide-react'
import type { Field, Sort } from '../../../src/core/model.ts'
import type { MenuAnchor } from '../../grid/source.ts'
import { t } from '../../i18n.ts'
import { type MenuItem, openMenu } from '../../ui/menu.tsx'
import { deleteField, setDisplayField } from '../schema/field-commands.tsx'
import { shownFields } from '../views/arrange-fields.ts'
import { directionLabels } from '../views/describe-condition.ts'
import { asGroup, newCondition } from '../views/filter-edit.ts'
import { openSummaryMenu } from './summary-menu.ts'
import { anchorOf, can, fieldOf, type GetContext, type TableContext } from './table-context.ts'

/** The menu of a column. */
export function openHeaderMenu(get: GetContext, fieldId: string, anchor: MenuAnchor): void {
  const context = get()
  const field = fieldOf(context, fieldId)
  if (!field) return
  // What opens from the menu hangs on the whole header: the menu's own button goes with the pointer.
  const header = anchor.element.closest('[role="columnheader"]') ?? anchor.element
  const items: MenuItem[] = [
    { kind: 'id', label: t('Field'), value: field.id },
    ...(can(context, 'field.update') ? editItems(context, field, header) : []),
    { kind: 'separator' },
    ...viewItems(get, field, header),
    { kind: 'separator' },
    ...(can(context, 'field.create') ? insertItems(context, field, header) : []),
    { kind: 'separator' },
    ...(can(context, 'field.delete') && !field.isDisplay && !field.isPrimaryKey
      ? [deleteItem(context, field)]
      : []),
  ]
  openMenu(anchorOf(anchor), items, t('Menu of {field}', { field: field.title }))
}

function editItems(context: TableContext, field: Field, anchor: Element): MenuItem[] {
  const display: MenuItem = {
    ...{ kind: 'action', label: t('Set as display field'), icon: Star },
    run: () => void setDisplayField(context.schema.table, field),
  }
  return [
    { kind: 'action', label: t('Edit field'), icon: Pencil, run: () => context.editField({ field, anchor }) },
    ...(field.isDisplay ? [] : [display]),
  ]
}

function viewItems(get: GetContext, field: Field, anchor: Element): MenuItem[] {
  const { state, schema, grid } = get()
  const { view } = state
  const labels = directionLabels(field)
  const at = shownFields(schema.fields, view).findIndex((shown) => shown.field.id === field.id)
  const sortBy = (direction: Sort['direction']) =>
    state.update({
      sorts: [{ fieldId: field.id, direction }, ...view.sorts.filter((s) => s.fieldId !== field.id)],
    })
  const current = view.sorts.find((sort) => sort.fieldId === field.id)
  const unsort: MenuItem = {
    ...{ kind: 'action', label: t('Remove sort'), icon: ArrowDownToDot },
    run: () => state.update({ sorts: view.sorts.filter((sort) => sort.fieldId !== field.id) }),
  }
  return [
    {
      kind: 'action',
      label: t('Sort {order}', { order: labels.asc }),
      icon: ArrowDownAZ,
      run: () => sortBy('asc'),
    },
    {
      kind: 'action',
      label: t('Sort {order}', { order: labels.desc }),
      icon: ArrowUpAZ,
      run: () => sortBy('desc'),
    },
    ...(current ? [unsort] : []),
    { kind: 'action', label: t('Filter by this field'), icon: Filter, run: () => filterBy(get(), field) },
    { kind: 'action', label: t('Summary'), icon: Sigma, run: () => openSummaryMenu(get(), field.id, anchor) },
    { kind: 'separator' },
    {
      ...{ kind: 'action', label: t('Freeze up to here'), icon: Pin },
      ...{
        checked: at + 1 === view.frozen || undefined,
        run: () => state.update({ frozen: Math.max(1, at + 1) }),
      },
    },
    {
      kind: 'action',
      label: t('Fit to content'),
      icon: MoveHorizontal,
      run: () => grid()?.fitColumns([field.id]),
    },
    ...(field.isDisplay
      ? []
      : [
          {
            ...({ kind: 'action', label: t('Hide field'), icon: EyeOff } as const),
            run: () => state.arrange([{ fieldId: field.id, show: false }]),
          },
        ]),
  ]
}

function filterBy({ state, openFilter }: TableContext, field: Field): void {
  const group = asGroup(state.view.filter)
  state.update({ filter: { ...group, children: [...group.children, newCondition(field)] } })
  openFilter()
}

function insertItems(context: TableContext, field: Field, anchor: Element): MenuItem[] {
  const shown = shownFields(context.schema.fields, context.state.view)
  const at = shown.findIndex((one) => one.field.id === field.id)
  const next = shown[at + 1]?.field.id
  const isRtl = document.documentElement.dir === 'rtl'
  const before: MenuItem = {
    ...{ kind: 'action', icon: isRtl ? ArrowRightToLine : ArrowLeftToLine },
    label: isRtl ? t('Insert right') : t('Insert left'),
    run: () => context.editField({ field: null, anchor, beforeFieldId: field.id }),
  }
  const after: MenuItem = {
    ...{ kind: 'action', icon: isRtl ? ArrowLeftToLine : ArrowRightToLine },
    label: isRtl ? t('Insert left') : t('Insert right'),
    run: () => context.editField({ field: null, anchor, ...(next ? { beforeFieldId: next } : {}) }),
  }
  return field.isDisplay ? [after] : [before, after]
}

const deleteItem = (context: TableContext, field: Field): MenuItem => ({
  ...{ kind: 'action', label: t('Delete field'), icon: Trash2, tone: 'danger' },
  run: () => void deleteField(context.schema, field),
})
