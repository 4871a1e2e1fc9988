import { sql } from 'drizzle-orm'
import type { CellValue, StorageKind } from '../../src/core/fields/field-type.ts'
import type { CellForm, FormulaField } from '../../src/core/formula/index.ts'
import type { QueryDialect } from '../../src/dialects/dialect.ts'
import { pick } from '../core/random.ts'

/** A column of the table on which formulas are tried. */
interface TestColumn {
  title: string
  /** The field's own time zone. */
  zone?: string
  isNumeric?: boolean
  hasInstants?: boolean
  separator?: string
  isJson?: boolean
  form: CellForm
  storage: StorageKind
  values: readonly CellValue[]
}

const LONG = 'lorem ipsum '.repeat(60)
const TEXTS = [
  null,
  '',
  ' ',
  '  padded  ',
  'abc',
  'ABC',
  'Straße ÄÖÜ éèñ Žluťoučký',
  'ΑΒΓ αβγ ώς',
  'Привет МИР',
  'ΟΔΟΣ Σίσυφος ΑΣ, Σ. ασα ΑΣ\u0301',
  'Việt NAM Հայ ǅ İı ſẞß ﬁ 𐐀𐐨 Ｆｕｌｌ Ⅷⅷ Ꙋꙋ Ⴀ ა',
  '日本語',
  'a😀b👍🏽c',
  'it\'s "quoted" \\ back',
  '50%_',
  '0',
  '-1.5e3',
  '12.50',
  '12\n',
  '$1 $0 $',
  '1e400',
  '.5',
  '+7.',
  '١٢',
  '2024-02-29',
  '2024-02-30',
  ' 31.12.2024 23:59 ',
  '3/5/69 12:07 am',
  '29 FEB 2100',
  '0000-01-01',
  '2024-03-31 02:30:00.250\n',
  'true',
  'null',
  'a-b-c-a',
  'a\nb\tc',
  '\ufb01\uffee',
  '{x}',
  'שלום עולם 12 (א)',
  '\u202Bمرحبا\u202C ١٢.٥ AB',
  '👨‍👩‍👧‍👦🇩🇪 𝒳𝒴 e\u0301',
  '\u00a0 7 \u2003',
  '\u2028x\u3000\ufeff',
  '\v8\f\r\n',
  'NaN',
  '-Infinity',
  '1e-400',
  '0x1F',
  '1_000',
  'a\ufdd0b\ufdd0-\ufdd1',
  '1,234.5',
  '－１２',
  '9007199254740993',
  '-0',
  '2024-12-30T23:59:59.999-12:00',
  '2021-01-03 24:00',
  '😀'.repeat(400),
  LONG,
]

