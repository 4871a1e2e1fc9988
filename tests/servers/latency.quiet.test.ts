import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Socket } from 'socket.io-client'
import type { AppliedChange } from '../../src/core/changes.ts'
import type { PresenceNews } from '../../src/core/presence.ts'
import type { ServerProcess } from '../imports/server-process.ts'
import { ended, startImport } from '../imports/support.ts'
import { createRestClient } from '../support/client.ts'
import { until } from '../support/until.ts'
import { startThreeServers, type ThreeServers } from './support.ts'

/** How soon the others know (docs/scaling.md), for 95 of 100. */
const PROMISE_MS = 200
/**
 * What the shortest request takes, for 95 of 100, on a machine that does nothing else. Where it takes longer, everything
 * may take longer by the same factor.
 */
const SHORTEST_MS = 10
const TRIES = 20
/** Jobs take longer than what is measured of them. */
const JOBS = 8
/** A browser waits between them. */
const MOVES = 20
/** About as often as a browser may report. */
const OTHERS_MOVE_EVERY_MS = 70

let world: ThreeServers
let baseId: string
let tableId: string
let titleId: string
beforeAll(async () => {
  world = await startThreeServers({ FORM_ANSWERS_PER_HOUR: '1' })
  const api = world.trpc(world.servers[0])
  baseId = (await api.bases.create.mutate({ title: 'Latency' })).id
  const { table, fields } = await api.schema.createTable.mutate({ baseId, title: 'Tasks' })
  tableId = table.id
  titleId = fields.find(({ title }) => title === 'Title')?.id ?? ''
})
afterAll(() => world.stop())

const p95 = (times: number[]) => times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.95) - 1] ?? 0

/**
 * Repeats a measurement, each time after one of the shortest request, and compares their times.
 *
 * @param measure the time in milliseconds, by the number of the try
 */
async function expectInTime(
  what: string,
  tries: number,
  measure: (attempt: number) => Promise<number>,
): Promise<void> {
  // Code that runs for the first time is compiled.
  await measure(-1)
  const [times, shortest]: [number[], number[]] = [[], []]
  for (let attempt = 0; attempt < tries; attempt++) {
    for (const { url } of world.servers) {
      const startedAt = performance.now()
      await (await fetch(`${url}/api/v1/version`)).text()
      shortest.push(performance.now() - startedAt)
    }
    times.push(await measure(attempt))
  }
  const allowedMs = PROMISE_MS * Math.max(1, p95(shortest) / SHORTEST_MS)
  console.info(
    `${what}: p95 ${p95(times).toFixed(0)} ms of ${tries}, allowed ${allowedMs.toFixed(0)} ms ` +
      `(shortest request ${p95(shortest).toFixed(1)} ms)`,
  )
  expect(p95(times)).toBeLessThan(allowedMs)
}

async function follow(server: ServerProcess, auth?: object): Promise<Socket> {
  const socket = await world.connect(server, auth)
  expect(await socket.emitWithAck('base:join', baseId, 0)).toMatchObject({ joined: true })
  return socket
}

/** Resolves with the time of the first message for which `is` holds. */
const timeOf = <T>(socket: Socket, message: string, is: (content: T) => boolean): Promise<number> =>
  new Promise((resolve) => {
    const hear = (content: T) => {
      if (!is(content)) return
      socket.off(message, hear)
      resolve(performance.now())
    }
    socket.on(message, hear)
  })

