import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { all, byLink, createSecrets, refusalsOf, type Secrets } from './world.ts'

/** Files that one place may bring by a link within an hour, here. */
const MOST = 6

let app: TestApp
let owner: TestUser
let world: Secrets
let elsewhere: Secrets
let id: string

beforeAll(async () => {
  app = await createTestApp({ config: { linkUploadsPerHour: MOST, attachmentMaxBytes: 1000 } })
  owner = await app.signUp('owner@example.com')
  world = await createSecrets(app, owner)
  elsewhere = await createSecrets(app, owner, 'Elsewhere')
  id = (await save({ role: 'editor' })).id
})
afterAll(() => app.stop())

const save = (patch: Parameters<typeof world.trpc.shares.save.mutate>[0]['patch']) =>
  world.trpc.shares.save.mutate({ kind: 'base', targetId: world.baseId, patch })
const close = () => world.trpc.shares.close.mutate({ kind: 'base', targetId: world.baseId })
const visitor = () => app.trpc(byLink('base', id))

function upload(headers: Record<string, string>, names: string[] = ['note.txt'], text = 'hello') {
  const body = new FormData()
  for (const name of names) body.append('file', new File([text], name, { type: 'text/plain' }))
  return fetch(`${app.url}/api/v1/db/storage/upload`, { method: 'POST', headers, body })
}
type Uploaded = { path: string; title: string; mimetype: string; size: number }
async function uploaded(headers: Record<string, string>): Promise<Uploaded> {
  const [file] = (await (await upload(headers)).json()) as Uploaded[]
  if (!file) throw new Error('Nothing was uploaded')
  return file
}
/** Puts a file into a cell, as who comes by the link unless somebody else is named. */
const put = ({ path, title, mimetype, size }: Uploaded, of: Secrets = world, as = visitor()) =>
  as.records.write.mutate({
    change: {
      baseId: of.baseId,
      operations: [
        {
          kind: 'update' as const,
          tableId: of.tableId,
          rows: [
            {
              id: of.records.ben,
              values: { [of.fields.file]: JSON.stringify([{ path, title, mimetype, size }]) },
            },
          ],
        },
      ],
    },
  })
const fileOf = async ({ trpc, tableId, records, fields }: Secrets) =>
  (await trpc.records.get.query({ tableId, recordId: records.ben })).values[fields.file]

describe('files by a link to a base', () => {
  test('are refused to who may not write there, and by a link that is closed', async () => {
    const view = await world.share()
    expect((await upload(byLink('view', view.id))).status).toBe(403)
    await save({ role: 'viewer' })
    expect((await upload(byLink('base', id))).status).toBe(403)
    await save({ role: 'editor', password: 'open sesame' })
    expect((await upload(byLink('base', id))).status).toBe(403)
    expect((await upload(byLink('base', id, 'open barley'))).status).toBe(403)
    await save({ password: null })
    await close()
    expect((await upload(byLink('base', id))).status).toBe(404)
    id = (await save({ role: 'editor' })).id
    // The server fetches nothing for strangers.
    const fetched = await app
      .rest(byLink('base', id))
      .post('/api/v1/db/storage/upload-by-url', [{ url: 'https://example.com/x.txt' }])
    expect(fetched.status).toBe(403)
    expect(await fileOf(world)).toBeNull()
  })

  test('of other bases cannot be reached, nor put into them', async () => {
    const secret = await uploaded({ 'xc-auth': owner.token })
    await put(secret, elsewhere, elsewhere.trpc)
    const unused = await uploaded({ 'xc-auth': owner.token })
    const own = await uploaded(byLink('base', id))
    const refused = { secret: put(secret), unused: put(unused) }
    expect(await refusalsOf(refused)).toEqual(all(refused, '400 BAD_REQUEST'))
    const shut = { into: put(own, elsewhere) }
    expect(await refusalsOf(shut)).toEqual(all(shut, '403 FORBIDDEN'))
    const paths = [secret.path, unused.path, own.path]
    const signed = await visitor().records.signFiles.query({ tableId: world.tableId, paths })
    expect(signed.files).toEqual({})
    for (const path of paths) {
      const { status } = await fetch(`${app.url}/${path}`, { headers: byLink('base', id) })
      expect([path, status]).toEqual([path, 403])
    }
    expect(await fileOf(world)).toBeNull()
    expect(String(await fileOf(elsewhere))).toContain(secret.path)
  })

  test('come into its cells, within the limits of size and number', async () => {
    const file = await uploaded(byLink('base', id))
    await put(file)
    expect(String(await fileOf(world))).toContain(file.path)
    expect((await upload(byLink('base', id), ['large.txt'], 'x'.repeat(1001))).status).toBe(413)
    // Three have been counted: each file of a call is one.
    const many = await upload(byLink('base', id), ['a', 'b', 'c', 'd'])
    expect([many.status, (await many.json()).message]).toEqual([
      429,
      expect.stringContaining('Too many files'),
    ])
    expect((await upload(byLink('base', id))).status).toBe(429)
    // Who is signed in is counted apart from strangers.
    expect((await upload({ 'xc-auth': owner.token })).status).toBe(200)
  })
})

describe('a download by a link to a base', () => {
  const address = (of: Secrets, type: string, view = of.viewId) =>
    `${app.url}/api/v1/db/data/noco/${of.baseId}/${of.tableId}/views/${view}/export/${type}`
  const get = (of: Secrets, type: string) => fetch(address(of, type), { headers: byLink('base', id) })
  const job = (of: Secrets) => app.rest(byLink('base', id)).post(`/api/v2/export/${of.viewId}/csv`)

  test('is refused where the link forbids it, of other bases, and by a link that is closed', async () => {
    await save({ settings: { allowDownload: false } })
    for (const type of ['csv', 'excel', 'json']) {
      const answer = await get(world, type)
      expect([type, answer.status]).toEqual([type, 403])
      expect((await answer.json()).message).toContain('doesn’t allow downloads')
    }
    expect((await job(world)).status).toBe(403)
    await save({ settings: { allowDownload: true } })
    expect((await get(elsewhere, 'csv')).status).toBe(404)
    expect((await job(elsewhere)).status).toBe(403)
    await close()
    expect((await get(world, 'csv')).status).toBe(404)
    id = (await save({ role: 'viewer' })).id
  })

  test('has what the view shows, in each format, and no address of anybody', async () => {
    const csv = await get(world, 'csv')
    const text = await csv.text()
    expect([csv.status, csv.headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(
      text
        .replace('\ufeff', '')
        .trim()
        .split('\r\n')
        .map((line) => line.split(',')[0]),
    ).toEqual(['Name', 'Ben', 'Ann'])
    expect(text).not.toContain('Secret')
    expect(text).not.toContain('@example.com')
    const workbook = new Uint8Array(await (await get(world, 'excel')).arrayBuffer())
    expect(String.fromCharCode(...workbook.slice(0, 2))).toBe('PK')
    const records = (await (await get(world, 'json')).json()) as { Name: string }[]
    expect(records.map(({ Name }) => Name)).toEqual(['Ben', 'Ann'])
    expect((await job(world)).status).toBe(200)
  })
})
