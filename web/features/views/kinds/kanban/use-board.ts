import { useEffect, useRef, useState } from 'react'
import { useStore } from 'zustand'
import { useOnChange } from '../../../../ui/effects.ts'
import type { RecordStore } from '../../../records/record-store.ts'
import { groupsApi } from '../../../records/server/api.ts'
import { useRecordStore } from '../../../records/server/use-record-store.ts'
import type { StoreQuery } from '../../../records/store/types.ts'
import type { BoardNumbers } from './board-paging.ts'
import { type Board, createBoard, type StackSummary, summaryId } from './create-board.ts'
import type { StackBy } from './stack-by.ts'

/** Summaries follow a burst of edits once it rests. */
const NUMBERS_PAUSE_MS = 300

interface Opened {
  board: Board
  store: RecordStore
  numbers: BoardNumbers | null
}

/** The board of a view while it is on the screen. For another field to stack by, mount anew. */
export function useBoard(
  baseId: string,
  by: StackBy,
  query: StoreQuery,
  summary: StackSummary | null,
): Opened {
  const latest = useRef({ query, summary })
  latest.current = { query, summary }
  const [board] = useState(() =>
    createBoard({
      by,
      query: () => latest.current.query,
      summary: () => latest.current.summary,
      groups: groupsApi.groups,
    }),
  )
  const store = useRecordStore(baseId, by.field.tableId, query, () => board.layout)
  const numbers = useStore(board.numbers)
  const wanted = summaryId(summary)

  const isFirst = useRef(true)
  useOnChange([board, wanted], () => {
    if (!isFirst.current) void board.paging().readNumbers()
    isFirst.current = false
  })
  useEffect(() => {
    if (wanted === '') return
    let timer: ReturnType<typeof setTimeout> | undefined
    const stop = store.onData(() => {
      clearTimeout(timer)
      timer = setTimeout(() => void board.paging().readNumbers(), NUMBERS_PAUSE_MS)
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [board, store, wanted])
  return { board, store, numbers }
}
