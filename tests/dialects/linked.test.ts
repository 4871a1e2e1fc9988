import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type SQL, sql } from 'drizzle-orm'
import { planCombinations } from '../../modules/records/read/groups/combinations.ts'
import { nestedQuery } from '../../modules/records/read/nested.ts'
import { countRecords, type PageQuery, planPage, positionsQuery } from '../../modules/records/read/plan.ts'
import type { PlanContext } from '../../modules/records/read/plan-cache.ts'
import { summarize } from '../../modules/records/read/summaries.ts'
import { decodeRows } from '../../modules/records/table/columns.ts'
import { filterSetOf, shownType, storageOf, summarySetOf } from '../../src/core/fields/field.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import { readLinks, readList } from '../../src/core/fields/list-value.ts'
import { idsIn } from '../../src/core/fields/people.ts'
import { type Condition, filterTester } from '../../src/core/filters/index.ts'
import type { Field } from '../../src/core/model.ts'
import { summariesFor } from '../../src/core/summaries.ts'
import { seeded } from '../core/random.ts'
import { ENGINES, type TestEngine } from './engines.ts'
import { CELLS, type Cells, comparedBy, computedOf, filters, idOf, TABLES } from './linked-cells.ts'
import { fillLinked } from './linked-database.ts'
import { LINKED_MODELS, LINKED_ROWS, modelOf, PEOPLE } from './linked-tables.ts'
import { reference, rounded } from './summary-reference.ts'

/** Noon on a Thursday in a leap year. */
const NOW = new Date('2024-02-29T12:00:00Z')
const MOMENT = { now: NOW, actorId: 'usann', people: PEOPLE }
const FILTERS = 400

