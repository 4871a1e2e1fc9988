import type { LoadRequest, LoadResult } from './load-types.ts'

/*
 * The load generator: a process of its own, so that it takes no time from the server that it measures. It writes
 * HTTP by hand over a few open connections, which costs a fraction of what `fetch` does.
 *
 *   echo '{"port":1234,"connections":8,"seconds":2,"method":"GET","path":"/","headers":{},"from":0}' | bun tests/bench/load.ts
 */

const request: LoadRequest = await Bun.stdin.json()
const {
  hostname = '127.0.0.1',
  port,
  isTls = false,
  connections,
  seconds,
  method,
  path,
  headers,
  body,
} = request
const { cycle = 1, before, pauseMs = 0 } = request

let sent = 0
let done = 0
let failed = 0
let firstFailure = ''
const latenciesMs: number[] = []
const head = [
  'HTTP/1.1',
  `Host: ${hostname}:${port}`,
  ...Object.entries(headers).map(([k, v]) => `${k}: ${v}`),
].join('\r\n')

/** The next request, with its numbers. */
function next(path: string): string {
  const n = ++sent + request.from
  const numbered = (text: string) =>
    text.replaceAll('#n', String(n)).replaceAll('#r', String(((n - 1) % cycle) + 1))
  return written(method, numbered(path), body === undefined ? undefined : numbered(body))
}

/** The request that comes before the next one. */
function nextBefore({ method, path, bodies }: NonNullable<LoadRequest['before']>): string {
  return written(method, path, bodies[sent % bodies.length])
}

function written(method: string, path: string, text: string | undefined): string {
  const top = `${method} ${path} ${head}`
  if (text === undefined) return `${top}\r\n\r\n`
  return `${top}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
}

/** Where an answer ends; infinite for a chunked one (RFC 9112 §7.1) that is not complete. */
function endOf(buffer: Buffer, headEnd: number): number {
  const text = buffer.toString('latin1', 0, headEnd)
  if (/transfer-encoding: chunked/i.test(text)) {
    const last = buffer.lastIndexOf('0\r\n\r\n')
    return last >= headEnd && last === buffer.byteLength - 5 ? buffer.byteLength : Number.POSITIVE_INFINITY
  }
  return headEnd + 4 + Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
}

const start = performance.now()
const end = start + seconds * 1000

function run(_: unknown, connection: number): Promise<void> {
  const ownPath = typeof path === 'string' ? path : (path[connection % path.length] ?? '')
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let buffered: Buffer = Buffer.alloc(0)
  let bodyEnd = -1
  let sentAt = 0
  let status = 0
  /** True while the request under way is one that comes before another. */
  let isBefore = false
  const write = (socket: Bun.Socket) => {
    isBefore = before !== undefined && !isBefore
    sentAt = performance.now()
    socket.write(before && isBefore ? nextBefore(before) : next(ownPath))
  }
  Bun.connect({
    hostname,
    port,
    tls: isTls,
    socket: {
      open: write,
      data(socket, chunk) {
        buffered = buffered.byteLength === 0 ? Buffer.from(chunk) : Buffer.concat([buffered, chunk])
        if (bodyEnd < 0) {
          const headEnd = buffered.indexOf('\r\n\r\n')
          if (headEnd < 0) return
          status = Number(buffered.toString('latin1', 9, 12))
          bodyEnd = endOf(buffered, headEnd)
          // A chunked answer has to be looked at again when more of it has come.
          if (bodyEnd > buffered.byteLength) {
            if (bodyEnd === Number.POSITIVE_INFINITY) bodyEnd = -1
            return
          }
        }
        if (buffered.byteLength < bodyEnd) return
        if (status >= 300) {
          failed++
          firstFailure ||= buffered.toString('utf8', 0, 500)
        }
        const now = performance.now()
        if (!isBefore) {
          latenciesMs.push(now - sentAt)
          done++
        }
        buffered = Buffer.alloc(0)
        bodyEnd = -1
        if (isBefore || now < end) {
          if (pauseMs > 0) setTimeout(write, pauseMs, socket)
          else write(socket)
          return
        }
        socket.end()
        resolve()
      },
      error: (_, error) => reject(error),
      connectError: (_, error) => reject(error),
      close: () => resolve(),
    },
  }).catch(reject)
  return promise
}

await Promise.all(Array.from({ length: connections }, run))
const elapsed = (performance.now() - start) / 1000
latenciesMs.sort((a, b) => a - b)
const at = (share: number) =>
  latenciesMs[Math.min(latenciesMs.length - 1, Math.floor(latenciesMs.length * share))] ?? 0
const result: LoadResult = {
  requests: done,
  failed,
  firstFailure,
  seconds: elapsed,
  p50Ms: at(0.5),
  p99Ms: at(0.99),
}
console.log(JSON.stringify(result))
