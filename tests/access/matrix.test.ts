import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createApp } from '../../src/app.ts'
import { RIGHTS, type Rule } from '../../src/core/roles.ts'
import { createRouter } from '../../src/router.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import type { Credentials } from '../support/client.ts'
import { ACTORS, type ActorName, type Gate, refusalOf, signUpActors } from './actors.ts'
import { LINK_DOORS, openLinks } from './links.ts'
import { PROCEDURES } from './procedures.ts'
import { asCase, OPEN_FILES, ROUTES, type RouteCase } from './routes.ts'
import { createWorld, type World } from './world.ts'

/** What an operation answered: a status, and its code where it was refused. */
interface Answer {
  status: number
  code: string | null
}

const ruleOf = (gate: Gate): Rule | null => (gate === 'anyone' || gate === 'nobody' ? null : RIGHTS[gate])

const { procedures, routes } = await listOperations()

/** All that the composed product offers, so that nothing can be left out of the tables here. */
async function listOperations() {
  const { kernel, services, stop } = await createTestApp()
  // The type nests them by router; the value is flat, by `router.procedure`.
  const flat: object = createRouter(services)._def.procedures
  const found = {
    procedures: Object.entries(flat).map(([name, { _def }]) => ({ name, type: String(_def.type) })),
    routes: createApp(kernel, services).routes.map(({ method, path }) => ({ method, path })),
  }
  await stop()
  return found
}

// Signing out would end the session of whoever it is tried as: see tests/auth/session.test.ts.
describe('every operation names its right', () => {
  test('procedures', () => {
    const known = [...Object.keys(PROCEDURES), 'auth.signOut']
    expect(known.toSorted()).toEqual(procedures.map(({ name }) => name).toSorted())
  })

  test('routes', () => {
    const known = [...Object.keys(ROUTES), ...OPEN_FILES, 'POST AUTH/user/signout']
    const found = new Set(routes.map(({ method, path }) => `${method} ${asCase(path)}`))
    expect(known.toSorted()).toEqual([...found].toSorted())
  })

  test('and every right has an operation', () => {
    const cases = [...Object.values(PROCEDURES).flat(), ...Object.values(ROUTES)]
    const used = new Set(cases.map(({ gate }) => gate))
    expect(Object.keys(RIGHTS).filter((right) => !used.has(right as Gate))).toEqual([])
  })
})

