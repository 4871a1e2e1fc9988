import { useEffect } from 'react'
import { isWorthRetrying } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { session } from '../../session/index.ts'
import { onJob } from '../../socket.ts'
import { api, type Outputs, trpc } from '../../trpc.ts'

/** Poll interval without live updates, and delay after an error (spec §4). */
const POLL_MS = 500
const RETRY_MS = 1000

type Job = Outputs['jobs']['get']

/**
 * Waits until a job has ended, independent of the screen that started it.
 * @returns its result; null when it was cancelled or the user signed out
 * @throws Error with the server's message when it failed
 */
export async function followJob(
  jobId: string,
  onProgress: (progress: Job['progress']) => void = () => {},
): Promise<{ result: Job['result'] } | null> {
  let wake = () => {}
  const unsubscribe = onJob((news) => news.id === jobId && wake())
  try {
    while (session.status() !== 'signedOut') {
      const news = new Promise<void>((resolve) => {
        wake = resolve
      })
      const job = await readJob(jobId)
      if (job) {
        onProgress(job.progress)
        if (job.status === 'completed') return { result: job.result }
        if (job.status === 'cancelled') return null
        if (job.status === 'failed') throw new Error(job.error ?? m.sources_this_failed())
      }
      await Promise.race([news, new Promise((resolve) => setTimeout(resolve, job ? POLL_MS : RETRY_MS))])
    }
    return null
  } finally {
    unsubscribe()
  }
}

/** Reads a job; null if the request failed and may be retried. */
export async function readJob(jobId: string): Promise<Job | null> {
  try {
    return await api.jobs.get.query({ jobId })
  } catch (error) {
    if (!isWorthRetrying(error)) throw error
    console.warn('the job could not be asked for', error)
    return null
  }
}

/** Poll interval without live updates. */
const WAIT_MS = 700

/** Whether the job has ended. */
export const hasEnded = ({ status }: Job): boolean => status !== 'waiting' && status !== 'active'

/** The current state of a job; undefined without `jobId` or until it is loaded. */
export function useJob(jobId: string | null): Job | undefined {
  const job = trpc.jobs.get.useQuery(
    { jobId: jobId ?? '' },
    {
      enabled: jobId !== null,
      refetchInterval: ({ state }) => (state.data && hasEnded(state.data) ? false : WAIT_MS),
    },
  )
  const { refetch } = job
  useEffect(() => onJob((news) => news.id === jobId && void refetch()), [jobId, refetch])
  return jobId === null ? undefined : job.data
}
