import { statfs } from 'node:fs/promises'
import type { Kernel } from '../kernel.ts'
import { cacheTallies } from './cache-tally.ts'
import type { Observation, Sample } from './metrics.ts'

/** Sizes are read at most once in this time: a server may have thousands of base files. */
const SIZES_EVERY_MS = 60_000

/** Adds the measurements of the kernel's services. @param connections the number of live connections */
export function describeKernel(kernel: Kernel, connections: () => number): void {
  const { metrics, pool, jobs, meta, sources, config } = kernel
  if (metrics === null) return

  const gauge = (name: string, help: string, labels: string[], read: Observation['read']) =>
    metrics.observe({ type: 'gauge', name, help, labels, read })
  gauge('sheaf_jobs', 'Unfinished jobs of this server by state.', ['state'], () =>
    byLabel('state', jobs.counts()),
  )
  gauge('sheaf_sockets', 'Live connections of browsers.', [], () => [unlabelled(connections())])
  gauge('sheaf_pool_tasks', 'Tasks of the worker pool by kind and state.', ['kind', 'state'], () =>
    Object.entries(pool.counts()).flatMap(([kind, { running, waiting }]) => [
      { labels: { kind, state: 'running' }, value: running },
      { labels: { kind, state: 'waiting' }, value: waiting },
    ]),
  )
  gauge('sheaf_pool_workers', 'Threads and processes of the worker pool by kind.', ['kind'], () =>
    Object.entries(pool.counts()).map(([kind, { workers }]) => ({ labels: { kind }, value: workers })),
  )
  const connectionsByKind = () => {
    const metadata = meta.connections()
    return Object.entries({ ...(metadata && { metadata }), ...sources.connections() })
  }
  gauge(
    'sheaf_postgres_connections',
    'Open connections to the database of DATABASE_URL by kind of work and state.',
    ['kind', 'state'],
    () =>
      connectionsByKind().flatMap(([kind, { used, idle }]) => [
        { labels: { kind, state: 'used' }, value: used },
        { labels: { kind, state: 'idle' }, value: idle },
      ]),
  )
  gauge(
    'sheaf_postgres_connections_limit',
    'The most connections to the database of DATABASE_URL by kind of work.',
    ['kind'],
    () => connectionsByKind().map(([kind, { limit }]) => ({ labels: { kind }, value: limit })),
  )
  gauge(
    'sheaf_postgres_waiting',
    'Reads and writes that wait for a connection to the database of DATABASE_URL.',
    ['kind'],
    () => connectionsByKind().map(([kind, { waiting }]) => ({ labels: { kind }, value: waiting })),
  )
  metrics.observe({
    type: 'counter',
    name: 'sheaf_cache_reads_total',
    help: 'Reads of in-memory caches by result.',
    labels: ['cache', 'result'],
    read: () =>
      [...cacheTallies()].flatMap(([cache, { hits, misses }]) => [
        { labels: { cache, result: 'hit' }, value: hits },
        { labels: { cache, result: 'miss' }, value: misses },
      ]),
  })
  gauge('sheaf_open_bases', 'Database files that are open.', [], () => [unlabelled(sources.openFiles())])
  const sizes = atMostEvery(SIZES_EVERY_MS, () => sources.sizes())
  gauge('sheaf_database_size_bytes', 'Size of the databases of this server.', ['database'], async () =>
    byLabel('database', await sizes()),
  )
  gauge('sheaf_data_folder_free_bytes', 'Free space on the disk of DATA_DIR.', [], async () => {
    const { bavail, bsize } = await statfs(config.dataDir)
    return [unlabelled(bavail * bsize)]
  })
}

const unlabelled = (value: number): Sample => ({ labels: {}, value })

const byLabel = (label: string, values: Record<string, number>): Sample[] =>
  Object.entries(values).map(([text, value]) => ({ labels: { [label]: text }, value }))

/** Repeats the last result within `everyMs`. */
function atMostEvery<T>(everyMs: number, read: () => Promise<T>): () => Promise<T> {
  let last: { at: number; result: Promise<T> } | null = null
  return () => {
    if (last && performance.now() - last.at < everyMs) return last.result
    const result = read()
    last = { at: performance.now(), result }
    // A failure is reported once, and tried again with the next scrape.
    result.catch(() => {
      last = null
    })
    return result
  }
}
