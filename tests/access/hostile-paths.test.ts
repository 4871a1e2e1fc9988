import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createApp } from '../../src/app.ts'
import { createTestApp, META_DATABASES, type TestApp, type TestUser } from '../support/app.ts'
import { type ActorName, signUpActors } from './actors.ts'
import { asCase, ROUTES, type RouteCase } from './routes.ts'
import { createWorld, type World } from './world.ts'

/** Path segments, as they are sent. The first is one that PostgreSQL cannot store; the others are any unknown id to a database. */
const HOSTILE = { sqlite: ['%00x', '%25', '__proto__'], postgres: ['%00x'] }

describe.each(META_DATABASES)('a path with hostile parameters, with metadata in %s', (database) => {
  let app: TestApp
  let actors: Record<ActorName, TestUser | null>
  beforeAll(async () => {
    app = await createTestApp({ database })
    actors = await signUpActors(app)
  })
  afterAll(() => app.stop())

  test('is refused or answered by every route, and none fails', async () => {
    const failed: unknown[] = []
    const shared = await createWorld(app, actors)
    /** What was made for the parameters of a case, in a world of its own, because that may use up what the world has. */
    const made = new Map<RouteCase, { world: World; params: Record<string, string> }>()
    for (const { method, path } of createApp(app.kernel, app.services).routes) {
      const one = ROUTES[`${method} ${asCase(path)}`]
      if (!one || !path.includes(':')) continue
      if (one.params && !made.has(one)) {
        const own = await createWorld(app, actors)
        made.set(one, { world: own, params: await one.params(own) })
      }
      const { world, params } = made.get(one) ?? { world: shared, params: {} }
      const known: Record<string, unknown> = { ...world, ...params }
      for (const [hostile] of path.matchAll(/:\w+/g)) {
        for (const segment of HOSTILE[database]) {
          const filled = path.replace(/:\w+/g, (name) =>
            name === hostile ? segment : encodeURIComponent(String(known[name.slice(1)])),
          )
          const body = method === 'GET' ? undefined : (one.body?.(world) ?? {})
          const query = one.query?.(world) ?? ''
          const { status } = await app
            .rest(world.admin.token)
            .send(method, `${filled}${query}`, { body, headers: one.headers ?? {} })
          if (status >= 500) failed.push([status, method, path, hostile, segment])
        }
      }
    }
    expect(failed).toEqual([])
  })
})