describe('access', () => {
  let app: TestApp
  let actors: Record<ActorName, TestUser | null>
  /** For all operations that only read. */
  let shared: Awaited<ReturnType<typeof openWorld>>
  beforeAll(async () => {
    app = await createTestApp()
    actors = await signUpActors(app)
    shared = await openWorld()
  })
  afterAll(() => app.stop())

  for (const { name, type } of procedures) {
    for (const [index, one] of [PROCEDURES[name] ?? []].flat().entries()) {
      test(`${name}${index > 0 ? ` (${index + 1})` : ''} asks for ${one.gate}`, async () => {
        const { world, links } = type === 'query' ? shared : await openWorld()
        const input = await one.input?.(world)
        const call = (credentials?: Credentials) => callProcedure(name, type, input, credentials)
        if (one.gate !== 'anyone') await tryLinks(name, ruleOf(one.gate), links, call)
        await tryAs(one.gate, one.refuses ?? null, call, one.others)
      })
    }
  }

  for (const { method, path } of routes) {
    const one = ROUTES[`${method} ${asCase(path)}`]
    if (!one) continue
    test(`${method} ${path} asks for ${one.gate}`, async () => {
      // What is made for parameters would be there twice.
      const { world, links } = method === 'GET' && !one.params ? shared : await openWorld()
      const call = await prepareRoute(one, method, path, world)
      const name = `${method} ${asCase(path)}`
      if (one.gate !== 'anyone') await tryLinks(name, ruleOf(one.gate), links, call)
      await tryAs(one.gate, one.answers ?? null, call, one.others)
    })
  }

  test('a right that is for sessions only is refused to the API token of a super admin', async () => {
    const admin = app.rest(actors.super?.token)
    const { token } = (await admin.post('/api/v1/tokens')).body
    for (const { method, path } of routes) {
      const one = ROUTES[`${method} ${asCase(path)}`]
      const rule = one ? ruleOf(one.gate) : null
      if (!one || !rule?.sessionOnly) continue
      const call = await prepareRoute(one, method, path, await createWorld(app, actors))
      expect([`${method} ${path}`, await call(token)]).toEqual([
        `${method} ${path}`,
        { status: 401, code: 'API_TOKEN_NOT_ALLOWED' },
      ])
    }
  })

  /** A world with its public links. */
  async function openWorld() {
    const world = await createWorld(app, actors)
    return { world, links: await openLinks(world) }
  }

  /** Tries an operation as everyone, from none to all: the first who may do it must succeed. */
  async function tryAs(
    gate: Gate,
    expected: number | string | null,
    call: (token?: string) => Promise<Answer>,
    others?: string,
  ) {
    let isFirst = true
    for (const name of ACTORS) {
      const answer = await call(actors[name]?.token)
      const refusal = refusalOf(name, gate)
      const said = { actor: name, ...answer }
      if (refusal !== null) {
        expect(said).toEqual({
          actor: name,
          status: refusal === 'AUTHENTICATION_REQUIRED' ? 401 : 403,
          code: refusal,
        })
        continue
      }
      if (others !== undefined && name !== 'super') {
        expect({ actor: name, code: answer.code }).toEqual({ actor: name, code: others })
        continue
      }
      // Those who come later may find done what the first has done: that is no refusal.
      expect({ ...said, isRefused: [401, 403].includes(answer.status) || answer.status >= 502 }).toEqual({
        ...said,
        isRefused: false,
      })
      if (isFirst && expected === null)
        expect({ ...said, status: answer.status < 300 }).toEqual({ ...said, status: true })
      if (isFirst && typeof expected === 'number') expect(said).toEqual({ ...said, status: expected })
      if (isFirst && typeof expected === 'string') expect(said).toEqual({ ...said, code: expected })
      expect(answer.status).not.toBe(500)
      isFirst = false
    }
  }

  /** Tries an operation as visitors of public links: all that is not on the list of a link refuses them. */
  async function tryLinks(
    name: string,
    rule: Rule | null,
    links: Awaited<ReturnType<typeof openLinks>>,
    call: (credentials: Credentials) => Promise<Answer>,
  ) {
    for (const kind of ['base', 'view'] as const) {
      const { status } = await call(links[kind])
      // A right may be asked for by one input of an operation and not by another.
      const isOpen = LINK_DOORS[kind].includes(name) && rule?.shared === true
      const expected = isOpen ? 'let through' : 'refused'
      // A view's visitor is answered that what else there is in the base is not there.
      const isRefused = [401, 403].includes(status) || (!isOpen && status === 404)
      expect([kind, isRefused ? 'refused' : 'let through', status]).toEqual([kind, expected, status])
      expect(status).not.toBe(500)
    }
  }

  async function callProcedure(
    name: string,
    type: string,
    input: unknown,
    credentials?: Credentials,
  ): Promise<Answer> {
    const own = typeof credentials === 'string' ? { 'xc-auth': credentials } : credentials
    const query =
      type === 'query' && input !== undefined ? `?input=${encodeURIComponent(JSON.stringify(input))}` : ''
    const answer = await fetch(`${app.url}/trpc/${name}${query}`, {
      method: type === 'query' ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json', ...own },
      body: type === 'query' || input === undefined ? undefined : JSON.stringify(input),
    })
    const { error } = await answer.json()
    return { status: answer.status, code: error?.data.appCode ?? null }
  }

  async function prepareRoute(one: RouteCase, method: string, path: string, world: World) {
    const params: Record<string, unknown> = { ...world, ...(await one.params?.(world)) }
    const filled = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(params[name])))
    const body = one.body?.(world) ?? (method === 'GET' ? undefined : {})
    return async (credentials?: Credentials): Promise<Answer> => {
      const headers = one.headers ?? {}
      const answer = await app
        .rest(credentials)
        .send(method, `${filled}${one.query?.(world) ?? ''}`, { body, headers })
      return { status: answer.status, code: answer.body?.error ?? null }
    }
  }
})
