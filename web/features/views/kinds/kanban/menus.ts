import {
  ArrowDownToLine,
  ArrowLeft,
  ArrowRight,
  ArrowUpToLine,
  ChevronsDownUp,
  ChevronsUpDown,
  EyeOff,
  FoldHorizontal,
  MoveRight,
  Pencil,
  Plus,
  Trash2,
  UnfoldHorizontal,
} from 'lucide-react'
import type { RecordId } from '../../../../../src/core/model.ts'
import { direction } from '../../../../i18n.ts'
import { m } from '../../../../messages.gen.ts'
import { type StackKey, stackValues, takesRecords } from '../../../../records/layouts/stack-by.ts'
import { type MenuItem, openMenu } from '../../../../ui/menu.tsx'
import { shortcutLabel } from '../../../../ui/shortcuts.ts'
import { can } from '../../../records/context/table-context.ts'
import { openNewRecord } from '../../../records/panel/new-record.tsx'
import { dropRefusal, type MoveContext, moveCards } from './card-moves.ts'
import { addStack, deleteStack, editStack, type StackCommandContext } from './stack-commands.tsx'
import { moveStack, type Stack, withAllStacks, withStack } from './stacks.ts'

interface StackMenuRequest {
  command: StackCommandContext
  /** Every stack in order, hidden ones too. */
  stacks: readonly Stack[]
  /** Those on the kanban. */
  shown: readonly Stack[]
  stack: Stack
  /** Title of the stack. */
  title: string
  anchor: Element | { x: number; y: number }
  onAddRecord: () => void
}

/** Opens the menu of a stack, with commands for its cards, its position and its option. */
export function openStackMenu({
  command,
  stacks,
  shown,
  stack,
  title,
  anchor,
  onAddRecord,
}: StackMenuRequest): void {
  const { context, by, changeOptions } = command
  const { key, isCollapsed } = stack
  const mayAdd = can(context, 'record.create') && takesRecords(by, key)
  const mayEditField = can(context, 'field.update') && by.kind === 'option'
  const set = (patch: Parameters<typeof withStack>[2]) =>
    changeOptions({ stacks: withStack(stacks, key, patch) })
  const at = shown.findIndex((one) => one.key === key)
  const before = shown[at - 1]
  const after = shown[at + 1]
  const [toStart, toEnd] = direction() === 'rtl' ? [ArrowRight, ArrowLeft] : [ArrowLeft, ArrowRight]
  const add: MenuItem = {
    kind: 'action',
    label: m.common_new_record(),
    icon: Plus,
    shortcut: shortcutLabel('alt+r'),
    run: onAddRecord,
  }
  const items: MenuItem[] = [
    ...(mayAdd ? [add, { kind: 'separator' } as const] : []),
    {
      kind: 'action',
      label: isCollapsed ? m.kanban_expand_stack() : m.kanban_collapse_stack(),
      icon: isCollapsed ? UnfoldHorizontal : FoldHorizontal,
      run: () => set({ isCollapsed: !isCollapsed }),
    },
    {
      kind: 'action',
      label: m.kanban_collapse_all_stacks(),
      icon: ChevronsDownUp,
      run: () => changeOptions({ stacks: withAllStacks(stacks, { isCollapsed: true }) }),
    },
    {
      kind: 'action',
      label: m.kanban_expand_all_stacks(),
      icon: ChevronsUpDown,
      run: () => changeOptions({ stacks: withAllStacks(stacks, { isCollapsed: false }) }),
    },
    { kind: 'separator' },
    ...(before
      ? [
          {
            kind: 'action' as const,
            label: m.kanban_move_stack_left(),
            icon: toStart,
            run: () => changeOptions({ stacks: moveStack(stacks, key, before.key) }),
          },
        ]
      : []),
    ...(after
      ? [
          {
            kind: 'action' as const,
            label: m.kanban_move_stack_right(),
            icon: toEnd,
            run: () => changeOptions({ stacks: moveStack(stacks, key, shown[at + 2]?.key) }),
          },
        ]
      : []),
    { kind: 'action', label: m.kanban_hide_stack(), icon: EyeOff, run: () => set({ isHidden: true }) },
    ...(mayEditField
      ? [
          { kind: 'separator' } as const,
          ...(stack.choice
            ? [
                {
                  kind: 'action' as const,
                  label: m.kanban_edit_name_and_colour(),
                  icon: Pencil,
                  run: () => editStack(command, stack),
                },
              ]
            : []),
          {
            kind: 'action' as const,
            label: m.kanban_add_stack(),
            icon: Plus,
            run: () => addStack(command),
          },
          ...(stack.choice
            ? [
                {
                  kind: 'action' as const,
                  label: m.kanban_delete_option(),
                  icon: Trash2,
                  tone: 'danger' as const,
                  run: () => void deleteStack(command, stack),
                },
              ]
            : []),
        ]
      : []),
  ]
  openMenu(anchor, items, m.kanban_stack_title({ title }))
}

interface CardMenuInput {
  move: MoveContext
  id: RecordId
  anchor: Element | { x: number; y: number }
  /** Every stack in order, hidden ones too. */
  stacks: readonly Stack[]
  mayEdit: boolean
  onMoved: (id: RecordId) => void
}

/** Items that a kanban adds to a record's menu: moving it, and inserting records next to it. */
export function cardMenuItems(input: CardMenuInput): MenuItem[] {
  const { move, id, anchor, mayEdit } = input
  const { context, layout, by, titleOf } = move
  const key = layout.keyOf(id)
  if (key === undefined || !context.store.isSaved(id)) return []
  const insert = (before: RecordId | null) =>
    openNewRecord(() => context, { values: stackValues(by, key, titleOf(key)), before })
  return [
    ...(mayEdit
      ? [
          {
            kind: 'action' as const,
            label: m.kanban_move_to_menu(),
            icon: MoveRight,
            run: () => openMenu(anchor, targets(input, key), m.kanban_move_to()),
          },
        ]
      : []),
    ...(can(context, 'record.create')
      ? [
          {
            kind: 'action' as const,
            label: m.kanban_insert_above(),
            icon: ArrowUpToLine,
            run: () => insert(id),
          },
          {
            kind: 'action' as const,
            label: m.kanban_insert_below(),
            icon: ArrowDownToLine,
            run: () => insert(layout.nextOf(id) ?? null),
          },
        ]
      : []),
    { kind: 'separator' },
  ]
}

/** Menu items for moving cards to a stack, at its top. */
function targets({ move, id, stacks, onMoved }: CardMenuInput, from: StackKey): MenuItem[] {
  const { layout, titleOf } = move
  // The record that an absent stack represents may be deleted.
  const offered = stacks.filter(({ isAbsent }) => !isAbsent)
  return offered.map(({ key }): MenuItem => {
    const first = layout.loaded.stack(key).segments.idAt(0) ?? null
    return {
      kind: 'action',
      label: titleOf(key),
      checked: key === from,
      disabledReason: key === from ? null : dropRefusal(move, [id], key),
      run: () => {
        if (key !== from && moveCards(move, [id], { key, before: first })) onMoved(id)
      },
    }
  })
}
