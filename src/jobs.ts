/** How far a job is; the last three are its ends. */
export type JobStatus = 'waiting' | 'active' | 'completed' | 'failed' | 'cancelled'

/** Progress of a job. */
export interface JobProgress {
  done: number
  /** Null while it is not known; an estimate while `done` grows. */
  total: number | null
  unit: 'rows' | 'bytes' | 'tables'
}

/** Work that runs beside the requests, as its owner sees it. */
export interface Job {
  id: string
  kind: string
  /** Display name of its work: a file name, the title of a copy. Null if its input has none. */
  subject: string | null
  status: JobStatus
  baseId: string | null
  userId: string
  progress: JobProgress
  result: unknown
  error: string | null
  createdAt: string
  updatedAt: string
}

/** Context of a running job. */
export interface JobContext {
  jobId: string
  /** Who started it. */
  userId: string
  /**
   * Aborted when someone cancels the job or the server stops. The run then takes back what it did and
   * throws, or goes on to its end where it is too late.
   */
  signal: AbortSignal
  /** May be called as often as one likes: few of the calls are sent and stored. */
  report(progress: Partial<JobProgress>): void
}

/** How one kind of job is done. */
export interface JobKind<Input> {
  run(input: Input, context: JobContext): Promise<unknown>
  /**
   * After a restart: cleans up what a run that was cut off left behind, and gives null; the job is then
   * failed. Where the run had finished its work and only its end was not noted, gives its result.
   */
  recover(input: Input, job: { id: string; userId: string }): Promise<{ result: unknown } | null>
}

/** The jobs of this server. */
export interface Jobs {
  register<Input>(kind: string, definition: JobKind<Input>): void
  /** Queues a job. Of one base a single job runs at a time, of the whole server a few. */
  start(
    kind: string,
    job: { id?: string; userId: string; baseId: string | null; input: unknown },
  ): Promise<Job>
  find(jobId: string): Promise<Job | null>
  /** Newest first, at most 100. */
  list(of: { baseId?: string; userId?: string; kind?: string; unfinished?: boolean }): Promise<Job[]>
  /** Asks the job to end. One that has ended stays as it is; `job.changed` tells when it has. */
  cancel(jobId: string): Promise<void>
  /**
   * Fails, after cleaning up, what a former process left running; what another one runs now is left alone. Called
   * once at start, after `register`.
   */
  recover(): Promise<void>
  /** Ends what runs, cleaning up after it, and takes no more. */
  close(): Promise<void>
}

/** True where nothing will change about the job any more. */
export const hasEnded = (status: JobStatus): boolean => status !== 'waiting' && status !== 'active'
