import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'
import type { Config } from './config.ts'
import { AppError } from './core/errors.ts'
import { m } from './messages.gen.ts'

const MAX_URL_LENGTH = 2083 // spec §5
const MAX_REDIRECTS = 5
/** Timeout per redirect for name resolution, connection and the first byte of the answer. */
const ANSWER_TIMEOUT_MS = 20_000
/** Most addresses tried per host name. */
const MAX_ADDRESSES = 3

interface HttpRequest {
  /** Maximum size of the decompressed body of the response. */
  maxBytes: number
  /** Timeout of the whole exchange. */
  timeoutMs: number
  signal?: AbortSignal
}

interface HttpAnswer {
  /** The address after redirects. */
  url: URL
  headers: Headers
  /** The body as a stream. @throws PAYLOAD_TOO_LARGE; BAD_REQUEST if it ends early */
  body: AsyncIterable<Uint8Array>
}

/** Methods of `HttpClient.send`; `fetch` refuses CONNECT and TRACE. */
export const HTTP_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'] as const
export type HttpMethod = (typeof HTTP_METHODS)[number]

export interface HttpMessage extends HttpRequest {
  method: HttpMethod
  /** Names are case-insensitive; a repeated name sends one header with both values. See `headerProblem`. */
  headers: readonly (readonly [name: string, value: string])[]
  /** Not sent with GET and HEAD. */
  body: string | null
}

/** The response to `HttpClient.send`, whatever its status. */
export interface HttpReply {
  status: number
  statusText: string
  headers: Headers
  /** The first `maxBytes` of the body as text; bytes that are not UTF-8 are replaced. */
  body: string
  /** The body was longer than `maxBytes`, or ended early. */
  isCut: boolean
}

export interface HttpClient {
  /**
   * Fetches an address of the public internet, following redirects.
   * @throws BAD_REQUEST for an invalid address, an unknown host, a refused connection or a status other than 2xx
   */
  get(address: string, request: HttpRequest): Promise<HttpAnswer>
  /**
   * Sends one request to an address of the public internet. A redirect is returned like any other status: following it
   * would pass the body and secret headers on to an address that the user has not entered.
   * @throws HttpFailure if the request cannot be sent or has no response in time
   */
  send(address: string, message: HttpMessage): Promise<HttpReply>
}

/** Why a request has no response. */
export type HttpFailureReason =
  | 'invalid address'
  | 'invalid header'
  | 'private address'
  | 'unknown host'
  | 'timeout'
  | 'refused'
  | 'certificate'
  | 'unreachable'
  | 'redirects'
  | 'status'

/** Statuses that tell a client to try again later. */
export const TRANSIENT_STATUSES: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504])

/** A BAD_REQUEST for a request without a usable response. */
export class HttpFailure extends AppError {
  constructor(
    readonly reason: HttpFailureReason,
    message: string,
    /** Of the response, where that is the reason. */
    readonly responseStatus: number | null = null,
  ) {
    super('BAD_REQUEST', message, undefined, 'msg')
  }
}

/** The IP addresses of a host name, best first. Rejects if there are none. */
type Resolver = (host: string) => Promise<string[]>

/** Asks the operating system, as browsers do: DNS, `/etc/hosts` and whatever else it is configured for. */
const systemResolver: Resolver = async (host) =>
  (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address)

/**
 * The only client for addresses that users enter. Rejects private addresses, also after redirects, unless
 * `allowLocalHttp`. It resolves a host once per request and connects to the address that was checked, so DNS rebinding has
 * no effect. Sends no cookies, tokens or passwords.
 */
