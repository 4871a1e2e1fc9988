import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { filterSetOf, summarySetOf } from '../../src/core/fields/field.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import { formatValue } from '../../src/core/fields/read.ts'
import { arityFor, checkFilter, type Filter, filterTester } from '../../src/core/filters/index.ts'
import { operatorsFor } from '../../src/core/filters/operators/index.ts'
import { summariesFor } from '../../src/core/summaries.ts'
import { doorOf, ended, formatOf, resultOf, upload } from '../imports/support.ts'
import type { FieldSpec, TestTable } from './support.ts'
import { caseOf, createTypeWorld, inNewBase, type TypeWorld, WRITTEN_TYPES } from './type-cases.ts'
import { cellsOf, insert, tableOf, valuesOf } from './type-table.ts'

let shared: TypeWorld
let world: TypeWorld
beforeAll(async () => {
  shared = await createTypeWorld()
  world = shared
})
afterAll(() => shared.bench.stop())

const rest = () => world.bench.rest
const v1 = ({ id }: TestTable, tail = '') => `/api/v1/db/data/noco/${world.bench.baseId}/${id}${tail}`

describe.each(WRITTEN_TYPES.map((name) => [name]))('a %s field', (type) => {
  beforeAll(async () => {
    world = await inNewBase(shared)
  })

  test('sorts with the empty ones first, and the other way round', async () => {
    const { written, seen } = valuesOf(world, type)
    const table = await tableOf(world, type)
    // Neither in order nor in its reverse.
    await insert(world, table, [...written.slice(1), written[0] ?? null])
    const fieldId = table.field('V').id
    const ascending = await cellsOf(world, table, { sorts: [{ fieldId, direction: 'asc' }] })
    expect(ascending).toEqual([null, ...seen.slice(0, -1)])
    const descending = await cellsOf(world, table, { sorts: [{ fieldId, direction: 'desc' }] })
    expect(descending).toEqual([...ascending].reverse())
    expect((await rest().get(`${table.path}?sort=-V`)).body.list.length).toBe(written.length)
  })

  test('is filtered by each operator of its set as in the browser', async () => {
    const { written } = valuesOf(world, type)
    const table = await tableOf(world, type)
    await insert(world, table, written)
    const field = table.field('V')
    const cells = await cellsOf(world, table)
    const context = {
      now: new Date(),
      field: () => field,
      actorId: world.bench.owner.id,
      people: [world.ann, world.bob].map(({ id, email }) => ({ id, email, displayName: null })),
    }
    const set = filterSetOf(field)
    const tried: string[] = []
    for (const { key, operator } of operatorsFor(set)) {
      const [value] = written
      const isMany = operator.arity === 'many' || operator.arity === 'two'
      const operand = arityFor(operator, set) === 'date' ? { operand: 'exactDate' as const } : {}
      const filters: Filter[] = [
        {
          fieldId: field.id,
          operator: key,
          value: isMany ? [value ?? '', value ?? ''] : (value ?? null),
          ...operand,
        },
        { fieldId: field.id, operator: key, value: null, operand: 'pastYear' },
      ]
      const filter = filters.find((each) => checkFilter(each, () => field).length === 0)
      if (!filter) continue
      tried.push(key)
      const matches = filterTester(filter, context)
      const expected = cells.filter((cell) => matches({ [field.id]: cell }))
      expect([key, await cellsOf(world, table, { filter })]).toEqual([key, expected])
    }
    expect(tried.length).toBeGreaterThanOrEqual(2)
    const { list } = (await rest().get(`${table.path}?where=(V,blank)`)).body
    expect(list.length).toBe(1)
  })

  test('is grouped, summed up and searched', async () => {
    const { written, seen, shown } = valuesOf(world, type)
    const table = await tableOf(world, type)
    await insert(world, table, [...written, ...written])
    const groups = await rest().get(v1(table, '/groupby?column_name=V&limit=100'))
    const { filters } = fieldType(type)
    if (filters !== 'presence') {
      const sizes = groups.body.list.map(({ count }: { count: unknown }) => Number(count))
      expect(sizes).toEqual(written.map(() => 2))
      const keys = groups.body.list.map(({ V }: { V: unknown }) => V ?? null)
      for (const key of shown) expect(keys).toContainEqual(key)
    }
    const field = table.field('V')
    const counted: Record<string, CellValue | undefined> = {}
    for (const { key } of summariesFor(summarySetOf(field))) {
      const asked = { selection: { tableId: table.id }, summaries: [{ fieldId: field.id, summary: key }] }
      counted[key] = (await world.bench.trpc.records.summaries.query(asked))[field.id]
    }
    if ('empty' in counted) expect(counted).toMatchObject({ empty: 2, filled: written.length * 2 - 2 })
    if ('unique' in counted && filters !== 'presence') expect(counted.unique).toBe(written.length - 1)
    const { found = (value: CellValue) => String(value) } = caseOf(type)
    for (const [index, value] of written.entries()) {
      const text = value === null ? null : found(value, world)
      if (text === null) continue
      const search = { text: text.slice(0, 100), fieldId: field.id }
      const cells = await cellsOf(world, table, { search })
      expect([text, cells.filter((cell) => cell === seen[index]).length]).toEqual([text, 2])
    }
    const nowhere = { text: 'nowhere to be found', fieldId: null }
    expect(await cellsOf(world, table, { search: nowhere })).toEqual([])
  })
})

