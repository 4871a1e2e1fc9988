import { type CommentNews, commentKey } from '../../../../src/core/comments.ts'
import type { RecordId } from '../../../../src/core/model.ts'
import type { CommentCounts } from '../../../grid/contract.ts'
import { onComment, onReconnect } from '../../../socket.ts'
import { api } from '../../../trpc.ts'

/** Rows that are drawn within this time are asked for together. */
const WAIT_MS = 120
/** Records in one request. */
const MAX_ASKED = 500
/** Known numbers that are kept; beyond that, those of records out of sight are dropped. */
const MAX_KNOWN = 20_000

/** The numbers of comments of a table's visible records, which follow what others write. */
export function createCommentCounts(tableId: string): CommentCounts & { open(): () => void } {
  const known = new Map<string, number>()
  const listeners = new Map<string, Set<() => void>>()
  const wanted = new Set<string>()
  let timer: ReturnType<typeof setTimeout> | undefined

  function want(key: string): void {
    wanted.add(key)
    timer ??= setTimeout(() => {
      timer = undefined
      // Without the numbers everything else works; the next change or connection asks again.
      load().catch((error) => console.warn('comments could not be counted', error))
    }, WAIT_MS)
  }

  async function load(): Promise<void> {
    const keys = [...wanted].filter((key) => listeners.has(key))
    wanted.clear()
    for (let start = 0; start < keys.length; start += MAX_ASKED) {
      const recordIds = keys.slice(start, start + MAX_ASKED)
      const counts = await api.comments.counts.query({ tableId, recordIds })
      const byKey = new Map(counts.map(({ recordId, count }) => [recordId, count]))
      for (const key of recordIds) set(key, byKey.get(key) ?? 0)
    }
    if (known.size > MAX_KNOWN) for (const key of known.keys()) if (!listeners.has(key)) known.delete(key)
  }

  function set(key: string, count: number): void {
    if (known.get(key) === count) return
    known.set(key, count)
    for (const listener of listeners.get(key) ?? []) listener()
  }

  function take({ tableId: changed, recordId }: CommentNews): void {
    if (changed !== tableId) return
    if (listeners.has(recordId)) want(recordId)
    else known.delete(recordId)
  }

  function readAgain(): void {
    for (const key of known.keys()) if (!listeners.has(key)) known.delete(key)
    for (const key of listeners.keys()) want(key)
  }

  return {
    of: (id: RecordId) => known.get(commentKey(id)) ?? 0,
    subscribe(id, onChange) {
      const key = commentKey(id)
      const own = listeners.get(key) ?? new Set()
      listeners.set(key, own.add(onChange))
      if (!known.has(key)) want(key)
      return () => {
        own.delete(onChange)
        if (own.size === 0 && listeners.get(key) === own) listeners.delete(key)
      }
    },
    /** Follows changes until the returned function is called. */
    open() {
      const stop = [onComment(take), onReconnect(readAgain)]
      return () => {
        for (const end of stop) end()
        clearTimeout(timer)
        timer = undefined
      }
    },
  }
}
