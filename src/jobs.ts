/** State of a job; the last three are final. */
export type JobStatus = 'waiting' | 'active' | 'completed' | 'failed' | 'cancelled'

/** Progress of a job. */
export interface JobProgress {
  done: number
  /** Null while unknown; may be an estimate. */
  total: number | null
  unit: 'rows' | 'bytes' | 'tables'
  /** The tables that are being linked. */
  link?: { table: string; related: string }
  /** How often the job went on after its server had stopped. */
  restarts?: number
  /** How far it had come at most when a run was interrupted. */
  furthest?: number
  /** Interrupted runs in a row that have not come further than that. */
  fruitless?: number
}

/** A background job as its owner sees it. */
export interface Job {
  id: string
  kind: string
  /** Display name: a file name, the title of a copy. Null if its input has none. */
  subject: string | null
  /** Shared by the jobs of one start, such as the tables of a workbook; null for a job of its own. */
  group: string | null
  status: JobStatus
  baseId: string | null
  userId: string
  progress: JobProgress
  result: unknown
  error: string | null
  createdAt: string
  updatedAt: string
}

/** Options of `JobContext.remember` within a transaction of a connected database: others wait for what it has locked. */
export const WITHIN_TRANSACTION = { patienceMs: 10_000 }

/** Passed to a running job. */
export interface JobContext {
  jobId: string
  /** Who started it. */
  userId: string
  /** True if an earlier run of the job was interrupted, which may have left some of its work. */
  isResumed: boolean
  /**
   * Aborted when a user cancels the job or the server stops. The run then undoes its work and throws, or finishes if it
   * is too late. If the server stops (`ServerStopping`), a job that `resumes` leaves its work for the next run.
   */
  signal: AbortSignal
  /** What the interrupted run has remembered last; null if it has nothing. */
  remembered: unknown
  /**
   * Stores what the next run needs to know, as JSON, until the job has ended; also while the job is being cancelled.
   *
   * @param options `patienceMs`: how long it waits for Sheaf's own database; absent: as long as it takes
   * @throws the reason of the signal if another server has the job; DATABASE_UNREACHABLE after `patienceMs`
   */
  remember(state: unknown, options?: { patienceMs?: number }): Promise<void>
  /**
   * Does work that waits for something outside of this server, such as a database that does not answer. Other jobs take its place
   * meanwhile, though none of the same base; afterwards it goes on as soon as there is room.
   */
  awayFor<T>(work: () => Promise<T>): Promise<T>
  /** Reports progress. Throttled, so it may be called often. */
  report(progress: Partial<JobProgress>): void
}

/** The reason of `JobContext.signal` when the server stops. */
export class ServerStopping extends Error {
  override readonly name = 'ServerStopping'
}

/** True while the server stops: a job that `resumes` goes on at its next start. */
export const isStopping = (signal: AbortSignal): boolean => signal.reason instanceof ServerStopping

/** Implementation of a kind of job. */
export interface JobKind<Input> {
  /**
   * True if it mostly waits for another server. Such jobs run beside all others, and only one of them in a base.
   */
  isWaiting?: true
  /** True if the result is only for who started the job, such as a link that gives access by itself. */
  hasPrivateResult?: true
  /** Ids of jobs that must have ended before this one runs, on whichever server they are. */
  after?(input: Input): readonly string[]
  /** Keeps others from removing what an interrupted job needs. Called for all such jobs before the first of them is recovered. */
  hold?(input: Input, job: { id: string }): Promise<void>
  run(input: Input, context: JobContext): Promise<unknown>
  /**
   * Cleans up after a run that a restart interrupted, and returns null: the job has failed. If the run had finished and
   * only its end was not stored, returns its result, or why it has failed. `resume` runs the job again, with `isResumed`.
   */
  recover(
    input: Input,
    job: { id: string; userId: string },
  ): Promise<{ result: unknown } | { error: string } | 'resume' | null>
  /**
   * Cleans up after a job that `recover` would resume, and that has been interrupted too often without coming further. Returns why it
   * has failed. By default it says that nothing was changed, or what has interrupted it last.
   *
   * @param job `remembered`: as in `JobContext`; `reason`: what has interrupted it, a sentence without its full stop
   */
  giveUp?(input: Input, job: { id: string; remembered: unknown; reason: string }): Promise<string>
  /** Set if jobs go on after their server has stopped. */
  resumes?: true
  /**
   * Set if jobs that go on complete or undo what an earlier run has begun even if they are cancelled before: `run` is called then, with a
   * signal that is aborted already.
   */
  completes?: true
}

/** The jobs of this server. */
export interface Jobs {
  register<Input>(kind: string, definition: JobKind<Input>): void
  /**
   * Queues a job. At most one job per base and a few per server run at a time.
   *
   * @throws BAD_REQUEST for texts in `input` that PostgreSQL cannot store
   */
  start(
    kind: string,
    job: { id?: string; userId: string; baseId: string | null; input: unknown },
  ): Promise<Job>
  /** Stores a job that has ended on data that this server does not have. */
  record(job: Omit<Job, 'subject' | 'group'>): Promise<void>
  find(jobId: string): Promise<Job | null>
  /** As `JobKind.hasPrivateResult`. */
  hasPrivateResult(kind: string): boolean
  /** Newest first, at most 100. */
  list(of: { baseId?: string; userId?: string; kind?: string; unfinished?: boolean }): Promise<Job[]>
  /** The unfinished jobs of a start, on all servers, newest first. */
  inGroup(group: string): Promise<Job[]>
  /** The number of unfinished jobs of this server. */
  counts(): { waiting: number; active: number }
  /**
   * Requests cancellation, which is stored with the job: whichever server goes on with it honours it. No effect on an ended job, nor on one
   * whose work is done before it notices. `job.changed` reports the end.
   */
  cancel(jobId: string): Promise<void>
  /** Cancels all unfinished jobs that an account has started. */
  cancelAllOf(userId: string): Promise<void>
  /**
   * Cleans up and fails the jobs of processes that have ended. Called at start, after `register`; from then on it also
   * runs when another server has disappeared.
   */
  recover(): Promise<void>
  /** Cancels running jobs, waits for their cleanup and rejects new ones. */
  close(): Promise<void>
}

/** True for a final status. */
export const hasEnded = (status: JobStatus): boolean => status !== 'waiting' && status !== 'active'
