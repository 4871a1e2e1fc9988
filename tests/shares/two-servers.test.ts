import { afterAll, beforeAll, expect, test } from 'bun:test'
import { io, type Socket } from 'socket.io-client'
import { type RunningServer, startServer } from '../../src/app.ts'
import { createTestApp, type TestApp } from '../support/app.ts'
import { createSecrets, type Secrets } from './world.ts'

/** Time within which a server on a busy machine learns of what another has done with a link. */
const FEW_SECONDS = 30_000

let app: TestApp
let other: RunningServer
let world: Secrets

beforeAll(async () => {
  app = await createTestApp({ database: 'postgres' })
  other = await startServer({ ...app.config, port: 0 })
  world = await createSecrets(app, await app.signUp())
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
