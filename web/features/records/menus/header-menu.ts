import {
  ArrowDownAZ,
  ArrowDownToDot,
  ArrowLeftToLine,
  ArrowRightToLine,
  ArrowUpAZ,
  ArrowUpRight,
  Copy,
  EyeOff,
  Filter,
  Layers,
  MoveHorizontal,
  Pencil,
  Pin,
  Sigma,
  Star,
  Telescope,
  Trash2,
} from 'lucide-react'
import { summarySetOf } from '../../../../src/core/fields/field.ts'
import type { FieldOptions } from '../../../../src/core/fields/field-type.ts'
import { linkOf } from '../../../../src/core/fields/link-options.ts'
import { isForeignKey } from '../../../../src/core/fields/traits.ts'
import { isGroupable } from '../../../../src/core/group-key.ts'
import { type Field, MAX_GROUPS, type Sort } from '../../../../src/core/model.ts'
import type { MenuAnchor } from '../../../grid/contract.ts'
import { m } from '../../../messages.gen.ts'
import { goTo, paths } from '../../../navigation/paths.ts'
import { type MenuItem, openMenu } from '../../../ui/menu.tsx'
import type { FieldPlace } from '../../schema/field-commands.tsx'
import { deleteField, duplicateField, setDisplayField } from '../../schema/field-commands.tsx'
import { draftOf, type FieldDraft, withType } from '../../schema/field-draft.ts'
import { directionLabels } from '../../views/filter/describe-condition.ts'
import { asGroup, isComparable, newCondition } from '../../views/filter/filter-edit.ts'
import { shownFields } from '../../views/state/arrange-fields.ts'
import { anchorOf, can, fieldOf, type GetContext, type TableContext } from '../context/table-context.ts'
import { openSummaryMenu } from './summary-menu.ts'

/** The menu of a column. */
export function openHeaderMenu(get: GetContext, fieldId: string, anchor: MenuAnchor): void {
  const context = get()
  const field = fieldOf(context, fieldId)
  if (!field) return
  // Anchors popovers to the whole header: the menu button disappears when the pointer leaves.
  const header = anchor.element.closest('[role="columnheader"]') ?? anchor.element
  const items: MenuItem[] = [
    { kind: 'id', label: m.common_field(), value: field.id },
    ...(can(context, 'field.update') ? editItems(context, field, header) : []),
    ...linkItems(context, field, header),
    { kind: 'separator' },
    ...viewItems(get, field, header),
    { kind: 'separator' },
    ...(can(context, 'field.create') ? insertItems(context, field, header) : []),
    ...(can(context, 'field.duplicate') && isDuplicable(field) ? [duplicateItem(context, field)] : []),
    { kind: 'separator' },
    ...(can(context, 'field.delete') && !field.isDisplay && !field.isPrimaryKey
      ? [deleteItem(context, field)]
      : []),
  ]
  openMenu(anchorOf(anchor), items, m.records_options_for_field({ field: field.title }))
}

function editItems(context: TableContext, field: Field, anchor: Element): MenuItem[] {
  const display: MenuItem = {
    kind: 'action',
    label: m.records_set_as_display_field(),
    icon: Star,
    run: () => void setDisplayField(context.schema.table, field),
  }
  return [
    {
      kind: 'action',
      label: m.records_edit_field(),
      icon: Pencil,
      run: () => context.editField({ field, anchor }),
    },
    ...(field.isDisplay ? [] : [display]),
  ]
}

/** Items of a link field: open the linked table, add a lookup. */
function linkItems(context: TableContext, field: Field, anchor: Element): MenuItem[] {
  const link = linkOf(field)
  if (link === null || field.error !== null) return []
  const { baseId } = context.schema.table
  const lookup: MenuItem = {
    kind: 'action',
    label: m.records_add_lookup_of_link({ link: field.title }),
    icon: Telescope,
    run: () => {
      const start = withOptions(withType(draftOf(null), 'Lookup'), { relationFieldId: field.id })
      context.editField({ field: null, anchor, start })
    },
  }
  return [
    {
      kind: 'action',
      label: m.records_open_linked_table(),
      icon: ArrowUpRight,
      run: () => goTo(paths.table(baseId, link.relatedTableId)),
    },
    ...(can(context, 'field.create') ? [lookup] : []),
  ]
}

