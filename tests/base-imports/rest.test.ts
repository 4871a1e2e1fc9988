import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { defineBaseImportsTables } from '../../modules/base-imports/tables.ts'
import type { BaseImport } from '../../src/core/base-imports.ts'
import { type AirtableServer, startAirtableServer } from '../support/airtable-server.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { createBase, createMember } from '../support/factories.ts'
import { allows } from '../support/openapi.ts'
import { until } from '../support/until.ts'
import { airtableBase, airtableTable, recordsOf } from './support.ts'

let app: TestApp
let owner: TestUser
/** API token of the owner. */
let token: string
let server: AirtableServer
// biome-ignore lint/suspicious/noExplicitAny: a document of OpenAPI is read here as it comes
let document: any

const SECRET = 'pat-test'
const books = airtableTable('Books', { Title: 'singleLineText', Odd: 'somethingNew' }, [
  { Title: 'Emma' },
  { Title: 'Dune' },
])
const base = airtableBase('Library', [books])
const crew = airtableBase('Crew', [
  airtableTable('Crew', { Title: 'singleLineText', Who: 'singleCollaborator' }, [
    { Title: 'a', Who: { id: 'usrZed', email: 'zed@example.com', name: 'Zed' } },
  ]),
])
const from = { source: 'airtable', credentials: { token: SECRET } }

const tokenOf = async (user: TestUser): Promise<string> =>
  (await app.rest(user.token).post('/api/v1/tokens')).body.token

beforeAll(async () => {
  server = startAirtableServer({ bases: [base, crew] })
  app = await createTestApp({
    config: { airtableApiUrl: server.url, allowLocalHttp: true, airtableRequestsPerSecond: 500 },
  })
  owner = await app.signUp()
  token = await tokenOf(owner)
  document = (await app.rest().get('/api/docs/openapi.json')).body
})
afterAll(async () => {
  await app.stop()
  await server.stop()
})

interface Answer<Body> {
  status: number
  text: string
  body: Body
}

