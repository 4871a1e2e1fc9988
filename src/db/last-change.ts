import { stat } from 'node:fs/promises'
import { clockOffsetMs } from '../clock.ts'

/** Servers of files may have another clock, and round times. */
const FILE_CLOCK_MS = 60_000
/** Two writes within this time may leave a file with the same time and size. */
const SAME_TIME_MS = 5_000

/** When the home of a base was last written to. */
export interface LastChange {
  /** ISO 8601: no entry of the base's log is later. Null if unknown. */
  until: string | null
  /** Stays the same while nothing is added to the log. Null if unknown. */
  mark: string | null
}

/** When an SQLite file was last written to: readers leave its time, and an empty write-ahead log, as they are. */
export async function lastChangeOfFile(path: string): Promise<LastChange> {
  const [file, log] = await Promise.all([path, `${path}-wal`].map((one) => stat(one).catch(() => null)))
  if (!file) return { until: null, mark: null }
  const written = log && log.size > 0 ? [file, log] : [file]
  const changedMs = Math.max(...written.map(({ mtimeMs }) => mtimeMs))
  return {
    until: new Date(changedMs + clockOffsetMs() + FILE_CLOCK_MS).toISOString(),
    mark:
      Date.now() - changedMs < SAME_TIME_MS
        ? null
        : written.map(({ mtimeMs, size }) => `${mtimeMs} ${size}`).join(' '),
  }
}