const withOptions = (draft: FieldDraft, options: FieldOptions): FieldDraft => ({
  ...draft,
  options: { ...draft.options, ...options },
})

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
    kind: 'action',
    label: m.records_remove_sort(),
    icon: ArrowDownToDot,
    run: () => state.update({ sorts: view.sorts.filter((sort) => sort.fieldId !== field.id) }),
  }
  const comparing: MenuItem[] = [
    {
      kind: 'action',
      label: m.records_sort_order({ order: labels.asc }),
      icon: ArrowDownAZ,
      run: () => sortBy('asc'),
    },
    {
      kind: 'action',
      label: m.records_sort_order({ order: labels.desc }),
      icon: ArrowUpAZ,
      run: () => sortBy('desc'),
    },
    ...(current ? [unsort] : []),
    {
      kind: 'action',
      label: m.records_filter_by_this_field(),
      icon: Filter,
      run: () => filterBy(get(), field),
    },
  ]
  const isGrouped = view.groups.some((group) => group.fieldId === field.id)
  const group: MenuItem = isGrouped
    ? {
        kind: 'action',
        label: m.records_remove_group(),
        icon: Layers,
        run: () => state.update({ groups: view.groups.filter((one) => one.fieldId !== field.id) }),
      }
    : {
        kind: 'action',
        label: m.records_group_by_this_field(),
        icon: Layers,
        disabledReason:
          view.groups.length < MAX_GROUPS ? null : m.records_group_up_fields({ count: MAX_GROUPS }),
        run: () => state.update({ groups: [...view.groups, { fieldId: field.id, direction: 'asc' }] }),
      }
  const summary: MenuItem = {
    kind: 'action',
    label: m.records_summary(),
    icon: Sigma,
    run: () => openSummaryMenu(get(), field.id, anchor),
  }
  return [
    ...(isComparable(field) ? comparing : current ? [unsort] : []),
    ...(isGroupable(field) || isGrouped ? [group] : []),
    ...(summarySetOf(field) === 'none' ? [] : [summary]),
    { kind: 'separator' },
    {
      kind: 'action',
      label: m.records_freeze_up_to_this_field(),
      icon: Pin,
      checked: at + 1 === view.frozen || undefined,
      run: () => state.update({ frozen: Math.max(1, at + 1) }),
    },
    {
      kind: 'action',
      label: m.records_fit_to_content(),
      icon: MoveHorizontal,
      run: () => grid()?.fitColumns([field.id]),
    },
    ...(field.isDisplay
      ? []
      : [
          {
            kind: 'action' as const,
            label: m.records_hide_field(),
            icon: EyeOff,
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
  const isRtl = document.documentElement.dir === 'rtl'
  const before: MenuItem = {
    kind: 'action',
    icon: isRtl ? ArrowRightToLine : ArrowLeftToLine,
    label: isRtl ? m.records_insert_right() : m.records_insert_left(),
    run: () => context.editField({ field: null, anchor, beforeFieldId: field.id }),
  }
  const after: MenuItem = {
    kind: 'action',
    icon: isRtl ? ArrowLeftToLine : ArrowRightToLine,
    label: isRtl ? m.records_insert_left() : m.records_insert_right(),
    run: () => context.editField({ field: null, anchor, ...placeAfter(context, field) }),
  }
  return field.isDisplay ? [after] : [before, after]
}

/** Position after a field in the current view. */
function placeAfter({ schema, state }: TableContext, field: Field): Pick<FieldPlace, 'beforeFieldId'> {
  const shown = shownFields(schema.fields, state.view)
  const next = shown[shown.findIndex((one) => one.field.id === field.id) + 1]
  return next ? { beforeFieldId: next.field.id } : {}
}

/** System fields exist once per table; primary and foreign keys belong to the table and its links. */
const isDuplicable = (field: Field): boolean => !field.isSystem && !field.isPrimaryKey && !isForeignKey(field)

const duplicateItem = (context: TableContext, field: Field): MenuItem => ({
  kind: 'action',
  label: m.records_duplicate_field(),
  icon: Copy,
  run: () =>
    duplicateField(context.schema.table, field, {
      viewId: context.state.view.id,
      ...placeAfter(context, field),
    }),
})

const deleteItem = (context: TableContext, field: Field): MenuItem => ({
  kind: 'action',
  label: m.records_delete_field(),
  icon: Trash2,
  tone: 'danger',
  run: () => void deleteField(context.schema, field),
})
