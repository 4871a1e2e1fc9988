import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { createForm, INVALID } from './form-world.ts'
import { createSecrets, type Secrets } from './world.ts'

let app: TestApp
let owner: TestUser
let world: Secrets

beforeAll(async () => {
  app = await createTestApp()
  owner = await app.signUp('owner@example.com')
  world = await createSecrets(app, owner)
})
afterAll(() => app.stop())

const record = (recordId: number | string) =>
  world.trpc.records.get.query({ tableId: world.tableId, recordId })

describe('POST /api/v1/db/public/shared-view/{uuid}/rows', () => {
  const send = async (id: string, body: FormData | string, headers: Record<string, string> = {}) => {
    const type: Record<string, string> =
      typeof body === 'string' ? { 'content-type': 'application/json' } : {}
    const answer = await fetch(`${app.url}/api/v1/db/public/shared-view/${id}/rows`, {
      method: 'POST',
      body,
      headers: { ...type, ...headers },
    })
    return { status: answer.status, body: await answer.json() }
  }
  const upload = (data: object, files: [name: string, file: File][]) => {
    const body = new FormData()
    body.append('data', JSON.stringify(data))
    for (const [name, file] of files) body.append(name, file)
    return body
  }

  test('keeps answers with files, by the titles of their fields', async () => {
    const { fields, records } = world
    const form = await createForm(world, { name: {}, photo: {}, team: {} })
    const text = (name: string) => new File([`text of ${name}`], name, { type: 'text/plain' })
    const sent = upload(
      { Name: 'With files', Teams: [{ Id: records.blue }], 'Secret salary': 5, Id: 4000, 'Secret file': 'x' },
      [
        ['Photo', text('a.txt')],
        ['Photo[1]', text('b.txt')],
        // As the pages of other clients name it.
        ['_Photo', text('c.txt')],
        ['Secret file', text('hidden.txt')],
      ],
    )
    const { status, body } = await send(form.id, sent)
    expect([status, body.Name]).toEqual([200, 'With files'])
    expect(body.Photo.map(({ title }: { title: string }) => title)).toEqual(['a.txt', 'b.txt', 'c.txt'])
    const opened = await fetch(`${app.url}/${body.Photo[0].signedPath}`)
    expect(await opened.text()).toBe('text of a.txt')
    expect(JSON.stringify(body)).not.toMatch(/secret/i)
    const { values } = await record(body.Id)
    expect([values[fields.salary], values[fields.file]]).toEqual([null, null])
    expect(body.Id).not.toBe(4000)
  })

  test('takes no path of a file that lies here already, and no address', async () => {
    const { fields } = world
    const form = await createForm(world, { name: {}, photo: {} })
    const foreign = JSON.stringify([
      { path: 'download/noco/some/file.txt', title: 'x', mimetype: 'text/plain', size: 1 },
    ])
    const { body } = await send(form.id, JSON.stringify({ data: { Name: 'Thief', Photo: foreign } }))
    expect((await record(body.Id)).values[fields.photo]).toBeNull()
    const { recordId } = await form.submit({
      [fields.photo]: '[{"url":"https://example.com/x.png","title":"x"}]',
    })
    expect((await record(recordId)).values[fields.photo]).toBeNull()
  })

  test('takes JSON as well, and refuses what is none', async () => {
    const form = await createForm(world, { name: { required: true } })
    expect((await send(form.id, JSON.stringify({ data: { Name: 'Json' } }))).status).toBe(200)
    expect((await send(form.id, JSON.stringify({ data: '{"Name":"Text"}' }))).body.Name).toBe('Text')
    expect((await send(form.id, '{}')).body).toEqual({ msg: 'Cannot convert undefined or null to object' })
    for (const odd of ['{"data":"{"}', '{"data":[1]}', '{"data":7}', '[', 'null', '"x"']) {
      expect([odd, (await send(form.id, odd)).status]).toEqual([odd, 400])
    }
    const refused = await send(form.id, JSON.stringify({ data: {} }))
    expect([refused.status, refused.body.error]).toEqual([422, INVALID])
    expect((await send(form.id, upload({}, []))).status).toBe(422)
  })

  test('asks for the password, and is not there for other views', async () => {
    const form = await createForm(world, { name: {} })
    await world.trpc.shares.save.mutate({
      kind: 'view',
      targetId: form.viewId,
      patch: { password: 'secret' },
    })
    const body = JSON.stringify({ data: { Name: 'x' } })
    expect(await send(form.id, body)).toEqual({
      status: 403,
      body: { error: 'INVALID_SHARED_VIEW_PASSWORD', message: 'Invalid shared view password' },
    })
    expect((await send(form.id, body, { 'xc-password': 'secret' })).status).toBe(200)
    const grid = await world.share()
    expect(await send(grid.id, body)).toEqual({ status: 404, body: { msg: 'Not found' } })
  })

  test('a file that is too large is refused, and nothing is kept', async () => {
    const small = await createTestApp({ config: { attachmentMaxBytes: 1000 } })
    const boss = await small.signUp()
    const own = await createSecrets(small, boss)
    const view = await own.trpc.views.create.mutate({ tableId: own.tableId, title: 'Apply', kind: 'form' })
    const { id } = await own.trpc.shares.save.mutate({ kind: 'view', targetId: view.id, patch: {} })
    const body = upload({ Name: 'Big' }, [['Photo', new File(['x'.repeat(2000)], 'big.txt')]])
    const answer = await fetch(`${small.url}/api/v1/db/public/shared-view/${id}/rows`, {
      method: 'POST',
      body,
    })
    expect(answer.status).toBe(413)
    // Of an answer that is not kept its files are not either.
    const also = upload({ Name: 'Odd', Mood: 'No such mood' }, [['Photo', new File(['small'], 'small.txt')]])
    const odd = await fetch(`${small.url}/api/v1/db/public/shared-view/${id}/rows`, {
      method: 'POST',
      body: also,
    })
    expect(odd.status).toBe(422)
    const lying = () =>
      readdirSync(join(small.config.dataDir, 'attachments'), { recursive: true }).filter((name) =>
        String(name).includes('small'),
      )
    expect(lying()).toEqual([])
    const kept = await fetch(`${small.url}/api/v1/db/public/shared-view/${id}/rows`, {
      method: 'POST',
      body: upload({ Name: 'Even' }, [['Photo', new File(['small'], 'small.txt')]]),
    })
    expect([kept.status, lying().length]).toEqual([200, 1])
    expect(await own.trpc.records.count.query({ selection: { tableId: own.tableId } })).toEqual({ count: 4 })
    await small.stop()
  })
})
