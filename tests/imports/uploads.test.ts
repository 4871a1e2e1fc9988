import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import * as XLSX from 'xlsx'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { type OutboundRecorder, startOutboundRecorder } from '../support/outbound-recorder.ts'
import { until } from '../support/until.ts'
import { analyse, type Door, doorOf, postUpload, upload } from './support.ts'

let app: TestApp
let owner: TestUser
let door: Door

beforeAll(async () => {
  app = await createTestApp({ config: { importMaxBytes: 1_000_000 } })
  owner = await app.signUp()
  door = doorOf(app, owner)
})
afterAll(() => app.stop())

const files = () => readdirSync(join(app.config.dataDir, 'uploads'))

describe('an upload in parts', () => {
  const send = (
    method: string,
    path: string,
    body?: BodyInit,
    type = 'application/octet-stream',
    by = door,
  ) =>
    fetch(`${by.url}/api/internal/uploads/${path}`, {
      method,
      headers: { 'xc-auth': by.token, 'content-type': type },
      body,
    })
  const begin = async (size: number, by = door) => {
    const answer = await send(
      'POST',
      'begin',
      JSON.stringify({ name: 'a.csv', size }),
      'application/json',
      by,
    )
    return { status: answer.status, ...((await answer.json()) as { uploadId: string; msg?: string }) }
  }

  test('is refused above the limit, for an empty file, and for a size that is none', async () => {
    const before = files()
    expect(await begin(1_000_001)).toMatchObject({ status: 413 })
    expect(await begin(0)).toMatchObject({ status: 400, msg: 'The file is empty' })
    expect(await begin(-1)).toMatchObject({ status: 400 })
    expect(files()).toEqual(before)
  })

  test('takes each part once, at its place, and is complete with the last one', async () => {
    const { uploadId } = await begin(8)
    expect((await send('PATCH', `${uploadId}?offset=4`, 'late')).status).toBe(409)
    expect(await (await send('PATCH', `${uploadId}?offset=0`, 'a,b\n')).json()).toMatchObject({ received: 4 })
    // Repeated, because its answer was lost.
    expect((await send('PATCH', `${uploadId}?offset=0`, 'a,b\n')).status).toBe(409)
    expect(await (await send('GET', `${uploadId}/received`)).json()).toMatchObject({ received: 4, size: 8 })
    const early = await send('GET', uploadId)
    expect(await early.json()).toMatchObject({ msg: 'The file has not been uploaded completely' })
    expect((await send('PATCH', `${uploadId}?offset=4`, '1,2\n and more')).status).toBe(400)
    const left = ((await (await send('GET', `${uploadId}/received`)).json()) as { received: number }).received
    expect(left).toBe(4)
    await send('PATCH', `${uploadId}?offset=4`, '1,2\n')
    expect(await (await send('GET', uploadId)).text()).toBe('a,b\n1,2\n')
  })

  test('takes one of equal parts that arrive at the same time', async () => {
    for (let round = 0; round < 5; round++) {
      const { uploadId } = await begin(8)
      const parts = await Promise.all(
        Array.from({ length: 6 }, () => send('PATCH', `${uploadId}?offset=0`, 'a,b\n')),
      )
      expect(parts.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409, 409, 409])
      expect((await send('PATCH', `${uploadId}?offset=4`, '1,2\n')).status).toBe(200)
      expect(await (await send('GET', uploadId)).text()).toBe('a,b\n1,2\n')
    }
  })

  test('keeps what arrived of a part whose connection was lost', async () => {
    const { uploadId } = await begin(300_000)
    const abort = new AbortController()
    let pulled = 0
    const stream = new ReadableStream({
      async pull(controller) {
        if (pulled++ < 2) controller.enqueue(new Uint8Array(100_000).fill(97))
        else {
          await Bun.sleep(200)
          abort.abort()
        }
      },
    })
    const sent = fetch(`${door.url}/api/internal/uploads/${uploadId}?offset=0`, {
      method: 'PATCH',
      headers: { 'xc-auth': door.token, 'content-type': 'application/octet-stream' },
      body: stream,
      signal: abort.signal,
    })
    await expect(sent).rejects.toThrow()
    const receivedOf = async () =>
      ((await (await send('GET', `${uploadId}/received`)).json()) as { received: number }).received
    const rest = async () => {
      const received = await receivedOf()
      return send('PATCH', `${uploadId}?offset=${received}`, new Uint8Array(300_000 - received).fill(98))
    }
    let status = 409
    // The server notices a moment later.
    await until(async () => {
      status = (await rest()).status
      return status !== 409
    }, 'The end of the lost connection')
    expect(status).toBe(200)
    expect(await receivedOf()).toBe(300_000)
  })

  test('is for its owner alone', async () => {
    const { uploadId } = await begin(4)
    const stranger = doorOf(app, await app.signUp())
    expect((await send('PATCH', `${uploadId}?offset=0`, 'a', undefined, stranger)).status).toBe(404)
    expect((await send('GET', `${uploadId}/received`, undefined, undefined, stranger)).status).toBe(404)
  })
})

