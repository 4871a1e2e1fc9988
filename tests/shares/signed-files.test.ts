import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { createForm } from './form-world.ts'
import { byLink, createSecrets, type Secrets } from './world.ts'

/** A picture of one pixel. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

let app: TestApp
let owner: TestUser
let world: Secrets
let path: string

beforeAll(async () => {
  app = await createTestApp()
  owner = await app.signUp('owner@example.com')
  world = await createSecrets(app, owner)
  path = await upload()
  const { trpc, baseId, tableId, records, fields } = world
  const cell = JSON.stringify([{ path, title: 'pixel.png', mimetype: 'image/png', size: PIXEL.length }])
  const rows = [{ id: records.ann, values: { [fields.photo]: cell } }]
  await trpc.records.write.mutate({
    change: { baseId, operations: [{ kind: 'update', tableId, rows }] },
  })
})
afterAll(() => app.stop())

async function upload(): Promise<string> {
  const body = new FormData()
  body.append('file', new File([PIXEL], 'pixel.png'))
  const sent = { method: 'POST', headers: { 'xc-auth': owner.token }, body }
  const [file] = (await (await fetch(`${app.url}/api/v1/db/storage/upload`, sent)).json()) as {
    path: string
  }[]
  return file?.path ?? ''
}

type Link = Parameters<typeof world.trpc.shares.save.mutate>[0]
const targets = (): Record<'view' | 'base', Omit<Link, 'patch'>> => ({
  view: { kind: 'view', targetId: world.viewId },
  base: { kind: 'base', targetId: world.baseId },
})
const save = (kind: 'view' | 'base', patch: Link['patch'] = {}) =>
  world.trpc.shares.save.mutate({ ...targets()[kind], patch })

/** Every address that a visitor is told of the picture, by the web app's call and by the REST API. */
async function addresses(headers: Record<string, string>): Promise<string[]> {
  const { tableId, records } = world
  const { files } = await app.trpc(headers).records.signFiles.query({ tableId, paths: [path] })
  const signed = files[path]
  const list = await app.rest(headers).get(`/api/v2/tables/${tableId}/records?viewId=${world.viewId}`)
  const [photo] = list.body.list.find(({ Name }: { Name: string }) => Name === 'Ann').Photo
  const one = await app.rest(headers).get(`/api/v2/tables/${tableId}/records/${records.ann}`)
  return [
    signed?.url ?? '',
    ...Object.values(signed?.thumbnails ?? {}),
    `/${photo.signedPath}`,
    `/${photo.thumbnails.tiny.signedPath}`,
    `/${one.body.Photo[0].signedPath}`,
  ]
}
const statuses = (found: string[]) =>
  Promise.all(found.map(async (address) => (await fetch(app.url + address)).status))
const open = (found: string[], status = 200) =>
  expect(statuses(found)).resolves.toEqual(found.map(() => status))

test('GET …/public/shared-view/{uuid}/downloadAttachment gives a fresh address of a file that the view shows, and of no other', async () => {
  const { tableId, records, fields } = world
  const secret = { Id: records.ann, 'Secret file': [{ path: await upload(), title: 'secret.png' }] }
  const hidden = { Id: records.eve, Photo: [{ path, title: 'eve.png' }] }
  const written = await app.rest(owner.token).patch(`/api/v2/tables/${tableId}/records`, [secret, hidden])
  expect(written.status).toBe(200)
  const { id } = await save('view')
  for (const prefix of ['/api/v1/db/public', '/api/v2/public']) {
    const ask = async (fieldId: string, recordId: string | number, place = path) => {
      const door = `${prefix}/shared-view/${id}/downloadAttachment/${fieldId}/${recordId}`
      return (await app.rest().get(`${door}?urlOrPath=${encodeURIComponent(place)}`)).body
    }
    await open([`/${(await ask(fields.photo, records.ann)).path}`])
    const refused = [
      await ask(fields.file, records.ann, secret['Secret file'][0]?.path),
      await ask(fields.photo, records.ann, secret['Secret file'][0]?.path),
      await ask(fields.photo, records.eve),
      await ask(fields.name, records.ann),
    ]
    expect(refused.map(({ error }) => error)).toEqual([
      'FIELD_NOT_FOUND',
      'GENERIC_NOT_FOUND',
      'RECORD_NOT_FOUND',
      'FIELD_NOT_FOUND',
    ])
  }
})

