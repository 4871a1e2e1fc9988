import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { createDataDir, type ServerProcess, startProcess } from '../durability/server-process.ts'
import { createRestClient, createTrpcClient } from '../support/client.ts'
import { type OutboundRecorder, startOutboundRecorder } from '../support/outbound-recorder.ts'
import type { Received } from './support.ts'

/** `HOOK_RECORDS=10000` for the number that is promised, which takes some minutes. */
const RECORDS = Number(process.env.HOOK_RECORDS ?? 2_000)
const BULK = 200
const KILLS = RECORDS / 500
/** For the last deliveries. */
const PATIENCE_MS = 40_000 + RECORDS * 10
setDefaultTimeout(2 * PATIENCE_MS)
const ENVIRONMENT = { ALLOW_LOCAL_HTTP: 'true', WEBHOOK_RETRY_MS: '100', LOG_LEVEL: 'error' }

let data: ReturnType<typeof createDataDir>
let server: ServerProcess
let receiver: OutboundRecorder
beforeEach(async () => {
  receiver = startOutboundRecorder()
  data = createDataDir()
  server = await startProcess(data.path, { ...ENVIRONMENT, LOG_LEVEL: 'info' })
})
afterEach(async () => {
  await server.end('SIGKILL')
  await receiver.stop()
  data.remove()
})

/** Calls until the server answers: it may be killed in between. */
async function untilAnswered<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call()
    } catch {
      await Bun.sleep(50)
    }
  }
}

test('a killed server loses no delivery, and sends those of a record in order, signed', async () => {
  const { token } = await createTrpcClient(server.url).auth.signUp.mutate({
    email: 'a@example.com',
    password: 'correct horse battery',
  })
  const trpc = createTrpcClient(server.url, token)
  const { id: baseId } = await trpc.bases.create.mutate({ title: 'Storm' })
  const { table } = await trpc.schema.createTable.mutate({
    baseId,
    title: 'Writes',
    fields: [
      { title: 'Title', type: 'SingleLineText' },
      { title: 'Num', type: 'Number' },
    ],
  })
  const { id: hookId } = await trpc.hooks.create.mutate({
    tableId: table.id,
    title: 'Told',
    event: 'after',
    operations: ['insert', 'update'],
    deliverPer: 'record',
    channel: { type: 'URL', payload: { path: `${receiver.url}/hook` } },
  })
  const secret = Buffer.from((await trpc.hooks.secret.query({ hookId })).slice('whsec_'.length), 'base64')

  let calls = 0
  /** Events by record in the order of their first successful arrival. */
  const arrived = new Map<unknown, { id: string; num: unknown }[]>()
  const problems: string[] = []
  const known = new Set<string>()
  /** By delivery: after four failures in a row, the next try is later than this test waits. */
  const failures = new Map<string, number>()
  receiver.answer('/hook', ({ headers, body }) => {
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
    const hmac = createHmac('sha256', secret).update(signed).digest('base64')
    if (headers['webhook-signature'] !== `v1,${hmac}`) problems.push(`wrong signature: ${body}`)
    receiver.requests.length = 0
    const { id, data: event } = JSON.parse(body) as Received
    const failed = failures.get(id) ?? 0
    if (++calls % 5 === 0 && failed < 4) {
      failures.set(id, failed + 1)
      return { status: 500 }
    }
    if (known.has(id)) return {}
    known.add(id)
    const [row] = event.rows
    arrived.set(row?.Id, [...(arrived.get(row?.Id) ?? []), { id, num: row?.Num }])
    return {}
  })

  const path = `/api/v2/tables/${table.id}/records`
  /** The highest number acknowledged by record. */
  const written = new Map<number, number>()
  let isOver = false
  const storm = (async () => {
    for (let at = 0; at < RECORDS; at += BULK) {
      const rows = Array.from({ length: BULK }, (_, index) => ({ Title: `${at + index}`, Num: 0 }))
      const made = await untilAnswered(() => createRestClient(server.url, token).post(path, rows))
      if (made.status !== 200) continue
      const ids = (made.body as { Id: number }[]).map(({ Id }) => Id)
      for (const id of ids) written.set(id, 0)
      const changes = ids.map((Id) => ({ Id, Num: 1 }))
      const changed = await untilAnswered(() => createRestClient(server.url, token).patch(path, changes))
      if (changed.status === 200) for (const id of ids) written.set(id, 1)
    }
    isOver = true
  })()
  for (let kill = 0; kill < KILLS && !isOver; kill++) {
    await Bun.sleep(800 + Math.random() * 700)
    await server.end('SIGKILL')
    server = await startProcess(data.path, { ...ENVIRONMENT, LOG_LEVEL: 'info' })
  }
  await storm

  // Killed once more while it only delivers.
  await server.end('SIGKILL')
  server = await startProcess(data.path, { ...ENVIRONMENT, LOG_LEVEL: 'info' })
  const missing = () =>
    [...written].filter(([id, num]) => !arrived.get(id)?.some((event) => event.num === num))
  const deadline = Date.now() + PATIENCE_MS
  while (missing().length > 0 && Date.now() < deadline) await Bun.sleep(100)

  const events = [...arrived.values()].flat()
  console.info(
    `${written.size} records, ${events.length} events in ${calls} calls, ${failures.size} failed at least once`,
  )
  expect(problems).toEqual([])
  expect(written.size).toBeGreaterThan(RECORDS / 2)
  expect(missing()).toEqual([])
  // A change whose answer was cut off may have been written, too; each is told once, and in order.
  const disordered = [...arrived].filter(([, events]) => events.some(({ num }, at) => num !== at))
  expect(disordered).toEqual([])
})
