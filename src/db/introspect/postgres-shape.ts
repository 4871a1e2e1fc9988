import { choices, decimal, editable, float, shownOnly, withFacts } from './shape.ts'
import type { ColumnShape, ColumnStructure } from './structure.ts'
import { literalText } from './type-text.ts'

/** What PostgreSQL's types are here. What is not in the list is shown as text and left alone. */
const SHAPES: Record<string, (column: ColumnStructure) => ColumnShape> = {
  smallint: () => editable('Number'),
  integer: () => editable('Number'),
  bigint: () => editable('Number'),
  numeric: decimal,
  real: float,
  'double precision': float,
  boolean: () => editable('Checkbox'),
  'character varying': () => editable('SingleLineText'),
  character: () => editable('SingleLineText'),
  text: () => editable('LongText'),
  citext: () => editable('SingleLineText'),
  hstore: () => editable('SpecificDBType'),
  ltree: () => editable('SpecificDBType'),
  name: () => editable('SingleLineText'),
  uuid: () => editable('SingleLineText'),
  enum: ({ values }) => editable('SingleSelect', choices(values)),
  date: () => editable('Date'),
  'timestamp without time zone': () => editable('DateTime'),
  'timestamp with time zone': () => editable('DateTime'),
  'time without time zone': () => editable('Time'),
  json: () => editable('JSON'),
  jsonb: () => editable('JSON'),
  // Text that the database checks: what it cannot read is refused, and its words are shown.
  money: () => editable('SpecificDBType'),
  interval: () => editable('SpecificDBType'),
  'time with time zone': () => editable('SpecificDBType'),
  inet: () => editable('SpecificDBType'),
  cidr: () => editable('SpecificDBType'),
  macaddr: () => editable('SpecificDBType'),
  macaddr8: () => editable('SpecificDBType'),
  xml: () => editable('SpecificDBType'),
  bytea: () => shownOnly('Binary data'),
  bit: () => shownOnly('A bit string'),
  'bit varying': () => shownOnly('A bit string'),
  tsvector: () => shownOnly('A search index'),
}

/** How a column of PostgreSQL is shown. */
export function postgresShape(column: ColumnStructure): ColumnShape {
  const { baseType, isArray } = column
  const shape = isArray
    ? shownOnly('An array')
    : (SHAPES[baseType]?.(column) ?? shownOnly(`The type ${baseType}`))
  return withFacts(shape, column)
}

/** `'new'::text`, `42`, `true`: plain values. Anything else is worked out by the database. */
export function postgresDefault({ defaultExpression, isArray }: ColumnStructure): string | null {
  if (defaultExpression === null || isArray) return null
  const bare = defaultExpression.replace(/::[\w\s".()]+$/, '')
  if (/^\(?-?\d+(\.\d+)?\)?$/.test(bare)) return bare.replace(/[()]/g, '')
  return /^(true|false)$/.test(bare) ? bare : literalText(bare)
}
