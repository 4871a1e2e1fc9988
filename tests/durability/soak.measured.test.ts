import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { io } from 'socket.io-client'
import { startServerProcess } from '../imports/server-process.ts'
import { ended, formatOf, upload } from '../imports/support.ts'
import { PASSWORD } from '../support/app.ts'
import { createRestClient, createTrpcClient } from '../support/client.ts'
import type { Heap } from './heap-probe.ts'

/** `SOAK_MINUTES=60 bun run test tests/durability/soak.measured.test.ts` soaks for an hour. */
const SOAK_MS = process.env.SOAK_MINUTES ? Number(process.env.SOAK_MINUTES) * 60_000 : 0
/** Mixed requests until caches have their size and functions are compiled. */
const WARM_UP = 2_500
/** Calls of each kind afterwards. */
const FREQUENT_CALLS = 400
const EXPORTS = 100
/** Each starts a thread. */
const IMPORTS = 25
const CLIENTS = 8
/** Records that stay in the table while others come and go. */
const RECORDS = 300
/**
 * What the heap may grow by, without garbage, for the calls of a kind: 2 KB for each, 8 KB for each export. The
 * heap after a collection varies by some 0.4 MB.
 */
const MAX_GROWTH_BYTES = 800_000
const MEGABYTE = 1024 ** 2
/** What the process may grow by after warming up: memory that is not part of the heap, which the system rounds. */
const MAX_PROCESS_GROWTH_MB = 60

type Action = (turn: number) => Promise<unknown>

const dataDir = mkdtempSync(join(tmpdir(), 'sheaf-soak-'))
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

