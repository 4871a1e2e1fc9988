import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Socket } from 'socket.io-client'
import type { AppliedChange } from '../../src/core/changes.ts'
import { until } from '../support/until.ts'
import { readTitles, SERVERS_TIMEOUT_MS, startThreeServers, type ThreeServers } from './support.ts'

/** For a machine that is busy with other tests; `latency.quiet.test.ts` has the promise. */
const SLACK_MS = 20_000

let world: ThreeServers
let baseId: string
let tableId: string
let titleId: string
beforeAll(async () => {
  world = await startThreeServers()
  const [a] = world.servers
  baseId = (await world.trpc(a).bases.create.mutate({ title: 'Shared' })).id
  const { table, fields } = await world.trpc(a).schema.createTable.mutate({ baseId, title: 'Live' })
  tableId = table.id
  titleId = fields.find(({ title }) => title === 'Title')?.id ?? ''
}, SERVERS_TIMEOUT_MS)
afterAll(() => world.stop())

const insert = (server = world.servers[0], title = 'New') =>
  world.trpc(server).records.write.mutate({
    change: { baseId, operations: [{ kind: 'insert', tableId, rows: [{ values: { [titleId]: title } }] }] },
  })

async function follow(server = world.servers[1]): Promise<{ socket: Socket; changes: AppliedChange[] }> {
  const socket = await world.connect(server)
  const changes: AppliedChange[] = []
  socket.on('change', (change) => changes.push(change))
  expect(await socket.emitWithAck('base:join', baseId, 0)).toMatchObject({ joined: true })
  return { socket, changes }
}

