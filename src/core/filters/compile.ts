import { filterSetOf, isNamedLink, shownType } from '../fields/field.ts'
import type { CellValue } from '../fields/field-type.ts'
import { linkOf } from '../fields/link-options.ts'
import { readLinks, readList } from '../fields/list-value.ts'
import type { FilterWords } from './dialect-words.ts'
import { listWords } from './dialect-words.ts'
import { type Condition, type Filter, isGroup } from './filter.ts'
import type { RowExpression } from './memory-words.ts'
import { memoryWords } from './memory-words.ts'
import { type FilterField, type FilterMoment, isFilledIn, readOperand, setOf } from './operand.ts'
import { findOperator } from './operators/index.ts'

/** Context of a filter: the current moment, the fields, and how to write a field's column. */
export interface CompileContext<S, F extends FilterField = FilterField> extends FilterMoment {
  field(fieldId: string): F | undefined | null
  column(field: F): S
  /** Vocabulary for a field that is not compared as a whole, see `listWords`; null: the dialect's own. */
  words?(field: F): FilterWords<S> | null
}

/**
 * The filter in the words of a dialect; null where nothing in it has an effect. Incomplete conditions
 * and those on fields that `field` does not know are left out, and a group of nothing else with them.
 *
 * The filter is one that `checkFilter` has passed.
 */
export function compileFilter<S, F extends FilterField>(
  filter: Filter | null,
  context: CompileContext<S, F>,
  words: FilterWords<S>,
): S | null {
  if (filter === null) return null
  if (!isGroup(filter)) return compileCondition(filter, context, words)
  const children = filter.children
    .map((child) => compileFilter(child, context, words))
    .filter((child) => child !== null)
  const [first] = children
  if (first === undefined) return null
  const joined = children.length === 1 ? first : words[filter.join](children)
  return filter.not ? words.not(joined) : joined
}

function compileCondition<S, F extends FilterField>(
  condition: Condition,
  context: CompileContext<S, F>,
  words: FilterWords<S>,
): S | null {
  const field = context.field(condition.fieldId)
  const operator = findOperator(condition.operator)
  if (!field || !operator) return null
  const set = setOf(field)
  if (!isFilledIn(operator, condition, set)) return null
  const own = context.words?.(field) ?? words
  return operator.build(own, context.column(field), readOperand(operator, condition, field, context), set)
}

/** Context for testing rows in memory. */
export interface MatchContext extends FilterMoment {
  field(fieldId: string): FilterField | undefined | null
}

/** A test for many rows, each its values by field id; an absent value is NULL. */
export function filterTester(
  filter: Filter | null,
  context: MatchContext,
): (row: Readonly<Record<string, CellValue>>) => boolean {
  type Row = Readonly<Record<string, CellValue>>
  const words = memoryWords<Row>()
  const compiled = compileFilter(filter, { ...context, ...cellReaders(words) }, words)
  return (row) => compiled === null || compiled(row) === true
}

/** True where the row meets the filter. For many rows make one `filterTester`. */
export const matchesFilter = (
  filter: Filter | null,
  row: Readonly<Record<string, CellValue>>,
  context: MatchContext,
): boolean => filterTester(filter, context)(row)

/** How the cells of rows in memory are compared: links by their number or their name, lists value by value. */
function cellReaders<R extends Readonly<Record<string, CellValue>>>(words: FilterWords<RowExpression<R>>) {
  return {
    column(field: FilterField): RowExpression<R> {
      const cell = (row: R): CellValue => row[field.id] ?? null
      if (isNamedLink(field)) return (row) => nameOf(cell(row))
      return filterSetOf(field) === 'links' ? (row) => readLinks(cell(row)).count : cell
    },
    words(field: FilterField): FilterWords<RowExpression<R>> | null {
      if (linkOf(field) !== null) {
        return { ...words, isUnlinked: () => (row) => readLinks(row[field.id] ?? null).count === 0 }
      }
      if (!shownType(field).isList) return null
      return listWords(words, (test) => (row) => {
        const values = readList(row[field.id] ?? null).filter((value) => value !== null && value !== '')
        if (test === null) return values.length > 0
        return values.some((value) => test(() => value)(row) === true)
      })
    },
  }
}

/** A linked record without a name is not found by one. */
function nameOf(cell: CellValue): CellValue {
  const title = readLinks(cell).records[0]?.title ?? null
  return title === null ? null : String(title)
}
