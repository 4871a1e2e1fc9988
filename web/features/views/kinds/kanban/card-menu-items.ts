import { ArrowDownToLine, ArrowUpToLine, MoveRight } from 'lucide-react'
import type { RecordId } from '../../../../../src/core/model.ts'
import { m } from '../../../../messages.gen.ts'
import { type MenuItem, openMenu } from '../../../../ui/menu.tsx'
import { can } from '../../../records/context/table-context.ts'
import { openNewRecord } from '../../../records/panel/new-record.tsx'
import { dropRefusal, type MoveContext, moveCards } from './card-commands.ts'
import { type StackKey, stackValues } from './stack-by.ts'
import type { Stack } from './stacks.ts'

interface CardMenuInput {
  move: MoveContext
  id: RecordId
  anchor: Element | { x: number; y: number }
  /** Every stack in order, hidden ones too. */
  stacks: readonly Stack[]
  mayEdit: boolean
  onMoved: (id: RecordId) => void
}

/** What a board adds to the menu of a record: moving it, and new ones beside it. */
export function cardMenuItems(input: CardMenuInput): MenuItem[] {
  const { move, id, anchor, mayEdit } = input
  const { context, board, by, titleOf } = move
  const key = board.keyOf(id)
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
            run: () => insert(board.nextOf(id) ?? null),
          },
        ]
      : []),
    { kind: 'separator' },
  ]
}

/** The stacks as lines of a menu; cards go to the top, where one sees them. */
function targets({ move, id, stacks, onMoved }: CardMenuInput, from: StackKey): MenuItem[] {
  const { board, titleOf } = move
  return stacks.map(({ key }): MenuItem => {
    const first = board.lanes.lane(key).segments.idAt(0) ?? null
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