describe.each(ENGINES)('links, lookups and rollups on $client', ({ client, open }) => {
  let engine: TestEngine

  const ask = (query: SQL) => engine.rows(engine.dialect.render(query))
  const contextOf = (table: string): PlanContext => ({
    model: modelOf(table),
    models: LINKED_MODELS,
    view: null,
    dialect: engine.dialect,
    moment: MOMENT,
  })

  beforeAll(async () => {
    engine = await open()
    await fillLinked(engine)
  })

  afterAll(() => engine.close())

  const pageOf = (context: PlanContext, query: Partial<PageQuery>) =>
    engine.rows(
      planPage(context, {
        fields: [],
        shape: { kind: 'rows', links: 'first' },
        limit: 1000,
        offset: 0,
        ...query,
      }).page,
    )

  const idsOf = async (table: string, query: Partial<PageQuery>): Promise<number[]> =>
    (await pageOf(contextOf(table), query)).map(([id]) => Number(id))

  test.each(TABLES)('gives the cells of every computed field of %s as memory does', async (table) => {
    const context = contextOf(table)
    const fields = computedOf(table)
    const rows = await pageOf(context, { fields })
    const actual = decodeRows(
      rows.map((row) => row.slice(0, -1)),
      fields,
      engine.dialect,
    )
    for (const [at, cells] of (CELLS[table] ?? []).entries()) {
      for (const [column, field] of fields.entries()) {
        const place = [table, cells[`c${table}Id`], field.title]
        expect([...place, plain(field, actual[at]?.[column])]).toEqual([
          ...place,
          plain(field, cells[field.id]),
        ])
      }
    }
  })

  test.each(TABLES)(`answers ${FILTERS} generated filters on %s as memory does`, async (table) => {
    const source = filters(table, seeded(31))
    const differences: unknown[] = []
    for (let index = 0; index < FILTERS; index++) {
      const filter = source.next().value
      const matches = filterTester(filter, { ...MOMENT, field: modelOf(table).field })
      const expected = (CELLS[table] ?? []).filter(matches).map((cells) => idOf(table, cells))
      const actual = await idsOf(table, { filter })
      if (JSON.stringify(actual) === JSON.stringify(expected)) continue
      differences.push({
        filter,
        missing: expected.filter((id) => !actual.includes(id)).slice(0, 3),
        extra: actual.filter((id) => !expected.includes(id)).slice(0, 3),
      })
    }
    expect(differences.slice(0, 5)).toEqual([])
  })

  test.each(TABLES)('sorts %s by every computed field', async (table) => {
    for (const field of computedOf(table)) {
      const key = (cells: Cells) => sortKey(field, cells[field.id] ?? null)
      for (const direction of ['asc', 'desc'] as const) {
        const expected = (CELLS[table] ?? [])
          .toSorted((a, b) => compareAll(key(a), key(b)) * (direction === 'asc' ? 1 : -1))
          .map((cells) => idOf(table, cells))
        const actual = await idsOf(table, { sorts: [{ fieldId: field.id, direction }] })
        expect([field.title, direction, actual]).toEqual([field.title, direction, expected])
      }
    }
  })

  test.each(TABLES)('sums up every computed field of %s', async (table) => {
    const asEngine = { dialect: engine.dialect, values: engine.rows, all: async () => [] }
    for (const field of computedOf(table)) {
      for (const { key } of summariesFor(summarySetOf(field))) {
        const result = await summarize(asEngine, contextOf(table), {}, [{ fieldId: field.id, summary: key }])
        const values = (CELLS[table] ?? []).map((cells) => comparedBy(field, cells[field.id] ?? null))
        const expected = /range|earliest|latest/.test(key) ? undefined : reference(key, values)
        const actual = rounded(result[field.id])
        if (expected === undefined) expect(actual).not.toBeUndefined()
        else expect([field.title, key, actual]).toEqual([field.title, key, rounded(expected)])
      }
    }
  })

  test.each(TABLES)('groups %s by every computed field', async (table) => {
    for (const field of computedOf(table)) {
      const query = { fields: [field], filter: null, limit: 1000, offset: 0 }
      const rows = await engine.rows(planCombinations(contextOf(table), query).page)
      const text = (value: unknown) =>
        shownType(field).isList
          ? JSON.stringify(readList(value as CellValue))
          : String(rounded(value as CellValue))
      const found = rows.map(([count, value]) => [
        text(decodeRows([[value]], [field], engine.dialect)[0]?.[0]),
        Number(count),
      ])
      const expected = Map.groupBy(CELLS[table] ?? [], (cells) => {
        const cell = cells[field.id] ?? null
        return text(shownType(field).isList ? cell : comparedBy(field, cell))
      })
      const counts = [...expected].map(([value, group]) => [value, group.length])
      expect([field.title, found.toSorted()]).toEqual([field.title, counts.toSorted()])
    }
  })

  test('reads some linked records of each of many, those alone that a condition lets through', async () => {
    const link = modelOf('Author').byTitle('BookRecords')!
    const book = modelOf('Book')
    const fields = ['Id', 'AuthorName', 'Tags'].map((title) => book.byTitle(title)!)
    const filter: Condition = { fieldId: 'cBookTags', operator: 'gte', value: 1 }
    const keys = [3, 1, 7, 20]
    const query = nestedQuery(contextOf('Author'), link, keys, { fields, filter, limit: 2, offset: 1 })
    const rows = (await ask(query!)).map(([owner, id, name, tags]) => [
      Number(owner),
      Number(id),
      name,
      Number(tags),
    ])
    const expected = keys
      .toSorted((a, b) => a - b)
      .flatMap((key) =>
        (CELLS.Book ?? [])
          .filter((cells) => cells.cBookAuthor_id === key && cells.cBookTags !== null)
          .slice(1, 3)
          .map((cells) => [
            key,
            idOf('Book', cells),
            cells.cBookAuthorName,
            readLinks(cells.cBookTags ?? null).count,
          ]),
      )
    expect(rows).toEqual(expected)
    expect(rows.length).toBeGreaterThan(2)
  })

  // In the files of bases, SQLite numbers the records itself: no id passes 2^53.
  if (client !== 'sqlite3') {
    test('gives keys that JavaScript would round as text', async () => {
      const large = '9007199254740993'
      const [authors, books] = ['Author', 'Book'].map((table) =>
        sql.identifier(modelOf(table).table.tableName),
      )
      const [id, key] = [sql.identifier('Id'), sql.identifier('Author_id')]
      await ask(sql`insert into ${authors} (${id}) values (${large})`)
      await ask(sql`update ${books} set ${key} = ${large} where ${id} = 1`)
      const context = contextOf('Book')
      const fields = [modelOf('Book').byTitle('Author')!]
      const [row] = await pageOf(context, { fields, limit: 5, recordIds: [1] })
      expect(readLinks(row?.[0] as CellValue)).toEqual({ count: 1, records: [{ id: large, title: null }] })
      await ask(sql`delete from ${authors} where ${id} = ${large}`)
      await ask(sql`update ${books} set ${key} = ${LINKED_ROWS.Book?.[0]?.Author_id ?? null} where ${id} = 1`)
    })
  }

  test('finds records by the names of their links and by the values of their lookups', async () => {
    const found = (fieldId: string | null, text: string) => idsOf('Book', { search: { text, fieldId } })
    const holding = (title: string, wanted: string) => {
      const field = modelOf('Book').byTitle(title)!
      const texts = (cell: CellValue): CellValue[] => {
        if (fieldType(field.type).computed !== 'link')
          return shownType(field).isList ? readList(cell) : [cell]
        return readLinks(cell).records.map((record) => record.title)
      }
      return (CELLS.Book ?? [])
        .filter((cells) =>
          texts(cells[field.id] ?? null).some((text) =>
            String(text ?? '')
              .toLowerCase()
              .includes(wanted),
          ),
        )
        .map((cells) => idOf('Book', cells))
    }
    for (const title of ['Author', 'Tags', 'AuthorName', 'TagTitles', 'Siblings', 'SequelAuthor']) {
      const fieldId = modelOf('Book').byTitle(title)!.id
      expect([title, await found(fieldId, 'BC')]).toEqual([title, holding(title, 'bc')])
      expect([title, await found(fieldId, '%')]).toEqual([title, holding(title, '%')])
    }
    const everywhere = await found(null, 'Ünï')
    expect(everywhere.length).toBeGreaterThan(holding('Title', 'ünï').length)
  })

  test('finds the place of a record in an order by a rollup, and counts what a lookup means', async () => {
    const query = {
      tableId: 'mAuthor',
      limit: 5,
      offset: 10,
      sorts: [{ fieldId: 'cAuthorPrice sum', direction: 'desc' as const }],
    }
    const page = await idsOf('Author', query)
    const [place] = await ask(positionsQuery(contextOf('Author'), query, [page[2]!]))
    expect(Number(place?.[1])).toBe(12)
    const filter: Condition = { fieldId: 'cAuthorBooks', operator: 'eq', value: 0 }
    const [count] = await ask(countRecords(contextOf('Author'), { filter }).query)
    const without = (CELLS.Author ?? []).filter((cells) => cells.cAuthorBooks === null)
    expect(Number(count?.[0])).toBe(without.length)
    expect(without.length).toBeGreaterThan(0)
  })
})

