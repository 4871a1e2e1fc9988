import { useEffect } from 'react'
import { api } from '../../trpc.ts'

/** Delay that leaves the connection to the first records. */
const ASK_AFTER_MS = 2_000

/** Once per page load, shows the user's jobs that are still running. */
export function UnfinishedJobs(): null {
  useEffect(() => {
    let isGone = false
    async function look() {
      const jobs = await api.jobs.unfinished.query({ pageAgeMs: performance.now() })
      if (jobs.length === 0 || isGone) return
      const { showUnfinished } = await import('../imports/run-view.tsx')
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
  return null
}