/** Columns of every form, with ordinary values and with those that databases treat differently. */
export const COLUMNS: readonly TestColumn[] = [
  {
    title: 'Num',
    form: 'real',
    storage: 'real',
    values: [
      null,
      0,
      -0,
      1,
      -1,
      0.1,
      0.2,
      0.30000000000000004,
      1.005,
      2.5,
      -2.5,
      6.28125,
      1 / 3,
      1e15,
      123456789012345.6,
      999999999999999.9,
      2 ** 53,
      1e21,
      -1e29,
      1e30,
      1.7e308,
      1e-7,
      1.5e-20,
      1e-31,
      5e-324,
      100,
      0.285,
      1234.5678,
      -99.995,
      4503599627370497,
      65.00000000000001,
      1.7976931348623157e308,
      -1.7e308,
      -1e-300,
      2 ** 31,
      -(2 ** 63),
      0.5,
      -0.5,
      1.45,
      99.5,
    ],
  },
  {
    title: 'Int',
    form: 'integer',
    storage: 'integer',
    values: [null, 0, 1, -1, 2, 3, 7, -7, 10, 12, 24, 31, 100, -365, 99999, 2147483648, 9007199254740991],
  },
  { title: 'Text', form: 'text', storage: 'longText', values: TEXTS },
  { title: 'Other {text}', form: 'text', storage: 'text', values: TEXTS.filter((text) => text !== LONG) },
  { title: 'Flag', form: 'boolean', storage: 'boolean', values: [null, true, false] },
  {
    title: 'Day',
    form: 'date',
    storage: 'date',
    values: [
      null,
      '2024-02-29',
      '2023-02-28',
      '2024-01-31',
      '2024-12-31',
      '2024-03-31',
      '2024-10-27',
      '1970-01-01',
      '1969-12-31',
      '1900-02-28',
      '2000-02-29',
      '0001-01-01',
      '9999-12-31',
      '1582-10-10',
      '2024-08-30',
      '2021-01-03',
      '2020-12-31',
      '2018-12-31',
      '2026-01-01',
      '2100-02-28',
    ],
  },
  {
    title: 'At',
    form: 'datetime',
    storage: 'datetime',
    values: [
      null,
      '2024-02-29 12:00:00+00:00',
      '2024-03-31 00:59:59.999+00:00',
      '2024-03-31 01:00:00+00:00',
      '2024-10-27 00:30:00+00:00',
      '2024-10-27 01:30:00+00:00',
      '2024-03-10 07:00:00.001+00:00',
      '2024-01-31 23:45:00+00:00',
      '1970-01-01 00:00:00+00:00',
      '1969-12-31 23:59:59.500+00:00',
      '1950-06-15 12:00:00+00:00',
      '2090-07-01 00:00:00+00:00',
      '1001-01-01 00:00:00+00:00',
      '9999-12-31 23:59:59.999+00:00',
      '2024-12-31 23:59:59+00:00',
      '0001-01-01 00:00:00+00:00',
      '2024-10-27 00:59:59.999+00:00',
      '2024-11-03 05:59:59.999+00:00',
      '2024-04-06 14:59:59+00:00',
      '2024-10-05 15:30:00+00:00',
      '2023-12-31 18:29:59.999+00:00',
      '2025-01-01 04:59:59+00:00',
      '1900-01-01 00:00:00+00:00',
    ],
  },
  {
    title: 'List',
    form: 'list',
    storage: 'longText',
    values: [
      null,
      '[]',
      '["Hobbit","LOTR"]',
      '["a, b",null,"\\"é\\""]',
      '[1,2]',
      '["x"]',
      '[true,false]',
      '["7.00","x"]',
    ],
  },
  {
    title: 'Links',
    form: 'linkCount',
    storage: 'longText',
    values: [null, '[0,[]]', '[3,[[1,"Hobbit"],[2,"LOTR"],[3,null]]]', '[12,[[1,"x"]]]'],
  },
  {
    title: 'Linked',
    form: 'linkTitles',
    storage: 'longText',
    values: [null, '[0,[]]', '[3,[[1,"Hobbit"],[2,"LOTR"],[3,null]]]', '[1,[["k1","é"]]]'],
  },
  {
    title: 'Due',
    form: 'date',
    storage: 'date',
    values: [null, '2024-05-31', '2023-11-30', '2024-02-29', '0001-01-01', '9999-12-31'],
  },
  {
    title: 'Departure',
    zone: 'America/St_Johns',
    form: 'datetime',
    storage: 'datetime',
    values: [
      null,
      '2024-03-10 05:29:59+00:00',
      '2024-03-10 05:30:00+00:00',
      '2024-02-29 02:30:00.250+00:00',
      '2024-11-03 04:00:00+00:00',
      '0001-01-01 00:00:00+00:00',
      '9999-12-31 23:59:59+00:00',
    ],
  },
  {
    title: 'Amounts',
    form: 'list',
    isNumeric: true,
    storage: 'longText',
    values: [
      null,
      '[]',
      '[10,9,2.5,-1,null,10]',
      '[7]',
      '[100,20,3]',
      // As the engines write decimals, large and small numbers into JSON.
      '[7.00,2.50,-0.10,100.00,0.00,7.0]',
      '[1e+20,1e-05,1.5e-07,1e+21,-1.25e+16]',
      '[1e20,0.00001,1.5e-7,1e21,-1.25e16]',
    ],
  },
  {
    title: 'Tags',
    form: 'text',
    separator: ',',
    storage: 'text',
    values: [null, 'red', 'red,blue', 'é,É,e,red', 'a b,c d', 'x,"y"'],
  },
  {
    title: 'Tag lists',
    form: 'list',
    isNumeric: false,
    separator: ',',
    storage: 'longText',
    values: [null, '[]', '["red,blue","red"]', '["é,É",null,"e"]', '["x,\\"y\\""]'],
  },
  {
    title: 'Departures',
    zone: 'Asia/Tokyo',
    form: 'list',
    isNumeric: false,
    hasInstants: true,
    storage: 'longText',
    values: [
      null,
      '[]',
      '["2024-02-29 20:30:00+00:00","2024-01-01 00:00:00.250+00:00"]',
      '["0001-01-01 00:00:00+00:00",null,"9999-12-31 23:59:59+00:00","2024-02-29 20:30:00+00:00"]',
    ],
  },
  {
    title: 'Free days',
    form: 'text',
    storage: 'text',
    values: [
      null,
      '',
      '2024-02-29',
      ' 2024-03-01 ,2024-02-29,2024-03-01, 2024-03-04 08:00',
      '2024-03-02, 1970-01-01,2024-01-31, 0001-01-01, 9999-12-31,0000-01-01',
      'none, 2024-2-29, 2024-02-30,29.02.2024,,2024-02-29T12:00:00Z',
    ],
  },
  {
    title: 'Days',
    form: 'list',
    isNumeric: false,
    storage: 'longText',
    values: [null, '[]', '["2024-03-01",null,"2024-02-29"]', '["2024-02-29,2024-03-04","2024-03-05"]'],
  },
  {
    title: 'Doc',
    form: 'text',
    isJson: true,
    storage: 'json',
    values: [
      null,
      '{}',
      '[]',
      'null',
      '"text"',
      '-1.50e2',
      ' [1, [2, {"a": "b"}], "c" ] ',
      '{"a": {"b" : [1.0, true]}, "n": null}',
      '{"a":[{"b":"x y"},2e3],"a b":"é\\u00e9\\ud83d\\ude00","0":"zero","q\\"":"\\n\\\\"}',
      '{"a":"\\u0000"}',
      '{"a":"\\ud800"}',
    ],
  },
  { title: 'Sum', form: 'real', storage: 'real', values: [null, 0, 2, 10.5, -3.25, 1e40, 7] },
]

