import { readdirSync, readFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Counter, Gauge, type Registry } from 'prom-client'

/** Sampling interval of the event loop's delay. */
const RESOLUTION_MS = 20
const NANOSECONDS = 1e9
const PERCENTILES = [50, 90, 99] as const

/**
 * Memory, CPU time, file descriptors and event loop delay of the process, under the names of Prometheus' client
 * libraries, so that common dashboards show them. The library's own collectors report memory of V8, which this runtime
 * does not have.
 */
export function addProcessGauges(registry: Registry): { close(): void } {
  const registers = [registry]
  const gauge = (name: string, help: string, read: () => number | null) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        const value = read()
        if (value !== null) this.set(value)
      },
    })

  gauge('process_resident_memory_bytes', 'Resident memory in bytes.', () => process.memoryUsage.rss())
  gauge('sheaf_heap_used_bytes', 'JavaScript heap in use, in bytes.', () => process.memoryUsage().heapUsed)
  gauge('process_start_time_seconds', 'Start time of the process since the Unix epoch, in seconds.', () =>
    Math.round(performance.timeOrigin / 1000),
  )
  gauge('process_open_fds', 'Open file descriptors.', () => countOpenFiles())
  gauge('process_max_fds', 'Maximum number of open file descriptors.', () => readFileLimit())
  const cpu = new Counter({
    name: 'process_cpu_seconds_total',
    help: 'User and system CPU time in seconds.',
    registers,
    collect() {
      const { user, system } = process.cpuUsage()
      cpu.reset()
      cpu.inc((user + system) / 1e6)
    },
  })

  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  const lag = new Gauge({
    name: 'sheaf_event_loop_lag_seconds',
    help: 'Delay of the event loop since the last scrape.',
    // Prometheus reserves the label `quantile` for summaries.
    labelNames: ['percentile'],
    registers,
    collect() {
      for (const percentile of PERCENTILES)
        lag.set({ percentile }, delay.percentile(percentile) / NANOSECONDS)
      lag.set({ percentile: 100 }, delay.max / NANOSECONDS)
      delay.reset()
    },
  })
  return { close: () => void delay.disable() }
}

/** Null on systems without `/proc`. */
function countOpenFiles(): number | null {
  try {
    return readdirSync('/proc/self/fd').length
  } catch (error) {
    return unlessNoProc(error)
  }
}

function readFileLimit(): number | null {
  try {
    const soft = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return soft === undefined ? null : Number(soft)
  } catch (error) {
    return unlessNoProc(error)
  }
}

function unlessNoProc(error: unknown): null {
  if (error instanceof Error && 'code' in error) return null
  throw error
}