describe('within 200 ms, the browsers and servers beside one that', () => {
  test('writes a record show it', async () => {
    const [a, b, c] = world.servers
    const sockets = await Promise.all([follow(b), follow(c)])
    await expectInTime('a live update', TRIES, async (attempt) => {
      const title = `Row ${attempt}`
      const shown = sockets.map((socket) =>
        timeOf<AppliedChange>(socket, 'change', ({ records }) => records[0]?.after?.[titleId] === title),
      )
      const rows = [{ values: { [titleId]: title } }]
      await world.trpc(a).records.write.mutate({
        change: { baseId, operations: [{ kind: 'insert', tableId, rows }] },
      })
      const answeredAt = performance.now()
      return Math.max(...(await Promise.all(shown))) - answeredAt
    })
    for (const socket of sockets) socket.close()
  })

  test('changes a table confirm it, and their browsers hear of it', async () => {
    const [a, b, c] = world.servers
    const sockets = await Promise.all([follow(b), follow(c)])
    const { id: fieldId } = await world
      .trpc(a)
      .schema.createField.mutate({ tableId, field: { type: 'Number', title: 'Number' } })
    await expectInTime('a change of the schema', TRIES, async (attempt) => {
      // So that all have the table in memory.
      for (const server of world.servers) await world.trpc(server).schema.table.query({ tableId })
      const heard = sockets.map((socket) =>
        timeOf<{ tableId: string | null }>(socket, 'schema', (change) => change.tableId === tableId),
      )
      const startedAt = performance.now()
      await world.trpc(a).schema.updateField.mutate({ fieldId, patch: { title: `Number ${attempt}` } })
      return Math.max(...(await Promise.all(heard))) - startedAt
    })
    for (const socket of sockets) socket.close()
  })

  test('removes a member end that member’s connections', async () => {
    const [a, b] = world.servers
    const member = await world.signUp()
    await expectInTime('the end of a membership', TRIES, async () => {
      await world.trpc(b).bases.invite.mutate({ baseId, emails: [member.email], role: 'editor' })
      const socket = await follow(a, { token: member.token })
      const cutOff = new Promise<number>((resolve) =>
        socket.once('disconnect', () => resolve(performance.now())),
      )
      const startedAt = performance.now()
      await world.trpc(b).bases.removeMember.mutate({ baseId, userId: member.id })
      return (await cutOff) - startedAt
    })
  })

  test('deletes a token refuse it', async () => {
    const [a, b, c] = world.servers
    const path = `/api/v2/tables/${tableId}/records?limit=1`
    await expectInTime('the end of a token', TRIES, async () => {
      const { body } = await world.rest(a).post('/api/v1/tokens', { description: 'T' })
      const refused = async (server: ServerProcess) =>
        (await createRestClient(server.url, body.token).get(path)).status === 401
      expect(await Promise.all([a, c].map(refused))).toEqual([false, false])
      const startedAt = performance.now()
      await world.rest(b).delete(`/api/v1/tokens/${body.id}`)
      const takenMs = performance.now() - startedAt
      expect(await Promise.all([a, c].map(refused))).toEqual([true, true])
      return takenMs
    })
  })

  test('ends a job tell it', async () => {
    const [a, , c] = world.servers
    type Job = { id: string; status: string }
    const sockets = await Promise.all([world.connect(a), world.connect(c)])
    const ends = new Map<Socket, Map<string, number>>()
    for (const socket of sockets) {
      const times = new Map<string, number>()
      ends.set(socket, times)
      socket.on('job', ({ id, status }: Job) => {
        if (status === 'completed') times.set(id, performance.now())
      })
    }
    const door = { url: a.url, token: world.owner.token }
    await expectInTime('the end of a job', JOBS, async (attempt) => {
      const how = { title: `Imported ${attempt}`, columns: [{ title: 'Name' }] }
      const jobId = await startImport(door, baseId, 'Name\nonly', how)
      await ended(door, jobId)
      await until(() => sockets.every((socket) => ends.get(socket)?.has(jobId)), 'The end of the job')
      const [here = 0, there = 0] = sockets.map((socket) => ends.get(socket)?.get(jobId))
      return Math.max(0, there - here)
    })
    for (const socket of sockets) socket.close()
  })

  test('counts a response to a form count it too', async () => {
    const [a, , c] = world.servers
    const api = world.trpc(a)
    await expectInTime('a limit per hour', JOBS, async (attempt) => {
      const { id: viewId } = await api.views.create.mutate({
        tableId,
        title: `Form ${attempt}`,
        kind: 'form',
      })
      await api.views.arrange.mutate({ viewId, fields: [{ fieldId: titleId, show: true, order: 1 }] })
      const { id: link } = await api.shares.save.mutate({ kind: 'view', targetId: viewId, patch: {} })
      const answer = async ({ url }: ServerProcess) => {
        const path = `/api/v1/db/public/shared-view/${link}/rows`
        return (await createRestClient(url).post(path, { data: { Title: 'answer' } })).status
      }
      // The other server has the form in memory, so that its refusal takes no longer than the count.
      const form = await fetch(`${c.url}/api/v2/public/shared-view/${link}/meta`)
      expect(form.status).toBe(200)
      expect(await answer(a)).toBe(200)
      const answeredAt = performance.now()
      // A response that is refused was sent when the other server knew.
      let sentAt = answeredAt
      await until(async () => {
        sentAt = performance.now()
        return (await answer(c)) === 429
      }, 'The refusal')
      return sentAt - answeredAt
    })
  })
})

