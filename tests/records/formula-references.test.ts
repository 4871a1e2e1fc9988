import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createLibrary, type Library } from './library.ts'
import { type Bench, createBench, refusalOf, type TestTable } from './support.ts'

let bench: Bench
let library: Library

beforeAll(async () => {
  bench = await createBench()
  library = await createLibrary(bench)
  await library.addThrough(library.books, 'Tag names', 'Tags', [library.tags, 'Title'])
})

afterAll(() => bench.stop())

const add = (table: TestTable, title: string, formula: string) =>
  library.add(table, title, 'Formula', { formula, display: null })

/** The values of some fields in the first record of a table. */
async function first(table: TestTable, ...titles: string[]): Promise<unknown[]> {
  const [row] = await table.list()
  return titles.map((title) => row?.[title])
}

describe('a reference to a formula field', () => {
  test('gives list functions its elements, and everything else its text', async () => {
    const { books } = library
    await add(books, 'Sorted', 'ARRAYSORT({Tag names}, "desc")')
    await add(books, 'Names', '{Tag names}')
    await add(books, 'Same', '{Sorted}')
    await add(books, 'Lined', 'ARRAYJOIN({Sorted}, " | ") & ARRAYJOIN({Same}, "/") & ARRAYJOIN({Names}, "+")')
    await add(books, 'Text', 'LEN({Sorted}) & {Same}')
    const rows = Object.fromEntries((await books.list()).map((row) => [String(row.Title), row]))
    expect(rows.Hobbit).toMatchObject({
      Sorted: 'fantasy, classic',
      Lined: 'fantasy | classicfantasy/classicfantasy+classic',
      Text: '16fantasy, classic',
    })
    expect(rows.Anon).toMatchObject({ Sorted: null, Lined: '', Text: '0' })
  })

  test('follows a formula that gives a list from now on', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'b;a' }])
    const parts = await add(table, 'Parts', '{Title}')
    await add(table, 'Sorted', 'ARRAYJOIN(ARRAYSORT({Parts}), "-")')
    expect(await first(table, 'Sorted')).toEqual(['b;a'])
    await bench.trpc.schema.updateField.mutate({
      fieldId: parts.id,
      patch: { options: { formula: `SPLIT({{${table.field('Title').id}}}, ";")`, display: null } },
    })
    expect(await first(table, 'Parts', 'Sorted')).toEqual(['b, a', 'a-b'])
  })

  test('shows its errors to ISERROR and IFERROR, through further formulas too', async () => {
    const table = await bench.table({ Title: 'SingleLineText', N: 'Number' }, [
      { Title: 'x', N: 0 },
      { Title: '5', N: 2 },
      { Title: '', N: null },
    ])
    await add(table, 'Ratio', '6 / {N}')
    await add(table, 'More', 'ROUND({Ratio}, 1) + 1')
    await add(table, 'Caught', 'IFERROR({Ratio}, -1) + 1')
    await add(table, 'Checks', 'ISERROR({Ratio}) & " " & ISERROR({More} * 2) & " " & ISERROR({Caught})')
    await add(table, 'Instead', 'IFERROR(VALUE({Title}) + {More}, 7)')
    const rows = await table.list()
    expect(rows.map(({ Checks, Instead, Ratio, Caught }) => [Checks, Instead, Ratio, Caught])).toEqual([
      ['true true false', 7, null, 0],
      ['false false false', 9, 3, 4],
      ['false false false', null, null, null],
    ])
  })

  test('is refused where lists that read each other become too large', async () => {
    const table = await bench.table({ Title: 'SingleLineText' }, [{ Title: 'a,b' }])
    let previous = await add(table, 'F0', 'SPLIT({Title}, ",")')
    for (let count = 1; count < 40; count++) {
      const formula = `ARRAYFLATTEN({{${previous.id}}}, {{${previous.id}}}, {{${previous.id}}})`
      const made = bench.trpc.schema.createField.mutate({
        tableId: table.id,
        field: { title: `F${count}`, type: 'Formula', options: { formula } },
      })
      const field = await made.catch(() => null)
      if (field) previous = field
      else {
        expect((await refusalOf(made)).message).toMatch(/too (long|complex|deep)/)
        expect(count).toBeGreaterThan(3)
        return
      }
    }
    throw new Error('No formula was refused')
  })
})