const median = (times: number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0

describe('a change on one of three servers', () => {
  test('reaches the browsers of the others at once, with its values', async () => {
    const followers = await Promise.all(world.servers.slice(1).map(follow))
    const times: number[] = []
    for (let count = 0; count < 10; count++) {
      const { id } = await insert(world.servers[0], `Row ${count}`)
      const startedAt = performance.now()
      const arrived = ({ changes }: { changes: AppliedChange[] }) => changes.some((each) => each.id === id)
      times.push((await until(() => followers.every(arrived))) - startedAt)
    }
    for (const { changes, socket } of followers) {
      expect(changes.map(({ records }) => records[0]?.after?.[titleId])).toEqual(
        Array.from({ length: 10 }, (_, at) => `Row ${at}`),
      )
      socket.close()
    }
    console.info(`live update across servers: median ${Math.round(median(times))} ms after the answer`)
    expect(median(times)).toBeLessThan(SLACK_MS)
  })

  test('that is a comment is announced to the others, who then read it', async () => {
    const [a, b, c] = world.servers
    const { inserted } = await insert(a, 'Discussed')
    const recordId = inserted[0] ?? 0
    const sockets = await Promise.all([b, c].map((server) => world.connect(server)))
    const news: unknown[] = []
    for (const socket of sockets) {
      socket.on('comment', (one) => news.push(one))
      await socket.emitWithAck('base:join', baseId, 0)
    }
    const { id } = await world.trpc(a).comments.create.mutate({ tableId, recordId, text: 'Seen?' })
    await until(() => news.length === 2)
    expect(news).toEqual(Array(2).fill({ baseId, tableId, recordId: String(recordId) }))
    expect((await world.trpc(b).comments.list.query({ tableId, recordId })).comments).toMatchObject([{ id }])
    for (const socket of sockets) socket.close()
  })

  test('arrives whole where it is longer than a notification, and in order', async () => {
    const field = { type: 'LongText', title: 'Text' } as const
    const { id: textId } = await world.trpc(world.servers[0]).schema.createField.mutate({ tableId, field })
    const { changes, socket } = await follow()
    const texts = ['short', 'ä'.repeat(60_000), 'after']
    for (const text of texts) {
      await world.trpc(world.servers[0]).records.write.mutate({
        change: { baseId, operations: [{ kind: 'insert', tableId, rows: [{ values: { [textId]: text } }] }] },
      })
    }
    await until(() => changes.length === texts.length)
    expect(changes.map(({ records }) => records[0]?.after?.[textId])).toEqual(texts)
    socket.close()
  })

  test('keeps the order of the log where two servers write in turn', async () => {
    const { changes, socket } = await follow(world.servers[2])
    const [a, b] = world.servers
    const writes = Array.from({ length: 30 }, (_, at) => insert(at % 2 === 0 ? a : b, `Turn ${at}`))
    await Promise.all(writes)
    await until(() => changes.length === writes.length)
    const ids = changes.map(({ id }) => id)
    expect(ids).toEqual(ids.toSorted((x, y) => x - y))
    socket.close()
  })

  test('of the schema reaches browsers, and the next call to another server sees it', async () => {
    const [a, b, c] = world.servers
    const told: { tableId: string | null }[] = []
    const socket = await world.connect(b)
    socket.on('schema', (change) => told.push(change))
    await socket.emitWithAck('base:join', baseId, 0)
    for (let count = 0; count < 5; count++) {
      // Read first, so that each server has the table in memory.
      for (const server of [a, b, c]) await world.trpc(server).schema.table.query({ tableId })
      const field = { type: 'Number', title: `N${count}` } as const
      const { id } = await world.trpc(a).schema.createField.mutate({ tableId, field })
      const seen = await Promise.all(
        [a, b, c].map(async (server) => (await world.trpc(server).schema.table.query({ tableId })).fields),
      )
      for (const fields of seen) expect(fields.map((each) => each.id)).toContain(id)
      // The record door of another server accepts the field as well.
      const written = await world.trpc(c).records.write.mutate({
        change: { baseId, operations: [{ kind: 'insert', tableId, rows: [{ values: { [id]: count } }] }] },
      })
      expect(written.records[0]?.after?.[id]).toBe(count)
    }
    await until(() => told.filter((each) => each.tableId === tableId).length >= 5)
    socket.close()
  })

  test('of a base counts everywhere: its title, its trash and its return', async () => {
    const [a, b, c] = world.servers
    const { id } = await world.trpc(a).bases.create.mutate({ title: 'Short-lived' })
    const { table } = await world.trpc(b).schema.createTable.mutate({ baseId: id, title: 'T' })
    for (const server of [a, b, c]) await world.rest(server).get(`/api/v2/tables/${table.id}/records`)
    await world.trpc(b).bases.update.mutate({ baseId: id, title: 'Renamed' })
    expect((await world.trpc(c).bases.get.query({ baseId: id })).title).toBe('Renamed')
    await world.trpc(c).bases.delete.mutate({ baseId: id })
    for (const server of [a, b, c]) {
      expect((await world.rest(server).get(`/api/v2/tables/${table.id}/records`)).status).toBe(404)
    }
    await world.trpc(a).bases.restore.mutate({ baseId: id })
    for (const server of [a, b, c]) {
      expect((await world.rest(server).get(`/api/v2/tables/${table.id}/records`)).status).toBe(200)
    }
  })

  test('that is undone on two servers at once can be done again', async () => {
    const [a, b] = world.servers
    for (let round = 0; round < 10; round++) {
      const { id: entryId } = await insert(a, `Twice ${round}`)
      const undo = (server = a) => world.trpc(server).records.undo.mutate({ baseId, entryId })
      await Promise.all([undo(a), undo(b)])
      await world.trpc(a).records.redo.mutate({ baseId, entryId })
      expect(await readTitles(world.rest(a), `/api/v2/tables/${tableId}/records`)).toContain(`Twice ${round}`)
    }
  })
})

describe('a lost connection over which a server hears of the others', () => {
  const path = () => `/api/v2/tables/${tableId}/records`

  /** The connections that hold a lock of class `MEMBER_LOCK`: one of each server. */
  const members = (sql: Bun.SQL): Promise<{ pid: number; number: number }[]> =>
    sql`select pid, objid::bigint::integer as number from pg_locks
      where locktype = 'advisory' and classid = 7433202 and objsubid = 2 and granted
        and database = (select oid from pg_database where datname = current_database())`

  /** A browser that, as ours do, reads again when it is told that changes were missed. */
  async function watch(server = world.servers[0]): Promise<{ socket: Socket; titles: Set<string> }> {
    const { socket } = await follow(server)
    const titles = new Set<string>()
    socket.on('change', (change: AppliedChange) => {
      for (const { after } of change.records) titles.add(String(after?.[titleId]))
    })
    socket.on('missed', async () => {
      for (const title of await readTitles(world.rest(server), path())) titles.add(title)
    })
    return { socket, titles }
  }

  test('does not lose changes that are written until it is back', async () => {
    await using sql = new Bun.SQL(world.database.url, { max: 1 })
    const watchers = await Promise.all(world.servers.map(watch))
    const times: number[] = []
    for (const round of [1, 2, 3]) {
      let all = await members(sql)
      await until(async () => {
        all = await members(sql)
        return all.length === 3
      })
      const others = new Set(all.slice(0, 2).map(({ number }) => number))
      let isCut = true
      const cutting = (async () => {
        while (isCut) {
          for (const { pid, number } of await members(sql))
            if (!others.has(number)) await sql`select pg_terminate_backend(${pid})`
          await Bun.sleep(5)
        }
      })()
      // By now the others have noticed.
      await Bun.sleep(1_500)
      const titles = world.servers.map((_, at) => `Cut ${round} ${at}`)
      await Promise.all(world.servers.map((server, at) => insert(server, titles[at])))
      isCut = false
      await cutting
      const startedAt = performance.now()
      const hasAll = (watcher: { titles: Set<string> }) => titles.every((title) => watcher.titles.has(title))
      times.push((await until(() => watchers.every(hasAll), 'The arrival of all changes')) - startedAt)
    }
    for (const { socket } of watchers) socket.close()
    const shown = times.map((time) => Math.round(time)).join(', ')
    console.info(`changes during a lost connection: seen everywhere ${shown} ms after its end`)
    expect(Math.max(...times)).toBeLessThan(SLACK_MS)
  })

  test('does not delay the end of an access', async () => {
    await using sql = new Bun.SQL(world.database.url, { max: 1 })
    const [a, b, c] = world.servers
    const { body } = await world.rest(a).post('/api/v1/tokens', { description: 'Cut' })
    const statuses = () =>
      Promise.all([a, b, c].map(async (server) => (await world.rest(server, body.token).get(path())).status))
    expect(await statuses()).toEqual([200, 200, 200])
    for (const { pid } of await members(sql)) await sql`select pg_terminate_backend(${pid})`
    expect((await world.rest(b).delete(`/api/v1/tokens/${body.id}`)).status).toBe(200)
    expect(await statuses()).toEqual([401, 401, 401])
  })
})

describe('access that ends on one of three servers', () => {
  test('ends for the next call to any other: sessions, members, tokens and links', async () => {
    const [a, b, c] = world.servers
    const path = `/api/v2/tables/${tableId}/records`
    const member = await world.signUp()
    await world.trpc(a).bases.invite.mutate({ baseId, emails: [member.email], role: 'editor' })
    const made = await world.rest(a, member.token).post('/api/v1/tokens', { description: 'T' })
    const { token } = made.body
    const statuses = async (credentials: string) =>
      Promise.all([a, b, c].map(async (server) => (await world.rest(server, credentials).get(path)).status))
    expect(await statuses(member.token)).toEqual([200, 200, 200])
    expect(await statuses(token)).toEqual([200, 200, 200])

    await world.trpc(b).bases.removeMember.mutate({ baseId, userId: member.id })
    expect(await statuses(member.token)).toEqual([403, 403, 403])
    await world.trpc(c).bases.invite.mutate({ baseId, emails: [member.email], role: 'viewer' })
    expect(await statuses(token)).toEqual([200, 200, 200])

    await world.rest(c, member.token).delete(`/api/v1/tokens/${made.body.id}`)
    expect(await statuses(token)).toEqual([401, 401, 401])

    await world.trpc(a, member.token).auth.signOut.mutate()
    expect(await statuses(member.token)).toEqual([401, 401, 401])

    const target = { kind: 'base', targetId: baseId } as const
    const { id: shareId } = await world.trpc(a).shares.save.mutate({ ...target, patch: {} })
    const visit = async () => {
      const headers = { 'xc-shared-base-id': shareId }
      const answers = [a, b, c].map((server) => fetch(`${server.url}${path}`, { headers }))
      return (await Promise.all(answers)).map(({ status }) => status)
    }
    expect(await visit()).toEqual([200, 200, 200])
    await world.trpc(b).shares.close.mutate(target)
    expect(await visit()).toEqual([404, 404, 404])
  })
})
