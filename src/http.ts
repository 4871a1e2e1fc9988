import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'
import type { Config } from './config.ts'
import { AppError, badRequest } from './core/errors.ts'
import { m } from './messages.gen.ts'

const MAX_URL_LENGTH = 2083 // spec §5
const MAX_REDIRECTS = 5
/** Timeout per redirect for name resolution, connection and the first byte of the answer. */
const ANSWER_TIMEOUT_MS = 20_000
/** Most addresses tried per host name. */
const MAX_ADDRESSES = 3

interface HttpRequest {
  /** Maximum size of the decompressed body. */
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

interface HttpClient {
  /**
   * Fetches an address of the public internet, following redirects.
   * @throws BAD_REQUEST for an invalid address, an unknown host, a refused connection or a status other than 2xx
   */
  get(address: string, request: HttpRequest): Promise<HttpAnswer>
}

/**
 * The only client for addresses that users enter. Rejects private addresses, also after redirects, unless
 * `allowLocalHttp`. It connects to the address that was checked, so DNS rebinding has no effect. Sends no cookies,
 * tokens or passwords.
 */
export function createHttpClient({ allowLocalHttp }: Pick<Config, 'allowLocalHttp'>): HttpClient {
  async function resolve(url: URL): Promise<string[]> {
    const host = url.hostname.replace(/^\[|\]$/g, '')
    const found = isIP(host) ? [host] : await addressesOf(host)
    if (!allowLocalHttp && found.some(isPrivateAddress)) {
      throw badRequest(m.http_error_private_address({ host: url.hostname }))
    }
    return found.slice(0, MAX_ADDRESSES)
  }

  async function request(url: URL, signal: AbortSignal): Promise<Response> {
    let failure: unknown
    for (const address of await resolve(url)) {
      try {
        return await connect(url, address, signal)
      } catch (error) {
        if (signal.aborted) throw error
        failure = error
      }
    }
    throw failure
  }

  return {
    async get(address, { maxBytes, timeoutMs, signal }) {
      const whole = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])])
      let url = parse(address)
      for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
        const waiting = new AbortController()
        const timer = setTimeout(() => waiting.abort(), ANSWER_TIMEOUT_MS)
        const response = await request(url, AbortSignal.any([whole, waiting.signal]))
          .catch((error) => {
            throw explain(error, url)
          })
          .finally(() => clearTimeout(timer))
        const location = response.headers.get('location')
        if (response.status >= 300 && response.status < 400 && location !== null) {
          await response.body?.cancel()
          url = parse(location, url)
          continue
        }
        if (!response.ok) {
          await response.body?.cancel()
          throw badRequest(
            m.http_error_status({
              host: url.host,
              status: `${response.status} ${response.statusText}`.trim(),
            }),
          )
        }
        if (Number(response.headers.get('content-length') ?? 0) > maxBytes) {
          await response.body?.cancel()
          throw tooLarge(maxBytes)
        }
        return { url, headers: response.headers, body: limited(response, url, maxBytes) }
      }
      throw badRequest(m.http_error_redirects({ host: url.host }))
    },
  }
}

function parse(address: string, base?: URL): URL {
  const isReadable = address.length <= MAX_URL_LENGTH && URL.canParse(address, base)
  const url = isReadable ? new URL(address, base) : null
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw badRequest(m.http_error_not_http({ address: address.slice(0, 200) }))
  }
  if (url.username !== '' || url.password !== '') {
    throw badRequest(m.http_error_credentials())
  }
  return url
}

async function addressesOf(host: string): Promise<string[]> {
  try {
    const found = await lookup(host, { all: true, verbatim: true })
    if (found.length > 0) return found.map(({ address }) => address)
  } catch (error) {
    // The resolver's error does not matter: the user can only check the name.
    if (!(error instanceof Error)) throw error
  }
  throw badRequest(m.http_error_unknown_host({ host }))
}

/** Sends the request to one address of the host, with the Host header and SNI of the name. */
function connect(url: URL, address: string, signal: AbortSignal): Promise<Response> {
  const dialled = new URL(url)
  dialled.hostname = isIP(address) === 6 ? `[${address}]` : address
  dialled.hash = ''
  return fetch(dialled, {
    redirect: 'manual',
    credentials: 'omit',
    // No keep-alive: connections are pooled by address, which several names may share.
    keepalive: false,
    headers: { host: url.host, accept: 'text/csv,text/*;q=0.9,*/*;q=0.5', 'user-agent': 'Sheaf' },
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
    throw explain(error, url)
  }
}

const tooLarge = (maxBytes: number): AppError =>
  new AppError('PAYLOAD_TOO_LARGE', m.http_error_too_large({ megabytes: Math.floor(maxBytes / 1024 ** 2) }))

/** A user-facing error for a failed request; hides network details. */
function explain(error: unknown, url: URL): AppError {
  if (error instanceof AppError) return error
  const name = error instanceof Error ? error.name : ''
  if (name === 'TimeoutError' || name === 'AbortError')
    return badRequest(m.http_error_timeout({ host: url.host }))
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (/CERT|TLS|SSL/i.test(code)) return badRequest(m.http_error_certificate({ host: url.host }))
  return badRequest(m.http_error_unreachable({ host: url.host }))
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
