import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import {
  createHttpClient,
  HTTP_METHODS,
  HttpFailure,
  headerProblem,
  isPrivateAddress,
} from '../../src/http.ts'
import { type OutboundRecorder, startOutboundRecorder } from '../support/outbound-recorder.ts'

describe('isPrivateAddress', () => {
  test.each([
    '127.0.0.1',
    '127.1.2.3',
    '10.1.1.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '100.64.0.1',
    '169.254.169.254',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
    '198.18.0.1',
    '::1',
    '::',
    'fe80::1',
    'fe80::1%eth0',
    'fc00::1',
    'fd12::1',
    'ff02::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::127.0.0.1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    '2001::1',
    'not an address',
  ])('is true for %s', (address) => {
    expect(isPrivateAddress(address)).toBe(true)
  })

  test.each(['8.8.8.8', '172.32.0.1', '100.128.0.1', '192.169.0.1', '2606:4700::1111', '2a00:1450::1'])(
    'is false for %s',
    (address) => {
      expect(isPrivateAddress(address)).toBe(false)
    },
  )
})

/** A resolver of a rebinding name: each lookup gets the next answer, the last one for good. */
function rebinding(...answers: string[][]) {
  const asked: string[] = []
  const resolver = async (host: string): Promise<string[]> => {
    asked.push(host)
    return answers[Math.min(asked.length, answers.length) - 1] ?? []
  }
  return { asked, resolver }
}

describe('createHttpClient', () => {
  let remote: OutboundRecorder
  const request = { maxBytes: 1000, timeoutMs: 5000 }
  const local = createHttpClient({ allowLocalHttp: true })

  beforeAll(() => {
    remote = startOutboundRecorder()
  })
  afterAll(() => remote.stop())

  test('refuses the redirect to a private address as it would the address itself', async () => {
    // `localhost` is refused at once here, so the check of a redirect is seen on one that may be fetched.
    const strict = createHttpClient({ allowLocalHttp: false })
    await expect(strict.get(`${remote.url}/`, request)).rejects.toThrow('private network')
    await expect(strict.get('http://[::1]/', request)).rejects.toThrow('private network')
    remote.answer('/to-file', { status: 302, headers: { location: 'file:///etc/passwd' } })
    await expect(local.get(`${remote.url}/to-file`, request)).rejects.toThrow('not an http or https address')
  })

  test('refuses a name with a private address among its public ones', async () => {
    const { resolver } = rebinding(['8.8.8.8', '127.0.0.1'])
    const strict = createHttpClient({ allowLocalHttp: false }, resolver)
    const { port } = new URL(remote.url)
    await expect(strict.get(`http://rebind.test:${port}/`, request)).rejects.toThrow('private network')
  })

  test('checks the address of a redirect to the same name anew', async () => {
    remote.clear()
    const { port } = new URL(remote.url)
    const home = `http://rebind.test:${port}`
    remote.answer('/again', { status: 302, headers: { location: `${home}/elsewhere` } })
    const { asked, resolver } = rebinding(['127.0.0.1'], ['127.0.0.2'])
    const client = createHttpClient({ allowLocalHttp: true }, resolver)
    await expect(client.get(`${home}/again`, request)).rejects.toThrow('can’t be reached')
    expect(asked).toHaveLength(2)
    expect(remote.requests.map(({ path }) => path)).toEqual(['/again'])
  })

  test.each(['get', 'send'] as const)(
    '%s connects to the address that was checked, not to one resolved later',
    async (way) => {
      remote.clear()
      const { port } = new URL(remote.url)
      const { asked, resolver } = rebinding(['127.0.0.1'], ['127.0.0.2'])
      const client = createHttpClient({ allowLocalHttp: true }, resolver)
      const address = `http://rebind.test:${port}/hook`
      if (way === 'get') await Array.fromAsync((await client.get(address, request)).body)
      else await client.send(address, { ...request, method: 'POST', headers: [], body: 'x' })
      expect(asked).toEqual(['rebind.test'])
      expect(remote.requests[0]).toMatchObject({ path: '/hook', headers: { host: `rebind.test:${port}` } })
    },
  )

  test('tells the server the name that was asked for', async () => {
    remote.clear()
    const { port } = new URL(remote.url)
    const answer = await local.get(`http://localhost:${port}/a?b=1#c`, request)
    await Array.fromAsync(answer.body)
    expect(remote.requests[0]).toMatchObject({ path: '/a?b=1', headers: { host: `localhost:${port}` } })
  })

  test('gives up on a server that does not answer in time', async () => {
    remote.answer('/slow', { delayMs: 3000 })
    await expect(local.get(`${remote.url}/slow`, { ...request, timeoutMs: 100 })).rejects.toThrow('too long')
  })

  test('stops reading where the body grows past the limit', async () => {
    remote.answer('/big', { body: 'x'.repeat(1001) })
    const read = local.get(`${remote.url}/big`, request).then(({ body }) => Array.fromAsync(body))
    await expect(read).rejects.toThrow('larger than')
  })

  test('says so where the name or the server does not exist', async () => {
    await expect(local.get('http://nobody.invalid/', request)).rejects.toThrow('Unknown host')
    await expect(local.get('http://127.0.0.1:1/', request)).rejects.toThrow('can’t be reached')
  })
})

