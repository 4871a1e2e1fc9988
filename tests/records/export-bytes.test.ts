import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { FIELD_TYPES, type FieldTypeName, fieldType } from '../../src/core/fields/index.ts'
import { showsPeople } from '../../src/core/fields/traits.ts'
import type { Field } from '../../src/core/model.ts'
import { exactNumber } from '../../src/dialects/exact-number.ts'
import {
  createPageWriter,
  createTextWriter,
  type RecordFormat,
  type TextColumn,
} from '../../src/record-files/index.ts'
import { pick, seeded, textOf } from '../core/random.ts'
import { doorOf, ended } from '../imports/support.ts'
import { EVERY_TYPE, STORED_VALUES } from './every-type.ts'
import { type Bench, createBench } from './support.ts'

const FORMATS: RecordFormat[] = [
  ...([',', ';', '\t'] as const).flatMap((delimiter) =>
    [true, false].map((isGuarded) => ({ name: 'csv' as const, delimiter, isGuarded })),
  ),
  { name: 'json' },
  { name: 'ndjson' },
]
const nameOf = (format: RecordFormat) => JSON.stringify(Object.values(format).join(' '))

/** Characters that mean something at the start of a text, at its end, or anywhere. */
const PIECES = [
  ...[
    'a',
    'Z',
    '0',
    '5',
    '.',
    ' ',
    '\t',
    '\n',
    '\r',
    '\r\n',
    '"',
    "'",
    ',',
    ';',
    '=',
    '+',
    '-',
    '@',
    '\\',
    '/',
  ],
  ...[
    '\u0001',
    '\u001b',
    '\u007f',
    '\u0085',
    '\u00a0',
    '\u2028',
    '\ufeff',
    'ü',
    '日',
    '👩‍🚀',
    '<b>',
    'https://x.y',
  ],
]
const TEXTS = [
  '',
  'null',
  'true',
  'a,b',
  'x'.repeat(200),
  `${'long, '.repeat(30)}"`,
  '2024-02-29',
  '2024-02-29 08:00:00+00:00',
]

/** Numbers as PostgreSQL writes them, in all its types. */
const NUMBERS = [
  ...[
    '0',
    '-0',
    '7',
    '-7',
    '10',
    '100',
    '-100',
    '0.5',
    '-0.5',
    '0.05',
    '0.000001',
    '1e-07',
    '0.0000001',
    '1.5',
    '12.50',
  ],
  ...[
    '1.0',
    '0.00',
    '100.25',
    '123456789012345',
    '1234567890123456',
    '9007199254740993',
    '-9007199254740993',
  ],
  ...[
    '1e+15',
    '1e+20',
    '1.7976931348623157e+308',
    '0.30000000000000004',
    '33.333',
    '99999999999999.9',
    'NaN',
    'Infinity',
  ],
]

const COLUMNS: Record<string, { column: TextColumn; texts(random: () => number): string }> = {
  texts: {
    column: { read: null, isNumeric: false },
    texts: (random) => (random() < 0.2 ? pick(random, TEXTS) : textOf(random, PIECES, 6)),
  },
  numbers: {
    column: { read: exactNumber, isNumeric: true },
    texts: (random) =>
      random() < 0.6 ? pick(random, NUMBERS) : String((random() - 0.5) * 10 ** Math.floor(random() * 30 - 9)),
  },
  booleans: {
    column: { read: (text) => text === 'true', isNumeric: false },
    texts: (random) => pick(random, ['true', 'false']),
  },
}

function fieldOf(type: FieldTypeName, over: Partial<Field> = {}): Field {
  const options = fieldType(type).options.safeParse(SOME_OPTIONS[type] ?? {})
  return {
    id: `f${type}`,
    tableId: 't',
    title: `=${type}, "x"`,
    columnName: type,
    type,
    options: options.success ? options.data : {},
    result: null,
    ...over,
  } as Field
}

const SOME_OPTIONS: Partial<Record<FieldTypeName, object>> = {
  Date: { format: 'DD/MM/YYYY' },
  DateTime: { format: 'DD.MM.YYYY', time12h: true, timeZone: 'local' },
  Currency: { code: 'EUR' },
}

