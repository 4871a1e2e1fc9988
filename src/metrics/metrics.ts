/** Values that are read at each scrape. A counter must never decrease. */
export interface Observation {
  type: 'gauge' | 'counter'
  name: string
  help: string
  labels: string[]
  read(): Sample[] | Promise<Sample[]>
}

/** A measured value with its labels. */
export interface Sample {
  labels: Record<string, string>
  value: number
}

/**
 * The measurements of this server in Prometheus' format. Labels only have values from the source code (route templates,
 * procedures, statuses), never ids or texts of users, so the number of series is bounded.
 */
export interface Metrics {
  /** Counts an answered request. `route` is a template such as `/api/v2/tables/:tableId/records`. */
  request(method: string, route: string, status: number, seconds: number): void
  /** Adds to the number of requests that are being answered. */
  inFlight(change: 1 | -1): void
  /** Counts a call of the web app. */
  call(procedure: string, isOk: boolean, seconds: number): void
  /** Counts an operation of the read or write door. */
  door(door: Door, operation: string, isOk: boolean, seconds: number): void
  /** Counts a statement (`read`, `scan`) or transaction (`write`) in a database with user tables, or one of the metadata. */
  database(client: string, kind: DatabaseWork, seconds: number): void
  /** Counts a job that has ended. */
  job(kind: string, status: string): void
  /** Adds values that are read at each scrape. */
  observe(observation: Observation): void
  /** All measurements, as text of `contentType`. */
  text(): Promise<string>
  contentType: string
  close(): void
}

export type Door = 'read' | 'write'
export type DatabaseWork = 'read' | 'scan' | 'write' | 'metadata'

/** The function, with its time measured; the function itself if metrics are off. */
export function timed<A extends unknown[], R>(
  metrics: Metrics | null,
  door: Door,
  operation: string,
  work: (...given: A) => Promise<R>,
): (...given: A) => Promise<R> {
  if (metrics === null) return work
  return async (...given) => {
    const startedAt = performance.now()
    let isOk = false
    try {
      const result = await work(...given)
      isOk = true
      return result
    } finally {
      metrics.door(door, operation, isOk, (performance.now() - startedAt) / 1000)
    }
  }
}

/** The service, with the time of these methods measured; the service itself if metrics are off. */
export function timeMethods<T extends object, K extends keyof T & string>(
  metrics: Metrics | null,
  door: Door,
  service: T,
  methods: readonly K[],
): T {
  if (metrics === null) return service
  const measured = methods.map((name) => [
    name,
    timed(metrics, door, name, service[name] as (...given: unknown[]) => Promise<unknown>),
  ])
  return { ...service, ...Object.fromEntries(measured) }
}
