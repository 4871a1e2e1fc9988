import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Bench, createBench, refusalOf } from './support.ts'

let bench: Bench
beforeAll(async () => {
  bench = await createBench()
})
afterAll(() => bench.stop())

describe('a QR code or bar code', () => {
  test('gives the value of the field that it shows, over REST and tRPC', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Num: 'Number', On: 'Checkbox' }, [
      { Title: 'https://example.com/ü', Num: 4006381333931, On: true },
      { Title: '', Num: null, On: false },
    ])
    const make = (title: string, type: 'QrCode' | 'Barcode', shown: string) =>
      bench.trpc.schema.createField.mutate({
        tableId: table.id,
        field: { title, type, options: { valueFieldId: table.field(shown).id } },
      })
    const qr = await make('Qr', 'QrCode', 'Title')
    const bar = await make('Bar', 'Barcode', 'Num')
    const on = await make('OnCode', 'QrCode', 'On')
    expect(bar.result).toMatchObject({ type: 'Number', isList: false })
    const rows = await table.list()
    expect(rows.map(({ Qr, Bar }) => [Qr, Bar])).toEqual([
      ['https://example.com/ü', 4006381333931],
      ['', null],
    ])
    const page = await bench.trpc.records.list.query({
      query: { tableId: table.id, fieldIds: [qr.id, bar.id, on.id], limit: 10, offset: 0 },
    })
    expect(page.rows).toEqual([
      ['https://example.com/ü', 4006381333931, true],
      ['', null, false],
    ])
    const summaries = [{ fieldId: bar.id, summary: 'filled' }]
    const selection = { tableId: table.id }
    expect(await bench.trpc.records.summaries.query({ selection, summaries })).toEqual({ [bar.id]: 1 })
  })

  test('is not filtered, and refuses what it cannot show', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Code: 'Password' }, [{ Title: 'x' }])
    const make = (valueFieldId: string) =>
      bench.trpc.schema.createField.mutate({
        tableId: table.id,
        field: { title: 'Qr', type: 'QrCode', options: { valueFieldId } },
      })
    expect((await refusalOf(make(table.field('Code').id))).message).toContain('can’t be shown as a code')
    expect((await refusalOf(make('cnope'))).message).toBe('Value column not found')
    await make(table.field('Title').id)
    const { status } = await bench.rest.get(`${table.path}?where=(Qr,eq,x)`)
    expect(status).toBe(422)
  })
})
