import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRestClient, createTrpcClient } from '../support/client.ts'
import type { Product } from './product.ts'
import type { Line } from './report.ts'

/** The least share of the speed at which the disk copies a file. */
const MIN_OF_COPY = 1 / 2
/** How much slower the slowest reads of a record may be meanwhile. */
const MAX_OF_QUIET = 2
const ROUNDS = 3
/** Pause between two reads: a person's, not a load. */
const READ_EVERY_MS = 5
const QUIET_MS = 5_000

/** A first backup of the product's data through its API: its rate against copying as many bytes, and reads meanwhile. */
export async function measureBackups(product: Product): Promise<Line[]> {
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
  try {
    const end = performance.now() + QUIET_MS
    const quiet = await readUntil(() => performance.now() > end)
    const busy: number[] = []
    const rates: number[] = []
    const copies: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      await trpc.backups.save.mutate({ ...SETTINGS, url: join(folder, `place${round}`) })
      const { jobId } = await trpc.backups.run.mutate()
      let isOver = false
      const reading = readUntil(() => isOver)
      for (;;) {
        const job = await trpc.jobs.get.query({ jobId })
        if (job.status === 'failed') throw new Error(job.error ?? '')
        if (job.status === 'completed') break
        await Bun.sleep(20)
      }
      isOver = true
      busy.push(...(await reading))
      const [made] = await trpc.backups.list.query()
      const { size = 0, durationMs = 1 } = made?.summary ?? {}
      rates.push(size / durationMs)
      copies.push(copyRate(folder, size))
    }
    const [rate, copy] = [median(rates), median(copies)]
    const [quietMs, busyMs] = [p99(quiet), p99(busy)]
    return [
      {
        work: 'backups: rate of a first one',
        result: `${(rate / copy).toFixed(2)} of a copy`,
        promise: `≥ ${MIN_OF_COPY.toFixed(2)}`,
        holds: rate >= copy * MIN_OF_COPY,
        detail: `${(rate / 1000).toFixed(0)} MB/s, a copy ${(copy / 1000).toFixed(0)} MB/s`,
      },
      {
        work: 'backups: reads of a record meanwhile',
        result: `p99 ${(busyMs / quietMs).toFixed(1)} of quiet`,
        promise: `≤ ${MAX_OF_QUIET}`,
        holds: busyMs <= quietMs * MAX_OF_QUIET,
        detail: `p99 ${busyMs.toFixed(1)} ms of ${busy.length} reads, quiet ${quietMs.toFixed(1)} ms`,
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

/** Bytes per millisecond of copying a file of this size on the disk, at the priority of a backup. */
function copyRate(folder: string, size: number): number {
  const [from, to] = [join(folder, 'original'), join(folder, 'copy')]
  const bytes = crypto.getRandomValues(new Uint8Array(64 * 1024))
  const file = openSync(from, 'w')
  for (let written = 0; written < size; written += bytes.length) writeSync(file, bytes)
  fsyncSync(file)
  closeSync(file)
  const startedAt = performance.now()
  Bun.spawnSync(['nice', '-n', '19', 'dd', `if=${from}`, `of=${to}`, 'bs=256k', 'conv=fsync'])
  const ms = performance.now() - startedAt
  for (const path of [from, to]) rmSync(path)
  return size / ms
}

const sorted = (numbers: readonly number[]): number[] => numbers.toSorted((a, b) => a - b)
const median = (numbers: readonly number[]): number => sorted(numbers)[Math.floor(numbers.length / 2)] ?? 0
const p99 = (numbers: readonly number[]): number => sorted(numbers)[Math.floor(numbers.length * 0.99)] ?? 0
