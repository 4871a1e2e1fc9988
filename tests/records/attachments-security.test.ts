import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { createBase } from '../support/factories.ts'
import { png, type Uploaded, uploadOne } from './attachments-support.ts'
import { type Bench, benchOf, createBench, type TestTable } from './support.ts'

let bench: Bench
let files: TestTable
beforeAll(async () => {
  bench = await createBench()
  files = await bench.table({ Title: 'SingleLineText', Files: 'Attachment' })
})
afterAll(() => bench.stop())

/** A record with one file, as a REST client reads it. */
async function recordWith(
  name: string,
  content: string | Uint8Array,
): Promise<{ id: number; item: Uploaded }> {
  const file = await uploadOne(bench, bench.owner.token, name, content)
  const { body } = await bench.rest.post(files.path, { Files: [file] })
  const read = (await bench.rest.get(`${files.path}/${body.Id}`)).body
  return { id: body.Id, item: read.Files[0] }
}

const open = (path: string, init?: RequestInit) => fetch(`${bench.app.url}/${path}`, init)

describe('a link to a file', () => {
  test('opens nothing with another signature, another time or another place', async () => {
    const { item } = await recordWith('a.txt', 'secret')
    const other = await recordWith('b.txt', 'other')
    const [, signature = '', expiry = '', ...rest] = item.signedPath.split('/')
    const place = rest.join('/')
    expect((await open(item.signedPath)).status).toBe(200)
    const forged = [
      `dltemp/${'A'.repeat(16)}/${expiry}/${place}`,
      `dltemp/${signature.slice(0, 15)}/${expiry}/${place}`,
      `dltemp/${signature}/${Number(expiry) + 1}/${place}`,
      `dltemp/${signature}/9999999999999/${place}`,
      `dltemp/${signature}/1e15/${place}`,
      `dltemp/${signature}/${expiry}/${other.item.path.replace('download/', '')}`,
      `dltemp/${signature}/${expiry}/thumbnails/${place}/tiny.webp`,
      `dltemp/${signature}/${expiry}/${place}/`,
    ]
    for (const path of forged) {
      const answer = await open(path)
      expect([path, answer.status, await answer.text()]).toEqual([path, 404, 'Not found'])
    }
  })

  test('ends when its time is over', async () => {
    const { item } = await recordWith('late.txt', 'x')
    const now = Date.now
    try {
      Date.now = () => now() + 3 * 3_600_000
      expect((await open(item.signedPath)).status).toBe(404)
      // Who may read the cell is given a fresh one.
      Date.now = now
      expect((await open(item.signedPath)).status).toBe(200)
    } finally {
      Date.now = now
    }
  })

  test('stays the same for a while, and works for two hours at least', async () => {
    const { id, item } = await recordWith('same.png', png(4, 4))
    const again = (await bench.rest.get(`${files.path}/${id}`)).body.Files[0]
    expect(again).toEqual(item)
    const hours = (Number(item.signedPath.split('/')[2]) - Date.now()) / 3_600_000
    expect(hours).toBeGreaterThanOrEqual(2)
    expect(hours).toBeLessThanOrEqual(2.5)
  })

  test('leaves the store by no trick of the path', async () => {
    const { item } = await recordWith('t.txt', 'x')
    const [, signature, expiry] = item.signedPath.split('/')
    const tricks = [
      '../sheaf.db',
      '..%2fsheaf.db',
      '%2e%2e/sheaf.db',
      '..%5csheaf.db',
      '%2fetc%2fpasswd',
      'a%00.txt',
    ]
    const prefixes = [`/dltemp/${signature}/${expiry}/`, '/download/']
    for (const path of prefixes.flatMap((prefix) => tricks.map((trick) => prefix + trick))) {
      // By hand: clients put such paths right before they send them.
      const answer = await raw(
        `GET ${path} HTTP/1.1\r\nhost: x\r\nxc-auth: ${bench.owner.token}\r\nconnection: close\r\n\r\n`,
      )
      expect([path, /^HTTP\/1\.1 40[04]/.test(answer)]).toEqual([path, true])
      expect(answer).not.toContain('SQLite format')
    }
  })

  test('serves what it is, as what it is, and lets nothing run', async () => {
    const html = '<html><body><script>alert(document.cookie)</script></body></html>'
    const kinds: [name: string, content: string | Uint8Array, type: string, kind: string][] = [
      // What a page of ours could load as its own script, style or document is told as plain text.
      ['page.html', html, 'text/plain; charset=utf-8', 'attachment'],
      ['x.js', 'alert(1)', 'text/plain; charset=utf-8', 'attachment'],
      ['x.css', 'body { display: none }', 'text/plain; charset=utf-8', 'attachment'],
      ['x.xml', '<?xml version="1.0"?><a/>', 'text/plain; charset=utf-8', 'attachment'],
      ['x.json', '{"a":1}', 'text/plain; charset=utf-8', 'attachment'],
      ['x.csv', 'a,b', 'text/csv; charset=utf-8', 'attachment'],
      ['page.png', html, 'text/plain; charset=utf-8', 'attachment'],
      [
        'x.svg',
        '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
        'image/svg+xml',
        'attachment',
      ],
      ['x.pdf', '%PDF-1.7\n', 'application/pdf', 'attachment'],
      ['x.exe', new Uint8Array([0x4d, 0x5a, 0, 1, 2, 3]), 'application/octet-stream', 'attachment'],
      ['x.html', png(3, 3), 'image/png', 'inline'],
    ]
    for (const [name, content, type, kind] of kinds) {
      const { item } = await recordWith(name, content)
      const { headers } = await open(`${item.signedPath}?inline=1&type=text/html`)
      const isPdf = type === 'application/pdf'
      expect([name, headers.get('content-type')]).toEqual([name, type])
      expect(headers.get('content-disposition')).toStartWith(`${isPdf ? 'inline' : kind}; filename="${name}"`)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      const embedding = type === 'image/png' ? 'cross-origin' : 'same-origin'
      expect(headers.get('cross-origin-resource-policy')).toBe(embedding)
      expect(headers.get('content-security-policy')).toContain("default-src 'none'")
      // The browser's own viewer of PDF does not work in a sandbox, and runs nothing of the page's.
      if (!isPdf) expect(headers.get('content-security-policy')).toEndWith('; sandbox')
      expect((await open(item.signedPath)).headers.get('content-disposition')).toStartWith(kind)
    }
  })

  test('breaks no header by its name', async () => {
    const { item } = await recordWith('a"; x="\r\nset-cookie: a=b.txt', 'x')
    const { headers } = await open(item.signedPath)
    expect(headers.get('set-cookie')).toBeNull()
    expect(headers.get('content-disposition')).not.toContain('\n')
  })

  test('gives parts, for sound and video', async () => {
    const { item } = await recordWith('p.txt', '0123456789')
    const part = async (range: string) => {
      const answer = await open(item.signedPath, { headers: { range } })
      return [answer.status, await answer.text(), answer.headers.get('content-range')]
    }
    expect(await part('bytes=2-4')).toEqual([206, '234', 'bytes 2-4/10'])
    expect(await part('bytes=7-')).toEqual([206, '789', 'bytes 7-9/10'])
    expect(await part('bytes=-3')).toEqual([206, '789', 'bytes 7-9/10'])
    expect(await part('bytes=8-99')).toEqual([206, '89', 'bytes 8-9/10'])
    expect(await part('bytes=10-')).toEqual([416, '', 'bytes */10'])
    expect(await part('bytes=5-2')).toEqual([416, '', 'bytes */10'])
    expect(await part('lines=1-2')).toEqual([200, '0123456789', null])
  })
})

