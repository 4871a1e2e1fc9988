import { decimal, editable, float, shownOnly, withFacts } from './shape.ts'
import type { ColumnShape, ColumnStructure } from './structure.ts'
import { literalText } from './type-text.ts'

/** Words that people give columns here; SQLite itself takes any. The first that fits counts. */
const WORDS: [RegExp, (column: ColumnStructure) => ColumnShape][] = [
  [/^(bool|boolean)$/, () => editable('Checkbox')],
  [/int/, () => editable('Number')],
  [/^(date)$/, () => editable('Date')],
  [/^(datetime|timestamp)/, () => editable('DateTime')],
  [/^time$/, () => editable('Time')],
  [/json/, () => editable('JSON')],
  [/char/, () => editable('SingleLineText')],
  [/uuid|guid/, () => editable('SingleLineText')],
  [/clob|text/, () => editable('LongText')],
  [/blob/, () => shownOnly('Binary data')],
  [/real|floa|doub/, float],
  // SQLite keeps a decimal as a floating-point number whatever its sizes say: nothing more is lost here.
  [
    /^(numeric|decimal)$/,
    ({ sizes, ...column }) =>
      sizes.length === 0 ? float() : decimal({ ...column, sizes: [15, sizes[1] ?? 0] }),
  ],
]

/** How a column of an SQLite file is shown. */
export function sqliteShape(column: ColumnStructure): ColumnShape {
  const { baseType, sizes } = column
  if (baseType === 'tinyint' && sizes[0] === 1) return withFacts(editable('Checkbox'), column)
  const [, shape] = WORDS.find(([word]) => word.test(baseType)) ?? []
  return withFacts(shape?.(column) ?? editable('SpecificDBType'), column)
}

/** `'new'`, `42`: plain values. Anything else is worked out by the database. */
export function sqliteDefault({ defaultExpression }: ColumnStructure): string | null {
  if (defaultExpression === null) return null
  if (/^-?\d+(\.\d+)?$/.test(defaultExpression)) return defaultExpression
  return /^(true|false)$/i.test(defaultExpression)
    ? defaultExpression.toLowerCase()
    : literalText(defaultExpression)
}