describe('fields of all types', () => {
  test('are imported from a file by the text of their values, and copied as they are', async () => {
    const types = WRITTEN_TYPES.filter((name) => name !== 'Password')
    const specs = types.map((type): [string, FieldSpec] => [type, { type, options: caseOf(type).options }])
    const { bench } = world
    const table = await bench.table(Object.fromEntries(specs))
    const columns = types.map((type) => caseOf(type).values(world))
    const count = Math.max(...columns.map(({ length }) => length)) + 1
    // The last record has no value at all, and is there by a column that no field takes.
    const cells = columns.map((values) => Array.from({ length: count }, (_, row) => values[row] ?? null))
    const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`
    const lines = Array.from({ length: count }, (_, row) =>
      [...types.map((type, at) => formatValue(table.field(type), cells[at]?.[row] ?? null)), `${row}`]
        .map(quoted)
        .join(','),
    )
    const door = doorOf(bench.app, bench.owner)
    const file = [[...types, 'Row'].join(','), ...lines].join('\n')
    const { jobId } = await bench.trpc.imports.start.mutate({
      baseId: bench.baseId,
      tableId: table.id,
      width: types.length + 1,
      uploadId: await upload(door, file),
      format: formatOf(file),
      columns: types.map((type, index) => ({ index, fieldId: table.field(type).id })),
    })
    expect(resultOf(await ended(door, jobId))).toMatchObject({ rows: count, cellsRefused: 0 })
    const imported = await Promise.all(types.map((type) => cellsOf(world, table, {}, type)))
    // An empty cell of the file stays empty: a rating is not 0, a checkbox not false.
    expect(Object.fromEntries(types.map((type, at) => [type, imported[at]]))).toEqual(
      Object.fromEntries(types.map((type, at) => [type, cells[at]])),
    )

    const rows = cells[0]?.map((_, row) => ({
      values: Object.fromEntries(types.map((type, at) => [table.field(type).id, cells[at]?.[row] ?? null])),
    }))
    const operations = [{ kind: 'insert' as const, tableId: table.id, rows: rows ?? [] }]
    await bench.trpc.records.write.mutate({ change: { baseId: bench.baseId, operations } })
    for (const [at, type] of types.entries()) {
      const all = await cellsOf(world, table, {}, type)
      expect([type, all]).toEqual([type, [...(cells[at] ?? []), ...(cells[at] ?? [])]])
    }
  })
})
