import { useEffect } from 'react'
import { api } from '../../trpc.ts'

/** Once for each page: what the person started before, in this browser or another one, and is still running. */
export function useUnfinishedJobs(): void {
  useEffect(() => {
    let isGone = false
    async function look() {
      const jobs = await api.jobs.unfinished.query()
      if (jobs.length === 0 || isGone) return
      const { showUnfinished } = await import('../imports/unfinished.ts')
      showUnfinished(jobs)
    }
    look().catch((error) => console.warn('running jobs could not be read', error))
    return () => {
      isGone = true
    }
  }, [])
}
