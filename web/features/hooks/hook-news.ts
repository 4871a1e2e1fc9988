import { useEffect, useRef } from 'react'
import type { HookNews } from '../../../src/core/hooks.ts'
import { readAgain } from '../../read-again.ts'
import { onHook, onReconnect } from '../../socket.ts'

/** What happens in quick succession is read at once. */
const READ_AFTER_MS = 300

/** Reads again, without polling, when a webhook was changed, or deliveries of it were made or have ended. */
export function useHookNews(isMeant: (news: HookNews) => boolean, refetch: () => Promise<unknown>): void {
  const latest = useRef({ isMeant, refetch })
  latest.current = { isMeant, refetch }
  useEffect(() => {
    const reading = readAgain(() => latest.current.refetch(), READ_AFTER_MS)
    const stop = [onHook((news) => latest.current.isMeant(news) && reading.due()), onReconnect(reading.due)]
    return () => {
      reading.stop()
      for (const end of stop) end()
    }
  }, [])
}
