import { useEffect } from 'react'
import { onJob } from '../../socket.ts'
import { type Outputs, trpc } from '../../trpc.ts'

/** Without live updates the server is asked this often. */
const POLL_MS = 700

type Job = Outputs['jobs']['get']

/** True where nothing will change about the job any more. */
export const isOver = ({ status }: Job): boolean => status !== 'waiting' && status !== 'active'

/** A job as it goes on; undefined until the first answer, and while there is none. */
export function useJob(jobId: string | null): Job | undefined {
  const job = trpc.jobs.get.useQuery(
    { jobId: jobId ?? '' },
    {
      enabled: jobId !== null,
      refetchInterval: ({ state }) => (state.data && isOver(state.data) ? false : POLL_MS),
    },
  )
  const { refetch } = job
  useEffect(() => onJob((news) => news.id === jobId && void refetch()), [jobId, refetch])
  return jobId === null ? undefined : job.data
}
