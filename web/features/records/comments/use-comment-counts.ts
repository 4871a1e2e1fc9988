import { useEffect, useState } from 'react'
import type { CommentCounts } from '../../../grid/contract.ts'
import { firstContent } from '../../../navigation/first-content.ts'
import { loadPart } from '../../../navigation/lazy-screen.ts'
import { isVisitorPage } from '../../../session/visitor.ts'

/**
 * The numbers of comments of a table's records. Null on pages of public links, which have no comments, and until the first
 * records are shown.
 */
export function useCommentCounts(tableId: string): CommentCounts | null {
  const [counts, setCounts] = useState<CommentCounts | null>(null)
  useEffect(() => {
    if (isVisitorPage) return
    let close: (() => void) | null = () => {}
    const open = async () => {
      await firstContent
      const { createCommentCounts } = await loadPart(() => import('./comment-counts.ts'))
      if (close === null) return
      const created = createCommentCounts(tableId)
      close = created.open()
      setCounts(created)
    }
    // Without the numbers everything else works.
    open().catch((error) => console.warn('comments are not counted', error))
    return () => {
      close?.()
      close = null
    }
  }, [tableId])
  return counts
}