/** Cells as values: JSON text has other spaces in every engine, and a driver of its own reads dates. */
function plain(field: Field, cell: unknown): unknown {
  if (cell instanceof Date) return cell.toISOString().slice(0, 10)
  if (fieldType(field.type).computed === 'link') return readLinks(cell as CellValue)
  if (shownType(field).isList) return readList(cell as CellValue)
  return typeof cell === 'string' && storageOf(field) === 'real' ? Number(cell) : rounded(cell as CellValue)
}

/** What a field sorts by: people by their names, choices as their options stand, lists by the first and then as text. */
function sortKey(field: Field, cell: CellValue): CellValue[] {
  const { type, options, isList } = shownType(field)
  const placeOf = (value: CellValue): CellValue => {
    if (value === null) return null
    if (type.name === 'SingleSelect') {
      return (options.choices as { title: string }[]).findIndex(({ title }) => title === value)
    }
    if (type.name !== 'User') return value
    const place = ['usann', 'usben', 'usann2'].indexOf(idsIn(value)[0] ?? '')
    return place < 0 ? 3 : place
  }
  const whole = comparedBy(field, cell)
  if (!isList) return [placeOf(whole)]
  const isByFirst = ['number', 'select', 'user'].includes(filterSetOf(field))
  return [...(isByFirst ? [placeOf(readList(cell)[0] ?? null)] : []), whole]
}

function compareAll(a: CellValue[], b: CellValue[]): number {
  for (const [at, value] of a.entries()) {
    const order = compare(value, b[at] ?? null)
    if (order !== 0) return order
  }
  return 0
}

function compare(a: CellValue, b: CellValue): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null)
  if (typeof a === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(String(b)))
  return Number(a) - Number(b)
}
