import { useEffect, useState } from 'react'
import { type ServerLimits, serverLimits } from './limits.ts'

/** Server limits for attachments; null while they load. */
export function useServerLimits(): ServerLimits | null {
  const [limits, setLimits] = useState<ServerLimits | null>(null)
  useEffect(() => {
    let isShown = true
    serverLimits().then(
      (known) => isShown && setLimits(known),
      () => isShown && setLimits(null),
    )
    return () => {
      isShown = false
    }
  }, [])
  return limits
}