export function createHttpClient(
  { allowLocalHttp }: Pick<Config, 'allowLocalHttp'>,
  resolver: Resolver = systemResolver,
): HttpClient {
  async function resolve(url: URL): Promise<string[]> {
    const host = url.hostname.replace(/^\[|\]$/g, '')
    const found = isIP(host) ? [host] : await addressesOf(host, resolver)
    if (!allowLocalHttp && found.some(isPrivateAddress)) {
      throw new HttpFailure('private address', m.http_error_private_address({ host: url.hostname }))
    }
    return found.slice(0, MAX_ADDRESSES)
  }

  /** Tries the addresses of a host in turn. Other methods than GET are repeated only if the connection was refused. */
  async function request(url: URL, init: ConnectInit): Promise<Response> {
    let failure: unknown
    // A resolver that does not answer may take longer than the request.
    const addresses = await Promise.race([resolve(url), abortOf(init.signal)]).catch((error) => {
      throw explain(error, url)
    })
    for (const address of addresses) {
      try {
        return await connect(url, address, init)
      } catch (error) {
        failure = explain(error, url)
        const isRefused = failure instanceof HttpFailure && failure.reason === 'refused'
        if (init.signal.aborted || (init.method !== 'GET' && !isRefused)) break
      }
    }
    throw failure
  }

  return {
    async send(address, { method, headers, body, maxBytes, timeoutMs, signal }) {
      const url = parse(address)
      const sent = new Headers()
      for (const [name, value] of headers) {
        const problem = headerProblem(name, value)
        if (problem !== null) throw new HttpFailure('invalid header', problem)
        sent.append(name, value)
      }
      const response = await request(url, {
        method,
        headers: sent,
        body: method === 'GET' || method === 'HEAD' ? null : body,
        signal: anySignal(timeoutMs, signal),
      })
      const { status, statusText } = response
      return { status, statusText, headers: response.headers, ...(await readStart(response, maxBytes)) }
    },

    async get(address, { maxBytes, timeoutMs, signal }) {
      const whole = anySignal(timeoutMs, signal)
      let url = parse(address)
      for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
        const waiting = new AbortController()
        const timer = setTimeout(() => waiting.abort(), ANSWER_TIMEOUT_MS)
        const response = await request(url, {
          method: 'GET',
          headers: new Headers({ accept: 'text/csv,text/*;q=0.9,*/*;q=0.5' }),
          body: null,
          signal: AbortSignal.any([whole, waiting.signal]),
        }).finally(() => clearTimeout(timer))
        const location = response.headers.get('location')
        if (response.status >= 300 && response.status < 400 && location !== null) {
          await response.body?.cancel()
          url = parse(location, url)
          continue
        }
        if (!response.ok) {
          await response.body?.cancel()
          throw new HttpFailure(
            'status',
            m.http_error_status({
              host: url.host,
              status: `${response.status} ${response.statusText}`.trim(),
            }),
            response.status,
          )
        }
        if (Number(response.headers.get('content-length') ?? 0) > maxBytes) {
          await response.body?.cancel()
          throw tooLarge(maxBytes)
        }
        return { url, headers: response.headers, body: limited(response, url, maxBytes) }
      }
      throw new HttpFailure('redirects', m.http_error_redirects({ host: url.host }))
    },
  }
}

/** Rejects when the signal is aborted. */
const abortOf = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })

const anySignal = (timeoutMs: number, signal: AbortSignal | undefined): AbortSignal =>
  AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])])

/**
 * Headers that belong to the connection (RFC 9110 §7.6.1), or that the client derives from the address and the body: a
 * second value for one of them would let a server and its proxy read different requests.
 */
const REFUSED_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
const MAX_HEADER_NAME = 256

/** Why `HttpClient.send` refuses a header, for users; null if it does not. Values are visible Latin-1, spaces and tabs. */
export function headerProblem(name: string, value: string): string | null {
  const shown = name.slice(0, 100)
  if (name.length > MAX_HEADER_NAME || !/^[\w!#$%&'*+.^`|~-]+$/.test(name)) {
    return m.http_error_header_name({ name: shown })
  }
  if (REFUSED_HEADERS.has(name.toLowerCase())) return m.http_error_header_refused({ name: shown })
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) return m.http_error_header_value({ name: shown })
  return null
}

function parse(address: string, base?: URL): URL {
  const isReadable = address.length <= MAX_URL_LENGTH && URL.canParse(address, base)
  const url = isReadable ? new URL(address, base) : null
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new HttpFailure('invalid address', m.http_error_not_http({ address: address.slice(0, 200) }))
  }
  if (url.username !== '' || url.password !== '') {
    throw new HttpFailure('invalid address', m.http_error_credentials())
  }
  return url
}

