import { deflateSync } from 'node:zlib'
import { eq } from 'drizzle-orm'
import { defineRecordsTables } from '../../modules/records/tables.ts'
import { createTestApp, type TestAppOptions } from '../support/app.ts'
import { createBase } from '../support/factories.ts'
import { type Bench, benchOf } from './support.ts'

/** What the answer to an upload says of a file. */
export interface Uploaded {
  path: string
  title: string
  mimetype: string
  size: number
  width?: number
  height?: number
  signedPath: string
}

/** A bench whose server is set up as the test asks. */
export async function benchWith(
  config: TestAppOptions['config'],
  database?: TestAppOptions['database'],
): Promise<Bench> {
  const app = await createTestApp({ config, database })
  const owner = await app.signUp()
  return benchOf(app, owner, (await createBase(app, owner)).id)
}

/** Uploads files as the holder of the token and gives the answer. */
export async function upload(
  bench: Pick<Bench, 'app'>,
  token: string | undefined,
  files: Record<string, string | Uint8Array>,
  path = '',
): Promise<{ status: number; body: unknown }> {
  const form = new FormData()
  for (const [name, content] of Object.entries(files)) {
    // The type that is claimed is always the same: the server looks for itself.
    form.append('whatever', new File([content as BlobPart], name, { type: 'image/png' }))
  }
  const answer = await fetch(
    `${bench.app.url}/api/v1/db/storage/upload${path && `?path=${encodeURIComponent(path)}`}`,
    {
      method: 'POST',
      headers: token === undefined ? {} : { 'xc-auth': token },
      body: form,
    },
  )
  return { status: answer.status, body: await answer.json() }
}

/** One uploaded file. @throws Error where it was refused */
export async function uploadOne(
  bench: Pick<Bench, 'app'>,
  token: string,
  name: string,
  content: string | Uint8Array,
): Promise<Uploaded> {
  const { status, body } = await upload(bench, token, { [name]: content })
  if (status !== 200) throw new Error(`${name} was refused: ${status} ${JSON.stringify(body)}`)
  return (body as Uploaded[])[0] as Uploaded
}

/** Uploads as much as a person may have that no cell uses: the next upload is refused. */
export async function fillUploadLimit(bench: Pick<Bench, 'app'>, token: string): Promise<void> {
  await uploadBelowLimit(bench, token, 0)
  if ((await upload(bench, token, { 'more.txt': 'x' })).status !== 429) throw new Error('More is accepted')
}

/** Uploads as much as a person may have that no cell uses, but for some bytes. */
export async function uploadBelowLimit(
  bench: Pick<Bench, 'app'>,
  token: string,
  bytes: number,
): Promise<void> {
  const { path } = await uploadOne(bench, token, 'waiting.txt', 'x')
  const { meta } = bench.app.kernel
  const { attachmentFiles } = meta.tables(defineRecordsTables)
  await meta.db
    .update(attachmentFiles)
    .set({ size: 5 * 1024 ** 3 - bytes })
    .where(eq(attachmentFiles.path, path))
}

const crcTable = Array.from({ length: 256 }, (_, n) => {
  let c = n
  for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1
  return c >>> 0
})

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  let crc = 0xffffffff
  for (const byte of body) crc = (crcTable[(crc ^ byte) & 255] ?? 0) ^ (crc >>> 8)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE((crc ^ 0xffffffff) >>> 0)
  return Buffer.concat([length, body, sum])
}

/** A picture of these pixels, all of one colour. */
export function png(width: number, height: number): Uint8Array {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([8, 2, 0, 0, 0], 8)
  const rows = Buffer.alloc((width * 3 + 1) * height, 0x7f)
  for (let row = 0; row < height; row++) rows[row * (width * 3 + 1)] = 0
  const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}
