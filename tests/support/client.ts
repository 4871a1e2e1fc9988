import { createTRPCClient, httpLink, splitLink } from '@trpc/client'
import type { AppRouter } from '../../src/router.ts'

/** A response of the REST API; `body` is the parsed JSON, else the text; null if empty. */
export interface RestAnswer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects, and fails where it is not there
  body: any
  headers: Headers
}

export type RestClient = ReturnType<typeof createRestClient>

/** A token, or the headers of a visitor of a public link. */
export type Credentials = string | Record<string, string>

/** A REST client with a session token (JWT) or API token; anonymous without credentials. */
export function createRestClient(url: string, credentials?: Credentials) {
  const own =
    typeof credentials === 'string'
      ? { [isJwt(credentials) ? 'xc-auth' : 'xc-token']: credentials }
      : credentials

  const send = async (
    method: string,
    path: string,
    { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<RestAnswer> => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...own,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      redirect: 'manual',
    })
    return { status: answer.status, body: parse(await answer.text()), headers: answer.headers }
  }
  return {
    send,
    get: (path: string) => send('GET', path),
    post: (path: string, body: unknown = {}) => send('POST', path, { body }),
    patch: (path: string, body: unknown = {}) => send('PATCH', path, { body }),
    put: (path: string, body: unknown = {}) => send('PUT', path, { body }),
    delete: (path: string, body?: unknown) => send('DELETE', path, { body }),
  }
}

export type TrpcClient = ReturnType<typeof createTrpcClient>

/** A tRPC client with a session token; anonymous without credentials. */
export function createTrpcClient(url: string, credentials?: Credentials) {
  const headers = typeof credentials === 'string' ? { 'xc-auth': credentials } : (credentials ?? {})
  const options = { url: `${url}/trpc`, headers }
  return createTRPCClient<AppRouter>({
    links: [
      splitLink({
        // POST queries have no length limit, but need an input: an empty body is not valid JSON.
        condition: (op) => op.type === 'query' && op.input !== undefined,
        true: httpLink<AppRouter>({ ...options, methodOverride: 'POST' }),
        false: httpLink<AppRouter>(options),
      }),
    ],
  })
}

/** A tRPC client that stores cookies like a browser. */
export function createBrowser(url: string) {
  const jar = new Map<string, string>()
  const keep = (headers: Headers) => {
    for (const cookie of headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      if (/max-age=0/i.test(cookie)) jar.delete(name)
      else jar.set(name, value)
    }
  }
  const trpc = (token?: string) =>
    createTRPCClient<AppRouter>({
      links: [
        httpLink<AppRouter>({
          url: `${url}/trpc`,
          headers: () => ({
            cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; '),
            ...(token !== undefined && { 'xc-auth': token }),
          }),
          fetch: async (input, init) => {
            const answer = await fetch(input, init as RequestInit)
            keep(answer.headers)
            return answer
          },
        }),
      ],
    })
  return { jar, trpc }
}

const isJwt = (token: string): boolean => token.split('.').length === 3

function parse(text: string): unknown {
  if (text === '') return null
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return text
    throw error
  }
}
