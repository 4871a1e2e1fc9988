import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { uploadOne } from './attachments-support.ts'
import { type Bench, createBench } from './support.ts'

let bench: Bench
beforeAll(async () => {
  bench = await createBench()
})
afterAll(() => bench.stop())

describe('an Attachment field', () => {
  test('is made by REST clients, with its limits', async () => {
    const table = await bench.table()
    const meta = { kinds: ['audio'], maxCount: 1 }
    const made = await bench.rest.post(`/api/v2/meta/tables/${table.id}/columns`, {
      title: 'F',
      uidt: 'Attachment',
      meta,
    })
    const column = made.body.columns.find(({ title }: { title: string }) => title === 'F')
    expect([made.status, column.uidt, column.dt, column.meta]).toEqual([
      200,
      'Attachment',
      'text',
      expect.objectContaining(meta),
    ])
    const file = await uploadOne(bench, bench.owner.token, 'a.txt', 'x')
    expect((await bench.rest.post(table.path, { F: [file] })).body.msg).toContain('Audio')
  })

  test('is filtered by the names of its files, and summed up in bytes', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Files: 'Attachment' })
    const [a, b] = [
      await uploadOne(bench, bench.owner.token, 'Über 100%.txt', '12345'),
      await uploadOne(bench, bench.owner.token, 'download.txt', '123'),
    ]
    await bench.rest.post(table.path, [
      { Title: 'both', Files: [a, b] },
      { Title: 'second', Files: [b] },
      { Title: 'none' },
      { Title: 'again', Files: [{ ...b, title: 'x "q".txt' }] },
    ])
    const found = (where: string) => table.titles(`?where=${encodeURIComponent(where)}`)
    expect(await found('(Files,like,über)')).toEqual(['both'])
    expect(await found('(Files,like,100)')).toEqual(['both'])
    // Part of every path, and of no such name.
    expect(await found('(Files,like,download/)')).toEqual([])
    expect(await found('(Files,like,DOWNLOAD)')).toEqual(['both', 'second'])
    expect(await found('(Files,nlike,download)')).toEqual(['none', 'again'])
    expect(await found('(Files,like,"q")')).toEqual(['again'])
    expect(await found('(Files,blank)')).toEqual(['none'])
    expect(await found('(Files,notblank)')).toEqual(['both', 'second', 'again'])
    expect((await bench.rest.get(`${table.path}?where=(Files,eq,x)`)).status).toBe(422)
    const searched = async (text: string) =>
      (
        await bench.trpc.records.list.query({
          query: { tableId: table.id, limit: 10, offset: 0, search: { text, fieldId: null } },
        })
      ).ids.length
    expect([await searched('ÜBER'), await searched('mimetype'), await searched('[0')]).toEqual([1, 0, 0])
    const summary = async (key: string) => {
      const fieldId = table.field('Files').id
      const answer = await bench.trpc.records.summaries.query({
        selection: { tableId: table.id },
        summaries: [{ fieldId, summary: key }],
      })
      return answer[fieldId]
    }
    expect(await summary('size')).toBe(5 + 3 + 3 + 3)
    expect(await summary('filled')).toBe(3)
  })

  test('becomes names as text, and text of addresses becomes files', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Files: 'Attachment', Text: 'LongText' })
    const file = await uploadOne(bench, bench.owner.token, 'a.txt', 'x')
    await bench.rest.post(table.path, {
      Files: [file, { url: 'https://e.com/b.png', title: 'B' }],
      Text: 'https://e.com/x.pdf\nLogo (https://e.com/y.png)',
    })
    await bench.rest.post(table.path, { Text: JSON.stringify([file]) })
    const convert = (title: string, type: 'LongText' | 'Attachment') =>
      bench.trpc.schema.updateField.mutate({ fieldId: table.field(title).id, patch: { type } })
    await convert('Files', 'LongText')
    await convert('Text', 'Attachment')
    const [first, second] = (await bench.rest.get(table.path)).body.list
    expect(first.Files).toBe('a.txt, B (https://e.com/b.png)')
    expect(first.Text.map((item: { title: string; url: string }) => [item.title, item.url])).toEqual([
      ['x.pdf', 'https://e.com/x.pdf'],
      ['Logo', 'https://e.com/y.png'],
    ])
    // Text never names a file of the store: nobody has checked who wrote it.
    expect(second.Text).toBeNull()
  })
})
