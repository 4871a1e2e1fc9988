import type {
  AirtableServerBase,
  AirtableServerRecord,
  AirtableServerTable,
} from '../support/airtable-server.ts'

/** Values of a record that formulas read. */
interface Row {
  name: string
  a: number | null
  b: number | null
  text: string | null
  day: string | null
  at: string | null
  done: boolean
  share: number | null
}

type Value = string | number | boolean | null

/** A formula of Airtable, its result type, and what Airtable computes. `{A}` and the like stand for the fields of the table. */
interface FormulaCase {
  formula: string
  result: 'number' | 'singleLineText' | 'date' | 'dateTime'
  value(row: Row): Value
  /** True for a formula that cannot be computed here, or differs. */
  isPlain?: true
}

const num = (value: number | null): number => value ?? 0
const str = (value: string | null): string => value ?? ''
const round = (value: number, digits = 0): number => Math.round(value * 10 ** digits) / 10 ** digits
const date = (day: string): Date => new Date(`${day}T00:00:00.000Z`)
const iso = (value: Date): string => value.toISOString()
const two = (value: number): string => String(value).padStart(2, '0')

/** Sixty formulas. */
export const FORMULAS: FormulaCase[] = [
  { formula: '{A} + {B}', result: 'number', value: ({ a, b }) => num(a) + num(b) },
  { formula: '{A} - {B}', result: 'number', value: ({ a, b }) => num(a) - num(b) },
  { formula: '{A} * 2', result: 'number', value: ({ a }) => num(a) * 2 },
  { formula: '{A} / 4', result: 'number', value: ({ a }) => num(a) / 4 },
  {
    formula: '({A} + {B}) * ({A} - {B})',
    result: 'number',
    value: ({ a, b }) => (num(a) + num(b)) * (num(a) - num(b)),
  },
  { formula: '-{A}', result: 'number', value: ({ a }) => -num(a) },
  { formula: 'SUM({A}, {B}, 1)', result: 'number', value: ({ a, b }) => num(a) + num(b) + 1 },
  {
    formula: 'MAX({A}, {B}, 3)',
    result: 'number',
    value: ({ a, b }) => Math.max(...[a, b, 3].filter((one) => one !== null)),
  },
  {
    formula: 'MIN({A}, {B}, 3)',
    result: 'number',
    value: ({ a, b }) => Math.min(...[a, b, 3].filter((one) => one !== null)),
  },
  { formula: 'AVERAGE({A}, 4)', result: 'number', value: ({ a }) => (a === null ? 4 : (a + 4) / 2) },
  { formula: 'ROUND({A} / 3, 2)', result: 'number', value: ({ a }) => round(num(a) / 3, 2) },
  { formula: 'ABS({A} - 50)', result: 'number', value: ({ a }) => Math.abs(num(a) - 50) },
  { formula: 'INT({A} / 3)', result: 'number', value: ({ a }) => Math.floor(num(a) / 3) },
  { formula: 'MOD({A}, 7)', result: 'number', value: ({ a }) => num(a) % 7 },
  { formula: 'POWER({A}, 2)', result: 'number', value: ({ a }) => num(a) ** 2 },
  { formula: 'SQRT({A})', result: 'number', value: ({ a }) => Math.sqrt(num(a)) },
  { formula: 'CEILING({A} / 3)', result: 'number', value: ({ a }) => Math.ceil(num(a) / 3) },
  { formula: 'FLOOR({A}, 5)', result: 'number', value: ({ a }) => Math.floor(num(a) / 5) * 5 },
  {
    formula: 'ROUNDUP({A} / 3, 1)',
    result: 'number',
    value: ({ a }) => Math.ceil(round((num(a) / 3) * 10, 9)) / 10,
  },
  {
    formula: 'ROUNDDOWN({A} / 3, 1)',
    result: 'number',
    value: ({ a }) => Math.floor(round((num(a) / 3) * 10, 9)) / 10,
  },
  { formula: 'LOG({A} + 1)', result: 'number', value: ({ a }) => Math.log10(num(a) + 1) },
  { formula: 'EXP(1)', result: 'number', value: () => Math.E },
  { formula: 'VALUE("12.5") + {A}', result: 'number', value: ({ a }) => 12.5 + num(a) },
  {
    formula: 'COUNTA({A}, {Text})',
    result: 'number',
    value: ({ a, text }) => [a, text].filter((one) => one !== null).length,
  },
  { formula: '{Share} * 100', result: 'number', value: ({ share }) => round(num(share) * 100, 6) },
  {
    formula: '{A} & " of " & {Text}',
    result: 'singleLineText',
    value: ({ a, text }) => `${a ?? ''} of ${str(text)}`,
  },
  {
    formula: 'CONCATENATE({Text}, "-", {Name})',
    result: 'singleLineText',
    value: ({ text, name }) => `${str(text)}-${name}`,
  },
  { formula: 'UPPER({Text})', result: 'singleLineText', value: ({ text }) => text?.toUpperCase() ?? null },
  { formula: 'LOWER({Name})', result: 'singleLineText', value: ({ name }) => name.toLowerCase() },
  { formula: 'LEN({Text})', result: 'number', value: ({ text }) => str(text).length },
  { formula: 'LEFT({Name}, 3)', result: 'singleLineText', value: ({ name }) => name.slice(0, 3) },
  { formula: 'RIGHT({Name}, 2)', result: 'singleLineText', value: ({ name }) => name.slice(-2) },
  { formula: 'MID({Name}, 2, 3)', result: 'singleLineText', value: ({ name }) => name.slice(1, 4) },
  { formula: 'TRIM("  " & {Name} & " ")', result: 'singleLineText', value: ({ name }) => name },
  {
    formula: 'SUBSTITUTE({Name}, "e", "3")',
    result: 'singleLineText',
    value: ({ name }) => name.replaceAll('e', '3'),
  },
  {
    formula: 'REPLACE({Name}, 1, 2, "##")',
    result: 'singleLineText',
    value: ({ name }) => `##${name.slice(2)}`,
  },
  { formula: 'REPT("*", 3)', result: 'singleLineText', value: () => '***' },
  { formula: 'FIND("o", {Name})', result: 'number', value: ({ name }) => name.indexOf('o') + 1 },
  { formula: 'SEARCH("zz", {Name})', result: 'number', value: ({ name }) => name.indexOf('zz') + 1 || null },
  {
    formula: 'ENCODE_URL_COMPONENT({Name} & " x")',
    result: 'singleLineText',
    value: ({ name }) => encodeURIComponent(`${name} x`),
  },
  {
    formula: 'IF({Done}, "yes", "no")',
    result: 'singleLineText',
    value: ({ done }) => (done ? 'yes' : 'no'),
  },
  {
    formula: 'IF({A} > 50, "big", IF({A} > 20, "middle", "small"))',
    result: 'singleLineText',
    value: ({ a }) => (num(a) > 50 ? 'big' : num(a) > 20 ? 'middle' : 'small'),
  },
  {
    formula: 'IF({Text} = BLANK(), "none", {Text})',
    result: 'singleLineText',
    value: ({ text }) => text ?? 'none',
  },
  { formula: 'AND({Done}, {A} > 10)', result: 'number', value: ({ done, a }) => Number(done && num(a) > 10) },
  { formula: 'OR({Done}, {A} > 90)', result: 'number', value: ({ done, a }) => Number(done || num(a) > 90) },
  { formula: 'NOT({Done})', result: 'number', value: ({ done }) => Number(!done) },
  { formula: 'XOR({Done}, TRUE())', result: 'number', value: ({ done }) => Number(!done) },
  {
    formula: 'SWITCH({Name}, "Record 1", "first", "Record 2", "second", "other")',
    result: 'singleLineText',
    value: ({ name }) => ({ 'Record 1': 'first', 'Record 2': 'second' })[name] ?? 'other',
  },
  {
    formula: '{A} >= {B}',
    result: 'number',
    value: ({ a, b }) => Number(a !== null && b !== null && a >= b),
  },
  {
    formula: 'YEAR({Day})',
    result: 'number',
    value: ({ day }) => (day === null ? null : Number(day.slice(0, 4))),
  },
  {
    formula: 'MONTH({Day})',
    result: 'number',
    value: ({ day }) => (day === null ? null : Number(day.slice(5, 7))),
  },
  {
    formula: 'DAY({Day})',
    result: 'number',
    value: ({ day }) => (day === null ? null : Number(day.slice(8))),
  },
  {
    formula: 'WEEKDAY({Day})',
    result: 'number',
    value: ({ day }) => (day === null ? null : date(day).getUTCDay()),
  },
  {
    formula: 'DATEADD({Day}, 7, "days")',
    result: 'date',
    value: ({ day }) => (day === null ? null : iso(new Date(date(day).getTime() + 7 * 86_400_000))),
  },
  {
    formula: 'DATETIME_DIFF(DATEADD({Day}, 2, "weeks"), {Day}, "days")',
    result: 'number',
    value: ({ day }) => (day === null ? null : 14),
  },
  {
    formula: 'DATETIME_FORMAT({Day}, "DD.MM.YYYY")',
    result: 'singleLineText',
    value: ({ day }) => (day === null ? null : `${day.slice(8)}.${day.slice(5, 7)}.${day.slice(0, 4)}`),
  },
  {
    formula: 'HOUR({At})',
    result: 'number',
    value: ({ at }) => (at === null ? null : new Date(at).getUTCHours()),
  },
  {
    formula: 'DATETIME_FORMAT({At}, "HH:mm")',
    result: 'singleLineText',
    value: ({ at }) =>
      at === null ? null : `${two(new Date(at).getUTCHours())}:${two(new Date(at).getUTCMinutes())}`,
  },
  {
    formula: 'IS_BEFORE({Day}, "2024-07-01")',
    result: 'number',
    value: ({ day }) => Number(day !== null && day < '2024-07-01'),
  },
  { formula: 'RECORD_ID()', result: 'singleLineText', isPlain: true, value: () => null },
]

