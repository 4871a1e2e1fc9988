import { type SQL, sql } from 'drizzle-orm'
import { AppError, notFound } from '../../src/core/errors.ts'
import { storageOf } from '../../src/core/fields/result.ts'
import {
  checkFilter,
  compileFilter,
  type Filter,
  type FilterMoment,
  isGroup,
} from '../../src/core/filters/index.ts'
import type { Field, Sort, View } from '../../src/core/model.ts'
import type { Query, Search, Selection } from '../../src/core/query.ts'
import type { QueryDialect } from '../../src/dialects/dialect.ts'
import type { TableModel } from '../schema/index.ts'
import { columnOf } from './columns.ts'

/** From this offset on, the page's ids are found first, in the order's index, and its columns read after. */
const DEEP_OFFSET = 500

/** Most values that all conditions of a filter may list together: each is bound once or twice. */
const MAX_VALUES = 10_000

/** The parts of SQL that say which records of a table, and in which order. */
export interface Selected {
  from: SQL
  /** `where …`, or nothing. */
  where: SQL
  orderBy: SQL
  isFiltered: boolean
  isSorted: boolean
}

/** A table, the view it is read through, and who asks when. */
export interface PlanContext {
  model: TableModel
  view: View | null
  dialect: QueryDialect
  moment: FilterMoment
}

/**
 * Which records a query means. The view's filter is always in force; the caller's filter and search
 * narrow it further; the caller's sorts replace the view's.
 *
 * @throws FIELD_NOT_FOUND, INVALID_FILTER, FILTER_VERIFICATION_FAILED for what the table cannot answer
 */
export function select(
  context: PlanContext,
  query: Omit<Selection, 'tableId' | 'viewId'> & { sorts?: Sort[] },
): Selected {
  const { model, view, dialect } = context
  const { primaryKey } = model
  if (query.filter) refuseFaulty(model, query.filter)
  const conditions = [
    // A view keeps conditions on fields that have since gone to the trash: they are left out.
    compile(context, view?.filter ?? null),
    compile(context, query.filter ?? null),
    query.search ? searchCondition(context, query.search) : null,
    query.recordIds ? idCondition(context, query.recordIds) : null,
  ].filter((condition) => condition !== null)
  const sorts = query.sorts ?? usable(model, view?.sorts ?? [])
  return {
    from: sql`${sql.identifier(model.table.tableName)}`,
    where: conditions.length === 0 ? sql`` : sql`where ${sql.join(conditions, sql` and `)}`,
    orderBy: sql.join(
      [
        ...sorts.map((sort) => sortTerm(requireField(model, sort.fieldId), sort.direction, dialect)),
        sql`${sql.identifier('nc_order')}`,
        columnOf(primaryKey),
      ],
      sql`, `,
    ),
    isFiltered: conditions.length > 0,
    isSorted: sorts.length > 0,
  }
}

/**
 * The statement of one page: the wanted columns in order, then (unless told otherwise) the record's
 * id. The same one statement whatever the number of rows and fields.
 */
export function pageQuery(
  context: PlanContext,
  query: Query,
  columns: SQL[],
  options: { withId?: boolean; orderBy?: SQL } = {},
): { query: SQL; selected: Selected } {
  const selected = select(context, query)
  const { from, where } = selected
  const orderBy = options.orderBy ?? selected.orderBy
  const id = columnOf(context.model.primaryKey)
  const page = sql`limit ${query.limit} offset ${query.offset}`
  const list = sql.join(options.withId === false && columns.length > 0 ? columns : [...columns, id], sql`, `)
  if (!selected.isSorted && query.offset < DEEP_OFFSET) {
    return { selected, query: sql`select ${list} from ${from} ${where} order by ${orderBy} ${page}` }
  }
  // A sort that carries ids alone is several times lighter than one that carries whole rows, and an
  // offset that is skipped in the order's index never touches the table.
  const ids = sql`select ${id} as k from ${from} ${where} order by ${orderBy} ${page}`
  // The subquery stands in another: MySQL takes no limit directly inside an `in`.
  return {
    selected,
    query: sql`select ${list} from ${from} where ${id} in (select k from (${ids}) as page) order by ${orderBy}`,
  }
}

export function countQuery(context: PlanContext, selection: Omit<Selection, 'tableId' | 'viewId'>): SQL {
  const { from, where } = select(context, selection)
  return sql`select count(*) as ${sql.identifier('count')} from ${from} ${where}`
}

/** The place of one record among those that a query means, counted from 0; no row where it is not there. */
export function positionQuery(context: PlanContext, query: Query, recordId: number | string): SQL {
  const { from, where, orderBy } = select(context, query)
  const id = columnOf(context.model.primaryKey)
  const ranked = sql`select ${id} as k, row_number() over (order by ${orderBy}) - 1 as n from ${from} ${where}`
  return sql`select n from (${ranked}) as ranked where k = ${recordId}`
}

/** The fields of a query in its order; absent: every field that is not a system one. */
export function wantedFields(model: TableModel, fieldIds: string[] | undefined): Field[] {
  if (!fieldIds) return model.fields.filter((field) => !field.isSystem)
  return fieldIds.map((id) => requireField(model, id))
}

export function requireField(model: TableModel, fieldId: string): Field {
  const field = model.field(fieldId)
  if (!field) throw notFound('Field', fieldId)
  return field
}

function refuseFaulty(model: TableModel, filter: Filter): void {
  const problem = checkFilter(filter, (id) => model.field(id))[0]
  if (problem) throw problem
  if (countValues(filter) > MAX_VALUES) {
    throw new AppError('INVALID_FILTER', `A filter may have ${MAX_VALUES} values at most`)
  }
}

const countValues = (filter: Filter): number => {
  if (isGroup(filter)) return filter.children.reduce((sum, child) => sum + countValues(child), 0)
  return Array.isArray(filter.value) ? filter.value.length : 1
}

function compile({ model, dialect, moment }: PlanContext, filter: Filter | null): SQL | null {
  return compileFilter<SQL, Field>(
    filter,
    { ...moment, field: (id) => model.field(id), column: columnOf },
    dialect,
  )
}

const usable = (model: TableModel, sorts: Sort[]): Sort[] => sorts.filter((sort) => model.field(sort.fieldId))

function sortTerm(field: Field, direction: 'asc' | 'desc', dialect: QueryDialect): SQL {
  const column = columnOf(field)
  // A choice sorts as its options stand, which is what people see, not by the letters of their titles.
  if (field.type === 'SingleSelect') {
    const choices = (field.options.choices ?? []) as { title: string }[]
    return dialect.orderBy(
      dialect.optionOrder(
        column,
        choices.map((choice) => choice.title),
      ),
      direction,
    )
  }
  return dialect.orderBy(column, direction)
}

function searchCondition({ model, dialect }: PlanContext, { text, fieldId }: Search): SQL {
  const fields = fieldId ? [requireField(model, fieldId)] : model.fields.filter((field) => !field.isSystem)
  const terms = fields.map((field) => dialect.search(columnOf(field), storageOf(field), text))
  return sql`(${sql.join(terms, sql` or `)})`
}

function idCondition({ model, dialect }: PlanContext, ids: (number | string)[]): SQL {
  if (ids.length > dialect.maxBoundParameters / 2) {
    throw new AppError(
      'BAD_REQUEST',
      `A selection may name ${dialect.maxBoundParameters / 2} records at most`,
    )
  }
  const list = sql.join(
    ids.map((id) => sql`${id}`),
    sql`, `,
  )
  return ids.length === 0 ? sql`1 = 0` : sql`${columnOf(model.primaryKey)} in (${list})`
}