describe('a page from the texts of a database', () => {
  const random = seeded(16)
  const ofTypes = FIELD_TYPES.filter(({ name }) => !showsPeople({ type: name })).map(({ name }) =>
    fieldOf(name),
  )
  const results = (['SingleLineText', 'Decimal', 'DateTime', 'Checkbox', 'URL'] as const).flatMap((type) =>
    [true, false].map((isList) =>
      fieldOf('Formula', { id: `r${type}`, result: { type, options: fieldOf(type).options, isList } }),
    ),
  )

  test.each(FORMATS.map((format) => [nameOf(format), format] as const))(
    'has the same bytes as from its values, in any order and with records missing, for every type, as %s',
    (_, format) => {
      for (const [name, { column, texts }] of Object.entries(COLUMNS)) {
        for (const fields of [[...ofTypes, ...results], ...ofTypes.map((field) => [field])]) {
          const table = { format, fields, people: [], timeZone: 'Europe/Berlin' }
          const write = createTextWriter(
            table,
            fields.map(() => column),
          )
          for (const first of [0, 1_000]) {
            const cells = Array.from({ length: 20 }, () =>
              fields.map(() => (random() < 0.1 ? null : texts(random))),
            )
            const recordIds = [...Array(22).keys()].map((at) => 100 - at * 3)
            // The database returns them in an order of its own.
            const ids = recordIds
              .toSorted((a, b) => ((a * 7919) % 101) - ((b * 7919) % 101))
              .slice(0, cells.length)
            const written = write?.(packed(cells, ids), recordIds, first)
            const rowOf = new Map(ids.map((id, at) => [id, cells[at] ?? []]))
            const values = recordIds.flatMap((id) => {
              const row = rowOf.get(id)
              return row ? [row.map((text) => valueIn(text, column))] : []
            })
            const expected = createPageWriter(table)(values, first)
            expect([name, fields[0]?.type, first, textIn(written)]).toEqual([
              name,
              fields[0]?.type,
              first,
              textIn(expected),
            ])
            expect(written?.rows).toBe(expected.rows)
          }
        }
      }
    },
  )

  test.each(['\x1d', '\x1e', '\x1f', 'a\x1fb', '\x1f7\x1d', '5\x1f7\x1d', '\x1f1\x1da\x1f2\x1d'])(
    'is not written when a text looks like a separator: %j',
    (text) => {
      for (const fields of [[fieldOf('SingleLineText')], [fieldOf('SingleLineText'), fieldOf('LongText')]]) {
        const columns = fields.map(() => ({ read: null, isNumeric: false }))
        const write = createTextWriter(
          { format: { name: 'csv', delimiter: ',', isGuarded: true }, fields, people: [], timeZone: 'UTC' },
          columns,
        )
        for (let at = 0; at < fields.length; at++) {
          const cells = [0, 1].map((row) =>
            fields.map((_, column) => (row === 0 && column === at ? text : 'x')),
          )
          expect(write?.(packed(cells, [1, 2]), [1, 2], 0)).toBeNull()
          expect(write?.(packed(cells.slice(0, 1), [1]), [1], 0)).toBeNull()
        }
      }
    },
  )

  test('may be longer than the texts, also than those of a page before', () => {
    const fields = [fieldOf('SingleLineText')]
    const table = {
      format: { name: 'csv', delimiter: ',', isGuarded: true } as const,
      fields,
      people: [],
      timeZone: 'UTC',
    }
    const write = createTextWriter(table, [{ read: null, isNumeric: false }])
    for (const size of [10, 3_000_000, 20]) {
      const cells = [['"'.repeat(size)], ['=b'], ['ü'.repeat(size)]]
      expect(textIn(write?.(packed(cells, [1, 2, 3]), [1, 2, 3], 0))).toBe(
        textIn(createPageWriter(table)(cells, 0)),
      )
    }
  })
})

/** Rows as a database packs them. */
function packed(cells: readonly (readonly (string | null)[])[], ids: readonly number[]) {
  const lines = cells.map((row, at) => [...row.map((text) => text ?? '\x1e'), ids[at]].join('\x1f'))
  const nulls = cells.flat().filter((text) => text === null).length
  return { bytes: new TextEncoder().encode(lines.join('\x1d')), rows: cells.length, nulls }
}

const valueIn = (text: string | null, { read }: TextColumn): CellValue =>
  text === null || !read ? text : read(text)

const textIn = (page: { pieces: { bytes: Uint8Array }[] } | null | undefined): string | null =>
  page ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(page.pieces[0]?.bytes) : null

