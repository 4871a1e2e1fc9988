import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHttpClient, isPrivateAddress } from '../../src/http.ts'
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
