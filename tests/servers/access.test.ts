import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Socket } from 'socket.io-client'
import { MAX_FAILURES_PER_ACCOUNT } from '../../modules/auth/throttle.ts'
import { createRestClient, createTrpcClient } from '../support/client.ts'
import { until } from '../support/until.ts'
import { SERVERS_TIMEOUT_MS, startThreeServers, type ThreeServers } from './support.ts'

/** Limits that a test reaches quickly. */
const ANSWERS = 6
const SIGN_UPS = 8
/** For a machine that is busy with other tests; `latency.quiet.test.ts` has the promise. */
const SLACK_MS = 20_000
/** Repetitions of each measurement. */
const TIMES = 5

let world: ThreeServers
let baseId: string
let tableId: string
beforeAll(async () => {
  world = await startThreeServers({
    FORM_ANSWERS_PER_HOUR: String(ANSWERS),
    SIGN_UPS_PER_HOUR: String(SIGN_UPS),
  })
  const api = world.trpc(world.servers[0])
  baseId = (await api.bases.create.mutate({ title: 'Access' })).id
  tableId = (await api.schema.createTable.mutate({ baseId, title: 'Tasks' })).table.id
}, SERVERS_TIMEOUT_MS)
afterAll(() => world.stop())

/** Joins the base through the first server and resolves when that connection is ended. */
async function join(auth: object): Promise<{ socket: Socket; cutOff: Promise<number> }> {
  const socket = await world.connect(world.servers[0], auth)
  expect(await socket.emitWithAck('base:join', baseId, 0)).toMatchObject({ joined: true })
  return {
    socket,
    cutOff: new Promise((resolve) => socket.once('disconnect', () => resolve(performance.now()))),
  }
}

