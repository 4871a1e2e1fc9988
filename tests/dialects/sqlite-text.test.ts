import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { sqlite } from '../../src/dialects/sqlite.ts'
import { sqlitePrinted } from '../../src/dialects/sqlite-text.ts'
import { seeded } from '../core/random.ts'

test('SQLite prints numbers as JavaScript does, and leaves other values as they are', () => {
  const file = new Database(':memory:')
  const statement = sqlite.render(sql`select ${sqlitePrinted(sql.raw('x'))} from (select ? as x)`)
  const prepared = file.prepare(statement.sql)
  const printed = (value: string | number | null) => prepared.values(value)[0]?.[0]
  const random = seeded(11)
  const makers = [
    () => random() * 1e6,
    () => Math.round(random() * 1e6) / 100,
    () => -1 / (1 + Math.floor(random() * 5000)),
    () => (Math.round(random() * 1e6) / 1e3) * 3,
  ]
  const known = [0.1 + 0.2, 1 / 3, -2.5, 1e15 + 0.5, 123456.7891234567, 1e-4, 7, -3, 2 ** 53]
  const numbers = [...known, ...makers.flatMap((make) => Array.from({ length: 2_000 }, make))]
  const digits = (value: number) => String(value).replace(/^-?0?\.?0*|\./g, '').length
  const wrong = numbers.filter((value) => digits(value) < 17 && String(printed(value)) !== String(value))
  expect(wrong).toEqual([])
  // Where all 17 are needed it is the same number at least.
  expect(numbers.filter((value) => Number(printed(value)) !== value)).toEqual([])
  expect([printed('1.50'), printed(''), printed(null)]).toEqual(['1.50', '', null])
  file.close()
})
