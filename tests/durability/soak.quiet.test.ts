import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { io } from 'socket.io-client'
import { startServerProcess } from '../imports/server-process.ts'
import { PASSWORD } from '../support/app.ts'
import { createRestClient, createTrpcClient } from '../support/client.ts'

const ROUNDS = 6
/** `SOAK_MINUTES=60 bun run test tests/durability/soak.quiet.test.ts` soaks for an hour. */
const ROUND_MS = process.env.SOAK_MINUTES ? (Number(process.env.SOAK_MINUTES) * 60_000) / ROUNDS : 5_000
const CLIENTS = 8
const MEGABYTE = 1024 ** 2
/** By how much memory may grow after the first three rounds, in which caches and the heap reach their size. */
const MAX_GROWTH_MB = 60

const dataDir = mkdtempSync(join(tmpdir(), 'sheaf-soak-'))
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

test(
  'memory stays flat under mixed requests and connections that come and go',
  async () => {
    const server = await startServerProcess(dataDir, { LOG_LEVEL: 'info', SIGN_UPS_PER_HOUR: '1000' })
    const { token } = await createTrpcClient(server.url).auth.signUp.mutate({
      email: 'a@example.com',
      password: PASSWORD,
    })
    const [trpc, rest] = [createTrpcClient(server.url, token), createRestClient(server.url, token)]
    const { id: baseId } = (await rest.post('/api/v2/meta/bases', { title: 'Soak' })).body
    const { table, fields } = await trpc.schema.createTable.mutate({
      baseId,
      title: 'Tasks',
      fields: [
        { title: 'Name', type: 'SingleLineText' },
        { title: 'Qty', type: 'Number' },
      ],
    })
    const path = `/api/v2/tables/${table.id}/records`
    const nameId = fields.find(({ title }) => title === 'Name')?.id ?? ''
    let requests = 0

    const actions: ((turn: number) => Promise<unknown>)[] = [
      (turn) => rest.post(path, { Name: `n${turn}`, Qty: turn % 100 }),
      (turn) => rest.get(`${path}?where=(Qty,eq,${turn % 100})&sort=-Name&limit=25`),
      // Every filter is another one, so that caches of plans have to let go of some.
      (turn) => rest.get(`${path}?where=(Name,like,n${turn}%25)`),
      (turn) => rest.patch(path, { Id: 1 + (turn % 50), Name: `changed ${turn}` }),
      (turn) =>
        trpc.records.list.query({
          query: { tableId: table.id, limit: 50, offset: 0, search: { text: `n${turn}`, fieldId: null } },
        }),
      (turn) =>
        trpc.records.groups.query({
          request: {
            selection: { tableId: table.id },
            groups: [{ fieldId: nameId, direction: turn % 2 ? 'asc' : 'desc' }],
            summaries: [],
            offset: 0,
            limit: 20,
          },
        }),
      () => rest.get(`${path}/999999999`),
      () => createRestClient(server.url, 'wrong').get(path),
      async () => {
        const socket = io(server.url, {
          auth: { token },
          transports: ['websocket'],
          reconnection: false,
          forceNew: true,
        })
        await new Promise((resolve) =>
          socket.once('connect', () => resolve(true)).once('connect_error', resolve),
        )
        socket.close()
      },
    ]
    for (let index = 0; index < 50; index++) await actions[0]?.(index)
    const unexpected = new Map<string, number>()
    async function round(): Promise<number> {
      const until = performance.now() + ROUND_MS
      await Promise.all(
        Array.from({ length: CLIENTS }, async () => {
          while (performance.now() < until) {
            const turn = requests++
            const answer = await actions[turn % actions.length]?.(turn)
            const status = (answer as { status?: number } | undefined)?.status
            if (status !== undefined && status >= 500) unexpected.set(String(status), turn)
          }
        }),
      )
      // Lets go of what is only waiting for the garbage collector.
      await Bun.sleep(500)
      return server.rss() / MEGABYTE
    }
    const memory: number[] = []
    for (let index = 0; index < ROUNDS; index++) memory.push(Math.round(await round()))
    await server.end('SIGTERM')
    console.log(`${requests} requests; MB after each round: ${memory.join(', ')}`)
    expect([...unexpected.keys()]).toEqual([])
    expect((memory.at(-1) ?? 0) - (memory[2] ?? 0)).toBeLessThan(MAX_GROWTH_MB)
  },
  ROUNDS * ROUND_MS + 120_000,
)
