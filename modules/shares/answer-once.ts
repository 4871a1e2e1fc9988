import { LRUCache } from 'lru-cache'
import { SUBMISSION_HEADER } from '../../src/core/shares.ts'

const ID = /^[\w-]{8,64}$/
const MAX_REMEMBERED = 10_000
const REMEMBERED_MS = 3_600_000

/**
 * Keeps answers once, however often they come: a page that got no reply sends them again, and cannot know that the
 * first time they arrived. Remembered in memory, for an hour; without an id each call is an answer of its own.
 */
export function createAnswerOnce<T extends object>() {
  const sent = new LRUCache<string, Promise<T>>({ max: MAX_REMEMBERED, ttl: REMEMBERED_MS })

  return function once(shareId: string, headers: Headers, answer: () => Promise<T>): Promise<T> {
    const id = headers.get(SUBMISSION_HEADER)
    if (id === null || !ID.test(id)) return answer()
    const key = `${shareId} ${id}`
    const known = sent.get(key)
    if (known) return known
    const kept = answer()
    sent.set(key, kept)
    // What was refused may be put right and sent again.
    kept.catch(() => sent.delete(key))
    return kept
  }
}
