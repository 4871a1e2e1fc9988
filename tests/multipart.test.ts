import { describe, expect, test } from 'bun:test'
import { readMultipart } from '../src/multipart.ts'
import { seeded } from './core/random.ts'

const TYPE = 'multipart/form-data; boundary=xYz'

/** The bytes in pieces of random length, as a network may bring them. */
async function* inPieces(
  bytes: Uint8Array,
  random: () => number,
  longest: number,
): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; ) {
    const end = at + 1 + Math.floor(random() * longest)
    yield bytes.subarray(at, end)
    at = end
  }
}

async function partsOf(body: AsyncIterable<Uint8Array>, type = TYPE) {
  const found: { name: string; fileName: string | null; text: string }[] = []
  for await (const { name, fileName, body: bytes } of readMultipart(body, type)) {
    const chunks: Uint8Array[] = []
    for await (const chunk of bytes) chunks.push(chunk)
    found.push({ name, fileName, text: Buffer.concat(chunks).toString('latin1') })
  }
  return found
}

const bytesOf = (text: string) => Buffer.from(text, 'latin1')

describe('readMultipart', () => {
  test('gives what a browser sends, however the network cuts it', async () => {
    const form = new FormData()
    form.append('plain', 'text')
    form.append('f', new File(['\r\n--xYz', '\r\n-', '--'], 'a "quoted" ü.txt'))
    form.append('empty', new File([], 'empty.bin'))
    form.append('f', new File([new Uint8Array(5000).fill(13)], 'returns.bin'))
    const sent = new Response(form)
    const type = sent.headers.get('content-type') ?? ''
    const bytes = await sent.bytes()
    const random = seeded(3)
    for (let round = 0; round < 60; round++) {
      const parts = await partsOf(inPieces(bytes, random, [1, 7, 100, 10_000][round % 4] ?? 1), type)
      expect(parts.map(({ name, fileName }) => [name, fileName])).toEqual([
        ['plain', null],
        ['f', 'a "quoted" ü.txt'],
        ['empty', 'empty.bin'],
        ['f', 'returns.bin'],
      ])
      expect(parts.map(({ text }) => text)).toEqual(['text', '\r\n--xYz\r\n---', '', '\r'.repeat(5000)])
    }
  })

  test('leaves what a reader does not want of a part', async () => {
    const bytes = bytesOf(
      '--xYz\r\ncontent-disposition: form-data; name=a\r\n\r\nlong text\r\n--xYz\r\ncontent-disposition: form-data; name=b\r\n\r\nx\r\n--xYz--',
    )
    const names: string[] = []
    for await (const { name } of readMultipart(inPieces(bytes, seeded(1), 5), TYPE)) names.push(name)
    expect(names).toEqual(['a', 'b'])
  })

  test.each([
    ['no boundary', 'multipart/form-data', '--xYz--'],
    ['nothing', TYPE, ''],
    ['no part', TYPE, 'just text'],
    ['a head without an end', TYPE, `--xYz\r\n${'a: b\r\n'.repeat(5000)}`],
    ['a part without an end', TYPE, '--xYz\r\ncontent-disposition: form-data; name=a\r\n\r\ntext'],
  ])('refuses a body with %s', async (_, type, text) => {
    await expect(partsOf(inPieces(bytesOf(text), seeded(1), 50), type)).rejects.toThrow('could not be read')
  })
})