describe('send', () => {
  let remote: OutboundRecorder
  const local = createHttpClient({ allowLocalHttp: true })
  const message = { method: 'POST', headers: [], body: 'x', maxBytes: 1000, timeoutMs: 5000 } as const

  beforeAll(() => {
    remote = startOutboundRecorder()
  })
  afterAll(() => remote.stop())
  beforeEach(() => remote.clear())

  /** The reason of a request that fails. */
  const reasonOf = (sent: Promise<unknown>): Promise<string> =>
    sent.then(
      () => 'none',
      (error) => (error instanceof HttpFailure ? error.reason : String(error)),
    )

  test('refuses private addresses, whatever form they have', async () => {
    const strict = createHttpClient({ allowLocalHttp: false })
    const { port } = new URL(remote.url)
    for (const host of [
      '127.0.0.1',
      '127.1',
      '2130706433',
      '0x7f.1',
      'localhost',
      '[::1]',
      '[::ffff:7f00:1]',
    ]) {
      expect(await reasonOf(strict.send(`http://${host}:${port}/`, message))).toBe('private address')
    }
    expect(remote.requests).toBeEmpty()
  })

  test.each([
    'Host',
    'content-length',
    'Transfer-Encoding',
    'connection',
    'TE',
    'upgrade',
    'Proxy-Authorization',
  ])('refuses the header %s', async (name) => {
    expect(await reasonOf(local.send(remote.url, { ...message, headers: [[name, '1']] }))).toBe(
      'invalid header',
    )
    expect(remote.requests).toBeEmpty()
  })

  test.each([
    ['a line break in a value', 'X-A', 'a\r\nHost: evil'],
    ['a lone line feed', 'X-A', 'a\nb'],
    ['a null character', 'X-A', 'a\0b'],
    ['a character outside Latin-1', 'X-A', '€'],
    ['a line break in a name', 'X-A\r\nX-B', 'a'],
    ['a colon in a name', 'X-A:', 'a'],
    ['an empty name', '', 'a'],
  ])('refuses %s', async (_, name, value) => {
    expect(headerProblem(name, value)).toBeString()
    expect(await reasonOf(local.send(remote.url, { ...message, headers: [[name, value]] }))).toBe(
      'invalid header',
    )
    expect(remote.requests).toBeEmpty()
  })

  test('refuses addresses with a password or another scheme', async () => {
    expect(await reasonOf(local.send('http://a:b@example.com/', message))).toBe('invalid address')
    expect(await reasonOf(local.send('gopher://127.0.0.1/', message))).toBe('invalid address')
    expect(await reasonOf(local.send('not an address', message))).toBe('invalid address')
  })

  test('says why there is no response', async () => {
    expect(await reasonOf(local.send('http://127.0.0.1:1/', message))).toBe('refused')
    expect(await reasonOf(local.send('http://nobody.invalid/', message))).toBe('unknown host')
    remote.answer('/slow', { delayMs: 3000 })
    expect(await reasonOf(local.send(`${remote.url}/slow`, { ...message, timeoutMs: 100 }))).toBe('timeout')
    expect(await reasonOf(local.send(remote.url.replace('http:', 'https:'), message))).toBeOneOf([
      'certificate',
      'unreachable',
    ])
  })

  test.each(HTTP_METHODS)('sends %s with its headers, and its body if it has one', async (method) => {
    const headers = [
      ['X-Token', 'ä b'],
      ['content-type', 'application/json'],
      ['user-agent', 'Mine'],
    ] as const
    await local.send(`${remote.url}/in?a=1`, { ...message, method, headers, body: '{"é":1}' })
    expect(remote.requests).toMatchObject([
      {
        method,
        path: '/in?a=1',
        headers: { 'x-token': 'ä b', 'content-type': 'application/json', 'user-agent': 'Mine' },
        body: method === 'GET' || method === 'HEAD' ? '' : '{"é":1}',
      },
    ])
  })

  test('returns the status, headers and body of an error', async () => {
    remote.answer('/full', { status: 503, headers: { 'retry-after': '7' }, body: 'later' })
    const reply = await local.send(`${remote.url}/full`, message)
    expect(reply).toMatchObject({
      status: 503,
      statusText: 'Service Unavailable',
      body: 'later',
      isCut: false,
    })
    expect(reply.headers.get('retry-after')).toBe('7')
  })

  test('does not follow redirects', async () => {
    remote.answer('/from', { status: 307, headers: { location: '/to' } })
    expect(await local.send(`${remote.url}/from`, message)).toMatchObject({ status: 307 })
    expect(remote.requests).toHaveLength(1)
  })

  test('keeps the beginning of a long body', async () => {
    remote.answer('/big', { body: 'x'.repeat(5_000_000) })
    const reply = await local.send(`${remote.url}/big`, message)
    expect([reply.status, reply.body.length, reply.isCut]).toEqual([200, 1000, true])
  })

  test('keeps the status of a body that ends early', async () => {
    const server = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        data: (socket) => {
          socket.write('HTTP/1.1 202 Accepted\r\ncontent-length: 100\r\n\r\nshort')
          socket.flush()
          setTimeout(() => socket.end(), 20)
        },
      },
    })
    const reply = await local.send(`http://127.0.0.1:${server.port}/`, message)
    expect(reply).toMatchObject({ status: 202, isCut: true })
    server.stop(true)
  })
})