describe('within 200 ms, the browser of somebody at another server', () => {
  let recordId: number
  let person: { id: string; email: string; token: string }
  let socket: Socket
  beforeAll(async () => {
    const [a, b] = world.servers
    const { inserted } = await world.trpc(a).records.write.mutate({
      change: {
        baseId,
        operations: [{ kind: 'insert', tableId, rows: [{ values: { [titleId]: 'Talk' } }] }],
      },
    })
    recordId = Number(inserted[0])
    person = await world.signUp()
    await world.trpc(a).bases.invite.mutate({ baseId, emails: [person.email], role: 'editor' })
    socket = await follow(b, { token: person.token })
  })
  afterAll(() => socket.close())

  const comment = (text: string) =>
    world.trpc(world.servers[0]).comments.create.mutate({ tableId, recordId, text })

  test('hears of a comment', async () => {
    await expectInTime('a comment', TRIES, async (attempt) => {
      const heard = timeOf(socket, 'comment', () => true)
      const startedAt = performance.now()
      await comment(`Comment ${attempt}`)
      return (await heard) - startedAt
    })
  })

  test('hears of a mention', async () => {
    await expectInTime('a notification', TRIES, async () => {
      const heard = timeOf(socket, 'notification', () => true)
      const startedAt = performance.now()
      await comment(`@(${person.id}) look`)
      return (await heard) - startedAt
    })
  })

  test.each([0, 2])('sees where somebody is, while %p more move at each server', async (more) => {
    const [a, b] = world.servers
    const { views } = await world.trpc(a).schema.table.query({ tableId })
    const mover = await follow(a)
    const others = await Promise.all(
      [a, b].flatMap((server) => Array.from({ length: more }, () => follow(server))),
    )
    const at = (of: Socket, fieldId: string | null, isEditing: boolean) =>
      of.emit('presence', {
        baseId,
        tableId,
        viewId: views[0]?.id ?? null,
        recordId,
        fieldId,
        isEditing,
        isHidden: false,
      })
    at(socket, null, false)
    const watching = setInterval(() => at(socket, null, false), 4_000)
    let step = 0
    const moving = others.map((each) =>
      setInterval(() => at(each, step++ % 2 ? titleId : null, false), OTHERS_MOVE_EVERY_MS),
    )
    await Bun.sleep(500)
    await expectInTime(`a position while ${others.length} others move`, MOVES, async (attempt) => {
      // A browser may report some moves a second.
      await Bun.sleep(250)
      const isEditing = attempt % 2 === 0
      const seen = timeOf<PresenceNews>(socket, 'presence', ({ here }) =>
        here.some((each) => each.userId === world.owner.id && each.isEditing === isEditing),
      )
      const startedAt = performance.now()
      at(mover, titleId, isEditing)
      return (await seen) - startedAt
    })
    for (const timer of [watching, ...moving]) clearInterval(timer)
    for (const each of [mover, ...others]) each.close()
  })
})