/** Exports of tables with so many records are written by workers, on PostgreSQL from the texts. */
const SCAN_FROM = 5_000

/** Records with a value of each type, the awkward ones and random ones among them. */
function manyRows(person: string): Record<string, CellValue>[] {
  const random = seeded(17)
  const among = (title: keyof typeof STORED_VALUES) => pick(random, STORED_VALUES[title])
  return Array.from({ length: SCAN_FROM + 200 }, () => {
    const { Raw: _, ...stored } = Object.fromEntries(
      Object.keys(STORED_VALUES).map((title) => [title, among(title as keyof typeof STORED_VALUES)]),
    )
    const time = new Date(Math.floor(random() * 2 ** 32) * 997).toISOString()
    return {
      ...stored,
      Title: random() < 0.3 ? among('Title') : textOf(random, PIECES, 8),
      Notes: random() < 0.3 ? among('Notes') : textOf(random, PIECES, 20),
      Dec: random() < 0.3 ? among('Dec') : (random() - 0.5) * 10 ** Math.floor(random() * 34 - 10),
      Dt: random() < 0.3 ? among('Dt') : time,
      Local: time,
      Day: among('D'),
      Who: person,
    }
  })
}

describe('an export of a large table', () => {
  let bench: Bench
  /** The fields but those with people, and one with people. */
  let fieldIds: string[] = []
  let personId = ''
  let tableId = ''

  beforeAll(async () => {
    bench = await createBench()
    const { Raw: _, ...types } = EVERY_TYPE
    const table = await bench.table({
      ...types,
      Local: 'DateTime',
      Day: { type: 'Date', options: { format: 'DD/MM/YYYY' } },
      Number: 'AutoNumber',
      Made: 'CreatedTime',
      Who: 'User',
    })
    tableId = table.id
    const rows = manyRows(bench.owner.email)
    for (let from = 0; from < rows.length; from += 1_000)
      expect((await bench.rest.post(table.path, rows.slice(from, from + 1_000))).status).toBe(200)
    const add = (title: string, type: FieldTypeName, options: object) =>
      bench.trpc.schema.createField.mutate({ tableId, field: { title, type, options } as never })
    const formulas = [
      ...['{Num} + 1', '{Dec} * 2', 'CONCAT({Title}, "!")', '{D}', 'DATEADD({Dt}, 1, "day")', '{Num} > 1'],
      'URL("https://x.y/?q=1")',
    ]
    for (const formula of formulas) await add(formula, 'Formula', { formula })
    await add('Code', 'QrCode', { valueFieldId: table.field('Title').id })
    personId = table.field('Who').id
    const { fields } = await bench.trpc.schema.table.query({ tableId })
    fieldIds = fields.filter(({ type }) => !showsPeople({ type })).map(({ id }) => id)
  })
  afterAll(() => bench.stop())

  async function exported(wanted: string[], { name, ...options }: RecordFormat): Promise<string> {
    const { jobId } = await bench.trpc.records.export.mutate({
      ...{ tableId, format: name, fieldIds: wanted, timeZone: 'Asia/Tokyo' },
      ...(options as object),
    })
    const job = await ended(doorOf(bench.app, bench.owner), jobId)
    return (await fetch(`${bench.app.url}/${(job.result as { url: string }).url}`)).text()
  }

  test.each(
    FORMATS.filter(({ name }, at) => at === 0 || name === 'json').map(
      (format) => [nameOf(format), format] as const,
    ),
  )('has the same bytes as one with people, which is written from values, as %s', async (_, format) => {
    const { email } = bench.owner
    const alone = await exported(fieldIds, format)
    const withPeople = await exported([...fieldIds, personId], format)
    const rest =
      format.name === 'csv'
        ? withPeople.replace(`${format.delimiter}Who`, '').replaceAll(`${format.delimiter}${email}`, '')
        : withPeople.replaceAll(`,"Who":"${email}"`, '')
    expect(alone.length).toBeGreaterThan(500_000)
    // Not `toBe`, which would print both files.
    expect(firstDifference(alone, rest)).toBeNull()
  })
})

/** Where two texts begin to differ; null if they are equal. */
function firstDifference(a: string, b: string): [string, string] | null {
  if (a === b) return null
  let at = 0
  while (a[at] === b[at]) at++
  return [a.slice(at - 40, at + 40), b.slice(at - 40, at + 40)]
}
