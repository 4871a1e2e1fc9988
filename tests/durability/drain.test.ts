import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServerProcess } from '../imports/server-process.ts'
import { PASSWORD } from '../support/app.ts'
import { createTrpcClient } from '../support/client.ts'
import { until } from '../support/until.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'sheaf-drain-'))
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

const statusOf = async (url: string): Promise<number> => (await fetch(url)).status

test('a server that is asked to stop is not ready, but serves until its time is over', async () => {
  const server = await startServerProcess(dataDir, { DRAIN_SECONDS: '8' })
  expect(await statusOf(`${server.url}/api/v1/ready`)).toBe(200)
  const began = performance.now()
  const ended = server.end('SIGTERM')
  await until(async () => (await statusOf(`${server.url}/api/v1/ready`)) !== 200, 'The signal has arrived')
  const ready = await fetch(`${server.url}/api/v1/ready`)
  expect([ready.status, await ready.json()]).toMatchObject([
    503,
    { status: 'unavailable', problems: ['stopping'] },
  ])
  expect(await statusOf(`${server.url}/api/v1/health`)).toBe(200)
  expect(await statusOf(`${server.url}/api/v1/version`)).toBe(200)
  expect(await ended).toBe(0)
  expect(performance.now() - began).toBeGreaterThan(7_900)
})

test('a second signal stops it at once, unless it is an echo of the first', async () => {
  const server = await startServerProcess(dataDir, { DRAIN_SECONDS: '60' })
  const began = performance.now()
  const ended = server.end('SIGTERM')
  // A different signal, as the kernel merges equal ones that are not yet delivered.
  void server.end('SIGINT')
  await Bun.sleep(1_500)
  expect(await statusOf(`${server.url}/api/v1/health`)).toBe(200)
  let code: number | null = null
  while (code === null) {
    void server.end('SIGTERM')
    code = await Promise.race([ended, Bun.sleep(300).then(() => null)])
  }
  expect(code).toBe(1)
  expect(performance.now() - began).toBeLessThan(40_000)
})

test('a request that is being answered is finished', async () => {
  const server = await startServerProcess(dataDir, { STOP_SECONDS: '60' })
  const { promise: sent, resolve } = Promise.withResolvers<void>()
  // A body that arrives slowly keeps the request open.
  const body = new ReadableStream({
    async start(controller) {
      controller.enqueue(new TextEncoder().encode('{"email":"x@example.com",'))
      resolve()
      await Bun.sleep(1_500)
      controller.enqueue(new TextEncoder().encode('"password":"wrong"}'))
      controller.close()
    },
  })
  const answer = fetch(`${server.url}/api/v1/auth/user/signin`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  await sent
  // What is answered now was asked later: the server has begun with the sign-in.
  for (let asked = 0; asked < 3; asked++) await statusOf(`${server.url}/api/v1/health`)
  const ended = server.end('SIGTERM')
  expect((await answer).status).toBe(400)
  expect(await ended).toBe(0)
})

test('accepts no new requests while it waits for a webhook that does not answer', async () => {
  const called = Promise.withResolvers<void>()
  const receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch() {
      called.resolve()
      return new Promise<Response>(() => {})
    },
  })
  const server = await startServerProcess(dataDir, { ALLOW_LOCAL_HTTP: 'true' })
  const { token } = await createTrpcClient(server.url).auth.signUp.mutate({
    email: 'a@example.com',
    password: PASSWORD,
  })
  const trpc = createTrpcClient(server.url, token)
  const { id: baseId } = await trpc.bases.create.mutate({ title: 'B' })
  const { table } = await trpc.schema.createTable.mutate({ baseId, title: 'T' })
  await trpc.hooks.create.mutate({
    tableId: table.id,
    title: 'Hook',
    event: 'after',
    operations: ['insert'],
    channel: { type: 'URL', payload: { path: receiver.url.href } },
  })
  await trpc.records.write.mutate({
    change: { baseId, operations: [{ kind: 'insert', tableId: table.id, rows: [{ values: {} }] }] },
  })
  await called.promise
  let hasEnded = false
  const ended = server.end('SIGTERM').finally(() => {
    hasEnded = true
  })
  const { hostname, port } = new URL(server.url)
  // A new connection: those that are kept alive are served until they are idle.
  const isRefused = () =>
    Bun.connect({ hostname, port: Number(port), socket: { data() {} } }).then(
      (socket) => {
        socket.end()
        return false
      },
      () => true,
    )
  await until(isRefused, 'A connection is refused')
  expect(hasEnded).toBe(false)
  expect(await ended).toBe(0)
  await receiver.stop(true)
})
