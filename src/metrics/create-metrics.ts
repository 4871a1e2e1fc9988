import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { VERSION } from '../version.ts'
import type { Metrics } from './metrics.ts'
import { addProcessGauges } from './process-gauges.ts'

/** Upper bounds of the duration buckets, in seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** A value that takes longer to read is left out, so that Prometheus gets the others in its time. */
const READ_TIMEOUT_MS = 2_000

/** The measurements with Prometheus' client library. Has its own registry: several servers may run in one process. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  const process = addProcessGauges(registry)
  const histogram = (name: string, help: string, labelNames: string[]) =>
    new Histogram({ name, help, labelNames, buckets: BUCKETS, registers })
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name, help, labelNames, registers })

  const requests = counter('sheaf_http_requests_total', 'Answered HTTP requests.', [
    'method',
    'route',
    'status',
  ])
  const latencies = histogram(
    'sheaf_http_request_duration_seconds',
    'Time from a request to the headers of its response.',
    ['method', 'route'],
  )
  const calls = counter('sheaf_trpc_calls_total', 'Calls of the web app; one request may hold several.', [
    'procedure',
    'outcome',
  ])
  const callLatencies = histogram('sheaf_trpc_call_duration_seconds', 'Time of the web app’s calls.', [
    'procedure',
  ])
  const doors = histogram(
    'sheaf_door_duration_seconds',
    'Time of reads and writes of records, with access checks and planning.',
    ['door', 'operation', 'outcome'],
  )
  const databases = histogram(
    'sheaf_database_duration_seconds',
    'Time of statements (read, scan) and transactions (write) in databases with tables, with waiting.',
    ['client', 'kind'],
  )
  const jobs = counter('sheaf_jobs_total', 'Jobs that have ended.', ['kind', 'status'])
  const unread = counter(
    'sheaf_metrics_unread_total',
    'Values that were left out of a scrape, for example because their database did not answer.',
    ['metric'],
  )
  const inFlight = new Gauge({
    name: 'sheaf_http_requests_in_flight',
    help: 'Requests that are being answered.',
    registers,
  })
  new Gauge({
    name: 'sheaf_build_info',
    help: 'Version of this server.',
    labelNames: ['version', 'bun'],
    registers,
  }).set({ version: VERSION, bun: Bun.version }, 1)

  return {
    inFlight: (change) => inFlight.inc(change),
    request(method, route, status, seconds) {
      requests.inc({ method, route, status })
      latencies.observe({ method, route }, seconds)
    },
    call(procedure, isOk, seconds) {
      calls.inc({ procedure, outcome: outcomeOf(isOk) })
      callLatencies.observe({ procedure }, seconds)
    },
    door: (door, operation, isOk, seconds) =>
      doors.observe({ door, operation, outcome: outcomeOf(isOk) }, seconds),
    database: (client, kind, seconds) => databases.observe({ client, kind }, seconds),
    job: (kind, status) => jobs.inc({ kind, status }),
    observe({ type, name, help, labels: labelNames, read }) {
      const instrument = new (type === 'gauge' ? Gauge : Counter)({
        name,
        help,
        labelNames,
        registers,
        async collect() {
          const samples = await withinTime(read).catch(() => {
            unread.inc({ metric: name })
            return []
          })
          instrument.reset()
          // Without labels, a reset leaves the value 0.
          if (labelNames.length === 0) instrument.remove()
          for (const { labels, value } of samples) instrument.inc(labels, value)
        },
      })
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
    close: process.close,
  }
}

const outcomeOf = (isOk: boolean): string => (isOk ? 'ok' : 'error')

/** @throws what `read` throws, or Error after the time that a value may take */
async function withinTime<T>(read: () => T | Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`No value within ${READ_TIMEOUT_MS} ms`)), READ_TIMEOUT_MS)
  try {
    return await Promise.race([read(), late])
  } finally {
    clearTimeout(timer)
  }
}
