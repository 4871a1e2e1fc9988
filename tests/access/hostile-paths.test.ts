import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createApp } from '../../src/app.ts'
import { createTestApp, META_DATABASES, type TestApp, type TestUser } from '../support/app.ts'
import { type ActorName, signUpActors } from './actors.ts'
import { asCase, ROUTES } from './routes.ts'
import { createWorld } from './world.ts'

/** Path segments, as they are sent. */
const HOSTILE = ['%00x', '%25', '__proto__']

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
    for (const { method, path } of createApp(app.kernel, app.services).routes) {
      const one = ROUTES[`${method} ${asCase(path)}`]
      if (!one || !path.includes(':')) continue
      // What is made for parameters may use up what the world has.
      const world = one.params ? await createWorld(app, actors) : shared
      const known: Record<string, unknown> = { ...world, ...(await one.params?.(world)) }
      for (const [hostile] of path.matchAll(/:\w+/g)) {
        for (const segment of HOSTILE) {
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
  }, 120_000)
})
