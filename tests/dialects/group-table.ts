import { createTableModel, type TableModel } from '../../modules/schema/model/model.ts'
import { OWN_COLUMN } from '../../src/core/fields/field.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { readOptions } from '../../src/core/fields/index.ts'
import type { Person } from '../../src/core/model.ts'
import { pick, seeded } from '../core/random.ts'

const CHOICES = { choices: ['red', 'blue', 'dark red', 'Ünï'].map((title) => ({ title })) }

const COLUMNS = [
  ['Id', 'ID', {}],
  ['T', 'SingleLineText', {}],
  ['Num', 'Number', {}],
  ['Dec', 'Decimal', {}],
  ['R', 'Rating', {}],
  ['Ss', 'SingleSelect', CHOICES],
  ['Ms', 'MultiSelect', CHOICES],
  ['Cb', 'Checkbox', {}],
  ['D', 'Date', {}],
  ['Dt', 'DateTime', { timeZone: 'local' }],
  ['Tm', 'Time', {}],
  ['U', 'User', {}],
  ['Us', 'User', { multiple: true }],
  ['nc_order', 'Order', {}],
] as const

/** Their names are not in the order of their ids. */
export const PEOPLE: Person[] = [
  { id: 'us1', email: 'zoe@example.com', displayName: null },
  { id: 'us2', email: 'x@example.com', displayName: 'Bob' },
  { id: 'us3', email: 'y@example.com', displayName: 'ann' },
]

const VALUES: Record<string, readonly CellValue[]> = {
  T: [null, '', 'abc', 'ABC', "it's", 'Ünï', '日本', '10', '9'],
  Num: [null, -3, 0, 1, 10, 9007199254740991],
  Dec: [null, -1.5, 0, 0.1, 2.25],
  R: [null, 0, 1, 5],
  Ss: [null, 'red', 'blue', 'dark red', 'Ünï', 'gone'],
  Ms: [
    null,
    'red',
    'blue',
    'red,blue',
    'blue,red',
    'dark red',
    'blue,dark red',
    'Ünï,red',
    'gone',
    'red,gone',
  ],
  Cb: [null, false, true],
  D: [null, '2024-02-28', '2024-02-29', '2023-01-01'],
  // On either side of midnight in Berlin, in winter and in summer, and of a change of its clocks.
  Dt: [
    null,
    '2024-02-28 22:30:00+00:00',
    '2024-02-28 23:30:00+00:00',
    '2024-06-30 21:30:00+00:00',
    '2024-06-30 22:30:00+00:00',
    '2024-03-31 00:30:00+00:00',
    '2024-03-31 21:59:59+00:00',
    '1969-12-31 23:30:00+00:00',
  ],
  Tm: [null, '08:00:00', '23:59:59'],
  U: [null, 'us1', 'us2', 'us3', 'usgone'],
  Us: [null, 'us1', 'us1,us2', 'us2,us1', 'us3', 'us3,us1', 'usgone', 'us1,usgone'],
}

/** A table with every kind of column that groups in a way of its own. */
export const MODEL: TableModel = createTableModel(
  {
    id: 'mgroups',
    baseId: 'ptest',
    sourceId: 'btest',
    title: 'Groups',
    tableName: 'gr"oups',
    kind: 'table',
    isJunction: false,
    description: null,
    meta: {},
    order: 1,
    version: 1,
    createdAt: '',
    updatedAt: '',
    deletedAt: null,
  },
  COLUMNS.map(([title, type, options], order) => ({
    id: `c${title}`,
    tableId: 'mgroups',
    title,
    type,
    options: readOptions(type, options),
    order,
    columnName: title === 'nc_order' ? title : `${title} "col"`,
    description: null,
    required: false,
    unique: false,
    defaultValue: null,
    createdAt: '',
    updatedAt: '',
    deletedAt: null,
    wireMeta: null,
    isDisplay: title === 'T',
    isPrimaryKey: title === 'Id',
    isSystem: title === 'nc_order',
    ...OWN_COLUMN,
  })),
)

export type Row = Record<string, CellValue>

/** The same rows on every run. */
export const ROWS: Row[] = (() => {
  const random = seeded(21)
  return Array.from({ length: 400 }, (_, index) => ({
    cId: index + 1,
    cnc_order: index + 1,
    ...Object.fromEntries(
      Object.entries(VALUES).map(([title, values]) => [`c${title}`, pick(random, values)]),
    ),
  }))
})()
