import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  createTable,
  JSON_TYPE,
  join,
  M,
  openShop,
  outcome,
  raw,
  type Shop,
  scalarOf,
  TEXT_TYPE,
} from './support.ts'

// Wire §1: what holds for every call.
let shop: Shop
beforeAll(async () => {
  shop = await openShop()
})
afterAll(() => shop.app.stop())

const AUTHENTICATION_REQUIRED = {
  error: 'AUTHENTICATION_REQUIRED',
  message: 'Authentication required - Invalid token',
}

describe('an address', () => {
  test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'])(
    'that nobody knows is answered 404 to %s',
    async (method) => {
      const { status, type, text } = await raw(shop.app, method, '/api/v1/x')
      expect([status, type, text]).toEqual([404, JSON_TYPE, `{"msg":"Cannot ${method} /api/v1/x"}`])
    },
  )

  test('that nobody knows is answered 404 to HEAD, without a body', async () => {
    const { status, text } = await raw(shop.app, 'HEAD', '/api/v1/x')
    expect([status, text]).toEqual([404, ''])
  })

  test('of the third version is refused in its own envelope', async () => {
    expect(outcome(await shop.rest.post('/api/v3/x'))).toEqual([
      404,
      { error: 'NOT_FOUND', message: 'Cannot POST /api/v3/x' },
    ])
  })

  test.each([
    '/api/v1/db/meta/tables/%ZZ',
    '/api/v1/db/meta/projects/%ED%A0%80',
    '/api/v1/db/data/v1/%C3/T',
    '/%',
  ])('that is no text is refused: %s', async (path) => {
    const { status, type, text } = await raw(shop.app, 'GET', path)
    expect([status, type]).toEqual([400, JSON_TYPE])
    expect(JSON.parse(text).msg).toStartWith("Failed to decode param '%")
  })

  test('may end in a slash', async () => {
    for (const path of [
      `${M}/projects/${shop.baseId}`,
      `${M}/projects`,
      '/api/v1/version',
      '/api/v1/auth/user/me',
    ]) {
      const [plain, slashed] = [await shop.rest.get(path), await shop.rest.get(`${path}/`)]
      expect([path, slashed.status, slashed.body]).toEqual([path, 200, plain.body])
    }
  })

  test('of the second version answers as that of the first', async () => {
    const { id: tableId } = await createTable(shop, 'Twins')
    const { baseId, sourceId } = shop
    const twins = [
      [`${M}/projects/`, '/api/v2/meta/bases/'],
      [`${M}/projects/${baseId}`, `/api/v2/meta/bases/${baseId}`],
      [`${M}/projects/${baseId}/users`, `/api/v2/meta/bases/${baseId}/users`],
      [`${M}/projects/${baseId}/tables`, `/api/v2/meta/bases/${baseId}/tables`],
      [`${M}/projects/${baseId}/bases`, `/api/v2/meta/bases/${baseId}/sources`],
      [`${M}/projects/${baseId}/bases/${sourceId}`, `/api/v2/meta/bases/${baseId}/sources/${sourceId}`],
      [`${M}/projects/${baseId}/${sourceId}/tables`, `/api/v2/meta/bases/${baseId}/${sourceId}/tables`],
      [`${M}/tables/${tableId}`, `/api/v2/meta/tables/${tableId}`],
      [`${M}/tables/${tableId}/views`, `/api/v2/meta/tables/${tableId}/views`],
      [`${M}/nocodb/info`, '/api/v2/meta/nocodb/info'],
      [`${M}/nocodb/info`, '/api/v1/meta/nocodb/info'],
      ['/api/v1/auth/user/me', '/api/v1/db/auth/user/me'],
      ['/api/v1/auth/user/me', '/auth/user/me'],
      ['/api/v1/auth/user/me', '/api/v2/auth/user/me'],
    ] as const
    for (const [first, second] of twins) {
      const [one, other] = [await shop.rest.get(first), await shop.rest.get(second)]
      expect([second, other.status, other.body]).toEqual([second, 200, one.body])
    }
  })
})

