import { afterAll, beforeAll, expect, test } from 'bun:test'
import { io, type Socket } from 'socket.io-client'
import { type RunningServer, startServer } from '../../src/app.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { createTrpcClient } from '../support/client.ts'
import { until } from '../support/until.ts'
import { createSecrets, type Secrets } from './world.ts'

/** Time within which a server on a busy machine learns of what another has done with a link. */
const FEW_SECONDS = 30_000

let app: TestApp
let other: RunningServer
let world: Secrets
let owner: TestUser

beforeAll(async () => {
  app = await createTestApp({ database: 'postgres' })
  other = await startServer({ ...app.config, port: 0 })
  owner = await app.signUp()
  world = await createSecrets(app, owner)
})
afterAll(async () => {
  await other.stop()
  await app.stop()
})

const target = () => ({ kind: 'base', targetId: world.baseId }) as const

async function connect(auth: object): Promise<Socket> {
  const socket = io(other.url, { transports: ['websocket'], reconnection: false, forceNew: true, auth })
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', () => resolve())
    socket.once('connect_error', reject)
  })
  return socket
}
const cutOff = (socket: Socket) =>
  Promise.race([
    new Promise<string>((resolve) => socket.once('disconnect', () => resolve('cut off'))),
    Bun.sleep(FEW_SECONDS).then(() => 'still there'),
  ])

test('a live connection by a link ends within seconds where another server closes it or changes its password', async () => {
  const { shares } = world.trpc
  const { id } = await shares.save.mutate({ ...target(), patch: {} })
  const first = await connect({ sharedBaseId: id })
  // A visit is no change.
  await Bun.sleep(2_500)
  expect(first.connected).toBe(true)
  const ended = cutOff(first)
  await shares.save.mutate({ ...target(), patch: { password: 'open sesame' } })
  expect(await ended).toBe('cut off')
  await expect(connect({ sharedBaseId: id })).rejects.toThrow()
  const second = await connect({ sharedBaseId: id, password: 'open sesame' })
  const gone = cutOff(second)
  await shares.close.mutate(target())
  expect(await gone).toBe('cut off')
})

test('a link has three downloads at a time on all servers together', async () => {
  const { id } = await world.share()
  const { table } = await world.trpc.schema.table.query({ tableId: world.tableId })
  const download = async (server: { url: string }, signal?: AbortSignal) =>
    (await fetch(`${server.url}/api/v1/db/public/shared-view/${id}/rows/export/csv`, { signal })).status
  /** The downloads that each server knows of. */
  const known = [app, other].map(({ kernel }) => {
    const counts = new Map<string, number>()
    kernel.events.on('downloads.running', ({ server, count }) => counts.set(server, count))
    return () => [...counts.values()].reduce((sum, count) => sum + count, 0)
  })
  const untilKnown = (count: number) =>
    until(() => known.every((running) => running() === count), `${count} downloads`)
  await using sql = new Bun.SQL(app.config.databaseUrl ?? '', { max: 1 })
  const leaving = new AbortController()
  const started = await sql.begin(async (held) => {
    // Downloads take until the end of this transaction.
    await held.unsafe(`lock table "nc_${world.baseId}"."${table.tableName}"`)
    const running = [download(app), download(app), download(other, leaving.signal)]
    await untilKnown(3)
    expect([await download(app), await download(other)]).toEqual([429, 429])
    leaving.abort()
    await untilKnown(2)
    running.push(download(app))
    await untilKnown(3)
    return running
  })
  expect(await Promise.all(started)).toEqual([200, 200, 200, 200])
  await untilKnown(0)
})

test('settings of a link that two servers change at the same time are all kept', async () => {
  const { id } = await world.trpc.shares.save.mutate({ ...target(), patch: {} })
  const elsewhere = createTrpcClient(other.url, owner.token)
  await using sql = new Bun.SQL(app.config.databaseUrl ?? '', { max: 2 })
  // Both have read the link when they wait for this transaction.
  const saved = await sql.begin(async (held) => {
    await held`select * from shares where id = ${id} for update`
    const saving = Promise.all([
      world.trpc.shares.save.mutate({ ...target(), patch: { settings: { allowDownload: false } } }),
      elsewhere.shares.save.mutate({ ...target(), patch: { settings: { rtl: true } } }),
    ])
    const waiting = async () => (await sql`select 1 from pg_locks where not granted`).length
    while ((await waiting()) < 2) await Bun.sleep(20)
    return { saving }
  })
  await saved.saving
  const [link] = await sql`select settings from shares where id = ${id}`
  const settings = typeof link.settings === 'string' ? JSON.parse(link.settings) : link.settings
  expect(settings).toMatchObject({ allowDownload: false, rtl: true })
})
