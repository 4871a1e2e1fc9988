import type { JobStatus } from '../jobs.ts'

/** True where nothing will change about the job any more. */
export const hasEnded = (status: JobStatus): boolean => status !== 'waiting' && status !== 'active'
