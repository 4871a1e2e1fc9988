import { filterSetOf, isNamedLink, shownType } from '../fields/field.ts'
import type { CellValue } from '../fields/field-type.ts'
import { linkOf } from '../fields/link-options.ts'
import { readLinks, readList } from '../fields/list-value.ts'
import { type Condition, type Filter, isGroup } from './filter.ts'
import type { RowExpression } from './memory-primitives.ts'
import { memoryPrimitives } from './memory-primitives.ts'
import { type FilterField, type FilterMoment, hasRequiredValues, readOperand, setOf } from './operand.ts'
import { findOperator } from './operators/index.ts'
import type { FilterPrimitives } from './primitives.ts'
import { listPrimitives } from './primitives.ts'

/** Context of a filter: the current time, the fields, and expressions for their columns. */
export interface CompileContext<S, F extends FilterField = FilterField> extends FilterMoment {
  field(fieldId: string): F | undefined | null
  column(field: F): S
  /** Builder for a field that is not compared as a single value, see `listPrimitives`; null: the dialect's own. */
  primitives?(field: F): FilterPrimitives<S> | null
}

/**
 * Compiles a filter with a dialect's builder; null if no condition has an effect. Skips incomplete
 * conditions, those on unknown fields, and groups without any other conditions.
 *
 * The filter must have passed `checkFilter`.
 */
export function compileFilter<S, F extends FilterField>(
  filter: Filter | null,
  context: CompileContext<S, F>,
  primitives: FilterPrimitives<S>,
): S | null {
  if (filter === null) return null
  if (!isGroup(filter)) return compileCondition(filter, context, primitives)
  const children = filter.children
    .map((child) => compileFilter(child, context, primitives))
    .filter((child) => child !== null)
  const [first] = children
  if (first === undefined) return null
  const joined = children.length === 1 ? first : primitives[filter.join](children)
  return filter.not ? primitives.not(joined) : joined
}

function compileCondition<S, F extends FilterField>(
  condition: Condition,
  context: CompileContext<S, F>,
  primitives: FilterPrimitives<S>,
): S | null {
  const field = context.field(condition.fieldId)
  const operator = findOperator(condition.operator)
  if (!field || !operator) return null
  const set = setOf(field)
  if (!hasRequiredValues(operator, condition, set)) return null
  const own = context.primitives?.(field) ?? primitives
  return operator.build(own, context.column(field), readOperand(operator, condition, field, context), set)
}

/** Context for testing rows in memory. */
export interface MatchContext extends FilterMoment {
  field(fieldId: string): FilterField | undefined | null
}

/** Compiles a filter into a test for rows, given as values by field id; absent values are NULL. */
export function filterTester(
  filter: Filter | null,
  context: MatchContext,
): (row: Readonly<Record<string, CellValue>>) => boolean {
  type Row = Readonly<Record<string, CellValue>>
  const primitives = memoryPrimitives<Row>()
  const compiled = compileFilter(filter, { ...context, ...cellReaders(primitives) }, primitives)
  return (row) => compiled === null || compiled(row) === true
}

/** True if the row meets the filter. For many rows, create one `filterTester`. */
export const matchesFilter = (
  filter: Filter | null,
  row: Readonly<Record<string, CellValue>>,
  context: MatchContext,
): boolean => filterTester(filter, context)(row)

/** Column expressions for rows in memory: links compare by count or name, lists value by value. */
function cellReaders<R extends Readonly<Record<string, CellValue>>>(
  primitives: FilterPrimitives<RowExpression<R>>,
) {
  return {
    column(field: FilterField): RowExpression<R> {
      const cell = (row: R): CellValue => row[field.id] ?? null
      if (isNamedLink(field)) return (row) => nameOf(cell(row))
      return filterSetOf(field) === 'links' ? (row) => readLinks(cell(row)).count : cell
    },
    primitives(field: FilterField): FilterPrimitives<RowExpression<R>> | null {
      if (linkOf(field) !== null) {
        return { ...primitives, isUnlinked: () => (row) => readLinks(row[field.id] ?? null).count === 0 }
      }
      if (!shownType(field).isList) return null
      return listPrimitives(primitives, (test) => (row) => {
        const values = readList(row[field.id] ?? null).filter((value) => value !== null && value !== '')
        if (test === null) return values.length > 0
        return values.some((value) => test(() => value)(row) === true)
      })
    },
  }
}

/** The linked record's name; null if it has no name. */
function nameOf(cell: CellValue): CellValue {
  const title = readLinks(cell).records[0]?.title ?? null
  return title === null ? null : String(title)
}