describe('POST /api/internal/uploads', () => {
  test('is refused without a session', async () => {
    expect((await postUpload({ ...door, token: '' }, 'a')).status).toBe(401)
    const { token } = await app
      .rest(owner.token)
      .post('/api/v1/tokens', { description: 'x' })
      .then(({ body }) => body)
    const answer = await fetch(`${app.url}/api/internal/uploads`, {
      method: 'POST',
      headers: { 'xc-token': token, 'content-type': 'application/octet-stream' },
      body: 'a',
    })
    expect(answer.status).toBe(401)
    expect(await answer.json()).toMatchObject({ error: 'API_TOKEN_NOT_ALLOWED' })
  })

  test('takes a file whose media type is written in capitals', async () => {
    const { status } = await fetch(`${app.url}/api/internal/uploads?name=a.csv`, {
      method: 'POST',
      headers: { 'xc-auth': door.token, 'content-type': 'Application/Octet-Stream ; charset=utf-8' },
      body: 'a,b\n1,2\n',
    })
    expect(status).toBe(200)
  })

  test('refuses a file above the limit, whether or not it says so, and keeps nothing of it', async () => {
    const before = files()
    const big = new Uint8Array(1_000_001)
    expect((await postUpload(door, big)).status).toBe(413)
    const stream = new ReadableStream({
      pull(controller) {
        controller.enqueue(new Uint8Array(100_000))
      },
    })
    expect((await postUpload(door, stream)).status).toBe(413)
    expect(files()).toEqual(before)
  })

  test('refuses a body that is not a file', async () => {
    const answer = await app.rest(owner.token).post('/api/internal/uploads?name=a.csv', { a: 1 })
    expect(answer).toMatchObject({ status: 400, body: { msg: 'Send the file as application/octet-stream' } })
  })

  test('keeps the file under its name, for its owner alone', async () => {
    const answer = await postUpload(door, 'a,b\n1,2\n', '../../etc/Répertoire.csv')
    expect(answer.status).toBe(200)
    const body = (await answer.json()) as { uploadId: string; fileName: string; size: number }
    expect(body).toMatchObject({ fileName: 'Répertoire.csv', size: 8 })
    const read = (token: string, range = '') =>
      fetch(`${app.url}/api/internal/uploads/${body.uploadId}${range}`, { headers: { 'xc-auth': token } })
    expect(await (await read(owner.token)).text()).toBe('a,b\n1,2\n')
    expect(await (await read(owner.token, '?from=4&to=7')).text()).toBe('1,2')
    expect((await read(owner.token)).headers.get('content-disposition')).toStartWith('attachment')
    const stranger = await app.signUp()
    expect((await read(stranger.token)).status).toBe(404)
  })

  test('keeps as many files of a person as one import may take, and drops the oldest for another', async () => {
    const first = await upload(door, 'first')
    await Bun.sleep(5)
    for (let index = 1; index < 200; index++) await upload(door, `file ${index}`)
    const status = async () =>
      (await fetch(`${app.url}/api/internal/uploads/${first}`, { headers: { 'xc-auth': owner.token } }))
        .status
    expect(await status()).toBe(200)
    await upload(door, 'one more')
    expect(await status()).toBe(404)
    expect(files()).not.toContain(first)
  })

  test('keeps as many bytes of a person as the largest file may have, the latest first', async () => {
    const ben = doorOf(app, await app.signUp())
    const first = await upload(ben, 'x'.repeat(600_000))
    await Bun.sleep(5)
    const second = await upload(ben, 'x'.repeat(600_000))
    const status = async (id: string) =>
      (await fetch(`${app.url}/api/internal/uploads/${id}`, { headers: { 'xc-auth': ben.token } })).status
    expect(await status(first)).toBe(404)
    expect(await status(second)).toBe(200)
  })

  test('removes what a stopped server left half written, and reports after a week', async () => {
    await Bun.write(join(app.config.dataDir, 'uploads', 'halfwritten'), 'a')
    const report = join(app.config.dataDir, 'reports', 'jobx.csv')
    await Bun.write(report, 'a')
    const monthAgo = Date.now() / 1000 - 30 * 86_400
    utimesSync(report, monthAgo, monthAgo)
    await app.services.imports.clean()
    expect(files()).not.toContain('halfwritten')
    expect(await Bun.file(report).exists()).toBe(false)
    expect(files().length).toBeGreaterThan(0)
  })
})

