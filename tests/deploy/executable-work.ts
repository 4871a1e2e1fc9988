import { expect } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { ended, resultOf, startImport } from '../imports/support.ts'
import { png } from '../records/attachments-support.ts'
import { createRestClient, createTrpcClient } from '../support/client.ts'

/** So many that exports and searches run in workers, and a search index is built. */
const ROWS = 24_000
const INDEX_MS = 60_000

/** Hundredths of a second that the exports take at least in workers. */
const EXPORT_TICKS = 3

/** Ticks of processor time of each worker thread of a process (proc(5)), by thread. */
function workerTicks(pid: number): Map<string, number> {
  const ticks = new Map<string, number>()
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8')
    const end = stat.lastIndexOf(')')
    const fields = stat.slice(end + 2).split(' ')
    if (stat.slice(stat.indexOf('(') + 1, end) === 'Worker')
      ticks.set(thread, Number(fields[11]) + Number(fields[12]))
  }
  return ticks
}

/**
 * Uses everything of a server that runs in a worker of its own, which the executable has to contain: an import, exports
 * in every format, a search index, and pictures.
 */
export async function exerciseWorkers(url: string, pid: number): Promise<void> {
  const { body } = await createRestClient(url).post('/api/v1/auth/user/signup', {
    email: 'ann@example.com',
    password: 'correct horse battery',
  })
  const token = String(body.token)
  const [rest, trpc] = [createRestClient(url, token), createTrpcClient(url, token)]
  const base = await trpc.bases.create.mutate({ title: 'Work' })
  const lines = Array.from({ length: ROWS }, (_, n) => `Order ${n},${n}`)
  const jobId = await startImport({ url, token }, base.id, `Title,Size\n${lines.join('\n')}\n`, {
    columns: [{ title: 'Title' }, { title: 'Size', type: 'Number' }],
  })
  const { tableId } = resultOf(await ended({ url, token }, jobId))

  const before = workerTicks(pid)
  const files = await Promise.all(
    ['csv', 'json', 'xlsx'].map(async (format) => {
      const answer = await fetch(`${url}/api/v1/db/data/noco/${base.id}/${tableId}/export/${format}`, {
        headers: { 'xc-auth': token },
      })
      expect([format, answer.status]).toEqual([format, 200])
      return answer.bytes()
    }),
  )
  const [csv, json, workbook] = files as [Uint8Array, Uint8Array, Uint8Array]
  expect(new TextDecoder().decode(csv).trimEnd().split(/\r?\n/)).toHaveLength(ROWS + 1)
  expect(JSON.parse(new TextDecoder().decode(json))[ROWS - 1]).toMatchObject({ Title: `Order ${ROWS - 1}` })
  expect(new TextDecoder('latin1').decode(workbook.subarray(0, 2))).toBe('PK')
  // Without workers the server would write them itself.
  const spent = [...workerTicks(pid)].map(([thread, ticks]) => ticks - (before.get(thread) ?? 0))
  expect(spent.reduce((sum, ticks) => sum + ticks, 0)).toBeGreaterThanOrEqual(EXPORT_TICKS)

  const selection = { tableId, search: { text: 'order 2399', fieldId: null } }
  const isIndexed = async () => {
    expect(await trpc.records.count.query({ selection })).toEqual({ count: 11 })
    const { search } = await trpc.indexes.performance.query({ tableId })
    return search?.state === 'ready'
  }
  const deadline = Date.now() + INDEX_MS
  while (!(await isIndexed())) {
    if (Date.now() > deadline) throw new Error('The search index was not built')
    await Bun.sleep(200)
  }

  await trpc.schema.createField.mutate({ tableId, field: { title: 'Files', type: 'Attachment' } } as never)
  const form = new FormData()
  form.append('file', new Blob([png(600, 300) as Uint8Array<ArrayBuffer>], { type: 'image/png' }), 'a.png')
  const sent = await fetch(`${url}/api/v2/storage/upload`, {
    method: 'POST',
    headers: { 'xc-auth': token },
    body: form,
  })
  const path = `/api/v2/tables/${tableId}/records`
  expect((await rest.patch(path, { Id: 1, Files: await sent.json() })).status).toBe(200)
  const [file] = (await rest.get(`${path}/1`)).body.Files
  const small = await fetch(`${url}/${file.thumbnails.small.signedPath}`)
  expect(await new Bun.Image(await small.bytes()).metadata()).toMatchObject({ width: 256, height: 128 })
}
