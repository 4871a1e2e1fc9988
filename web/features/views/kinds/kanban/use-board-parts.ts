import { useMemo, useRef } from 'react'
import type { TableSchema } from '../../../../../src/core/model.ts'
import { can, type TableContext } from '../../../records/context/table-context.ts'
import type { BoardParts } from './board-context.ts'
import type { StackSummary } from './create-board.ts'
import { type StackBy, takesRecords } from './stack-by.ts'
import type { BoardPlace } from './use-board-place.ts'
import type { useNewCard } from './use-new-card.ts'
import { summaryText } from './view-summary.ts'

type Drawn =
  | 'openId'
  | 'board'
  | 'store'
  | 'drag'
  | 'fields'
  | 'cover'
  | 'coverFit'
  | 'colorOf'
  | 'checked'
  | 'mayEdit'

interface PartsInput extends Pick<BoardParts, Drawn | 'onStackMenu' | 'onExpand' | 'titleOf'> {
  place: BoardPlace
  by: StackBy
  newCard: ReturnType<typeof useNewCard>
  context: TableContext
  schema: TableSchema
  summary: StackSummary | null
}

/** What the stacks of a board share; the same object until something that they draw has changed. */
export function useBoardParts(input: PartsInput): BoardParts {
  const latest = useRef(input)
  latest.current = input
  const { board, store, drag, place, fields, cover, coverFit, colorOf, checked, openId, mayEdit } = input
  const { by, titleOf, newCard, context, schema, summary } = input
  const { composer } = newCard
  const mayCreate = can(context, 'record.create')
  return useMemo(
    (): BoardParts => ({
      board,
      store,
      drag,
      fields,
      cover,
      coverFit,
      colorOf,
      mayEdit,
      titleOf,
      composer,
      checked,
      openId,
      place: place.watch,
      register: place.register,
      mayAdd: (key) => mayCreate && takesRecords(by, key),
      summaryOf: (stack) => summaryText(schema.fields, summary, stack),
      onCompose: (next) => latest.current.newCard.open(next),
      onTyped: (text) => latest.current.newCard.onTyped(text),
      onAdd: (key, at) => latest.current.newCard.add(key, at),
      onName: (key, at, text) => latest.current.newCard.name(key, at, text),
      onStackMenu: (key, anchor) => latest.current.onStackMenu(key, anchor),
      onExpand: (key) => latest.current.onExpand(key),
    }),
    [
      board,
      store,
      drag,
      place,
      fields,
      cover,
      coverFit,
      colorOf,
      checked,
      openId,
      mayEdit,
      titleOf,
      composer,
      by,
      mayCreate,
      schema.fields,
      summary,
    ],
  )
}
