import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sniffType } from '../../modules/records/attachments/file-type.ts'
import { isWkt } from '../../src/core/fields/geometry.ts'
import { isTooDeep, MAX_JSON_DEPTH, parseJsonText } from '../../src/core/json-text.ts'
import { createForm } from '../shares/form-world.ts'
import { byLink, createSecrets, type Secrets } from '../shares/world.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { cpuTimeMs } from '../support/cpu-time.ts'

const ANONYMOUS_MAX = 64 * 1024

let app: TestApp
let owner: TestUser
let world: Secrets

beforeAll(async () => {
  app = await createTestApp({ config: { anonymousBodyMaxBytes: ANONYMOUS_MAX } })
  owner = await app.signUp('owner@example.com')
  world = await createSecrets(app, owner)
})
afterAll(() => app.stop())

const post = async (path: string, body: BodyInit, headers: Record<string, string> = {}) => {
  const answer = await fetch(`${app.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })
  return { status: answer.status, text: await answer.text() }
}

/** The same bytes without a length said beforehand. */
const inChunks = (text: string) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      const bytes = new TextEncoder().encode(text)
      for (let at = 0; at < bytes.length; at += 16_384) controller.enqueue(bytes.slice(at, at + 16_384))
      controller.close()
    },
  })

describe('a body from a caller who is not signed in', () => {
  const large = JSON.stringify({ email: 'a@example.com', password: 'x'.repeat(ANONYMOUS_MAX) })

  test.each([
    '/api/v1/auth/user/signin',
    '/api/v2/auth/user/signup',
    '/api/v1/auth/password/forgot',
    '/trpc/auth.signIn',
    '/trpc/auth.signUp?batch=1',
    '/api/v2/tables/mxxxxxxxxxxxxxx/records',
  ])('is refused above ANONYMOUS_BODY_MAX_BYTES: %s', async (path) => {
    const { status, text } = await post(path, large)
    expect([status, text]).toEqual([413, expect.stringContaining(String(ANONYMOUS_MAX))])
  })

  test('is refused where its length is not said beforehand', async () => {
    expect((await post('/api/v1/auth/user/signin', inChunks(large))).status).toBe(413)
  })

  test('is refused as a form', async () => {
    const body = new FormData()
    body.append('email', 'x'.repeat(ANONYMOUS_MAX))
    const answer = await fetch(`${app.url}/api/v1/auth/user/signin`, { method: 'POST', body })
    expect(answer.status).toBe(413)
  })

  test('is refused with a token that is wrong, and for visitors of a public link', async () => {
    const wrong = { 'xc-auth': 'wrong', 'xc-token': 'wrong' }
    expect((await post('/trpc/records.write', large, wrong)).status).toBe(413)
    expect((await post('/api/v1/auth/user/signin', large, wrong)).status).toBe(413)
    const form = await createForm(world, { name: {} })
    expect((await post('/trpc/shares.submit', large, form.headers)).status).toBe(413)
    const rows = `/api/v1/db/public/shared-view/${form.id}/rows`
    expect((await post(rows, large)).status).toBe(413)
    const body = new FormData()
    body.append('data', large)
    const answer = await fetch(`${app.url}${rows}`, { method: 'POST', body })
    expect(answer.status).toBe(413)
  })

  test('may be longer for people who are signed in', async () => {
    const path = `/api/v2/tables/${world.tableId}/records`
    const rows = JSON.stringify(Array.from({ length: 3_000 }, () => ({ Name: 'many of these' })))
    expect(rows.length).toBeGreaterThan(ANONYMOUS_MAX)
    expect((await post(path, rows, { 'xc-auth': owner.token })).status).toBe(200)
    expect((await post(path, inChunks(rows), { 'xc-auth': owner.token })).status).toBe(200)
  })
})

describe('JSON that is nested too deeply', () => {
  const deep = '['.repeat(20_000)

  test.each(['/api/v1/auth/user/signin', '/trpc/auth.signIn', '/trpc/auth.signIn?batch=1'])(
    'is refused before it is parsed: %s',
    async (path) => {
      const { status, text } = await post(path, deep)
      expect([status, text]).toEqual([400, expect.stringContaining(`${MAX_JSON_DEPTH} levels`)])
    },
  )

  test('is refused in the answer of a form', async () => {
    const form = await createForm(world, { name: {} })
    const body = new FormData()
    body.append('data', deep)
    const answer = await fetch(`${app.url}/api/v1/db/public/shared-view/${form.id}/rows`, {
      method: 'POST',
      body,
    })
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('levels')])
  })

  test('is told from JSON with many brackets beside each other, or within texts', () => {
    const levels = (count: number) => '['.repeat(count) + ']'.repeat(count)
    expect(isTooDeep(levels(MAX_JSON_DEPTH))).toBe(false)
    expect(isTooDeep(levels(MAX_JSON_DEPTH + 1))).toBe(true)
    expect(isTooDeep(JSON.stringify(Array.from({ length: 1000 }, () => [])))).toBe(false)
    expect(isTooDeep(JSON.stringify(`"\\${'['.repeat(1000)}`))).toBe(false)
    expect(isTooDeep(`"${'['.repeat(1000)}`)).toBe(false)
    expect(() => parseJsonText(deep)).toThrow(SyntaxError)
  })
})

