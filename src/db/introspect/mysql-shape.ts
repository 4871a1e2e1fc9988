import { choices, decimal, editable, float, shownOnly, withFacts } from './shape.ts'
import type { ColumnShape, ColumnStructure } from './structure.ts'
import { literalText } from './type-text.ts'

const wholeNumber = () => editable('Number')
const line = () => editable('SingleLineText')
const text = () => editable('LongText')
const binary = () => shownOnly('Binary data')
const geometry = () => shownOnly('A geometry')

/** What the types of MySQL and MariaDB are here. What is not in the list is shown as text and left alone. */
const SHAPES: Record<string, (column: ColumnStructure) => ColumnShape> = {
  // spec §5: a tinyint of length 1 is treated as boolean.
  tinyint: ({ sizes, isUnsigned }) =>
    sizes[0] === 1 && !isUnsigned ? editable('Checkbox') : editable('Number'),
  smallint: wholeNumber,
  mediumint: wholeNumber,
  int: wholeNumber,
  bigint: wholeNumber,
  decimal,
  float,
  double: float,
  char: line,
  varchar: line,
  uuid: line,
  inet4: line,
  inet6: line,
  tinytext: text,
  text,
  mediumtext: text,
  longtext: text,
  enum: ({ values }) => editable('SingleSelect', choices(values)),
  set: ({ values }) => editable('MultiSelect', choices(values)),
  date: () => editable('Date'),
  datetime: () => editable('DateTime'),
  timestamp: () => editable('DateTime'),
  // Here a time may be a span of up to 838 hours; those are shown as they are.
  time: () => editable('Time'),
  year: () => editable('Year'),
  json: () => editable('JSON'),
  // One bit is how many programs keep yes and no.
  bit: ({ sizes }) => (sizes[0] === 1 ? editable('Checkbox') : shownOnly('A bit string')),
  binary,
  varbinary: binary,
  tinyblob: binary,
  blob: binary,
  mediumblob: binary,
  longblob: binary,
  geometry,
  point: geometry,
  linestring: geometry,
  polygon: geometry,
  geometrycollection: geometry,
  multipoint: geometry,
  multilinestring: geometry,
  multipolygon: geometry,
  geomcollection: geometry,
}

/** How a column of MySQL or MariaDB is shown. */
export function mysqlShape(column: ColumnStructure): ColumnShape {
  const shape = SHAPES[column.baseType]?.(column) ?? shownOnly(`The type ${column.baseType}`)
  return withFacts(shape, column)
}

/** `'new'`, `42`: plain values. Anything else is worked out by the database. */
export function mysqlDefault({ defaultExpression }: ColumnStructure): string | null {
  if (defaultExpression === null) return null
  return /^-?\d+(\.\d+)?$/.test(defaultExpression) ? defaultExpression : literalText(defaultExpression)
}
