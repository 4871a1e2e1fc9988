import type { LogLevel } from './config.ts'

const RANK: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3, silent: 4 }

type LogFields = Record<string, string | number | boolean | null | undefined>

/** Logs one JSON object per line to standard output: time, level, message and the caller's fields. */
export interface Log {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  /** `error` adds the message and stack of what was thrown. */
  error(message: string, error: unknown, fields?: LogFields): void
}

/** A log that passes lines of at least `level` to `write`, each ending in a newline. */
export function createLog(level: LogLevel, write: (line: string) => void = writeToStdout): Log {
  const emit = (at: Exclude<LogLevel, 'silent'>, message: string, fields: LogFields = {}) => {
    if (RANK[at] < RANK[level]) return
    write(`${JSON.stringify({ time: new Date().toISOString(), level: at, message, ...fields })}\n`)
  }
  return {
    debug: (message, fields) => emit('debug', message, fields),
    info: (message, fields) => emit('info', message, fields),
    warn: (message, fields) => emit('warn', message, fields),
    error: (message, error, fields) => {
      const cause =
        error instanceof Error
          ? { error: error.message, stack: error.stack }
          : { error: String(error), stack: undefined }
      emit('error', message, { ...fields, ...cause })
    },
  }
}

/** Lines that standard output rejected: the disk is full, or the pipe has no reader. */
let lostLines = 0
let isWatched = false

function writeToStdout(line: string): void {
  // Without a listener the first line that cannot be written would end the process.
  if (!isWatched) process.stdout.on('error', () => {})
  isWatched = true
  process.stdout.write(line, (error) => {
    if (error) lostLines++
    else if (lostLines > 0) reportLostLines()
  })
}

function reportLostLines(): void {
  const report = { time: new Date().toISOString(), level: 'warn', message: 'log lines were lost', lostLines }
  lostLines = 0
  process.stdout.write(`${JSON.stringify(report)}\n`)
}

type Handler = (request: Request, server: Bun.Server<never>) => Response | Promise<Response>

/**
 * Wraps a handler so that each answered request is logged at `debug`: method, path, status, time and the request id
 * that the client gets too. Without query strings, which may hold user data. Free of cost at other levels.
 */
export function logRequests(log: Log, level: LogLevel, handle: Handler): Handler {
  if (level !== 'debug') return handle
  return async (request, server) => {
    const startedAt = performance.now()
    const response = await handle(request, server)
    log.debug('request', {
      method: request.method,
      // The signature is removed from file links, or any reader of the log could open the file.
      path: new URL(request.url).pathname.replace(/^\/dltemp\/[^/]+/, '/dltemp/…'),
      status: response.status,
      ms: Math.round((performance.now() - startedAt) * 10) / 10,
      requestId: response.headers.get('x-request-id'),
    })
    return response
  }
}