const FIELDS = [
  { key: 'name', name: 'Name', type: 'singleLineText' },
  { key: 'a', name: 'A', type: 'number', options: { precision: 0 } },
  { key: 'b', name: 'B', type: 'number', options: { precision: 1 } },
  { key: 'text', name: 'Text', type: 'singleLineText' },
  { key: 'day', name: 'Day', type: 'date', options: { dateFormat: { name: 'iso' } } },
  {
    key: 'at',
    name: 'At',
    type: 'dateTime',
    options: { dateFormat: { name: 'iso' }, timeFormat: { name: '24hour' }, timeZone: 'utc' },
  },
  { key: 'done', name: 'Done', type: 'checkbox', options: { icon: 'check', color: 'greenBright' } },
  { key: 'share', name: 'Share', type: 'percent', options: { precision: 2 } },
] as const

const fieldId = (table: number, field: string): string => `fldT${table}${field.replaceAll(/\W/g, '')}`

/** The formula with ids in place of titles, as the metadata API gives it. */
const withIds = (table: number, formula: string): string =>
  formula.replaceAll(/\{(\w+)\}/g, (_, title: string) => `{${fieldId(table, title)}}`)

function rowOf(table: number, index: number): Row {
  const isEmpty = index % 11 === 3
  const day = isEmpty ? null : `2024-${two(1 + (index % 12))}-${two(1 + (index % 28))}`
  return {
    name: `Record ${index}`,
    a: isEmpty ? null : (index * 7 + table) % 101,
    b: isEmpty ? null : ((index * 3 + table) % 50) / 2 + 1,
    text: isEmpty ? null : `text ${index % 9}`,
    day,
    at: day === null ? null : `${day}T${two(index % 24)}:${two(index % 60)}:00.000Z`,
    done: index % 3 === 0,
    share: isEmpty ? null : (index % 100) / 100,
  }
}

