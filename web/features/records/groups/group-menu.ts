import { ChevronsDownUp, ChevronsUpDown, Copy, Pencil, Plus } from 'lucide-react'
import { hasChoices } from '../../../../src/core/fields/traits.ts'
import type { MenuAnchor } from '../../../grid/contract.ts'
import { groupName } from '../../../grid/groups/group-text.ts'
import type { GroupNode } from '../../../grid/groups/tree.ts'
import { ALL_COLLAPSED, NONE_COLLAPSED, withCollapsed } from '../../../grid/groups/tree.ts'
import { m } from '../../../messages.gen.ts'
import { copyText } from '../../../ui/copy-text.ts'
import { type MenuItem, openMenu } from '../../../ui/menu.tsx'
import { toast } from '../../../ui/toast.ts'
import { anchorOf, can, fieldOf, type GetContext } from '../context/table-context.ts'
import { offerRecordIn } from './group-values.ts'

export function openGroupMenu(get: GetContext, group: GroupNode, anchor: MenuAnchor): void {
  const context = get()
  const { groups } = context
  const field = fieldOf(context, groups?.layout.tree.get()?.levels[group.keys.length - 1]?.fieldId ?? null)
  if (!groups || !field) return
  const value = group.keys.at(-1) ?? null
  const people = new Map(context.people.map((person) => [person.id, person]))
  const name = groupName(field, value, people)
  const { remembered } = groups
  const add: MenuItem = {
    kind: 'action',
    label: m.records_new_record_in_this_group(),
    icon: Plus,
    run() {
      remembered.change((now) => withCollapsed(now, group.keys, false))
      const row = offerRecordIn(get(), group)
      if (row === null) return
      get().grid()?.select(row)
      get().grid()?.focus()
    },
  }
  const copy: MenuItem = {
    kind: 'action',
    label: m.records_copy_value(),
    icon: Copy,
    run: () =>
      void copyText(name).then((isCopied) => isCopied && toast.success({ text: m.records_value_copied() })),
  }
  const options: MenuItem = {
    kind: 'action',
    label: m.records_edit_options(),
    icon: Pencil,
    run: () => context.editField({ field, anchor: anchor.element }),
  }
  const isChoice = hasChoices(field)
  const items: MenuItem[] = [
    ...(can(context, 'record.create') ? [add] : []),
    { kind: 'separator' },
    {
      kind: 'action',
      label: m.records_expand_all_groups(),
      icon: ChevronsUpDown,
      run: () => remembered.change(() => NONE_COLLAPSED),
    },
    {
      kind: 'action',
      label: m.records_collapse_all_groups(),
      icon: ChevronsDownUp,
      run: () => remembered.change(() => ALL_COLLAPSED),
    },
    { kind: 'separator' },
    ...(value === null ? [] : [copy]),
    ...(isChoice && can(context, 'field.update') ? [options] : []),
  ]
  openMenu(anchorOf(anchor), items, m.records_options_for_group_group({ group: name }))
}