describe('imports.fetchUrl', () => {
  let remote: OutboundRecorder
  let open: TestApp
  let ann: TestUser

  beforeAll(async () => {
    remote = startOutboundRecorder()
    open = await createTestApp({ config: { allowLocalHttp: true, importMaxBytes: 20_000 } })
    ann = await open.signUp()
  })
  afterAll(async () => {
    await remote.stop()
    await open.stop()
  })

  const fetchUrl = (path: string) =>
    open.trpc(ann.token).imports.fetchUrl.mutate({ url: `${remote.url}${path}` })

  test('refuses addresses of the private network', async () => {
    const { port } = new URL(remote.url)
    for (const url of [
      remote.url,
      `http://localhost:${port}/`,
      `http://[::ffff:127.0.0.1]:${port}/`,
      'http://169.254.169.254/',
      'http://2130706433/',
    ]) {
      await expect(app.trpc(owner.token).imports.fetchUrl.mutate({ url })).rejects.toThrow('private network')
    }
    expect(remote.requests).toEqual([])
  })

  test('refuses what is no http address, or carries a password', async () => {
    for (const url of ['file:///etc/passwd', 'ftp://example.com/a.csv', 'nonsense']) {
      await expect(open.trpc(ann.token).imports.fetchUrl.mutate({ url })).rejects.toThrow(
        'not an http or https address',
      )
    }
    await expect(
      open.trpc(ann.token).imports.fetchUrl.mutate({ url: 'http://a:b@example.com/' }),
    ).rejects.toThrow('password')
  })

  test('says what the other server answered, and keeps nothing above the limit', async () => {
    remote.answer('/gone', { status: 410 })
    await expect(fetchUrl('/gone')).rejects.toThrow('answered 410')
    remote.answer('/big', { body: 'x'.repeat(20_001) })
    await expect(fetchUrl('/big')).rejects.toThrow('larger than')
    remote.answer('/loop', { status: 302, headers: { location: '/loop' } })
    await expect(fetchUrl('/loop')).rejects.toThrow('redirects too many times')
    expect(readdirSync(join(open.config.dataDir, 'uploads'))).toEqual([])
  })

  test('says of a file of another kind what it is, and does not keep it', async () => {
    remote.answer('/people.csv', { body: '%PDF-1.7' })
    await expect(fetchUrl('/people.csv')).rejects.toThrow('This is a PDF')
    remote.answer('/page', { body: '<!doctype html><title>Sign in</title>' })
    remote.answer('/book.xlsx', { status: 302, headers: { location: '/page' } })
    for (const path of ['/page', '/book.xlsx'])
      await expect(fetchUrl(path)).rejects.toThrow('Use a link that downloads the file itself')
    expect(readdirSync(join(open.config.dataDir, 'uploads'))).toEqual([])
  })

  test('keeps nothing of a file that ends early, and says so', async () => {
    for (const head of ['content-length: 1000', 'transfer-encoding: chunked']) {
      const isChunked = head.includes('chunked')
      const server = Bun.listen({
        hostname: '127.0.0.1',
        port: 0,
        socket: {
          data: (socket) => {
            socket.write(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n${isChunked ? '9\r\n' : ''}Name\nAnn\n`)
            socket.flush()
            setTimeout(() => socket.end(), 20)
          },
        },
      })
      const url = `http://127.0.0.1:${server.port}/people.csv`
      await expect(open.trpc(ann.token).imports.fetchUrl.mutate({ url })).rejects.toThrow(
        'ended the answer early',
      )
      server.stop(true)
    }
    expect(readdirSync(join(open.config.dataDir, 'uploads'))).toEqual([])
  })

  test('reads a workbook by its content, whatever the server calls it', async () => {
    const sheet = XLSX.utils.aoa_to_sheet([['Name'], ['Ann']])
    const book = XLSX.utils.book_new(sheet, 'People')
    for (const [bookType, type] of [
      ['xlsx', 'text/html'],
      ['ods', 'text/csv'],
      ['xlsx', 'application/json'],
    ] as const) {
      const body = new Uint8Array(XLSX.write(book, { type: 'buffer', bookType, compression: true }))
      const server = Bun.serve({
        hostname: '127.0.0.1',
        port: 0,
        fetch: () => new Response(body, { headers: { 'content-type': type } }),
      })
      const url = `${server.url.origin}/export?format=csv`
      const { uploadId } = await open.trpc(ann.token).imports.fetchUrl.mutate({ url })
      const [table] = await analyse(doorOf(open, ann), uploadId)
      expect(table?.analysis?.rows).toEqual([['Ann']])
      await server.stop(true)
    }
  })

  test('keeps the file, following redirects, and sends nothing of ours along', async () => {
    remote.clear()
    remote.answer('/old', { status: 302, headers: { location: '/data/people.csv?x=1' } })
    remote.answer('/data/people.csv', { body: 'Name\nAnn\n' })
    expect(await fetchUrl('/old')).toMatchObject({ fileName: 'people.csv', size: 9 })
    for (const { headers } of remote.requests) {
      expect(Object.keys(headers).filter((name) => /cookie|auth|token/.test(name))).toEqual([])
    }
  })
})
