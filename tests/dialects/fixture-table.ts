import { createTableModel, type StoredField, type TableModel } from '../../modules/schema/model/model.ts'
import { OWN_COLUMN } from '../../src/core/fields/field.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { fieldType, readOptions } from '../../src/core/fields/index.ts'
import type { Field, Table } from '../../src/core/model.ts'
import { pick, seeded } from '../core/random.ts'

const CHOICES = { choices: ['red', 'blue', 'dark red'].map((title) => ({ title })) }

const COLUMNS = [
  ['Id', 'ID', {}],
  ['T', 'SingleLineText', {}],
  ['Num', 'Number', {}],
  ['Dec', 'Decimal', {}],
  ['Ss', 'SingleSelect', CHOICES],
  ['Ms', 'MultiSelect', CHOICES],
  ['Cb', 'Checkbox', {}],
  ['D', 'Date', {}],
  ['nc_order', 'Order', {}],
] as const

const VALUES: Record<string, readonly CellValue[]> = {
  T: [null, '', 'abc', 'ABC', 'abcd', '50%', '500', "it's", 'a\\b', '_', 'Ünï', '日本'],
  Num: [null, -3, 0, 1, 2, 5, 10, 9007199254740991],
  Dec: [null, -1.5, 0, 0.1, 2.25, 10],
  Ss: [null, 'red', 'blue', 'dark red'],
  Ms: [null, 'red', 'blue', 'red,blue', 'dark red', 'blue,dark red'],
  Cb: [null, false, true],
  D: [null, '2024-02-28', '2024-02-29', '2024-03-01', '2024-03-31', '2023-01-01', '9999-12-31'],
}

function field(
  title: string,
  type: (typeof COLUMNS)[number][1],
  options: object,
  order: number,
): StoredField {
  return {
    id: `c${title}`,
    tableId: 'mtest',
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
  }
}

const TABLE: Table = {
  id: 'mtest',
  baseId: 'ptest',
  sourceId: 'btest',
  title: 'Test',
  tableName: 'te`st "table"',
  kind: 'table',
  isJunction: false,
  description: null,
  meta: {},
  order: 1,
  version: 1,
  createdAt: '',
  updatedAt: '',
  deletedAt: null,
}

/** A table of every kind of column whose names need quoting. */
export const MODEL: TableModel = createTableModel(
  TABLE,
  COLUMNS.map(([title, type, options], index) => field(title, type, options, index)),
)

export type Row = Record<string, CellValue>

/** Rows of hostile and ordinary values, by field id; the same on every run. */
export const ROWS: Row[] = (() => {
  const random = seeded(7)
  return Array.from({ length: 300 }, (_, index) => ({
    cId: index + 1,
    cnc_order: index + 1,
    ...Object.fromEntries(
      Object.entries(VALUES).map(([title, values]) => [`c${title}`, pick(random, values)]),
    ),
  }))
})()

export const VALUES_OF = VALUES

export const columnsOf = (): {
  name: string
  storage: ReturnType<typeof storageOf>
  required: boolean
  defaultValue: null
}[] =>
  MODEL.fields.map((column) => ({
    name: column.columnName,
    storage: storageOf(column),
    required: false,
    defaultValue: null,
  }))

const storageOf = (column: Field) => fieldType(column.type).storage
