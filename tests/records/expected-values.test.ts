import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Values } from '../../src/core/changes.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { createBase, createMember } from '../support/factories.ts'

let app: TestApp
let owner: TestUser
let editor: TestUser
let baseId: string
let tableId: string
let notesId: string
let titleId: string

beforeAll(async () => {
  app = await createTestApp()
  owner = await app.signUp()
  baseId = (await createBase(app, owner)).id
  editor = await createMember(app, baseId, 'editor')
  const { table, fields } = await app.trpc(owner.token).schema.createTable.mutate({
    baseId,
    title: 'Texts',
    fields: [
      { title: 'Title', type: 'SingleLineText' },
      { title: 'Notes', type: 'LongText' },
    ],
  })
  tableId = table.id
  const idOf = (title: string) => fields.find((field) => field.title === title)!.id
  ;[titleId, notesId] = [idOf('Title'), idOf('Notes')]
})
afterAll(() => app.stop())

const write = (row: { id: number; values: Values; expected?: Values }, user = owner, clientId?: string) => {
  const operations = [{ kind: 'update' as const, tableId, rows: [row] }]
  return app.trpc(user.token).records.write.mutate({ change: { baseId, operations, clientId } })
}

async function create(text: string | null): Promise<number> {
  const operations = [{ kind: 'insert' as const, tableId, rows: [{ values: { [notesId]: text } }] }]
  const { inserted } = await app.trpc(owner.token).records.write.mutate({ change: { baseId, operations } })
  return Number(inserted[0])
}

const textOf = async (recordId: number) =>
  (await app.trpc(owner.token).records.get.query({ tableId, recordId })).values[notesId]

const refusal = (work: Promise<unknown>): Promise<{ appCode: string; details: Values }> =>
  work.then(
    () => {
      throw new Error('It was accepted')
    },
    (error) => error.data,
  )

describe('an update that names the text it replaces', () => {
  test('is rejected for a field whose edits are not merged, one that it does not set, and a number', async () => {
    const id = await create('one')
    const cases: [values: Values, expected: Values, code: string][] = [
      [{ [titleId]: 'x' }, { [titleId]: null }, 'BAD_REQUEST'],
      [{ [titleId]: 'x' }, { [notesId]: 'one' }, 'BAD_REQUEST'],
      [{ [notesId]: 'x' }, { [notesId]: 1 }, 'BAD_REQUEST'],
      [{ [notesId]: 'x' }, { nonsense: 'one' }, 'FIELD_NOT_FOUND'],
    ]
    for (const [values, expected, code] of cases)
      expect(await refusal(write({ id, values, expected }))).toMatchObject({ appCode: code })
    expect(await textOf(id)).toBe('one')
  })

  test('is rejected with the stored text once someone has changed it, and changes nothing', async () => {
    const id = await create('one')
    await write({ id, values: { [notesId]: 'two' } }, editor)
    const values = { [notesId]: 'three', [titleId]: 'new' }
    const { appCode, details } = await refusal(write({ id, values, expected: { [notesId]: 'one' } }))
    expect(appCode).toBe('CONFLICT')
    expect(details).toEqual({ tableId, recordId: id, fieldId: notesId, current: 'two' })
    expect(await textOf(id)).toBe('two')
  })

  test('is written where the text is the expected one, or already the new one', async () => {
    const id = await create(null)
    await write({ id, values: { [notesId]: 'two' }, expected: { [notesId]: '' } })
    await write({ id, values: { [notesId]: 'two' }, expected: { [notesId]: null } }, editor)
    await write({ id, values: { [notesId]: 'three' }, expected: { [notesId]: 'two' } }, editor)
    expect(await textOf(id)).toBe('three')
  })

  test('loses none of two texts that are saved in the same moment', async () => {
    for (let round = 0; round < 10; round++) {
      const id = await create('base')
      const attempts = [owner, editor].map((user, at) =>
        write({ id, values: { [notesId]: `text ${at}` }, expected: { [notesId]: 'base' } }, user),
      )
      const results = await Promise.allSettled(attempts)
      const winner = results.findIndex(({ status }) => status === 'fulfilled')
      expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
      expect(await textOf(id)).toBe(`text ${winner}`)
    }
  })

  test('that is sent again after its answer was lost is not a conflict with what came later', async () => {
    const id = await create('one')
    const row = { id, values: { [notesId]: 'two' }, expected: { [notesId]: 'one' } }
    const first = await write(row, owner, 'sent-twice')
    await write({ id, values: { [notesId]: 'three' }, expected: { [notesId]: 'two' } }, editor)
    expect((await write(row, owner, 'sent-twice')).id).toBe(first.id)
    expect(await textOf(id)).toBe('three')
  })
})