describe.each(['view', 'base'] as const)('addresses of files by a link to a %s', (kind) => {
  test('open nothing once it is closed, and not again by a link that is made anew', async () => {
    const found = await addresses(byLink(kind, (await save(kind)).id))
    expect(found).toHaveLength(7)
    await open(found)
    await world.trpc.shares.close.mutate(targets()[kind])
    await open(found, 404)
    const again = await addresses(byLink(kind, (await save(kind)).id))
    await open(again)
    await open(found, 404)
  })

  test('open nothing once it has another address or password, or its time is over', async () => {
    const first = await addresses(byLink(kind, (await save(kind)).id))
    const { id } = await world.trpc.shares.regenerate.mutate(targets()[kind])
    await open(first, 404)
    const second = await addresses(byLink(kind, id))
    await save(kind, { password: 'open sesame' })
    await open(second, 404)
    const third = await addresses(byLink(kind, id, 'open sesame'))
    await save(kind, { password: 'open barley' })
    await open(third, 404)
    const over = Date.now() + 3000
    await save(kind, { password: null, expiresAt: new Date(over).toISOString() })
    const fourth = await addresses(byLink(kind, id))
    await open(fourth)
    await Bun.sleep(over - Date.now() + 100)
    await open(fourth, 404)
    await save(kind, { expiresAt: null })
    // What changes nothing of who may come by it leaves them as they are.
    const fifth = await addresses(byLink(kind, id))
    await save(kind, { settings: { allowDownload: false } })
    await open(fifth)
  })

  test('cannot be made those of somebody else, and do not tell the link', async () => {
    const { id } = await save(kind)
    const [address = ''] = await addresses(byLink(kind, id))
    const [, , signature, until = '', ...place] = address.split('/')
    const [moment, , target] = until.split('.')
    const other = kind === 'view' ? 'base' : 'view'
    const forged = [
      `${moment}`,
      `${Number(moment) + 1}.${kind}.${target}`,
      `${moment}.${other}.${targets()[other].targetId}`,
      `${moment}.${kind}.nothing`,
      `${moment}.erd.${target}`,
      `${moment}.__proto__.${target}`,
      `${moment}.${kind}.`,
      `${moment}.${kind}.${target}.${target}`,
      `${moment}.${kind}.${target}%00`,
      `${moment}.${kind}.${"'; drop table shares --"}`,
      `.${kind}.${target}`,
    ].map((until) => `/dltemp/${signature}/${until}/${place.join('/')}`)
    await open(forged, 404)
    expect(address).not.toContain(id)
    await open([address])
  })
})

describe('addresses of files', () => {
  test('by a link to a view open nothing once the view hides the field, filters otherwise, or is gone', async () => {
    const { trpc, viewId, fields } = world
    const headers = byLink('view', (await save('view')).id)
    const show = async (isShown: boolean) => {
      await trpc.views.arrange.mutate({
        viewId,
        fields: [{ fieldId: fields.photo, show: isShown, order: 3 }],
      })
    }
    const first = await addresses(headers)
    await open(first)
    await show(false)
    await open(first, 404)
    await show(true)
    const second = await addresses(headers)
    const { filter } = (await trpc.schema.table.query({ tableId: world.tableId })).views.find(
      ({ id }) => id === viewId,
    )!
    const otherwise = { fieldId: fields.name, operator: 'eq', value: 'Ben' }
    await trpc.views.update.mutate({ viewId, patch: { filter: { join: 'and', children: [otherwise] } } })
    await open(second, 404)
    await trpc.views.update.mutate({ viewId, patch: { filter } })
    const third = await addresses(headers)
    await open(third)
    await trpc.schema.deleteField.mutate({ fieldId: fields.office })
    await open(third, 404)
    await trpc.schema.restoreField.mutate({ fieldId: fields.office })
    await trpc.views.delete.mutate({ viewId })
    await open(third, 404)
    await trpc.records.undo.mutate({ baseId: world.baseId })
  })

  test('of the pictures of a form end with its link, and not with an answer', async () => {
    const banner = await upload()
    const { tableId, trpc } = world
    await trpc.records.keepPicture.mutate({ tableId, path: banner })
    const form = await createForm(world, { name: {}, photo: {} }, { bannerPath: banner })
    const { files } = await form.visitor.records.signFiles.query({ tableId, paths: [banner] })
    const found = [files[banner]?.url ?? '', ...Object.values(files[banner]?.thumbnails ?? {})]
    await open(found)
    await form.submit({ [world.fields.name]: 'Guest' })
    await open(found)
    await trpc.shares.close.mutate({ kind: 'view', targetId: form.viewId })
    await open(found, 404)
  })

  test('of uploads by a link to a base end with it', async () => {
    const { id } = await save('base', { role: 'editor' })
    const body = new FormData()
    body.append('file', new File([PIXEL], 'pixel.png'))
    const sent = { method: 'POST', headers: byLink('base', id), body }
    const [file] = (await (await fetch(`${app.url}/api/v1/db/storage/upload`, sent)).json()) as {
      signedPath: string
    }[]
    const found = [`/${file?.signedPath}`]
    await open(found)
    await world.trpc.shares.close.mutate(targets().base)
    await open(found, 404)
  })

  test('of those who are signed in stay as they are', async () => {
    const found = await addresses({ 'xc-auth': owner.token })
    expect(found[0]).toMatch(/^\/dltemp\/[\w-]{16}\/\d{13}\/\w/)
    await save('view')
    await world.trpc.shares.close.mutate(targets().view)
    await open(found)
  })
})
