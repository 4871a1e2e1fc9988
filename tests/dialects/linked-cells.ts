import { readAttachments } from '../../src/core/fields/attachment-item.ts'
import { titlesIn } from '../../src/core/fields/choice-titles.ts'
import { filterSetOf, isComputed, isNamedLink, shownType } from '../../src/core/fields/field.ts'
import type { CellValue, FilterSet } from '../../src/core/fields/field-type.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import { readLinks, readList } from '../../src/core/fields/list-value.ts'
import { idsIn } from '../../src/core/fields/people.ts'
import { DATE_OPERANDS } from '../../src/core/filters/filter.ts'
import { type Condition, checkFilter, type Filter, OPERATORS } from '../../src/core/filters/index.ts'
import type { Field } from '../../src/core/model.ts'
import { pick } from '../core/random.ts'
import { cellOf } from './linked-memory.ts'
import { LINKED_ROWS, modelOf } from './linked-tables.ts'

/** Tables of which computed fields are looked at. */
export const TABLES = ['Author', 'Book', 'Tag']

/** A record's cells by field id. */
export type Cells = Record<string, CellValue>

/** Every field of every record by field id, worked out in memory; the records in their table's order. */
export const CELLS: Record<string, Cells[]> = Object.fromEntries(
  TABLES.map((table) => {
    const rows = [...(LINKED_ROWS[table] ?? [])].sort((a, b) => Number(a.nc_order) - Number(b.nc_order))
    const { fields } = modelOf(table)
    return [
      table,
      rows.map((row) => Object.fromEntries(fields.map((field) => [field.id, cellOf(table, field, row)]))),
    ]
  }),
)

/** The computed fields of a table. */
export const computedOf = (table: string): Field[] => modelOf(table).fields.filter(isComputed)
/** A record's id. */
export const idOf = (table: string, cells: Cells): number => Number(cells[`c${table}Id`])

/** What a field is compared by. */
export function comparedBy(field: Field, cell: CellValue): CellValue {
  if (isNamedLink(field)) {
    const title = readLinks(cell).records[0]?.title ?? null
    return title === null ? null : String(title)
  }
  if (fieldType(field.type).computed === 'link') return readLinks(cell).count
  return shownType(field).isList && cell !== null ? readList(cell).map(String).join(', ') : cell
}

/** Filters over computed fields: every operator that they take, with values that are there. */
export function* filters(table: string, random: () => number): Generator<Filter> {
  const fields = computedOf(table).filter((field) => filterSetOf(field) !== 'none')
  const { field: byId } = modelOf(table)
  const one = (): Condition => {
    for (;;) {
      const field = pick(random, fields)
      const set = filterSetOf(field)
      const operator = pick(
        random,
        OPERATORS.filter(({ accepts }) => accepts.includes(set)),
      )
      const known = partsOf(set, valuesOf(table, field))
      const text = () => (random() < 0.5 ? pick(random, known) : partOf(random, String(pick(random, known))))
      const operand = set === 'date' ? pick(random, DATE_OPERANDS) : null
      const value: Condition['value'] =
        operand && operand !== 'exactDate'
          ? pick(random, [1, 3, 40])
          : operator.arity === 'many' || operator.arity === 'two'
            ? [listed(pick(random, known)), listed(pick(random, known))]
            : operator.comparesText
              ? text()
              : pick(random, known)
      const condition: Condition = { fieldId: field.id, operator: operator.key, operand, value }
      if (checkFilter(condition, byId).length === 0) return condition
    }
  }
  for (;;) {
    if (random() < 0.7) yield one()
    else yield { join: pick(random, ['and', 'or']), not: random() < 0.3, children: [one(), one()] }
  }
}

/** Of numbers with 17 digits SQLite may print another last one, and text operators look at what is printed. */
const isVeryLong = (value: CellValue): boolean =>
  typeof value === 'number' && String(value).replace(/^-?0?\.?|\./g, '').length > 16

/** What stands in a field's cells, value by value where they are lists. */
function valuesOf(table: string, field: Field): CellValue[] {
  const cells = CELLS[table]?.map((each) => each[field.id] ?? null) ?? []
  const values = shownType(field).isList
    ? cells.flatMap(readList)
    : cells.map((cell) => comparedBy(field, cell))
  return values.filter((value) => value !== null && !isVeryLong(value))
}

/** What conditions of the set name: of several in a cell one. */
function partsOf(set: FilterSet, values: CellValue[]): CellValue[] {
  if (set === 'attachment') return values.flatMap((value) => readAttachments(value)).map(({ title }) => title)
  if (set === 'user') return ['@me', 'example', 'ann', ...values, ...values.flatMap(idsIn)]
  return set === 'multiSelect' ? [...values, ...values.flatMap((value) => titlesIn(String(value)))] : values
}

/** A list names choices and people one by one. */
const listed = (value: CellValue): CellValue =>
  typeof value === 'string' && /^(new|old|rare|us\w+),/.test(value) ? (value.split(',')[0] ?? '') : value

function partOf(random: () => number, text: string): string {
  const characters = [...text]
  const from = Math.floor(random() * characters.length)
  return characters.slice(from, from + 1 + Math.floor(random() * 4)).join('')
}
