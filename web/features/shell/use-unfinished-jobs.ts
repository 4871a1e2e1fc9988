import { useEffect } from 'react'
import { api } from '../../trpc.ts'

/** The question would compete with the first records, which matter more. */
const ASK_AFTER_MS = 2_000

/** Once for each page: what the person started before, in this browser or another one, and is still running. */
export function useUnfinishedJobs(): void {
  useEffect(() => {
    let isGone = false
    async function look() {
      const jobs = await api.jobs.unfinished.query({ pageAgeMs: performance.now() })
      if (jobs.length === 0 || isGone) return
      const { showUnfinished } = await import('../imports/unfinished.ts')
      showUnfinished(jobs)
    }
    const timer = setTimeout(() => {
      look().catch((error) => console.warn('running jobs could not be read', error))
    }, ASK_AFTER_MS)
    return () => {
      isGone = true
      clearTimeout(timer)
    }
  }, [])
}
