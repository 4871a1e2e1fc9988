import { hasEnded, type Job } from '../../src/jobs.ts'
import type { Kernel } from '../../src/kernel.ts'

/** Longest that a caller waits for news, well below what proxies allow; then it gets none and asks again. */
const WAIT_MS = 25_000
/** News of a job that has ended is kept this long. */
const KEPT_MS = 5 * 60_000
/** Progress is told this often: clients show each message as a line. */
const TELL_EVERY_MS = 1000

/** What `/jobs/listen` answers, wire §13.2. */
export interface JobMessage {
  status: 'update' | 'close' | 'refresh'
  data?: { id: string; status?: string; data?: unknown }
  _mid?: number
}

interface Channel {
  messages: JobMessage[]
  toldAt: number
  status: Job['status'] | null
  waiting: Set<() => void>
}

/** News of jobs for clients that ask again and again (long polling). */
export function createJobMessages({ events, jobs }: Pick<Kernel, 'events' | 'jobs'>) {
  const channels = new Map<string, Channel>()

  function channelOf(jobId: string): Channel {
    const known = channels.get(jobId)
    if (known) return known
    const channel: Channel = { messages: [], toldAt: 0, status: null, waiting: new Set() }
    channels.set(jobId, channel)
    return channel
  }

  function tell(channel: Channel, jobId: string, data: { status?: string; data?: unknown }): void {
    channel.messages.push({
      status: 'update',
      data: { id: jobId, ...data },
      _mid: channel.messages.length + 1,
    })
    for (const wake of channel.waiting) wake()
  }

  function receive(job: Job): void {
    const channel = channelOf(job.id)
    if (job.status !== channel.status) {
      channel.status = job.status
      tell(channel, job.id, stateOf(job))
      if (hasEnded(job.status)) setTimeout(() => channels.delete(job.id), KEPT_MS).unref()
    } else if (Date.now() - channel.toldAt > TELL_EVERY_MS) {
      channel.toldAt = Date.now()
      tell(channel, job.id, { data: { message: `${job.progress.done} ${job.progress.unit}` } })
    }
  }

  events.on('job.changed', receive)

  /** The messages after `lastId`, as soon as there are any. */
  async function listen(
    jobId: string,
    lastId: number,
    signal: AbortSignal,
  ): Promise<JobMessage[] | JobMessage> {
    if (!channels.has(jobId)) {
      const job = await jobs.find(jobId)
      if (!job) return { status: 'refresh' }
      receive(job)
    }
    const channel = channelOf(jobId)
    const news = () => channel.messages.slice(Math.max(0, lastId))
    if (news().length > 0) return news()
    if (channel.status !== null && hasEnded(channel.status)) return { status: 'close' }
    const { promise, resolve } = Promise.withResolvers<void>()
    const wake = () => resolve()
    const timer = setTimeout(wake, WAIT_MS)
    channel.waiting.add(wake)
    signal.addEventListener('abort', wake)
    try {
      await promise
    } finally {
      clearTimeout(timer)
      channel.waiting.delete(wake)
      signal.removeEventListener('abort', wake)
    }
    return news()
  }

  return { listen }
}

function stateOf(job: Job): { status: string; data?: unknown } {
  if (job.status === 'completed') return { status: 'completed', data: { result: job.result } }
  if (job.status === 'failed') return { status: 'failed', data: { error: { message: job.error } } }
  if (job.status === 'cancelled') return { status: 'failed', data: { error: { message: 'Cancelled' } } }
  return { status: job.status }
}
