import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ended } from '../imports/support.ts'
import { type OutboundRecorder, startOutboundRecorder } from '../support/outbound-recorder.ts'
import { until } from '../support/until.ts'
import { readTitles, SERVERS_TIMEOUT_MS, startThreeServers, type ThreeServers } from './support.ts'

/** For a machine that is busy with other tests; it takes some milliseconds on a quiet one. */
const SLACK_MS = 20_000
const MOVED = 'This table has been moved to another base'

let world: ThreeServers
let receiver: OutboundRecorder
let one = ''
let other = ''
beforeAll(async () => {
  receiver = startOutboundRecorder()
  world = await startThreeServers({ ALLOW_LOCAL_HTTP: 'true' })
  const trpc = world.trpc(world.servers[0])
  one = (await trpc.bases.create.mutate({ title: 'One' })).id
  other = (await trpc.bases.create.mutate({ title: 'Other' })).id
}, SERVERS_TIMEOUT_MS)
afterAll(async () => {
  await world.stop()
  await receiver.stop()
})

const pathOf = (tableId: string) => `/api/v2/tables/${tableId}/records`

async function createTable(title: string, baseId = one): Promise<string> {
  const { table } = await world.trpc(world.servers[0]).schema.createTable.mutate({ baseId, title })
  await world.rest(world.servers[0]).post(pathOf(table.id), { Title: 'first' })
  return table.id
}

async function move(tableId: string, baseId = other, server = world.servers[0]) {
  const started = await world.trpc(server).copies.tableToBase.mutate({ tableId, baseId, isMove: true })
  const job = await ended({ url: server.url, token: world.owner.token }, started.jobId)
  return { tableId: started.tableId, status: job.status, error: job.error }
}

describe('a table that one server moves', () => {
  test('is gone at the others at once: for browsers, readers, writers and undo', async () => {
    const [a, b] = world.servers
    const tableId = await createTable('Followed')
    const rest = world.rest(b)
    await rest.post(pathOf(tableId), { Title: 'second' })
    const trpc = world.trpc(b)
    const action = await trpc.records.nextAction.query({ baseId: one, direction: 'undo' })
    const socket = await world.connect(b)
    let heardAt = 0
    socket.on('schema', (change: { tableId: string | null }) => {
      if (change.tableId === tableId) heardAt = performance.now()
    })
    expect(await socket.emitWithAck('base:join', one, 0)).toMatchObject({ joined: true })
    const moved = await move(tableId, other, a)
    const endedAt = performance.now()
    expect(moved).toMatchObject({ status: 'completed', error: null })
    for (const answer of await Promise.all([
      rest.get(pathOf(tableId)),
      rest.post(pathOf(tableId), { Title: 'lost' }),
    ]))
      expect([answer.status, answer.body.message]).toEqual([404, MOVED])
    await expect(trpc.records.undo.mutate({ baseId: one, entryId: action?.id ?? 0 })).rejects.toThrow(MOVED)
    await until(() => heardAt > 0, 'The news')
    console.info(
      `moved table across servers: heard ${Math.round(heardAt - endedAt)} ms after the end of the job`,
    )
    expect(heardAt - endedAt).toBeLessThan(SLACK_MS)
    expect(await readTitles(rest, pathOf(moved.tableId))).toEqual(['first', 'second'])
    expect(await trpc.schema.place.query({ tableId })).toMatchObject({
      baseId: other,
      tableId: moved.tableId,
    })
    socket.close()
  })

  test('has every write that another server has accepted until then', async () => {
    const [a, b] = world.servers
    const tableId = await createTable('Written')
    const rest = world.rest(b)
    const accepted = ['first']
    let refusal: { status: number; body: { message?: string } } | null = null
    const writing = (async () => {
      for (let at = 0; refusal === null; at++) {
        const answer = await rest.post(pathOf(tableId), { Title: `write ${at}` })
        if (answer.status === 200) accepted.push(`write ${at}`)
        else refusal = answer
        await Bun.sleep(at % 10 === 0 ? 150 : 5)
      }
    })()
    let moved = await move(tableId, other, a)
    // A move that finds new records each time gives up, and leaves everything as it was.
    for (let again = 0; again < 20 && moved.status !== 'completed'; again++) {
      expect(moved.error).toContain('changed')
      moved = await move(tableId, other, a)
    }
    await writing
    expect(moved.status).toBe('completed')
    expect(refusal).toMatchObject({ status: 404, body: { message: MOVED } })
    expect((await readTitles(rest, pathOf(moved.tableId))).toSorted()).toEqual(accepted.toSorted())
  })

  test('has its webhooks called for changes on any server, once', async () => {
    const [a, b] = world.servers
    const tableId = await createTable('Called')
    await world.trpc(b).hooks.create.mutate({
      tableId,
      title: 'Call',
      event: 'after',
      operations: ['insert'],
      channel: { type: 'URL', payload: { path: `${receiver.url}/hook` } },
    })
    await world.rest(b).post(pathOf(tableId), { Title: 'before' })
    const moved = await move(tableId, other, a)
    await world.rest(b).post(pathOf(moved.tableId), { Title: 'after' })
    await receiver.waitFor(2)
    await Bun.sleep(300)
    const titles = receiver.requests.map(({ body }) => JSON.parse(body).data.rows[0].Title)
    expect(titles).toEqual(['before', 'after'])
  })
})

describe('two servers that move tables in opposite directions', () => {
  test('both end, and lose nothing', async () => {
    const [a, b] = world.servers
    let here = await createTable('Here')
    let there = await createTable('There', other)
    for (let round = 0; round < 5; round++) {
      const [away, back] = await Promise.all([move(here, other, a), move(there, one, b)])
      expect([away.error, back.error]).toEqual([null, null])
      here = back.tableId
      there = away.tableId
      for (const id of [here, there]) expect(await readTitles(world.rest(b), pathOf(id))).toEqual(['first'])
    }
  })
})
