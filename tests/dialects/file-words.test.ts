import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type SQL, sql } from 'drizzle-orm'
import { writeAttachments } from '../../src/core/fields/attachment-item.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { memoryPrimitives } from '../../src/core/filters/memory-primitives.ts'
import { findOperator } from '../../src/core/filters/operators/index.ts'
import { ENGINES, type TestEngine } from './engines.ts'

const file = (title: string, size: number) => ({
  url: 'https://e.com/name.pdf',
  title,
  mimetype: 'image/png',
  size,
})

/** Cells of files, and what only a database of somebody else's would hold in such a column. */
const CELLS: CellValue[] = [
  null,
  writeAttachments([file('Über "100%" — b_c.png', 5)]),
  writeAttachments([file('a.png', 2_000_000_000_000), file("it's.pdf", 7)]),
  writeAttachments([file('日本 👩‍🚀.txt', 0)]),
  'a.png',
  '',
  '{"title":"a.png"}',
]

describe.each(ENGINES)('files in cells on $client', ({ open }) => {
  let engine: TestEngine
  const ask = (query: SQL) => engine.rows(engine.dialect.render(query))
  const column = sql.identifier('files')

  beforeAll(async () => {
    engine = await open()
    const base = { required: false, defaultValue: null }
    const columns = [
      { name: 'id', storage: 'integer' as const, ...base },
      { name: 'files', storage: 'longText' as const, ...base },
    ]
    for (const statement of engine.dialect.createTable('files_test', columns)) await engine.rows(statement)
    for (const [index, cell] of CELLS.entries()) {
      await ask(sql`insert into ${sql.identifier('files_test')} values (${index}, ${cell})`)
    }
  })
  afterAll(() => engine.close())

  test.each([
    ['like', 'a.png'],
    ['like', 'ÜBER'],
    ['like', '"100%"'],
    ['like', 'b_c'],
    ['like', "it's"],
    ['like', '日本'],
    ['like', 'image/'],
    ['like', 'name.pdf'],
    ['nlike', 'a.png'],
  ])('finds by name as rows in memory do: %s %s', async (key, text) => {
    const operator = findOperator(key)
    const operand = { values: [text], range: null, people: null }
    const inMemory = operator?.build(memoryPrimitives<CellValue>(), (cell) => cell, operand, 'attachment')
    const condition = operator?.build(engine.dialect, sql`${column}`, operand, 'attachment')
    const rows = await ask(sql`select id from ${sql.identifier('files_test')} where ${condition} order by id`)
    const expected = CELLS.flatMap((cell, index) => (inMemory?.(cell) === true ? [index] : []))
    // Other people's text names no file here; "does not contain" takes it as what names none.
    expect(rows.map(([id]) => Number(id))).toEqual(expected)
  })

  test('adds up the bytes', async () => {
    const from = sql`${sql.identifier('files_test')}`
    const total = engine.dialect.summary('fileBytes', sql`${column}`, from)
    const [[bytes] = []] = await ask(sql`select ${total} from ${from}`)
    expect(Number(bytes)).toBe(2_000_000_000_012)
    const [[none] = []] = await ask(sql`select ${total} from ${from} where id = 0`)
    expect(none).toBeNull()
  })
})
