/** What the load generator is told to send. */
export interface LoadRequest {
  /** By default 127.0.0.1. */
  hostname?: string
  port: number
  isTls?: boolean
  /** Requests that are under way at the same time. */
  connections: number
  seconds: number
  /** Between an answer and the next request of a connection; none by default. */
  pauseMs?: number
  method: string
  /** A list has one for each connection, in turn. */
  path: string | string[]
  headers: Record<string, string>
  /** `#n` in body and path becomes a number of its own in each request, `#r` that number within 1 to `cycle`. */
  body?: string
  cycle?: number
  /** A request to the same server before each of the others, with one of the bodies in turn. It is not counted or timed. */
  before?: { method: string; path: string; bodies: string[] }
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
