import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { hasEnded } from '../../src/jobs.ts'
import { ended, formatOf, resultOf, startImport, upload } from '../imports/support.ts'
import { until } from '../support/until.ts'
import { SERVERS_TIMEOUT_MS, startThreeServers, type ThreeServers } from './support.ts'

/** Takes some seconds to import. */
const ROWS = 200_000
/** For a machine that is busy with other tests; `latency.quiet.test.ts` has the promise. */
const SLACK_MS = 20_000

let world: ThreeServers
let baseId: string
let tableId: string
let path: string
beforeAll(async () => {
  world = await startThreeServers()
  const api = world.trpc(world.servers[0])
  baseId = (await api.bases.create.mutate({ title: 'Work' })).id
  const fields = [
    { title: 'Title', type: 'SingleLineText' as const },
    { title: 'Files', type: 'Attachment' as const },
  ]
  tableId = (await api.schema.createTable.mutate({ baseId, title: 'Tasks', fields })).table.id
  path = `/api/v2/tables/${tableId}/records`
}, SERVERS_TIMEOUT_MS)
afterAll(() => world.stop())

const door = (server = world.servers[0]) => ({ url: server.url, token: world.owner.token })

describe('a job on one of three servers', () => {
  test('is followed and cancelled through another, and leaves nothing behind', async () => {
    const [a, b, c] = world.servers
    const socket = await world.connect(c)
    const seen: { id: string; status: string }[] = []
    socket.on('job', (job) => seen.push(job))
    const lines = Array.from({ length: ROWS }, (_, row) => `row ${row},${row}`)
    const columns = [{ title: 'Name' }, { title: 'Number', type: 'Number' as const }]
    const jobId = await startImport(door(a), baseId, ['Name,Number', ...lines].join('\n'), {
      title: 'Large',
      columns,
    })
    const job = (server = b) => world.trpc(server).jobs.get.query({ jobId })
    await until(async () => (await job()).progress.done > 0, 'The progress seen by another server')
    const cancelledAt = performance.now()
    await world.trpc(b).jobs.cancel.mutate({ jobId })
    const toldAt = await until(
      () => seen.some(({ id, status }) => id === jobId && status === 'cancelled'),
      'The end told by a third server',
    )
    console.info(`a job is cancelled through another server in ${Math.round(toldAt - cancelledAt)} ms`)
    expect(toldAt - cancelledAt).toBeLessThan(SLACK_MS)
    expect(
      (await Promise.all(world.servers.map((server) => job(server)))).map(({ status }) => status),
    ).toEqual(['cancelled', 'cancelled', 'cancelled'])
    const tables = await world.trpc(c).schema.tables.query({ baseId })
    expect(tables.map(({ title }) => title)).not.toContain('Large')
    socket.close()
  })

  test('that has not begun is cancelled through another', async () => {
    const [a, b, c] = world.servers
    const lines = Array.from({ length: ROWS }, (_, row) => `row ${row}`)
    const columns = [{ title: 'Name' }]
    const running = await startImport(door(a), baseId, ['Name', ...lines].join('\n'), {
      title: 'First',
      columns,
    })
    const waiting = await startImport(door(a), baseId, 'Name\nonly', { title: 'Second', columns })
    await world.trpc(c).jobs.cancel.mutate({ jobId: waiting })
    const statusOf = async (jobId: string) => (await world.trpc(b).jobs.get.query({ jobId })).status
    await until(async () => hasEnded(await statusOf(waiting)), 'The end of the waiting job')
    expect(await statusOf(waiting)).toBe('cancelled')
    await world.trpc(b).jobs.cancel.mutate({ jobId: running })
    await until(async () => hasEnded(await statusOf(running)), 'The end of the running job')
    expect(await statusOf(running)).toBe('cancelled')
  })

  test('is not cancelled by someone else through another', async () => {
    const [a, b] = world.servers
    const other = await world.signUp()
    const jobId = await startImport(door(a), baseId, 'Name\nonly', {
      title: 'Mine',
      columns: [{ title: 'Name' }],
    })
    await expect(world.trpc(b, other.token).jobs.cancel.mutate({ jobId })).rejects.toThrow()
    expect((await ended(door(a), jobId)).status).toBe('completed')
  })
})

describe('a file that one of three servers has received', () => {
  test('is imported by another, and its report and table are read from a third', async () => {
    const [a, b, c] = world.servers
    const file = 'Name,Size\nOslo,7\nRome,seven\n'
    const uploadId = await upload(door(a), file)
    const { jobId } = await world.trpc(b).imports.start.mutate({
      baseId,
      uploadId,
      format: formatOf(file),
      width: 2,
      columns: [{ index: 0 }, { index: 1 }],
      table: {
        title: 'Cities',
        fields: [
          { title: 'Name', type: 'SingleLineText' },
          { title: 'Size', type: 'Number' },
        ],
      },
    })
    const { tableId: cities, rows } = resultOf(await ended(door(c), jobId))
    expect(rows).toBe(2)
    const { body } = await world.rest(c).get(`/api/v2/tables/${cities}/records?sort=Id`)
    expect(body.list.map(({ Name, Size }: { Name: string; Size: number }) => [Name, Size])).toEqual([
      ['Oslo', 7],
      ['Rome', null],
    ])
    const report = await fetch(`${c.url}/api/internal/jobs/${jobId}/report`, {
      headers: { 'xc-auth': world.owner.token },
    })
    expect([report.status, await report.text()]).toEqual([200, expect.stringContaining('seven')])
  })

  test('is put into a cell through another and downloaded from a third', async () => {
    const [a, b, c] = world.servers
    const bytes = crypto.getRandomValues(new Uint8Array(200_000))
    const form = new FormData()
    form.append('file', new File([bytes], 'photo.bin'))
    const sent = await fetch(`${a.url}/api/v1/db/storage/upload`, {
      method: 'POST',
      headers: { 'xc-auth': world.owner.token },
      body: form,
    })
    const [uploaded] = (await sent.json()) as { path: string; title: string }[]
    expect((await world.rest(b).post(path, { Title: 'With a file', Files: [uploaded] })).status).toBe(200)
    const { body } = await world.rest(c).get(`${path}?where=(Title,eq,With a file)`)
    const [item] = body.list[0].Files
    for (const server of world.servers) {
      const answer = await fetch(`${server.url}/${item.signedPath}`)
      expect([answer.status, Buffer.from(await answer.arrayBuffer()).equals(Buffer.from(bytes))]).toEqual([
        200,
        true,
      ])
    }
  })
})

test('an export that one server writes is fetched from the others', async () => {
  const [a, b, c] = world.servers
  const titles = Array.from({ length: 500 }, (_, row) => `exported ${row}`)
  await world.rest(a).post(
    path,
    titles.map((Title) => ({ Title })),
  )
  const { jobId } = await world.trpc(a).records.export.mutate({ tableId, format: 'csv' })
  const { result } = await ended(door(b), jobId)
  const { url } = result as { url: string }
  for (const server of [b, c, a]) {
    const answer = await fetch(new URL(new URL(url, server.url).pathname, server.url))
    const text = await answer.text()
    expect([answer.status, titles.filter((title) => !text.includes(title))]).toEqual([200, []])
  }
})