/**
 * A base with twenty tables of `size` records, each linked with the next, with three formulas, a lookup, a rollup and a count
 * in each table.
 */
export function largeBase(size: number): AirtableServerBase & { rows: Row[][] } {
  const tables: AirtableServerTable[] = []
  const rows: Row[][] = []
  const count = 20
  const perTable = FORMULAS.length / count
  const recordId = (table: number, index: number) => `recT${table}R${index}`
  for (let table = 0; table < count; table++) {
    const own = Array.from({ length: size }, (_, index) => rowOf(table, index))
    rows.push(own)
    const next = (table + 1) % count
    const previous = (table + count - 1) % count
    const formulas = FORMULAS.slice(table * perTable, (table + 1) * perTable)
    const result = (type: string) => ({ type, options: type === 'number' ? { precision: 8 } : {} })
    const link = fieldId(table, 'Next')
    const back = fieldId(table, 'Previous')
    const fields = [
      ...FIELDS.map(({ key: _, ...field }) => ({ ...field, id: fieldId(table, field.name) })),
      {
        id: link,
        name: 'Next',
        type: 'multipleRecordLinks',
        options: { linkedTableId: `tblT${next}`, inverseLinkFieldId: fieldId(next, 'Previous') },
      },
      {
        id: back,
        name: 'Previous',
        type: 'multipleRecordLinks',
        options: { linkedTableId: `tblT${previous}`, inverseLinkFieldId: fieldId(previous, 'Next') },
      },
      {
        id: fieldId(table, 'Names'),
        name: 'Names',
        type: 'multipleLookupValues',
        options: {
          recordLinkFieldId: link,
          fieldIdInLinkedTable: fieldId(next, 'Name'),
          isValid: true,
          result: result('singleLineText'),
        },
      },
      {
        id: fieldId(table, 'Total'),
        name: 'Total',
        type: 'rollup',
        options: {
          recordLinkFieldId: link,
          fieldIdInLinkedTable: fieldId(next, 'A'),
          isValid: true,
          result: result('number'),
        },
      },
      {
        id: fieldId(table, 'Links'),
        name: 'Links',
        type: 'count',
        options: { recordLinkFieldId: link, isValid: true },
      },
      ...formulas.map(({ formula, result: type }, index) => ({
        id: fieldId(table, `F${index}`),
        name: `F${table * perTable + index}`,
        type: 'formula',
        options: { formula: withIds(table, formula), isValid: true, result: result(type) },
      })),
    ]
    const records = own.map((row, index): AirtableServerRecord => {
      // Each record is linked with one or two of the next table.
      const linked = [index, ...(index % 4 === 0 ? [(index + 1) % size] : [])]
      const linkedRows = linked.map((at) => rowOf(next, at))
      const backwards = [index, ...(((index + size - 1) % size) % 4 === 0 ? [(index + size - 1) % size] : [])]
      return {
        id: recordId(table, index),
        createdTime: `2024-01-01T00:00:${two(index % 60)}.000Z`,
        fields: {
          ...Object.fromEntries(
            FIELDS.map(({ key, name }) => [fieldId(table, name), row[key] === false ? null : row[key]]),
          ),
          [link]: linked.map((at) => recordId(next, at)),
          [back]: backwards.map((at) => recordId(previous, at)),
          [fieldId(table, 'Names')]: linkedRows.map(({ name }) => name),
          [fieldId(table, 'Total')]: linkedRows.reduce((sum, { a }) => sum + num(a), 0),
          [fieldId(table, 'Links')]: linked.length,
          ...Object.fromEntries(
            formulas.map(({ value, isPlain }, at) => [
              fieldId(table, `F${at}`),
              isPlain ? recordId(table, index) : value(row),
            ]),
          ),
        },
        ...(index % 40 === 7 && {
          comments: [
            {
              id: `comT${table}R${index}`,
              author: { id: 'usrX', email: 'ada@example.org', name: 'Ada Winter' },
              text: `About ${row.name}`,
              createdTime: '2024-02-03T04:05:06.000Z',
            },
          ],
        }),
      }
    })
    tables.push({
      id: `tblT${table}`,
      name: `Table ${table}`,
      primaryFieldId: fieldId(table, 'Name'),
      fields,
      views: [
        {
          id: `viwT${table}G`,
          name: 'Main',
          type: 'grid',
          visibleFieldIds: [fieldId(table, 'Name'), fieldId(table, 'Day'), fieldId(table, 'A')],
        },
        { id: `viwT${table}K`, name: 'Cards', type: 'gallery' },
      ],
      records,
    })
  }
  return { id: 'appLarge', name: 'Large', tables, rows }
}
