import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { FieldOptions } from '../../src/core/fields/field-type.ts'
import type { Field } from '../../src/core/model.ts'
import { type Bench, createBench, type TestTable } from '../records/support.ts'
import { createMember } from '../support/factories.ts'
import { type OutboundRecorder, startOutboundRecorder } from '../support/outbound-recorder.ts'

let bench: Bench
let table: TestTable
let receiver: OutboundRecorder
beforeAll(async () => {
  receiver = startOutboundRecorder()
  bench = await createBench({ config: { allowLocalHttp: true } })
})
afterAll(async () => {
  await bench.stop()
  await receiver.stop()
})
beforeEach(async () => {
  receiver.clear()
  table = await bench.table(
    {
      Title: 'SingleLineText',
      Status: { type: 'SingleSelect', options: { choices: [{ title: 'Open' }, { title: 'Done' }] } },
      Closed: 'DateTime',
      By: 'User',
    },
    [{ Title: 'a', Status: 'Open' }, { Title: 'b' }],
  )
})

async function button(options: FieldOptions): Promise<Field> {
  const title = `Button ${Object.keys(options).join(' ')}`
  const input = { tableId: table.id, field: { title, type: 'Button' as const, options } }
  return bench.trpc.schema.createField.mutate(input)
}
const hook = async (settings: object = {}, tableId = table.id) =>
  (
    await bench.trpc.hooks.create.mutate({
      tableId,
      title: 'Manual',
      event: 'manual',
      operations: [],
      isActive: true,
      channel: { type: 'URL', payload: { path: `${receiver.url}/pressed` } },
      ...settings,
    })
  ).id
const press = (field: Field, recordId = 1, { trpc } = bench as Pick<Bench, 'trpc'>) =>
  trpc.buttons.press.mutate({ tableId: table.id, fieldId: field.id, recordId, timeZone: 'Asia/Tokyo' })
const refusal = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'accepted',
    (error) => error.message,
  )

describe('a button that changes its record', () => {
  test.each([
    ['a field that is not there', { cnope0000000000: 'x' }, 'which does not exist in this table'],
    ['a field of the server', () => ({ [table.field('CreatedAt').id]: 2 }), 'can’t change the field'],
    ['an unknown option', () => ({ [table.field('Status').id]: 'Gone' }), 'Invalid option'],
    ['a value of another type', () => ({ [table.field('Closed').id]: 'soon' }), 'Invalid value'],
  ])('is refused for %s', async (_, values, message) => {
    const given = typeof values === 'function' ? values() : values
    expect(await refusal(button({ kind: 'update', values: given }))).toContain(message)
  })

  test('writes an option under the title that it has got since', async () => {
    const status = table.field('Status')
    const close = await button({ kind: 'update', values: { [status.id]: 'Done' } })
    const choices = (status.options.choices as { id: string; title: string }[]).map((choice) =>
      choice.title === 'Done' ? { ...choice, title: 'Finished' } : choice,
    )
    await bench.trpc.schema.updateField.mutate({ fieldId: status.id, patch: { options: { choices } } })
    expect(await refusal(press(close))).toBe('accepted')
    expect((await table.list())[0]).toMatchObject({ Status: 'Finished' })
  })

  test('writes an option with a comma in its title, whatever options are named like its parts', async () => {
    const options = { choices: [{ title: 'Yes' }, { title: 'Yes, later' }] }
    const input = { tableId: table.id, field: { title: 'Answer', type: 'SingleSelect' as const, options } }
    const answer = await bench.trpc.schema.createField.mutate(input)
    const later = await button({ kind: 'update', values: { [answer.id]: 'Yes, later' } })
    const choices = (answer.options.choices as { id: string; title: string }[]).map((choice) =>
      choice.title === 'Yes' ? { ...choice, title: 'Yep' } : choice,
    )
    await bench.trpc.schema.updateField.mutate({ fieldId: answer.id, patch: { options: { choices } } })
    expect(await refusal(press(later))).toBe('accepted')
    expect((await table.list())[0]).toMatchObject({ Answer: 'Yes, later' })
  })

  test('writes its values, the moment and whoever presses it, as one action that can be undone', async () => {
    const [status, closed, by] = ['Status', 'Closed', 'By'].map((title) => table.field(title).id)
    const close = await button({
      kind: 'update',
      values: { [status!]: 'Done', [closed!]: '@now', [by!]: '@me' },
    })
    expect(await press(close)).toEqual([])
    const [record] = await table.list()
    expect(record).toMatchObject({ Title: 'a', Status: 'Done', By: [{ id: bench.owner.id }] })
    expect(Math.abs(Date.parse(String(record!.Closed)) - Date.now())).toBeLessThan(60_000)

    const action = await bench.trpc.records.nextAction.query({
      baseId: bench.baseId,
      tableId: table.id,
      direction: 'undo',
    })
    await bench.trpc.records.undo.mutate({ baseId: bench.baseId, entryId: action!.id })
    expect((await table.list())[0]).toMatchObject({ Status: 'Open', Closed: null, By: null })
  })

  test('is refused to viewers, for a missing record, and once its field was deleted', async () => {
    const status = table.field('Status').id
    const close = await button({ kind: 'update', values: { [status]: 'Done' } })
    const viewer = await createMember(bench.app, bench.baseId, 'viewer')
    const asViewer = { trpc: bench.app.trpc(viewer.token) }
    expect(await refusal(press(close, 1, asViewer))).toContain('recordUpdate')
    expect(await refusal(press(close, 99))).toContain("'99' not found")
    await bench.trpc.schema.deleteField.mutate({ fieldId: status })
    expect(await refusal(press(close))).toContain('Status')
  })
})

describe('a button that calls a webhook', () => {
  test('is refused without a webhook, for one of another table, and for one that is turned off', async () => {
    expect(await refusal(press(await button({ kind: 'webhook' })))).toContain('has no webhook')
    const other = await bench.table()
    const elsewhere = await button({ kind: 'webhook', webhookId: await hook({}, other.id) })
    expect(await refusal(press(elsewhere))).toContain('not found')
    const off = await hook({ isActive: false })
    await bench.trpc.schema.updateField.mutate({
      fieldId: elsewhere.id,
      patch: { options: { webhookId: off } },
    })
    expect(await refusal(press(elsewhere))).toContain('not found')
    expect(await refusal(press(table.field('Title')))).toContain('is not a button')
    expect(receiver.requests).toBeEmpty()
  })

  test('delivers the record', async () => {
    const tell = await button({ kind: 'webhook', webhookId: await hook() })
    expect(await press(tell, 2)).toMatchObject([{ error: null }])
    const [request] = await receiver.waitFor(1)
    expect(JSON.parse(request!.body)).toMatchObject({
      type: 'records.manual.trigger',
      data: { table_id: table.id, rows: [{ Title: 'b' }] },
    })
  })
})

test('over REST a button has its values and its question', async () => {
  const M = '/api/v2/meta'
  const status = table.field('Status').id
  const { body } = await bench.rest.post(`${M}/tables/${table.id}/columns`, {
    uidt: 'Button',
    title: 'Close',
    type: 'update',
    values: { [status]: 'Done' },
    confirmation: 'Really?',
  })
  const column = body.columns.find(({ title }: { title: string }) => title === 'Close')
  expect(column.colOptions).toMatchObject({
    type: 'update',
    values: { [status]: 'Done' },
    confirmation: 'Really?',
  })
})