/** Calls with an API token, and sees that answers are as described and that none has the token of the source. */
async function call<Body = BaseImport & Record<string, unknown>>(
  method: string,
  path = '',
  body?: unknown,
  credential = token,
): Promise<Answer<Body>> {
  const answer = await fetch(`${app.url}/api/v2/meta/base-imports${path}`, {
    method,
    headers: { 'xc-token': credential, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  expect(text).not.toContain(SECRET)
  const isJson = answer.headers.get('content-type')?.startsWith('application/json') === true
  const parsed = isJson ? JSON.parse(text) : {}
  if (isJson && answer.ok) {
    const schema = answerSchemaOf(method, path)
    expect([method, path, text, allows(schema, parsed)]).toEqual([method, path, text, true])
  }
  return { status: answer.status, text, body: parsed }
}

/** The schema of an answer in the OpenAPI document. */
function answerSchemaOf(method: string, path: string): object {
  const [first = '', ...others] = path.split('?')[0]!.split('/').slice(1)
  const isFixed = ['', 'inspect', 'describe'].includes(first)
  const route = [isFixed ? first : '{importId}', ...others].filter((part) => part !== '')
  const { responses } =
    document.paths[['/api/v2/meta/base-imports', ...route].join('/')][method.toLowerCase()]
  return responses[200].content['application/json'].schema
}

/** Waits until an import has stopped running. */
async function settled(id: string): Promise<BaseImport> {
  let found: BaseImport | undefined
  await until(async () => {
    found = (await call('GET', `/${id}`)).body
    return found.status !== 'running'
  }, `The end of the import ${id}`)
  return found!
}

/** Starts an import that waits while it reads its first table. */
async function startHeld() {
  const { promise: reached, resolve: isReached } = Promise.withResolvers<void>()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  server.delays.set(`/v0/${base.id}/${books.id}`, async () => {
    isReached()
    await released
  })
  const { status, body } = await call('POST', '', { from, sourceBaseId: base.id, title: 'Held' })
  expect(status).toBe(200)
  await reached
  return {
    id: body.id,
    release: () => {
      server.delays.clear()
      release()
    },
  }
}

const countBases = async () => (await app.trpc(owner.token).bases.list.query()).length

describe('POST /api/v2/meta/base-imports', () => {
  test('names what is wrong with a call, and creates nothing', async () => {
    const before = await countBases()
    const refused = async (body: unknown) => {
      const { status, text } = await call('POST', '', body)
      return `${status} ${text}`
    }
    expect(await refused({})).toContain('400 ')
    expect(await refused({ from: { source: 'lotus', credentials: {} }, sourceBaseId: base.id })).toContain(
      '400 ',
    )
    expect(await refused({ from: { ...from, credentials: {} }, sourceBaseId: base.id })).toContain('400 ')
    expect(await refused({ from, sourceBaseId: base.id, choices: { vews: true } })).toContain('400 ')
    expect(await refused({ from, sourceBaseId: 'appUnknown' })).toMatch(/^400 .*schema\.bases:read/)
    const wrong = { ...from, credentials: { token: 'wrong' } }
    expect(await refused({ from: wrong, sourceBaseId: base.id })).toMatch(/^400 .*does not accept the token/)
    expect(await refused({ from, sourceBaseId: base.id, baseId: 'pnope' })).toContain('404 ')
    expect(await countBases()).toBe(before)
  })

  test('is refused to the token of an editor, and without one', async () => {
    const own = await createBase(app, owner)
    const editor = await tokenOf(await createMember(app, own.id, 'editor'))
    for (const path of ['', '/inspect', '/describe']) {
      const body = { from, baseId: own.id, ...(path !== '/inspect' && { sourceBaseId: base.id }) }
      expect([path, (await call('POST', path, body, editor)).status]).toEqual([path, 403])
      expect([path, (await call('POST', path, body, '')).status]).toEqual([path, 401])
    }
  })

  test('imports a base with an API token, tells its state, and gives its report', async () => {
    expect((await call('POST', '/inspect', { from })).body).toEqual({
      bases: [
        { id: base.id, title: 'Library' },
        { id: crew.id, title: 'Crew' },
      ],
    } as never)
    expect((await call('POST', '/describe', { from, sourceBaseId: base.id })).body).toMatchObject({
      tables: [{ title: 'Books', fields: 2, views: 1, computed: 0 }],
    })
    const { status, body: started } = await call('POST', '', { from, sourceBaseId: base.id })
    expect([status, started.title]).toEqual([200, 'Library'])
    const done = await settled(started.id)
    expect(done).toMatchObject({ status: 'completed', createsBase: true, hasCredentials: false })
    const { rows } = await recordsOf(app, owner, done.baseId!, 'Books')
    expect(rows.map(({ Title }) => Title)).toEqual(['Emma', 'Dune'])
    const { list } = (await call<{ list: BaseImport[] }>('GET', `?baseId=${done.baseId}`)).body
    expect(list.map(({ id }) => id)).toEqual([started.id])
    const report = (await call<{ lines: object[] }>('GET', `/${started.id}/report`)).body
    expect(report).toMatchObject({ isLast: true })
    expect(report.lines).toContainEqual(expect.objectContaining({ tableTitle: 'Books', fieldTitle: 'Odd' }))
    expect((await call('GET', `/${started.id}/report?limit=1`)).body).toMatchObject({
      lines: report.lines.slice(0, 1),
      isLast: report.lines.length === 1,
    })
    const csv = await call('GET', `/${started.id}/report?format=csv`)
    expect(csv.text).toContain('What,Table,Field')
    expect(csv.text).toContain('"Odd"')
    const stranger = await tokenOf(await app.signUp())
    expect((await call('GET', `/${started.id}/people`, undefined, stranger)).status).toBe(404)
    expect((await call('GET', `/${started.id}`, undefined, stranger)).status).toBe(404)
    expect((await call('GET', `/${started.id}/report`, undefined, stranger)).status).toBe(404)
  })
})

describe('/api/v2/meta/base-imports/{importId}', () => {
  test('tells whom it has found, and takes the member who stands for a person', async () => {
    const { body } = await call('POST', '', { from, sourceBaseId: crew.id })
    await settled(body.id)
    const people = async () => (await call<{ people: object[] }>('GET', `/${body.id}/people`)).body
    expect(await people()).toMatchObject({
      people: [{ key: 'zed@example.com', name: 'Zed', cells: 1, memberId: null, isChosen: false }],
      members: [{ id: owner.id }],
      total: 1,
    })
    const match = (given: object) => call('POST', `/${body.id}/people`, given)
    const chosen = await match({ key: 'zed@example.com', memberId: owner.id })
    expect(chosen.body).toMatchObject({ memberId: owner.id, isChosen: true, isBehind: true })
    await call('POST', `/${body.id}/again`, { credentials: from.credentials })
    const { baseId } = await settled(body.id)
    const { rows } = await recordsOf(app, owner, baseId!, 'Crew')
    expect(JSON.stringify(rows[0]?.Who)).toContain(owner.id)
    expect((await people()).people).toMatchObject([{ memberId: owner.id, isBehind: false }])
    expect((await match({ key: 'zed@example.com' })).body).toMatchObject({ memberId: null, isChosen: false })
    expect((await match({ key: 'nobody@example.com', memberId: null })).status).toBe(404)
    expect((await match({ key: 'zed@example.com', memberId: 'usnobody' })).status).toBe(400)
    expect((await match({ memberId: null })).status).toBe(400)
  })

  test('pauses and goes on, with sealed credentials', async () => {
    const { id, release } = await startHeld()
    const { baseImports } = app.kernel.meta.tables(defineBaseImportsTables)
    const stored = await app.kernel.meta.db.select().from(baseImports)
    expect(stored.find((row) => row.id === id)?.credentials).toEqual(expect.any(String))
    expect(JSON.stringify(stored)).not.toContain(SECRET)
    expect((await call('POST', `/${id}/resume`)).status).toBe(409)
    expect((await call('POST', `/${id}/pause`)).body).toMatchObject({ status: 'paused' })
    release()
    expect((await call('POST', `/${id}/pause`)).status).toBe(409)
    expect((await call('POST', `/${id}/resume`, { credentials: { key: 'x' } })).status).toBe(400)
    expect((await call('POST', `/${id}/resume`)).body).toMatchObject({ status: 'running' })
    expect(await settled(id)).toMatchObject({ status: 'completed', hasCredentials: false })
  })

  test('cancels, with what it has created in the trash if the caller wants that', async () => {
    const before = await countBases()
    const { id, release } = await startHeld()
    expect(await countBases()).toBe(before + 1)
    const cancelled = call('POST', `/${id}/cancel`, { removes: true })
    release()
    expect((await cancelled).body).toMatchObject({ status: 'cancelled', hasCredentials: false })
    expect(await countBases()).toBe(before)
    expect((await call('POST', `/${id}/cancel`)).status).toBe(409)
  })

  test('imports what has changed since, and forgets kept credentials', async () => {
    const { body } = await call('POST', '', { from, sourceBaseId: base.id, keepCredentials: true })
    const { baseId } = await settled(body.id)
    books.records[0]!.fields[books.field('Title')] = 'Persuasion'
    expect((await call('POST', `/${body.id}/again`, { removeMising: true })).status).toBe(400)
    expect((await call('POST', `/${body.id}/again`)).body).toMatchObject({ status: 'running', run: 2 })
    expect(await settled(body.id)).toMatchObject({ status: 'completed', run: 2, hasCredentials: true })
    const { rows } = await recordsOf(app, owner, baseId!, 'Books')
    expect(rows.map(({ Title }) => Title)).toEqual(['Persuasion', 'Dune'])
    expect((await call('DELETE', `/${body.id}/credentials`)).body).toMatchObject({ hasCredentials: false })
    const without = await call('POST', `/${body.id}/again`)
    expect([without.status, without.text]).toEqual([400, expect.stringContaining('credentials')])
    const { credentials } = from
    expect((await call('POST', `/${body.id}/again`, { credentials })).body).toMatchObject({ run: 3 })
    expect(await settled(body.id)).toMatchObject({ status: 'completed', run: 3, hasCredentials: false })
  })
})
