import { Database } from 'bun:sqlite'
import type { FieldOptions } from '../../src/core/fields/field-type.ts'
import type { FieldTypeName } from '../../src/core/fields/index.ts'
import { seeded } from '../core/random.ts'

/** The twelve fields of the table that everything is measured on. */
export const FIELDS: { title: string; type: FieldTypeName; options?: FieldOptions }[] = [
  { title: 'Title', type: 'SingleLineText' },
  { title: 'Notes', type: 'LongText' },
  { title: 'Count', type: 'Number' },
  { title: 'Price', type: 'Decimal' },
  { title: 'Share', type: 'Percent' },
  { title: 'Stars', type: 'Rating' },
  { title: 'Done', type: 'Checkbox' },
  { title: 'Due', type: 'Date' },
  { title: 'Seen', type: 'DateTime' },
  {
    title: 'State',
    type: 'SingleSelect',
    options: { choices: ['todo', 'doing', 'done'].map((title) => ({ title })) },
  },
  { title: 'Mail', type: 'Email' },
  { title: 'Link', type: 'URL' },
]

export const BARE_COLUMNS = FIELDS.map(({ title }) => title)

/** What src/db/sqlite-engine.ts sets: the same durability for both. */
export const PRAGMAS = [
  'pragma journal_mode = wal',
  'pragma synchronous = full',
  'pragma cache_size = -32768',
  'pragma mmap_size = 1073741824',
  'pragma temp_store = memory',
]

export type BenchRow = Record<string, string | number>

/** Rows as a small company would have them, the same on every run. */
export function makeRows(count: number, from = 0): BenchRow[] {
  const random = seeded(from + 1)
  const digits = (value: number) => String(value).padStart(2, '0')
  return Array.from({ length: count }, (_, index) => {
    const n = from + index
    const day = `20${digits(10 + (n % 15))}-${digits(1 + (n % 12))}-${digits(1 + (n % 28))}`
    return {
      Title: `Order ${n}`,
      Notes: `Delivered to the back door, call ${n} beforehand; fragile.`,
      Count: Math.floor(random() * 1000),
      Price: Math.floor(random() * 100_000) / 100,
      Share: Math.floor(random() * 100),
      Stars: n % 6,
      Done: n % 2,
      Due: day,
      Seen: `${day} 08:${digits(n % 60)}:00+00:00`,
      State: ['todo', 'doing', 'done'][n % 3]!,
      Mail: `person${n}@example.com`,
      Link: `https://example.com/orders/${n}`,
    }
  })
}

export const bareInsert = (): string => {
  const columns = ['created_at', 'nc_order', ...BARE_COLUMNS].map((name) => `"${name}"`)
  return `insert into bare (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`
}

const COLUMN_TYPES = {
  sqlite: 'text text integer real real integer boolean date datetime text text text',
  postgres: 'text text bigint numeric float8 bigint boolean date timestamptz text text text',
}

/** The declarations of the fields' columns. */
export function bareColumns(engine: keyof typeof COLUMN_TYPES): string {
  const types = COLUMN_TYPES[engine].split(' ')
  return BARE_COLUMNS.map((name, index) => `"${name}" ${types[index]}`).join(', ')
}

/** Makes the bare server's file, with the same rows in the same columns and the same index. */
export function makeBareFile(path: string, rows: number): void {
  const file = new Database(path, { create: true, strict: true })
  for (const pragma of PRAGMAS) file.run(pragma)
  file.run(
    `create table bare (id integer primary key autoincrement, created_at datetime, updated_at datetime, created_by text,
      updated_by text, nc_order real, ${bareColumns('sqlite')})`,
  )
  file.run('create index bare_order on bare (nc_order, id)')
  const insert = file.prepare(bareInsert())
  const fill = file.transaction((from: number, count: number) => {
    makeRows(count, from).forEach((row, index) => {
      insert.run(
        '2026-01-01 00:00:00+00:00',
        from + index + 1,
        ...BARE_COLUMNS.map((name) => row[name] ?? null),
      )
    })
  })
  for (let from = 0; from < rows; from += 10_000) fill(from, Math.min(10_000, rows - from))
  file.run('pragma wal_checkpoint(truncate)')
  file.close()
}