describe('an answer', () => {
  test('is JSON under a weak ETag, and 304 to those who have it', async () => {
    const { table_name: _, ...table } = await createTable(shop, 'Tagged')
    const paths = [
      `${M}/projects/${shop.baseId}`,
      `${M}/tables/${table.id}`,
      `/api/v2/tables/${table.id}/records`,
    ]
    for (const path of paths) {
      const { headers } = await shop.rest.get(path)
      const etag = headers.get('etag') ?? ''
      expect([path, headers.get('content-type')]).toEqual([path, JSON_TYPE])
      expect([path, headers.get('cache-control')]).toEqual([path, 'private, no-cache'])
      expect(etag).toMatch(/^W\/"[^"]+"$/)
      for (const known of [etag, etag.slice(2), `"x", ${etag}`, '*']) {
        const again = await shop.rest.send('GET', path, { headers: { 'if-none-match': known } })
        expect([known, again.status, again.body, again.headers.get('etag')]).toEqual([known, 304, null, etag])
      }
      const other = await shop.rest.send('GET', path, { headers: { 'if-none-match': 'W/"other"' } })
      expect(other.status).toBe(200)
    }
  })

  test('to a write or of an error is never 304', async () => {
    const headers = { 'if-none-match': '*' }
    const created = await shop.rest.send('POST', `${M}/projects/`, { body: { title: 'Fresh' }, headers })
    expect(created.status).toBe(200)
    expect((await shop.rest.send('GET', '/api/v1/x', { headers })).status).toBe(404)
  })

  test('of a bare scalar is text', async () => {
    const path = `${M}/projects/${shop.baseId}/has-empty-or-null-filters`
    expect(scalarOf(await shop.rest.get(path))).toEqual([200, TEXT_TYPE, false])
  })

  test('has no CORS headers', async () => {
    const { headers } = await raw(shop.app, 'GET', '/api/v1/version', {
      headers: { origin: 'https://e.com' },
    })
    expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
  })
})