describe('files of an answer to a form', () => {
  const send = async (id: string, count: number, text = 'x') => {
    const body = new FormData()
    body.append('data', '{"Name":"Files"}')
    for (let index = 0; index < count; index++) body.append('Photo', new File([text], `${index}.txt`))
    const answer = await fetch(`${app.url}/api/v1/db/public/shared-view/${id}/rows`, { method: 'POST', body })
    return { status: answer.status, text: await answer.text() }
  }

  test('are counted before they are taken in', async () => {
    const form = await createForm(world, { name: {}, photo: {} })
    const most = app.config.attachmentMaxCount
    expect((await send(form.id, most)).status).toBe(200)
    const { status, text } = await send(form.id, most + 20)
    expect([status, text]).toEqual([422, expect.stringContaining(`up to ${most} files`)])
  })

  test('are held against the limits of their field as they arrive', async () => {
    const form = await createForm(world, { name: {}, photo: {} })
    const limit = (options: Record<string, unknown>) =>
      world.trpc.schema.updateField.mutate({ fieldId: world.fields.photo, patch: { options } })
    await limit({ maxCount: 2 })
    expect((await send(form.id, 3)).status).toBe(422)
    await limit({ maxSizeMb: 0.001 })
    expect(await send(form.id, 1, 'x'.repeat(2_000))).toEqual({
      status: 422,
      text: expect.stringContaining('0.001 MB'),
    })
    await limit({ kinds: ['image'] })
    expect((await send(form.id, 1)).status).toBe(422)
    await limit({})
    expect((await send(form.id, 1)).status).toBe(200)
  })
})

describe('text that would take more than linear time', () => {
  const isQuick = (work: () => unknown): void => {
    const start = cpuTimeMs()
    work()
    // What was quadratic or worse took minutes with these texts.
    expect(cpuTimeMs() - start).toBeLessThan(2_000)
  }

  test('in a geometry', () => {
    const digits = '1'.repeat(20_000)
    isQuick(() => expect(isWkt(`POINT(${digits} ${digits} ${digits} ${digits}x)`)).toBe(false))
    isQuick(() => expect(isWkt(`POINT(${' '.repeat(90_000)}`)).toBe(false))
    isQuick(() => expect(isWkt(`POLYGON(${'('.repeat(90_000)}`)).toBe(false))
    expect(isWkt('POINT (1. -.5e3 +2 1e5)')).toBe(true)
    expect(isWkt('POINT (1 2 3 4 5)')).toBe(false)
  })

  test('at the beginning of a file', () => {
    const comments = Buffer.from(`<?xml?>${'<!---->'.repeat(500)}${' '.repeat(500)}<a`)
    isQuick(() => expect(sniffType(comments, 'a.svg')).not.toBe('image/svg+xml'))
    const svg = '\ufeff <?xml version="1.0"?>\n<!-- one -->\n<!-- two --><!DOCTYPE svg PUBLIC "x">\n<svg>'
    expect(sniffType(Buffer.from(svg), 'a.txt')).toBe('image/svg+xml')
  })
})

test('POST …/user/signup lets an address make SIGN_UPS_PER_HOUR accounts', async () => {
  const own = await createTestApp({ config: { signUpsPerHour: 3, trustProxy: true } })
  try {
    const signUp = async (name: string, from: string) => {
      const body = JSON.stringify({ email: `${name}@example.com`, password: 'correct horse' })
      const answer = await fetch(`${own.url}/api/v1/auth/user/signup`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', 'x-forwarded-for': from },
      })
      return [answer.status, answer.headers.has('retry-after')]
    }
    expect(await signUp('a', '203.0.113.1')).toEqual([200, false])
    // An account that exists already is not one more.
    expect(await signUp('a', '203.0.113.1')).toEqual([400, false])
    expect(await Promise.all(['b', 'c'].map((name) => signUp(name, '203.0.113.1')))).toEqual([
      [200, false],
      [200, false],
    ])
    expect(await signUp('d', '203.0.113.1')).toEqual([429, true])
    expect(await signUp('d', '203.0.113.2')).toEqual([200, false])
  } finally {
    await own.stop()
  }
})

test('pages of records are not answered in batches', async () => {
  const headers = byLink('view', (await world.share()).id)
  const call = { query: { tableId: world.tableId, limit: 1000, offset: 0 } }
  const batch = (count: number) => {
    const names = Array.from({ length: count }, () => 'records.list').join()
    return post(
      `/trpc/${names}?batch=1`,
      JSON.stringify({ ...Array.from({ length: count }, () => call) }),
      headers,
    )
  }
  expect((await batch(1)).status).toBe(200)
  const { status, text } = await batch(400)
  expect([status, text]).toEqual([400, expect.stringContaining('batches')])
  // What a screen reads at its start still comes together.
  const start = '/trpc/records.people,schema.table?batch=1'
  const inputs = { 0: { baseId: world.baseId }, 1: { tableId: world.tableId } }
  expect((await post(start, JSON.stringify(inputs), headers)).status).toBe(200)
})