test(
  'memory stays flat under reads, writes, exports, imports, and connections that come and go',
  async () => {
    const probe = join(dataDir, 'probe.sock')
    const server = await startServerProcess(dataDir, {
      SIGN_UPS_PER_HOUR: '1000',
      HEAP_PROBE: probe,
      BUN_OPTIONS: `--preload ${join(import.meta.dir, 'heap-probe.ts')}`,
    })
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
    const exportPath = `/api/v1/db/data/noco/${baseId}/${table.id}/export`
    const nameId = fields.find(({ title }) => title === 'Name')?.id ?? ''
    const qtyId = fields.find(({ title }) => title === 'Qty')?.id ?? ''
    const rows = Array.from({ length: RECORDS }, (_, at) => ({ Name: `n${at}`, Qty: at % 100 }))
    await rest.post(path, rows)

    async function addAndRemove(turn: number): Promise<void> {
      const { body } = await rest.post(path, { Name: `n${turn}`, Qty: turn % 100 })
      await rest.delete(path, { Id: body.Id })
    }

    async function visit(turn: number): Promise<void> {
      const socket = io(server.url, {
        auth: { token },
        transports: ['websocket'],
        reconnection: false,
        forceNew: true,
      })
      await new Promise((resolve, reject) =>
        socket.once('connect', () => resolve(true)).once('connect_error', reject),
      )
      // Half of them leave without following the base.
      if (turn % 2 === 0) await socket.emitWithAck('base:join', baseId, 0)
      socket.close()
    }

    async function exportTo(format: string): Promise<void> {
      const answer = await fetch(`${server.url}${exportPath}/${format}`, { headers: { 'xc-auth': token } })
      expect([answer.status, (await answer.bytes()).length > 1_000]).toEqual([200, true])
    }

    /** Leaves in the middle of the answer. */
    async function abandonExport(): Promise<void> {
      const stop = new AbortController()
      const answer = await fetch(`${server.url}${exportPath}/csv`, {
        headers: { 'xc-auth': token },
        signal: stop.signal,
      })
      await answer.body?.getReader().read()
      stop.abort()
    }

    async function importTwo(turn: number): Promise<void> {
      const file = `Name,Qty\nimported ${turn},1\nimported ${turn},2\n`
      const { jobId } = await trpc.imports.start.mutate({
        baseId,
        tableId: table.id,
        uploadId: await upload({ url: server.url, token }, file),
        format: formatOf(file),
        width: 2,
        columns: [
          { index: 0, fieldId: nameId },
          { index: 1, fieldId: qtyId },
        ],
      })
      expect((await ended({ url: server.url, token }, jobId)).status).toBe('completed')
      const { body } = await rest.get(`${path}?where=(Name,eq,imported ${turn})&fields=Id`)
      await rest.delete(path, body.list)
    }

    const frequent: Record<string, Action> = {
      'a record that comes and goes': addAndRemove,
      'a filtered page': (turn) => rest.get(`${path}?where=(Qty,eq,${turn % 100})&sort=-Name&limit=25`),
      // Caches of plans have to let go of some.
      'a filter that is new each time': (turn) => rest.get(`${path}?where=(Name,like,n${turn}%25)`),
      'a changed record': (turn) => rest.patch(path, { Id: 1 + (turn % 50), Name: `changed ${turn}` }),
      'a search': (turn) =>
        trpc.records.list.query({
          query: { tableId: table.id, limit: 50, offset: 0, search: { text: `n${turn}`, fieldId: null } },
        }),
      groups: (turn) =>
        trpc.records.groups.query({
          request: {
            selection: { tableId: table.id },
            groups: [{ fieldId: nameId, direction: turn % 2 ? 'asc' : 'desc' }],
            summaries: [],
            offset: 0,
            limit: 20,
          },
        }),
      'a record that is not there': () => rest.get(`${path}/999999999`),
      'a wrong token': () => createRestClient(server.url, 'wrong').get(path),
      'a visit over a socket': visit,
    }
    const exports: Record<string, Action> = {
      'an export as CSV': () => exportTo('csv'),
      'an export as JSON': () => exportTo('json'),
      'an export as a workbook': () => exportTo('xlsx'),
      'an export that is abandoned': abandonExport,
    }
    const imports: Record<string, Action> = { 'an import': importTwo }
    let requests = 0
    const failed = new Map<string, number>()
    /** @param pick the action of a turn */
    async function run(count: number, pick: (turn: number) => Action | undefined): Promise<void> {
      const last = requests + count
      await Promise.all(
        Array.from({ length: CLIENTS }, async () => {
          while (requests < last) {
            const turn = requests++
            const answer = await pick(turn)?.(turn)
            const status = (answer as { status?: number } | undefined)?.status
            if (status !== undefined && status >= 500) failed.set(String(status), turn)
          }
        }),
      )
    }
    const [often, seldom] = [Object.values(frequent), Object.values({ ...exports, ...imports })]
    const mixed = (turn: number) =>
      turn % 40 === 39 ? seldom[Math.floor(turn / 40) % seldom.length] : often[turn % often.length]

    const heap = async (): Promise<Heap> =>
      (await fetch('http://localhost/', { unix: probe })).json() as Promise<Heap>

    await run(WARM_UP, mixed)
    const [rss, startedAt] = [server.rss(), performance.now()]
    let before = await heap()

    /** What the heap grows by, and the types of which there are more objects. */
    async function growthBy(count: number, pick: (turn: number) => Action | undefined) {
      await run(count, pick)
      const after = await heap()
      const grown = Object.entries(after.counts)
        .map(([type, number]) => [type, number - (before.counts[type] ?? 0)] as const)
        .toSorted((a, b) => b[1] - a[1])
        .slice(0, 5)
      const bytes = after.bytes - before.bytes
      before = after
      return { bytes, grown: grown.map(([type, number]) => `${number} ${type}`).join(', ') }
    }

    const leaks: string[] = []
    const report = (name: string, count: number, { bytes, grown }: Awaited<ReturnType<typeof growthBy>>) =>
      `${name}: ${Math.round(bytes / count)} bytes each, ${grown}`
    for (const [actions, count] of [
      [frequent, FREQUENT_CALLS],
      [exports, EXPORTS],
      [imports, IMPORTS],
    ] as const) {
      for (const [name, action] of Object.entries(actions)) {
        const first = await growthBy(count, () => action)
        console.log(report(name, count, first))
        if (first.bytes < MAX_GROWTH_BYTES) continue
        // A cache fills once, a leak goes on.
        const second = await growthBy(count, () => action)
        if (second.bytes >= MAX_GROWTH_BYTES) leaks.push(report(name, count, second))
      }
    }
    while (performance.now() - startedAt < SOAK_MS) {
      const soaked = await growthBy(WARM_UP, mixed)
      console.log(report('mixed requests', WARM_UP, soaked))
      if (soaked.bytes / WARM_UP > 500) leaks.push(report('mixed requests', WARM_UP, soaked))
    }
    const processMb = [rss, server.rss()].map((bytes) => Math.round(bytes / MEGABYTE))
    await server.end('SIGTERM')
    console.log(`process: ${processMb.join(' to ')} MB`)
    expect([...failed.keys()]).toEqual([])
    expect(leaks).toEqual([])
    expect((processMb[1] ?? 0) - (processMb[0] ?? 0)).toBeLessThan(MAX_PROCESS_GROWTH_MB)
  },
  2 * SOAK_MS + 180_000,
)