describe('a body', () => {
  const post = async (type: string | null, text?: string) => {
    const headers = { 'xc-auth': shop.admin.token, ...(type !== null && { 'content-type': type }) }
    const { status, text: answer } = await raw(shop.app, 'POST', `${M}/projects/`, { headers, body: text })
    return [status, JSON.parse(answer)]
  }
  const BAD_JSON = { error: 'BAD_JSON', message: 'Invalid JSON in request body' }
  const missingTitle = {
    msg: 'Invalid request body',
    errors: [
      {
        instancePath: '',
        schemaPath: '#/required',
        keyword: 'required',
        params: { missingProperty: 'title' },
        message: "must have required property 'title'",
      },
    ],
  }

  test.each([
    ['[{"title":', { msg: 'Unexpected end of JSON input' }],
    ['5', BAD_JSON],
    ['"text"', BAD_JSON],
    ['nope', BAD_JSON],
    ['{"title": nope}', BAD_JSON],
    ['{}', missingTitle],
  ])('of %s is refused', async (text, expected) => {
    expect(await post('application/json', text)).toEqual([400, expected])
  })

  test('of a form that ends early is refused', async () => {
    const text = '--part\r\nContent-Disposition: form-data; name="title"\r\n\r\nTyp'
    expect(await post('multipart/form-data; boundary=part', text)).toEqual([
      400,
      { msg: 'The request body could not be read' },
    ])
  })

  test('of a form with very many values is read in linear time', async () => {
    const part = (name: string, value: string) =>
      `--part\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
    const others = Array.from({ length: 200_000 }, (_, at) => part(`k${at}`, ''))
    const text = `${part('title', 'Long')}${others.join('')}--part--\r\n`
    expect(await post('multipart/form-data; boundary=part', text)).toMatchObject([200, { title: 'Long' }])
    // A look-up of each name among all takes a minute.
  })

  test('may be a form; plain text is none', async () => {
    expect(await post('application/x-www-form-urlencoded', 'title=A+form')).toMatchObject([
      200,
      { title: 'A form' },
    ])
    expect(await post('text/plain', '{"title":"x"}')).toEqual([400, missingTitle])
    expect(await post(null)).toEqual([400, missingTitle])
  })

  test('lacking a choice is told from one with a wrong choice', async () => {
    const path = `${M}/projects/${shop.baseId}/users`
    const lacking = await shop.rest.post(path, { email: 'x@example.com' })
    expect(lacking.body.errors[0]).toMatchObject({
      keyword: 'required',
      params: { missingProperty: 'roles' },
    })
    const wrong = await shop.rest.post(path, { email: 'x@example.com', roles: 'boss' })
    expect(wrong.body.errors[0]).toMatchObject({ instancePath: '/roles', keyword: 'enum' })
  })

  test.each([
    ['Application/JSON', '{"title":"Typed"}'],
    ['application/json ; charset=utf-8', '{"title":"Typed"}'],
    ['Application/X-WWW-Form-Urlencoded', 'title=Typed'],
    [
      'Multipart/Form-Data ; Boundary=part',
      '--part\r\nContent-Disposition: form-data; name="title"\r\n\r\nTyped\r\n--part--\r\n',
    ],
  ])('of the type %s is read as if that were in lower case', async (type, text) => {
    expect(await post(type, text)).toMatchObject([200, { title: 'Typed' }])
  })
})

describe('who asks', () => {
  test('an unknown id is 404 before anything else', async () => {
    const paths = [
      [`${M}/projects/p00000000000000`, 'BASE_NOT_FOUND'],
      [`${M}/projects/${shop.baseId}/bases/b00000000000000`, 'SOURCE_NOT_FOUND'],
      [`${M}/tables/m00000000000000`, 'TABLE_NOT_FOUND'],
      [`${M}/columns/c00000000000000`, 'FIELD_NOT_FOUND'],
      [`${M}/views/vw00000000000000/columns`, 'VIEW_NOT_FOUND'],
      [`${M}/sorts/so00000000000000`, 'GENERIC_NOT_FOUND'],
      [`${M}/filters/fi00000000000000`, 'GENERIC_NOT_FOUND'],
      ['/api/v2/tables/m00000000000000/records', 'TABLE_NOT_FOUND'],
      ['/api/v2/tables/m00000000000000/aggregate', 'TABLE_NOT_FOUND'],
      ['/api/v1/db/data/v1/Nope/T', 'BASE_NOT_FOUND'],
      ['/api/v1/db/data/v1/Wire/Nope', 'TABLE_NOT_FOUND'],
    ] as const
    for (const [path, code] of paths) {
      const { status, body } = await shop.app.rest().get(path)
      expect([path, status, body.error]).toEqual([path, 404, code])
    }
  })

  test('is told apart: nobody, a stranger, without access, too low a role', async () => {
    const path = `${M}/projects/${shop.baseId}`
    const stranger = await shop.app.signUp()
    const [excluded, viewer] = [await join(shop, 'no-access'), await join(shop, 'viewer')]
    const patch = async (token?: string) => outcome(await shop.app.rest(token).patch(path, { title: 'x' }))
    expect(await patch()).toEqual([401, AUTHENTICATION_REQUIRED])
    expect(await patch('wrong')).toEqual([401, AUTHENTICATION_REQUIRED])
    expect(await patch(stranger.token)).toEqual([
      403,
      { error: 'FORBIDDEN', message: "Forbidden - You don't have permission to access this resource" },
    ])
    expect(await patch(excluded.token)).toEqual([
      401,
      { error: 'AUTHENTICATION_REQUIRED', message: 'Authentication required - Unauthorized access' },
    ])
    expect(await patch(viewer.token)).toMatchObject([
      403,
      { error: 'PERMISSION_DENIED', details: { permissionName: 'baseUpdate', roles: { viewer: true } } },
    ])
  })

  test('is known by three headers, each for its own kind of token', async () => {
    const { token } = (await shop.rest.post('/api/v1/tokens', { description: 'x' })).body
    const asked = async (headers: Record<string, string>, query = '') =>
      (await shop.app.rest().send('GET', `${M}/projects/${query}`, { headers })).status
    expect(await asked({ 'xc-auth': shop.admin.token })).toBe(200)
    expect(await asked({ 'xc-token': token })).toBe(200)
    expect(await asked({ authorization: `Bearer ${token}` })).toBe(200)
    expect(await asked({ authorization: `Bearer ${shop.admin.token}` })).toBe(401)
    expect(await asked({ 'xc-token': shop.admin.token })).toBe(401)
    expect(await asked({}, `?xc-token=${token}`)).toBe(401)
  })
})
