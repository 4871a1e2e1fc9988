import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRestClient, createTrpcClient } from '../support/client.ts'
import { addRows, type Product } from './product.ts'
import type { Line } from './report.ts'

/** The least share of the speed at which the disk copies a file. */
const MIN_OF_COPY = 1 / 2
/** How much slower the slowest reads of a record may be meanwhile. */
const MAX_OF_QUIET = 2
const ROUNDS = 7
/** Pause between two reads: a person's, not a load. */
const READ_EVERY_MS = 5
const QUIET_MS = 5_000
const POLL_EVERY_MS = 50
/** A tenth of a second is the least that a copy can be timed with. */
const MIN_ROWS = 1_000_000
const EDITED_AT_ONCE = 1_000

/**
 * A first backup of the product's data through its API, and one after an edit of the latest hundredth of the records: their rates
 * against copying as many bytes, and reads meanwhile.
 */
export async function measureBackups(product: Product, rows: number): Promise<Line[]> {
  const folder = mkdtempSync(join(tmpdir(), 'sheaf-bench-backups-'))
  const url = `http://127.0.0.1:${product.port}`
  const trpc = createTrpcClient(url, product.session)
  const rest = createRestClient(url, product.session)
  const read = async () => {
    const startedAt = performance.now()
    await rest.get(`${product.path}/77`)
    return performance.now() - startedAt
  }
  const readUntil = async (isOver: () => boolean): Promise<number[]> => {
    const times: number[] = []
    while (!isOver()) {
      times.push(await read())
      await Bun.sleep(READ_EVERY_MS)
    }
    return times
  }
  /** Reads until `work` is done, so that what is compared has the same company. */
  const whileReading = async <T>(work: () => Promise<T>): Promise<T> => {
    let isOver = false
    const reading = readUntil(() => isOver)
    const result = await work()
    isOver = true
    await reading
    return result
  }
  /** Makes a backup and reads until it is complete. */
  const backUp = async () => {
    const { jobId } = await trpc.backups.run.mutate()
    let isOver = false
    const reading = readUntil(() => isOver)
    for (;;) {
      const job = await trpc.jobs.get.query({ jobId })
      if (job.status === 'failed') throw new Error(job.error ?? '')
      if (job.status === 'completed') break
      await Bun.sleep(POLL_EVERY_MS)
    }
    isOver = true
    const reads = await reading
    const [made] = await trpc.backups.list.query()
    const { size = 0, durationMs = 1 } = made?.summary ?? {}
    return { size, rate: size / durationMs, reads }
  }
  const records = Math.max(rows, MIN_ROWS)
  const edit = async (round: number) => {
    const ids = Array.from({ length: records / 100 }, (_, index) => records - index)
    for (let from = 0; from < ids.length; from += EDITED_AT_ONCE) {
      const changes = ids.slice(from, from + EDITED_AT_ONCE).map((Id) => ({ Id, Count: round }))
      const { status, body } = await rest.patch(product.path, changes)
      if (status !== 200) throw new Error(`The records could not be edited: ${JSON.stringify(body)}`)
    }
  }
  try {
    await addRows(product, rows, records)
    const end = performance.now() + QUIET_MS
    const quiet = await readUntil(() => performance.now() > end)
    const rounds: Record<'first' | 'later', Awaited<ReturnType<typeof backUp>>[]> = { first: [], later: [] }
    const copies: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      await trpc.backups.save.mutate({ ...SETTINGS, url: join(folder, `place${round}`) })
      const first = await backUp()
      rounds.first.push(first)
      copies.push(await whileReading(() => copyRate(folder, first.size)))
      await edit(round)
      rounds.later.push(await backUp())
    }
    const copy = median(copies)
    const [quietMs, busyMs] = [p99(quiet), p99(rounds.first.flatMap(({ reads }) => reads))]
    const lineOf = (work: string, made: typeof rounds.first): Line => {
      const rate = median(made.map((one) => one.rate))
      return {
        work,
        result: `${(rate / copy).toFixed(2)} of a copy`,
        promise: `≥ ${MIN_OF_COPY.toFixed(2)}`,
        holds: rate >= copy * MIN_OF_COPY,
        detail: `${(rate / 1000).toFixed(0)} MB/s of ${((made[0]?.size ?? 0) / 1e6).toFixed(0)} MB, a copy ${(copy / 1000).toFixed(0)} MB/s`,
      }
    }
    return [
      lineOf('backups: rate of a first one', rounds.first),
      lineOf('backups: rate after an edit', rounds.later),
      {
        work: 'backups: reads of a record meanwhile',
        result: `p99 ${(busyMs / quietMs).toFixed(1)} of quiet`,
        promise: `≤ ${MAX_OF_QUIET}`,
        holds: busyMs <= quietMs * MAX_OF_QUIET,
        detail: `p99 ${busyMs.toFixed(1)} ms, quiet ${quietMs.toFixed(1)} ms`,
      },
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const SETTINGS = {
  endpoint: null,
  region: null,
  accessKeyId: null,
  frequency: 'off' as const,
  time: '03:00',
  weekday: 0,
  timeZone: 'UTC',
  retention: { last: 0, daily: 0, weekly: 0, monthly: 0 },
  withBucketFiles: false,
  test: 'never' as const,
}

/**
 * Bytes per millisecond of copying a file of this size on the disk, until the copy is on it. The original is in memory,
 * as the database is, and the priority is that of a backup.
 */
async function copyRate(folder: string, size: number): Promise<number> {
  const [from, to] = [join(folder, 'original'), join(folder, 'copy')]
  const bytes = crypto.getRandomValues(new Uint8Array(64 * 1024))
  const file = openSync(from, 'w')
  for (let written = 0; written < size; written += bytes.length) writeSync(file, bytes)
  fsyncSync(file)
  closeSync(file)
  const startedAt = performance.now()
  const copying = ['nice', '-n', '19', 'dd', `if=${from}`, `of=${to}`, 'bs=256k', 'conv=fsync']
  await Bun.spawn(copying, { stderr: 'ignore' }).exited
  const ms = performance.now() - startedAt
  for (const path of [from, to]) rmSync(path)
  return size / ms
}

const sorted = (numbers: readonly number[]): number[] => numbers.toSorted((a, b) => a - b)
const median = (numbers: readonly number[]): number => sorted(numbers)[Math.floor(numbers.length / 2)] ?? 0
const p99 = (numbers: readonly number[]): number => sorted(numbers)[Math.floor(numbers.length * 0.99)] ?? 0