/** Columns that stand for fields which are computed: what gives their values is no column. */
const COMPUTED = ['Sum', 'Other {text}', 'Linked', 'Due', 'Amounts', 'Tag lists', 'Departures']

/** The fields of the columns. */
export const FIELDS: readonly FormulaField[] = COLUMNS.map(
  ({ title, form, zone, isNumeric, hasInstants, separator, isJson }) => ({
    id: `c${title.replace(/\W/g, '')}`,
    title,
    type: form,
    form,
    isComputed: COMPUTED.includes(title),
    isBroken: false,
    ...(zone !== undefined && { zone }),
    ...(isNumeric !== undefined && { isNumeric }),
    ...(hasInstants !== undefined && { hasInstants }),
    ...(separator !== undefined && { separator }),
    ...(isJson !== undefined && { isJson }),
  }),
)

export type Row = Record<string, CellValue>

/** As many rows as the longest list of values. */
const ROW_COUNT = Math.max(...COLUMNS.map(({ values }) => values.length))

/** Rows combined by chance; by default, every value of every column occurs at least once. */
export function makeRows(random: () => number, count = ROW_COUNT): Row[] {
  return Array.from({ length: count }, (_, index) =>
    Object.fromEntries(
      COLUMNS.map(({ values }, at): [string, CellValue] => {
        const value = index < values.length ? values[(index + at * 5) % values.length] : pick(random, values)
        return [FIELDS[at]?.id ?? '', value ?? null]
      }),
    ),
  )
}

const column = (index: number) => sql.identifier(`col "${index}`)
export const TABLE_NAME = 'formula rows'
const TABLE = sql.identifier(TABLE_NAME)

/** Statements that make and fill the table. */
export function tableStatements(dialect: QueryDialect, rows: Row[]) {
  const types = COLUMNS.map(({ storage, form }) =>
    dialect.client === 'mysql2' && form === 'datetime' ? 'datetime(3)' : dialect.columnTypes[storage],
  )
  const definitions = types.map((type, index) => sql`${column(index)} ${sql.raw(type)}`)
  const create = sql`create table ${TABLE} (id integer primary key, ${sql.join(definitions, sql`, `)})`
  const inserts = rows.map((row, id) => {
    const values = FIELDS.map((field) => {
      const value = row[field.id] ?? null
      // MySQL keeps no offsets.
      const plain = dialect.client === 'mysql2' && field.form === 'datetime' ? plainInstant(value) : value
      return sql`${plain}`
    })
    return sql`insert into ${TABLE} values (${id + 1}, ${sql.join(values, sql`, `)})`
  })
  return [create, ...inserts].map((query) => dialect.render(query))
}

const plainInstant = (value: CellValue) => (value === null ? null : String(value).slice(0, -6))

/** A field's column as the planner would give it. */
export const columnOf = (fieldId: string) => {
  const index = FIELDS.findIndex(({ id }) => id === fieldId)
  const name = sql`t.${column(index)}`
  return FIELDS[index]?.isComputed
    ? sql`(select max(u.${column(index)}) from ${TABLE} u where u.id = t.id)`
    : name
}

/** The same where the statement names no table, as in an index. A computed field counts as stored. */
export const bareColumnOf = (fieldId: string) => sql`${column(FIELDS.findIndex(({ id }) => id === fieldId))}`

export const FROM = sql`from ${TABLE} t order by t.id`

/** Columns of the record's creation and last change, as the planner would give them. */
export const TIMES = { createdTime: columnOf('cAt'), modifiedTime: columnOf('cDeparture') }

/** The same for the evaluator. */
export const timesOf = (row: Row) => ({
  createdTime: (row.cAt as string | null) ?? null,
  modifiedTime: (row.cDeparture as string | null) ?? null,
})
