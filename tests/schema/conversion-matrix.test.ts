import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { FIELD_TYPES, type FieldTypeName } from '../../src/core/fields/index.ts'
import { PASSWORD_MASK } from '../../src/core/fields/password.ts'
import type { TestTable } from '../records/support.ts'
import { caseOf, createTypeWorld, type TypeWorld, WRITTEN_TYPES } from '../records/type-cases.ts'

let world: TypeWorld
beforeAll(async () => {
  world = await createTypeWorld()
})
afterAll(() => world.bench.stop())

/** Values that one type holds and hardly another does, beside those of the case. */
const AWKWARD: Partial<Record<FieldTypeName, CellValue[]>> = {
  SingleLineText: [
    '',
    '1',
    '0301',
    '2024-02-29',
    '1:30',
    'yes',
    'red, blue',
    '48.85;2.35',
    'ann@example.com',
  ],
  LongText: ['', '2024-03-01 10:00', 'a.png (https://files.example.com/a.png)', '{"a":1}', 'POINT (1 2)'],
  Number: [1, 2024],
  Decimal: [1, 2.5],
  Duration: [0, 5400],
}

/** All columns of the table's own fields, record by record, as they are. */
async function cellsOf(table: TestTable): Promise<Record<string, CellValue[]>> {
  const { trpc } = world.bench
  const fields = table.schema.fields.filter(({ isSystem, isPrimaryKey }) => !isSystem && !isPrimaryKey)
  const fieldIds = fields.map(({ id }) => id)
  const page = await trpc.records.list.query({
    query: { tableId: table.id, fieldIds, limit: 1000, offset: 0 },
  })
  return Object.fromEntries(fields.map(({ title }, at) => [title, page.rows.map((row) => row[at] ?? null)]))
}

const TARGETS = WRITTEN_TYPES
const SOURCES: FieldTypeName[] = [...WRITTEN_TYPES, 'AutoNumber']

describe.each(SOURCES.map((name) => [name]))('a %s field', (from) => {
  test('becomes every other type as the preview says, and undo brings back what was there', async () => {
    const { trpc, baseId } = world.bench
    const { options, values } = caseOf(from)
    const targets = TARGETS.filter((target) => target !== from)
    const isCounted = from === 'AutoNumber'
    const written = isCounted ? [null, null] : [...values(world), null, ...(AWKWARD[from] ?? [])]
    const table = await world.bench.table(
      Object.fromEntries(targets.map((target) => [target, { type: from, options }])),
    )
    const rows = written.map((value) => ({
      values: isCounted ? {} : Object.fromEntries(targets.map((target) => [table.field(target).id, value])),
    }))
    const operations = [{ kind: 'insert' as const, tableId: table.id, rows }]
    await trpc.records.write.mutate({ change: { baseId, operations } })
    const before = await cellsOf(table)
    const ids = written.map((_, index) => index + 1)

    const previews = new Map<FieldTypeName, Awaited<ReturnType<typeof trpc.schema.previewType.query>>>()
    for (const target of targets) {
      const fieldId = table.field(target).id
      const type = { type: target, options: caseOf(target).options }
      previews.set(target, await trpc.schema.previewType.query({ fieldId, ...type }))
      await trpc.schema.updateField.mutate({ fieldId, patch: type })
    }

    const after = await cellsOf(table)
    for (const target of targets) {
      const { total, converted, lost, samples } = previews.get(target)!
      const [was, is] = [before[target] ?? [], after[target] ?? []]
      expect([target, total, converted + lost]).toEqual([target, was.filter((v) => v !== null).length, total])
      const sampled = new Map(samples.map((sample) => [Number(sample.recordId), sample]))
      expect(sampled.size).toBe(total)
      for (const [index, id] of ids.entries()) {
        const [old, now] = [was[index] ?? null, is[index] ?? null]
        const sample = sampled.get(id) ?? { recordId: id, from: null, to: null }
        expect([target, sample]).toEqual([target, { recordId: id, from: old, to: now }])
      }
      // What is empty now and said something before is lost; an empty text says nothing.
      const emptied = was.filter((value, at) => value !== null && value !== '' && is[at] === null).length
      expect([target, lost >= emptied]).toEqual([target, true])
    }

    for (const _ of targets) await trpc.records.undo.mutate({ baseId })
    expect(await cellsOf(table)).toEqual(before)
    for (const _ of targets) await trpc.records.redo.mutate({ baseId })
    expect(await cellsOf(table)).toEqual(after)
  })
})

describe('a field of every type', () => {
  test('keeps no password, and none of its fingerprint', async () => {
    const table = await world.bench.table({ V: 'Password' }, [{ V: 'correct horse' }])
    const fieldId = table.field('V').id
    const preview = await world.bench.trpc.schema.previewType.query({ fieldId, type: 'SingleLineText' })
    expect(preview).toEqual({
      total: 1,
      converted: 0,
      lost: 1,
      samples: [{ recordId: 1, from: PASSWORD_MASK, to: null }],
    })
  })

  test('becomes none that is worked out or filled in by itself', async () => {
    const table = await world.bench.table({ V: 'SingleLineText' })
    const fieldId = table.field('V').id
    for (const { name } of FIELD_TYPES) {
      if (WRITTEN_TYPES.includes(name) || name === 'Links' || name === 'LinkToAnotherRecord') continue
      const patch = world.bench.trpc.schema.updateField.mutate({ fieldId, patch: { type: name } })
      const refusal = await patch.then(
        () => null,
        (error) => error.data.httpStatus,
      )
      expect([name, refusal]).toEqual([name, expect.any(Number)])
      expect([name, refusal]).not.toEqual([name, 500])
    }
  })
})
