import { useEffect, useState } from 'react'
import { firstContent, isContentShown } from './first-content.ts'

/**
 * Loads parts of a screen that nobody can use before its first records are shown. A failure is only logged: using the
 * part tries again, and reports it.
 */
export function preloadAfterContent(...parts: { preload: () => Promise<unknown> }[]): void {
  firstContent
    .then(() => Promise.all(parts.map((part) => part.preload())))
    .catch((error) => console.warn('parts not fetched ahead of time', error))
}

/** True once the first content is on the screen, for parts that should not delay it. */
export function useIsContentShown(): boolean {
  const [isTime, setTime] = useState(isContentShown)
  useEffect(() => {
    void firstContent.then(() => setTime(true))
  }, [])
  return isTime
}