const median = (times: number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0

/** Asserts how long after the start of a revocation something ended elsewhere. */
function inTime(what: string, times: number[]): void {
  console.info(
    `${what}: median ${Math.round(median(times))} ms, at most ${Math.round(Math.max(...times))} ms`,
  )
  expect(median(times)).toBeLessThan(SLACK_MS)
}

describe('access that one of three servers revokes', () => {
  test('ends a removed member’s live connection and calls on the others', async () => {
    const [a, b, c] = world.servers
    const member = await world.signUp()
    const times: number[] = []
    for (let time = 0; time < TIMES; time++) {
      await world.trpc(b).bases.invite.mutate({ baseId, emails: [member.email], role: 'editor' })
      const { cutOff } = await join({ token: member.token })
      const startedAt = performance.now()
      await world.trpc(b).bases.removeMember.mutate({ baseId, userId: member.id })
      times.push((await cutOff) - startedAt)
      for (const server of [a, c]) {
        const { status } = await world.rest(server, member.token).get(`/api/v2/tables/${tableId}/records`)
        expect(status).toBe(403)
      }
    }
    inTime('a removed member is cut off elsewhere', times)
  })

  test('ends the live connections of a session that signs out elsewhere', async () => {
    const member = await world.signUp()
    await world.trpc(world.servers[1]).bases.invite.mutate({ baseId, emails: [member.email], role: 'editor' })
    const times: number[] = []
    let { token } = member
    for (let time = 0; time < TIMES; time++) {
      const { cutOff } = await join({ token })
      const startedAt = performance.now()
      await world.trpc(world.servers[2], token).auth.signOut.mutate()
      times.push((await cutOff) - startedAt)
      const { status } = await world.rest(world.servers[0], token).get('/api/v2/meta/bases')
      expect(status).toBe(401)
      const signIn = createTrpcClient(world.servers[1].url).auth.signIn
      token = (await signIn.mutate({ email: member.email, password: 'correct horse battery' })).token
    }
    inTime('a session that signs out is cut off elsewhere', times)
  })

  test('refuses a deleted API token everywhere, also while it is in use', async () => {
    const [a, b, c] = world.servers
    const times: number[] = []
    for (let time = 0; time < TIMES; time++) {
      const { body } = await world.rest(a).post('/api/v1/tokens', { description: 'T' })
      const path = `/api/v2/tables/${tableId}/records`
      for (const server of [a, c])
        expect((await createRestClient(server.url, body.token).get(path)).status).toBe(200)
      let isDeleted = false
      const refusedAt = [a, c].map(async (server) => {
        const rest = createRestClient(server.url, body.token)
        for (;;) {
          const wasDeleted = isDeleted
          const { status } = await rest.get(path)
          if (status === 401) return performance.now()
          // A call that begins after the deletion was answered must not pass.
          expect([status, wasDeleted]).toEqual([200, false])
        }
      })
      await Bun.sleep(20)
      const startedAt = performance.now()
      await world.rest(b).delete(`/api/v1/tokens/${body.id}`)
      isDeleted = true
      times.push(Math.max(...(await Promise.all(refusedAt))) - startedAt)
    }
    inTime('a deleted token is refused elsewhere', times)
  })

  test('ends a closed link’s visits on the others', async () => {
    const target = { kind: 'base', targetId: baseId } as const
    const times: number[] = []
    for (let time = 0; time < TIMES; time++) {
      const { id } = await world.trpc(world.servers[1]).shares.save.mutate({ ...target, patch: {} })
      const headers = { 'xc-shared-base-id': id }
      const { cutOff } = await join({ sharedBaseId: id })
      const startedAt = performance.now()
      await world.trpc(world.servers[2]).shares.close.mutate(target)
      times.push((await cutOff) - startedAt)
      for (const server of world.servers) {
        const { status } = await fetch(`${server.url}/api/v2/tables/${tableId}/records`, { headers })
        expect(status).toBe(404)
      }
    }
    inTime('a closed link’s visitor is cut off elsewhere', times)
  })
})

describe('limits that three servers share', () => {
  const servers = (count: number) =>
    Array.from({ length: count }, (_, at) => world.servers[at % world.servers.length]!)

  /** Returns a function that waits until each server has heard of one more change, and so of what was announced before it. */
  async function listen(): Promise<() => Promise<unknown>> {
    const heard = world.servers.map(() => 0)
    for (const [at, server] of world.servers.entries()) {
      const socket = await world.connect(server)
      socket.on('change', () => heard[at]!++)
      expect(await socket.emitWithAck('base:join', baseId, 0)).toMatchObject({ joined: true })
    }
    let count = 0
    return () => {
      count++
      return until(() => heard.every((changes) => changes >= count), `Change ${count} at every server`)
    }
  }

  test('refuse sign-ins everywhere after failures spread over all', async () => {
    const { email } = world.owner
    for (const server of servers(MAX_FAILURES_PER_ACCOUNT)) {
      const { status } = await createRestClient(server.url).post('/api/v1/auth/user/signin', {
        email,
        password: 'wrong password',
      })
      expect(status).toBe(400)
    }
    const refused = async (server: { url: string }) => {
      const { status, headers } = await createRestClient(server.url).post('/api/v1/auth/user/signin', {
        email,
        password: 'correct horse battery',
      })
      return status === 429 && Number(headers.get('retry-after')) > 0
    }
    const startedAt = performance.now()
    // The count travels as an event, within milliseconds.
    const end = await until(
      async () => (await Promise.all(world.servers.map(refused))).every((isRefused) => isRefused),
      'The refusal by all servers',
    )
    expect(end - startedAt).toBeLessThan(SLACK_MS)
  })

  test('refuse sign-ins on a server that joins, and on one that restarts', async () => {
    const refused = async (server: { url: string }) => {
      const { email } = world.owner
      const signIn = { email, password: 'correct horse battery' }
      return (await createRestClient(server.url).post('/api/v1/auth/user/signin', signIn)).status === 429
    }
    const joined = await world.start()
    await until(() => refused(joined), 'The refusal by the server that joined')
    await joined.end('SIGKILL')
    const restarted = await world.start()
    await until(() => refused(restarted), 'The refusal by the server that restarted')
    await restarted.end('SIGTERM')
  })

  test('count the responses to a form on all servers', async () => {
    const api = world.trpc(world.servers[0])
    const { fields } = await api.schema.table.query({ tableId })
    const titleId = fields.find(({ title }) => title === 'Title')?.id ?? ''
    const { id: viewId } = await api.views.create.mutate({ tableId, title: 'Form', kind: 'form' })
    await api.views.arrange.mutate({
      viewId,
      fields: fields.map(({ id }, order) => ({ fieldId: id, show: id === titleId, order })),
    })
    const target = { kind: 'view', targetId: viewId } as const
    const { id: link } = await api.shares.save.mutate({ ...target, patch: {} })
    const answer = async (server: { url: string }) =>
      (
        await createRestClient(server.url).post(`/api/v1/db/public/shared-view/${link}/rows`, {
          data: { Title: 'answer' },
        })
      ).status
    const untilHeard = await listen()
    for (const server of servers(ANSWERS)) {
      expect(await answer(server)).toBe(200)
      await untilHeard()
    }
    expect(await Promise.all(world.servers.map(answer))).toEqual([429, 429, 429])
    const { body } = await world
      .rest(world.servers[1])
      .get(`/api/v2/tables/${tableId}/records/count?where=(Title,eq,answer)`)
    expect(body.count).toBe(ANSWERS)
  })

  test('count new accounts on all servers', async () => {
    const create = async (server: { url: string }, at: number) =>
      (
        await createRestClient(server.url).post('/api/v1/auth/user/signup', {
          email: `new${at}@example.com`,
          password: 'correct horse battery',
        })
      ).status
    const statuses: number[] = []
    const untilHeard = await listen()
    for (const [at, server] of servers(SIGN_UPS + 2).entries()) {
      statuses.push(await create(server, at))
      await world.rest(server).post(`/api/v2/tables/${tableId}/records`, { Title: 'after it' })
      await untilHeard()
    }
    // The accounts of the tests above count as well.
    const refusals = statuses.indexOf(429)
    expect(refusals).toBeGreaterThan(0)
    expect(statuses.slice(0, refusals).every((status) => status === 200)).toBe(true)
    expect(statuses.slice(refusals).every((status) => status === 429)).toBe(true)
  })
})
