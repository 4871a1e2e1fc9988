import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../support/until.ts'
import { png, type Uploaded, upload, uploadOne } from './attachments-support.ts'
import { type Bench, createBench, refusalOf, type TestTable } from './support.ts'

let bench: Bench
let files: TestTable
beforeAll(async () => {
  bench = await createBench()
  files = await bench.table({ Title: 'SingleLineText', Files: 'Attachment' })
})
afterAll(() => bench.stop())

const add = (values: object) => bench.rest.post(files.path, values)
const cellOf = async (id: number) => (await bench.rest.get(`${files.path}/${id}`)).body.Files
const incoming = () => readdirSync(join(bench.app.config.dataDir, 'incoming'))

describe('POST /api/v1/db/storage/upload', () => {
  test('refuses the anonymous, a body without files and one that is none', async () => {
    expect((await upload(bench, undefined, { 'a.txt': 'x' })).status).toBe(401)
    expect(await upload(bench, bench.owner.token, {})).toEqual({
      status: 400,
      body: { msg: 'No attachment provided!' },
    })
    const send = (body: string, type: string) =>
      bench.rest.send('POST', '/api/v2/storage/upload', { body, headers: { 'content-type': type } })
    expect(await send('x', 'text/plain')).toMatchObject({
      status: 400,
      body: { msg: 'No attachment provided!' },
    })
    for (const type of ['multipart/form-data', 'multipart/form-data; boundary=x']) {
      expect(await send('nothing of the sort', type)).toMatchObject({ status: 400 })
    }
  })

  test('keeps files and says what they are by their bytes, whatever the client claims', async () => {
    const { status, body } = await upload(bench, bench.owner.token, {
      'i.png': png(30, 20),
      'page.png': '<html><script>alert(1)</script></html>',
      'drawing.svg': '<svg width="5" height="7"><script>alert(1)</script></svg>',
      'data.csv': 'a,b\n1,2\n',
      'doc.pdf': '%PDF-1.4\n',
    })
    expect(status).toBe(200)
    const kept = body as Uploaded[]
    expect(kept.map(({ title, mimetype, width, height }) => [title, mimetype, width, height])).toEqual([
      ['i.png', 'image/png', 30, 20],
      ['page.png', 'text/plain', undefined, undefined],
      ['drawing.svg', 'image/svg+xml', 5, 7],
      ['data.csv', 'text/csv', undefined, undefined],
      ['doc.pdf', 'application/pdf', undefined, undefined],
    ])
    expect(kept[0]).toMatchObject({ size: png(30, 20).length })
    expect(kept[0]?.path).toMatch(/^download\/\d{4}\/\d\d\/\d\d\/[0-9a-f]{40}\/i_[a-z0-9]{5}\.png$/)
    expect(kept[0]?.signedPath).toMatch(/^dltemp\/[\w-]{16}\/\d{13}\//)
  })

  test('puts files under the folder that is asked for, and nowhere else', async () => {
    const pathOf = async (path: string) =>
      ((await upload(bench, bench.owner.token, { 'a.txt': 'x' }, path)).body as Uploaded[])[0]?.path
    expect(await pathOf('noco/base/table/col')).toMatch(/^download\/noco\/base\/table\/col\/[0-9a-f]{40}\/a_/)
    expect(await pathOf('../../etc/./pass wd')).toMatch(/^download\/_\/_\/etc\/_\/pass_wd\/[0-9a-f]{40}\/a_/)
    expect(await pathOf('/..\\..\\x')).toMatch(/^download\/_\/_\/x\/[0-9a-f]{40}\/a_/)
  })

  test('cleans names of folders, control characters and turned text, and shows the rest as it is', async () => {
    const titleOf = async (name: string) => (await uploadOne(bench, bench.owner.token, name, 'x')).title
    expect(await titleOf('../../evil.txt')).toBe('evil.txt')
    expect(await titleOf('C:\\temp\\notes.txt')).toBe('notes.txt')
    expect(await titleOf('invoice\u202Egpj.txt')).toBe('invoicegpj.txt')
    expect(await titleOf('تقرير "é" 漢.txt')).toBe('تقرير "é" 漢.txt')
    expect(await titleOf(`${'long '.repeat(100)}.txt`)).toHaveLength(255)
  })

  test('keeps nothing of an upload that is broken off', async () => {
    const body = new ReadableStream({
      async start(controller) {
        controller.enqueue(
          '--x\r\ncontent-disposition: form-data; name="f"; filename="a.txt"\r\n\r\nhalf of it',
        )
        await Bun.sleep(50)
        controller.error(new Error('gone'))
      },
    })
    const headers = { 'xc-auth': bench.owner.token, 'content-type': 'multipart/form-data; boundary=x' }
    await fetch(`${bench.app.url}/api/v2/storage/upload`, { method: 'POST', headers, body }).catch(() => null)
    await until(() => incoming().length === 0, 'No part of it is left')
  })

  test('takes files at an address that ends in a slash', async () => {
    const body = new FormData()
    body.append('file', new File(['x'], 'a.txt'))
    const headers = { 'xc-auth': bench.owner.token }
    const answer = await fetch(`${bench.app.url}/api/v2/storage/upload/`, { method: 'POST', headers, body })
    expect(answer.status).toBe(200)
  })
})

describe('an Attachment cell', () => {
  test('refuses what is no list of files, in the words that clients know', async () => {
    expect(await add({ Files: 'x' })).toMatchObject({
      status: 400,
      body: { error: 'INVALID_ATTACHMENT_JSON', message: 'Invalid JSON for attachment field: x' },
    })
    expect(await add({ Files: [{ title: 'a' }] })).toMatchObject({
      status: 422,
      body: {
        error: 'INVALID_VALUE_FOR_FIELD',
        details: { reason: 'Each attachment needs a "path" or a "url"' },
      },
    })
    for (const path of [
      '/etc/passwd',
      'download/../../etc/passwd',
      'download/%2e%2e/x',
      'download/a\u0000b',
      'x',
    ]) {
      expect((await add({ Files: [{ path }] })).status).toBe(422)
    }
    for (const url of ['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'ftp://e.com/x']) {
      expect((await add({ Files: [{ url }] })).status).toBe(422)
    }
    expect(await files.total()).toBe(0)
  })

  test('takes a list or its JSON text, and shows it with links that need no session', async () => {
    const [one, two] = [
      await uploadOne(bench, bench.owner.token, 'one.png', png(300, 200)),
      await uploadOne(bench, bench.owner.token, 'two.txt', 'hello'),
    ]
    const { body } = await add([{ Files: [one, two] }, { Files: JSON.stringify([two]) }])
    const cell = await cellOf(body[0].Id)
    expect(cell[0]).toEqual({
      path: one.path,
      title: 'one.png',
      mimetype: 'image/png',
      size: one.size,
      width: 300,
      height: 200,
      id: expect.stringMatching(/^at[a-z0-9]{14}$/),
      thumbnails: {
        tiny: { signedPath: expect.stringContaining('/tiny.webp') },
        small: { signedPath: expect.stringContaining('/small.webp') },
        card_cover: { signedPath: expect.stringContaining('/card_cover.webp') },
      },
      signedPath: expect.stringMatching(/^dltemp\//),
    })
    expect(cell[1]).not.toHaveProperty('thumbnails')
    const answer = await fetch(`${bench.app.url}/${cell[1].signedPath}`)
    expect([answer.status, await answer.text()]).toEqual([200, 'hello'])
    // What clients read they may send back as it is.
    expect((await bench.rest.patch(files.path, [{ Id: body[1].Id, Files: cell }])).status).toBe(200)
    expect(await cellOf(body[1].Id)).toEqual(cell)
    expect((await bench.rest.get(`${files.path}?where=(Id,eq,${body[0].Id})`)).body.list[0].Files).toEqual(
      cell,
    )
  })

  test('says of a file what the server knows, and of an address what is known', async () => {
    const real = await uploadOne(bench, bench.owner.token, 'note.txt', 'text')
    const { body } = await add({
      Files: [
        { ...real, title: 'renamed.png', mimetype: 'image/png', size: 1, width: 9, height: 9, extra: 'x' },
        { url: 'https://example.com/a%20b.png' },
      ],
    })
    expect(await cellOf(body.Id)).toEqual([
      expect.objectContaining({ path: real.path, title: 'renamed.png', mimetype: 'text/plain', size: 4 }),
      {
        url: 'https://example.com/a%20b.png',
        title: 'a b.png',
        mimetype: 'image/png',
        size: 0,
        id: expect.any(String),
        signedUrl: 'https://example.com/a%20b.png',
      },
    ])
  })

  test.each([[''], [[]], ['[]'], [null]])('is empty after %j', async (empty) => {
    const file = await uploadOne(bench, bench.owner.token, 'a.txt', 'x')
    const { body } = await add({ Files: [file] })
    await bench.rest.patch(files.path, { Id: body.Id, Files: empty })
    expect(await cellOf(body.Id)).toBeNull()
  })

  test('comes back with undo, its file too', async () => {
    const file = await uploadOne(bench, bench.owner.token, 'undo.txt', 'still here')
    const { body } = await add({ Files: [file] })
    await bench.rest.delete(files.path, { Id: body.Id })
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId })
    const [item] = await cellOf(body.Id)
    expect(await (await fetch(`${bench.app.url}/${item.signedPath}`)).text()).toBe('still here')
  })

  test('holds what its field allows: so many files, of these kinds, no larger', async () => {
    const strict = await bench.table({
      Pics: { type: 'Attachment', options: { kinds: ['image'], maxCount: 2, maxSizeMb: 0.001 } },
      Any: 'Attachment',
    })
    const [picture, large, text] = [
      await uploadOne(bench, bench.owner.token, 'p.png', png(2, 2)),
      await uploadOne(bench, bench.owner.token, 'l.png', Buffer.concat([png(2, 2), Buffer.alloc(2000)])),
      await uploadOne(bench, bench.owner.token, 't.txt', 'x'),
    ]
    const reasonOf = async (values: object) => (await bench.rest.post(strict.path, values)).body.msg
    expect(await reasonOf({ Pics: [picture, picture, picture] })).toBe(
      'This field allows up to 2 files, got 3',
    )
    expect(await reasonOf({ Pics: [large] })).toBe('“l.png” is larger than this field’s 0.001 MB limit')
    expect(await reasonOf({ Pics: [text] })).toBe(
      '“t.txt” has a file type that this field does not allow. Allowed: Images',
    )
    // The name and the type that a client gives do not make a picture of it.
    expect(await reasonOf({ Pics: [{ ...text, title: 'x.png', mimetype: 'image/png' }] })).toContain(
      'has a file type',
    )
    expect(await reasonOf({ Any: Array(11).fill(text) })).toBe('Field “Any” allows up to 10 files, got 11')
    expect(
      (await bench.rest.post(strict.path, { Pics: [picture, picture], Any: Array(10).fill(text) })).status,
    ).toBe(200)
    const [anyId, picsId] = [strict.field('Any').id, strict.field('Pics').id]
    const values = { [anyId]: null, [picsId]: JSON.stringify([text]) }
    const change = {
      baseId: bench.baseId,
      operations: [{ kind: 'update' as const, tableId: strict.id, rows: [{ id: 1, values }] }],
    }
    expect(await refusalOf(bench.trpc.records.write.mutate({ change }))).toMatchObject({ status: 400 })
  })
})
