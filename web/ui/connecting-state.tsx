import { RotateCw } from 'lucide-react'
import { useEffect, useState } from 'react'
import { isCallUnanswered } from '../errors.ts'
import { m } from '../messages.gen.ts'
import { PartError } from '../navigation/lazy-screen.ts'
import { untilServerAnswers } from '../navigation/server-wait.ts'
import { EmptyState, ErrorState } from './states.tsx'

/** Tries after which the page says that the server cannot be reached. */
const PATIENT_TRIES = 4

/** Most continuations by itself within a time: more would loop, where only some requests are answered. */
const MAX_CONTINUATIONS = 3
const WITHIN_MS = 60_000
let continuedAt: number[] = []

function mayContinue(now = Date.now()): boolean {
  continuedAt = continuedAt.filter((time) => now - time < WITHIN_MS)
  if (continuedAt.length >= MAX_CONTINUATIONS) return false
  continuedAt.push(now)
  return true
}

/** True for failures that are over once the server answers. */
export const isServerAway = (error: unknown): boolean =>
  error instanceof PartError ? error.isServerAway : isCallUnanswered(error)

interface ConnectingStateProps {
  error: unknown
  onContinue: () => void
}

/** In place of a screen while the server does not answer. Continues by itself once it does, and offers to try at once. */
export function ConnectingState({ error, onContinue }: ConnectingStateProps) {
  const [isUnreachable, setUnreachable] = useState(false)
  // Also begins again after another failure.
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  useEffect(() => {
    const end = new AbortController()
    void untilServerAnswers((tries) => setUnreachable(tries >= PATIENT_TRIES), end.signal).then(() => {
      if (mayContinue()) onContinue()
      else setUnreachable(true)
    })
    return () => end.abort()
  }, [error, onContinue])
  if (isUnreachable)
    return (
      <ErrorState
        headingLevel={1}
        title={m.navigation_server_unreachable()}
        error={error}
        onRetry={onContinue}
      />
    )
  return (
    <div role="status">
      <EmptyState
        headingLevel={1}
        icon={RotateCw}
        title={m.navigation_connecting()}
        text={m.navigation_connecting_text()}
      />
    </div>
  )
}