describe('a small version of a picture', () => {
  test('is made when it is asked for, and is small', async () => {
    const { item } = await recordWith('big.png', png(1200, 600))
    const { thumbnails } = item as unknown as { thumbnails: Record<string, { signedPath: string }> }
    for (const [size, side] of [
      ['tiny', 64],
      ['small', 256],
      ['card_cover', 768],
    ] as const) {
      const answer = await open(thumbnails[size]?.signedPath ?? '')
      expect([size, answer.headers.get('content-type')]).toEqual([size, 'image/webp'])
      expect(await new Bun.Image(await answer.bytes()).metadata()).toMatchObject({
        width: side,
        height: side / 2,
      })
    }
    // Asked for at once, it is made once; the second time it lies in the store.
    const again = await Promise.all([1, 2, 3].map(() => open(thumbnails.tiny?.signedPath ?? '')))
    expect(again.map(({ status }) => status)).toEqual([200, 200, 200])
  })

  test('is refused for what only looks like a picture', async () => {
    const { item } = await recordWith(
      'broken.png',
      Buffer.concat([png(3, 3).slice(0, 30), Buffer.from('rubbish')]),
    )
    const { thumbnails } = item as unknown as { thumbnails: Record<string, { signedPath: string }> }
    expect((await open(thumbnails.tiny?.signedPath ?? '')).status).toBeLessThan(500)
    // A picture of a hundred million pixels in a few bytes is kept, and never decoded.
    const bomb = Buffer.from(png(1, 1))
    bomb.writeUInt32BE(20_000, 16)
    bomb.writeUInt32BE(20_000, 20)
    expect(await uploadOne(bench, bench.owner.token, 'bomb.png', bomb)).not.toHaveProperty('width')
  })
})

