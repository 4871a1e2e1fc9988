/** What the load generator is told to send. */
export interface LoadRequest {
  port: number
  /** Requests that are under way at the same time. */
  connections: number
  seconds: number
  method: string
  path: string
  headers: Record<string, string>
  /** `#n` in it becomes a number of its own in each request. */
  body?: string
  /** The first number less one. */
  from: number
}

export interface LoadResult {
  requests: number
  failed: number
  /** The first answer that was none, cut short. */
  firstFailure: string
  seconds: number
  p50Ms: number
  p99Ms: number
}
