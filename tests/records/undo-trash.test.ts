import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createMember } from '../support/factories.ts'
import { type Bench, createBench, refusalOf, type TestTable } from './support.ts'

let bench: Bench
beforeAll(async () => {
  bench = await createBench()
})
afterAll(() => bench.stop())

const undo = () => bench.trpc.records.undo.mutate({ baseId: bench.baseId })

/** The rows without what says when they were written. */
const rowsOf = async (table: TestTable) =>
  (await table.list()).map(({ UpdatedAt: _, CreatedAt: __, ...row }) => row)

/** Fields in the trash keep their columns, which the records that come back have to fill. */
describe('undo', () => {
  test('brings back a deleted record with the values of a field that is in the trash', async () => {
    for (const remove of [
      (table: TestTable) => bench.rest.delete(table.path, [{ Id: 1 }, { Id: 2 }]),
      (table: TestTable) => bench.trpc.records.deleteMatching.mutate({ selection: { tableId: table.id } }),
    ]) {
      const table = await bench.table({ Title: 'SingleLineText', Gone: 'Number', Done: 'Checkbox' }, [
        { Title: 'a', Gone: 5, Done: true },
        { Title: 'b', Gone: 6 },
      ])
      await bench.trpc.schema.deleteField.mutate({ fieldId: table.field('Gone').id })
      await remove(table)
      expect(await table.total()).toBe(0)
      await undo()
      await bench.trpc.schema.restoreField.mutate({ fieldId: table.field('Gone').id })
      expect(await rowsOf(table)).toMatchObject([
        { Title: 'a', Gone: 5, Done: bench.app.flag(true) },
        { Title: 'b', Gone: 6, Done: bench.app.flag(false) },
      ])
    }
  })

  test.each([3, 1_200])(
    'of a deletion of %i records keeps the values of fields that were in the trash then and are back by now',
    async (count) => {
      const rows = Array.from({ length: count }, (_, index) => ({ Title: `r${index}`, Note: `n${index}` }))
      const table = await bench.table({ Title: 'SingleLineText', Note: 'SingleLineText' }, rows)
      const fieldId = table.field('Note').id
      const before = await rowsOf(table)
      await bench.trpc.schema.deleteField.mutate({ fieldId })
      await bench.trpc.records.deleteMatching.mutate({ selection: { tableId: table.id } })
      const creator = await createMember(bench.app, bench.baseId, 'creator')
      await bench.app.trpc(creator.token).schema.restoreField.mutate({ fieldId })
      expect(await undo()).toMatchObject({ kind: 'records.delete', records: count })
      expect(await rowsOf(table)).toEqual(before)
    },
  )

  test.each([3, 1_200])(
    'of a deletion of %i records keeps the values of fields that went to the trash since',
    async (count) => {
      const rows = Array.from({ length: count }, (_, index) => ({
        Title: `r${index}`,
        Done: index % 2 === 0,
      }))
      const table = await bench.table({ Title: 'SingleLineText', Done: 'Checkbox' }, rows)
      const fieldId = table.field('Done').id
      const before = await rowsOf(table)
      await bench.trpc.records.deleteMatching.mutate({ selection: { tableId: table.id } })
      const creator = await createMember(bench.app, bench.baseId, 'creator')
      const theirs = bench.app.trpc(creator.token)
      await theirs.schema.deleteField.mutate({ fieldId })
      expect(await undo()).toMatchObject({ kind: 'records.delete', records: count })
      await theirs.schema.restoreField.mutate({ fieldId })
      expect(await rowsOf(table)).toEqual(before)
    },
  )

  test('says what stands in the way where a field in the trash kept its values apart', async () => {
    const table = await bench.table({ Title: 'SingleLineText', Code: 'SingleLineText' }, [
      { Title: 'a', Code: 'x' },
    ])
    const fieldId = table.field('Code').id
    await bench.trpc.schema.updateField.mutate({ fieldId, patch: { unique: true } })
    await bench.rest.delete(table.path, { Id: 1 })
    const creator = await createMember(bench.app, bench.baseId, 'creator')
    const theirs = bench.app.trpc(creator.token)
    await bench.app.rest(creator.token).post(table.path, { Title: 'b', Code: 'x' })
    await theirs.schema.deleteField.mutate({ fieldId })
    expect((await refusalOf(undo())).message).toStartWith(
      'A field in the trash requires unique values. Restore it first. Undo once more to skip it',
    )
  })

  test.each([3, 1_200])(
    'of a deletion of %i records leaves out values of a converted field',
    async (count) => {
      const rows = Array.from({ length: count }, (_, index) => ({ Title: `r${index}`, Qty: 'many' }))
      const table = await bench.table({ Title: 'SingleLineText', Qty: 'SingleLineText' }, rows)
      await bench.trpc.records.deleteMatching.mutate({ selection: { tableId: table.id } })
      const creator = await createMember(bench.app, bench.baseId, 'creator')
      const change = { fieldId: table.field('Qty').id, patch: { type: 'Number' as const } }
      await bench.app.trpc(creator.token).schema.updateField.mutate(change)
      expect(await undo()).toMatchObject({ kind: 'records.delete', records: count })
      expect((await rowsOf(table)).every(({ Qty }) => Qty === null)).toBe(true)
      expect(await table.total()).toBe(count)
    },
  )
})