describe('the file of somebody else', () => {
  test('cannot be put into a cell of one’s own, by its path alone', async () => {
    const { item } = await recordWith('salary.txt', 'secret')
    const stranger = await bench.app.signUp()
    const { id: baseId } = await createBase(bench.app, bench.owner)
    await bench.app.services.auth.access.setMembership(baseId, stranger.id, 'owner')
    const own = benchOf(bench.app, stranger, baseId)
    const table = await own.table({ Files: 'Attachment' })
    const refusal = { status: 400, body: { msg: expect.stringContaining('Upload it first') } }
    expect(await own.rest.post(table.path, { Files: [{ path: item.path }] })).toMatchObject(refusal)
    expect(await own.rest.post(table.path, { Files: [item] })).toMatchObject(refusal)
    // A path that nobody has looks the same.
    const nowhere = item.path.replace(/[0-9a-f]{40}/, '0'.repeat(40))
    expect(await own.rest.post(table.path, { Files: [{ path: nowhere }] })).toMatchObject(refusal)
    const bulk = own.trpc.records.updateMatching.mutate({
      selection: { tableId: table.id },
      values: { [table.field('Files').id]: JSON.stringify([{ path: item.path }]) },
    })
    await expect(bulk).rejects.toThrow('Upload it first')
    expect((await own.rest.get(`/${item.path}`)).status).toBe(404)
    expect((await own.trpc.records.signFiles.query({ tableId: table.id, paths: [item.path] })).files).toEqual(
      {},
    )
    await expect(
      own.trpc.records.signFiles.query({ tableId: files.id, paths: [item.path] }),
    ).rejects.toThrow()
  })

  test('can be copied into another base by who may read it, and by nobody after that has ended', async () => {
    const { item } = await recordWith('shared.txt', 'shared')
    const reader = await bench.app.signUp()
    const { access } = bench.app.services.auth
    await access.setMembership(bench.baseId, reader.id, 'viewer')
    const { id: baseId } = await createBase(bench.app, bench.owner)
    await access.setMembership(baseId, reader.id, 'owner')
    const own = benchOf(bench.app, reader, baseId)
    const [copies, late] = [
      await own.table({ Files: 'Attachment' }),
      await own.table({ Files: 'Attachment' }),
    ]
    expect((await own.rest.post(copies.path, { Files: [item] })).status).toBe(200)
    const { item: second } = await recordWith('second.txt', 'x')
    expect((await own.rest.get(`/${second.path}`)).status).toBe(200)

    await access.setMembership(bench.baseId, reader.id, null)
    expect((await own.rest.post(late.path, { Files: [second] })).status).toBe(400)
    expect((await own.rest.get(`/${second.path}`)).status).toBe(404)
    // A link that one has already works until it expires: that is why links are short-lived.
    expect((await open(second.signedPath)).status).toBe(200)
  })

  test('is not served without a link to whoever is not signed in', async () => {
    const { item } = await recordWith('open.txt', 'x')
    expect((await open(item.path)).status).toBe(401)
    expect((await open('download/2026/01/01/nothing/a.txt')).status).toBe(401)
    const signedIn = await bench.rest.get(`/${item.path}`)
    expect([signedIn.status, signedIn.body]).toEqual([200, 'x'])
    const missing = await bench.rest.get('/download/2026/01/01/nothing/a.txt')
    expect([missing.status, missing.body]).toEqual([404, 'File not found'])
  })
})

describe('GET /api/v2/downloadAttachment/{t}/{c}/{rowId}', () => {
  test('gives a fresh link to those who may read the cell', async () => {
    const { id, item } = await recordWith('fresh.txt', 'fresh')
    const path = `/api/v2/downloadAttachment/${files.id}/${files.field('Files').id}`
    const ask = (record: number, place: string, rest = bench.rest) =>
      rest.get(`${path}/${record}?urlOrPath=${encodeURIComponent(place)}`)
    const { body } = await ask(id, item.path)
    expect(await (await open(body.path)).text()).toBe('fresh')
    expect((await ask(id, 'download/other')).status).toBe(404)
    expect((await ask(999_999, item.path)).status).toBe(404)
    expect((await ask(id, item.path, bench.app.rest())).status).toBe(401)
    const stranger = await bench.app.signUp()
    expect((await ask(id, item.path, bench.app.rest(stranger.token))).status).toBe(403)
  })
})

describe('records.signFiles', () => {
  test('signs all files of a page in one call, leaving out what stands in no cell of the base', async () => {
    const { item: one } = await recordWith('1.png', png(2, 2))
    const { item: two } = await recordWith('2.txt', 'x')
    const unused = await uploadOne(bench, bench.owner.token, 'unused.txt', 'x')
    const { files: signed } = await bench.trpc.records.signFiles.query({
      tableId: files.id,
      paths: [one.path, two.path, unused.path, 'download/nothing'],
    })
    expect(Object.keys(signed).toSorted()).toEqual([one.path, two.path].toSorted())
    expect(signed[one.path]?.thumbnails?.small).toStartWith('/dltemp/')
    expect(signed[two.path]?.thumbnails).toBeNull()
    expect((await fetch(`${bench.app.url}${signed[two.path]?.url}`)).status).toBe(200)
  })
})

/** Sends bytes as they are and gives the whole answer. */
function raw(request: string): Promise<string> {
  const { hostname, port } = new URL(bench.app.url)
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const socket = connect(Number(port), hostname, () => socket.write(request))
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')))
  socket.on('error', reject)
  return promise
}