async function addressesOf(host: string, resolver: Resolver): Promise<string[]> {
  try {
    const found = await resolver(host)
    if (found.length > 0) return found
  } catch (error) {
    // The resolver's error does not matter: the user can only check the name.
    if (!(error instanceof Error)) throw error
  }
  throw new HttpFailure('unknown host', m.http_error_unknown_host({ host }))
}

interface ConnectInit {
  method: HttpMethod
  headers: Headers
  body: string | null
  signal: AbortSignal
}

/** Sends the request to one address of the host, with the Host header and SNI of the name. */
function connect(
  url: URL,
  address: string,
  { method, headers, body, signal }: ConnectInit,
): Promise<Response> {
  const dialled = new URL(url)
  dialled.hostname = isIP(address) === 6 ? `[${address}]` : address
  dialled.hash = ''
  const sent = new Headers(headers)
  sent.set('host', url.host)
  if (!sent.has('user-agent')) sent.set('user-agent', 'Sheaf')
  return fetch(dialled, {
    method,
    body,
    redirect: 'manual',
    credentials: 'omit',
    // No keep-alive: connections are pooled by address, which several names may share.
    keepalive: false,
    headers: sent,
    ...(url.protocol === 'https:' && { tls: { serverName: url.hostname } }),
    signal,
  })
}

async function* limited(response: Response, url: URL, maxBytes: number): AsyncGenerator<Uint8Array> {
  let size = 0
  try {
    for await (const chunk of response.body ?? []) {
      size += chunk.byteLength
      if (size > maxBytes) throw tooLarge(maxBytes)
      yield chunk
    }
  } catch (error) {
    throw explain(error, url, m.http_error_ended_early({ host: url.host }))
  }
}

/** The first bytes of a body as text; the rest is not received. */
async function readStart(response: Response, maxBytes: number): Promise<Pick<HttpReply, 'body' | 'isCut'>> {
  const chunks: Uint8Array[] = []
  let size = 0
  let isCut = false
  try {
    for await (const chunk of response.body ?? []) {
      chunks.push(chunk.subarray(0, maxBytes - size))
      size += chunk.byteLength
      if (size <= maxBytes) continue
      isCut = true
      break
    }
  } catch {
    // The status has arrived: a connection that ends within the body, or takes too long for it, changes nothing.
    isCut = true
  }
  return { body: Buffer.concat(chunks).toString('utf8'), isCut }
}

const tooLarge = (maxBytes: number): AppError =>
  new AppError('PAYLOAD_TOO_LARGE', m.http_error_too_large({ megabytes: Math.floor(maxBytes / 1024 ** 2) }))

/**
 * A user-facing error for a failed request; hides network details.
 *
 * @param lost the message for a lost connection
 */
function explain(error: unknown, url: URL, lost = m.http_error_unreachable({ host: url.host })): AppError {
  if (error instanceof AppError) return error
  const name = error instanceof Error ? error.name : ''
  const { host } = url
  if (name === 'TimeoutError' || name === 'AbortError')
    return new HttpFailure('timeout', m.http_error_timeout({ host }))
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (/CERT|TLS|SSL/i.test(code)) return new HttpFailure('certificate', m.http_error_certificate({ host }))
  const isRefused = code === 'ConnectionRefused' || code === 'ECONNREFUSED'
  return new HttpFailure(isRefused ? 'refused' : 'unreachable', lost)
}

/**
 * Networks that are not the public internet, from the IANA special-purpose registries (RFC 6890 and
 * the lists that follow it): loopback, private, carrier-grade NAT, link-local (cloud metadata lives
 * there), documentation, multicast, and the IPv6 ranges that carry an IPv4 address inside.
 */
const NETWORKS = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/96',
  '::ffff:0:0/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
]

// Two lists: in one, `::ffff:0:0/96` would also match every plain IPv4 address.
const blocked = { ipv4: new BlockList(), ipv6: new BlockList() }
for (const network of NETWORKS) {
  const [address = '', bits] = network.split('/')
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
  blocked[family].addSubnet(address, Number(bits), family)
}

/** True for IP addresses that the server must not fetch on a user's behalf, and for text that is not an address. */
export function isPrivateAddress(address: string): boolean {
  const plain = address.split('%')[0] ?? ''
  const version = isIP(plain)
  const family = version === 6 ? 'ipv6' : 'ipv4'
  return version === 0 || blocked[family].check(plain, family)
}
