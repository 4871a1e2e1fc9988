import { type SQL, sql } from 'drizzle-orm'
import { notFound } from '../../../src/core/errors.ts'
import { filterSetOf, isComputed, shownType } from '../../../src/core/fields/field.ts'
import type { CellValue, FilterSet } from '../../../src/core/fields/field-type.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import type { Field, RecordId, Sort } from '../../../src/core/model.ts'
import type { Query, Selection } from '../../../src/core/query.ts'
import { stacksOf } from '../../../src/core/views/index.ts'
import type { Engine, Statement } from '../../../src/dialects/dialect.ts'
import { isTextStorage } from '../../../src/dialects/related.ts'
import type { TableModel } from '../../schema/index.ts'
import { manualOrder, manualPage, manualPositions, placeColumn } from '../rows/index.ts'
import { isKeyless, keyOf, ownOrder } from '../table/index.ts'
import { filterCondition, idCondition, refuseFaulty, searchCondition } from './expression/conditions.ts'
import { rootScope } from './expression/expression-of.ts'
import { fragmentsOf } from './expression/fragments.ts'
import { asOwner, wholeOf } from './expression/scope.ts'
import { groupCondition, groupOrder, groupTerm } from './groups/term.ts'
import { DEEP_OFFSET, SCAN_FROM } from './limits.ts'
import { type OutputShape, outputColumns, RECORD_KEY } from './output.ts'
import { peopleOrder } from './people-order.ts'
import { compiled, type PlanContext } from './plan-cache.ts'

/** Up to so many records of a manual order, counting what is ahead of each is faster than ranking all. */
const COUNTED_POSITIONS = 3

/** The parts of SQL that say which records of a table, and in which order. */
export interface Selected {
  from: SQL
  /** `where …`, or nothing. */
  where: SQL
  /** The condition of `where` alone; null: all. */
  condition: SQL | null
  orderBy: SQL
  /** True where some records of the table are left out. */
  isFiltered: boolean
  /** True where records are looked for by more than `narrow`, which indexes answer. */
  isSearched: boolean
  isSorted: boolean
  /** The view whose manual order the records are in; null: they are in another order. */
  orderViewId: string | null
}

/** A page of a table that has been opened: which records, which of their fields, and in what shape. */
export interface PageQuery extends Omit<Query, 'tableId' | 'viewId' | 'timeZone' | 'fieldIds'> {
  fields: Field[]
  shape: OutputShape
  /** In an order that is another each time, whatever else is asked for. */
  isShuffled?: boolean
}

/** What a page query was compiled to, its filter once for both statements. */
export interface PagePlan {
  query: PageQuery
  /** Reads the page, in its shape. */
  page: Statement
  /** Counts the records of all pages; null where these are all records of the table. */
  count: Statement | null
  /** True where the work grows with the table, however small the page is. */
  grows: boolean
}

/**
 * Which records a query means. What the view itself leaves out is always left out; the caller's filter and search
 * narrow it further; the caller's sorts replace the view's.
 *
 * @throws FIELD_NOT_FOUND, INVALID_FILTER, FILTER_VERIFICATION_FAILED for what the table cannot answer
 */
export function select(
  context: PlanContext,
  query: Omit<Selection, 'tableId' | 'viewId'> & Pick<Query, 'groups' | 'sorts' | 'orderViewId'>,
): Selected {
  const { model, view } = context
  const own = asOwner(context)
  const searched = searchedRecords(context, query)
  const conditions = [searched, context.narrow ?? null].filter((condition) => condition !== null)
  const sorts = [
    ...(query.groups ?? []).flatMap(({ fieldId, direction }) =>
      groupOrder(context, requireField(model, fieldId), direction),
    ),
    ...(query.sorts?.map((sort) => sortTerm(context, sort)) ??
      usable(own.model, view?.sorts ?? []).map((sort) => sortTerm(own, sort))),
  ]
  if (context.leading) sorts.unshift(sql`case when ${context.leading} then 0 else 1 end`)
  const condition = conditions.length === 0 ? null : sql.join(conditions, sql` and `)
  const orderViewId = sorts.length === 0 ? (query.orderViewId ?? null) : null
  const order =
    orderViewId === null ? ownOrder(rootScope(context)) : manualOrder(wholeOf(context), orderViewId)
  return {
    from: sql`${sql.identifier(model.table.tableName)}`,
    where: condition === null ? sql`` : sql`where ${condition}`,
    condition,
    orderBy: sql.join([...sorts, ...order], sql`, `),
    isFiltered: conditions.length > 0,
    isSearched: searched !== null,
    isSorted: sorts.length > 0,
    orderViewId,
  }
}

/**
 * The condition that a view, a filter, a search and groups put on the records of a table; null: all of them. Pages,
 * counts, groups and summaries of one selection share it, so its filter is compiled once.
 */
function searchedRecords(
  context: PlanContext,
  { filter, search, recordIds, group = [] }: Omit<Selection, 'tableId' | 'viewId'>,
): SQL | null {
  const key = recordIds ? null : `where ${JSON.stringify({ filter, search, group })}`
  const whole = { ...context, narrow: undefined, leading: undefined }
  return compiled(whole, key, (watched) => {
    const { model } = watched
    if (filter) refuseFaulty(model, filter)
    const conditions = [
      viewCondition(watched),
      filterCondition(watched, filter ?? null),
      search ? searchCondition(watched, search.text, searchedFields(model, search)) : null,
      recordIds ? idCondition(watched, recordIds) : null,
      ...group.map(({ fieldId, value }) => groupCondition(watched, requireField(model, fieldId), value)),
    ].filter((condition) => condition !== null)
    return conditions.length === 0 ? null : sql.join(conditions, sql` and `)
  })
}

/**
 * Compiles a page and its count. Each is one statement, whatever the number of rows and fields.
 *
 * @throws as `select`
 */
export function planPage(context: PlanContext, query: PageQuery): PagePlan {
  const selected = select(context, query)
  const { dialect } = context
  return {
    query,
    page: dialect.render(pageStatement(context, query, selected)),
    count: selected.isFiltered ? dialect.render(countOf(selected)) : null,
    grows: selected.isSearched || selected.isSorted || query.isShuffled === true || query.offset > SCAN_FROM,
  }
}

function pageStatement(context: PlanContext, query: PageQuery, selected: Selected): SQL {
  const { fields, shape, limit, offset } = query
  const { from, where, condition, orderViewId } = selected
  const orderBy = query.isShuffled ? sql`random()` : selected.orderBy
  // What has no key is told apart by its place in the list.
  const keyless = isKeyless(context.model)
  const id = keyless ? sql`row_number() over (order by ${orderBy})` : keyOf(context.model)
  const columns = outputColumns(context, fields, shape)
  if (query.orderViewId !== undefined) columns.push(placeColumn(wholeOf(context), query.orderViewId))
  if (shape.kind === 'rows') columns.push(id)
  else if (shape.withKey) columns.push(sql`${id} as ${sql.identifier(RECORD_KEY)}`)
  // An engine selects one column at least.
  const list = sql.join(columns.length > 0 ? columns : [id], sql`, `)
  if (orderViewId !== null) {
    const ids = manualPage(wholeOf(context), orderViewId, condition, query)
    return sql`select ${list} from ${from} where ${id} in (select k from (${ids}) as page) order by ${orderBy}`
  }
  // Not bound: SQLite looks at a bound limit while it plans, and plans anew for every page.
  const page = sql`limit ${sql.raw(String(Math.floor(limit)))} offset ${offset}`
  // Rows that are skipped are not computed.
  const deep = fields.some(isComputed) ? 1 : DEEP_OFFSET
  if (keyless || (!selected.isSorted && offset < deep)) {
    return sql`select ${list} from ${from} ${where} order by ${orderBy} ${page}`
  }
  // A sort that carries ids alone is several times lighter than one that carries whole rows, and an
  // offset that is skipped in the order's index never touches the table.
  const ids = sql`select ${id} as k from ${from} ${where} order by ${orderBy} ${page}`
  // The subquery stands in another: MySQL takes no limit directly inside an `in`.
  return sql`select ${list} from ${from} where ${id} in (select k from (${ids}) as page) order by ${orderBy}`
}

/** The statement for some records by their ids, in no order, as far as the context lets them be read. */
export function recordsQuery(
  context: PlanContext,
  { fields, shape, ids }: { fields: Field[]; shape: OutputShape; ids: readonly RecordId[] },
): SQL {
  const { model } = context
  const key = keyOf(model)
  const columns = outputColumns(context, fields, shape)
  if (shape.kind === 'rows') columns.push(key)
  else if (shape.withKey) columns.push(sql`${key} as ${sql.identifier(RECORD_KEY)}`)
  const bound = boundCondition(context)
  const listed = sql.join(
    ids.map((id) => sql`${id}`),
    sql`, `,
  )
  return sql`select ${sql.join(columns, sql`, `)} from ${sql.identifier(model.table.tableName)}
    where ${key} in (${listed})${bound ? sql` and ${bound}` : sql``}`
}

/** The statement for the keys of all records that a query means, in its order. */
export function keysQuery(context: PlanContext, query: Parameters<typeof select>[1]): SQL {
  const { from, where, orderBy } = select(context, query)
  return sql`select ${keyOf(context.model)} from ${from} ${where} order by ${orderBy}`
}

/**
 * What holds of every record that is read through this context, also where records are named by their ids: a
 * link to a view shows no others. Null for members.
 */
export function boundCondition(context: PlanContext): SQL | null {
  if (!context.whole) return null
  const conditions = [viewCondition(context), context.narrow ?? null].filter(
    (condition) => condition !== null,
  )
  return conditions.length === 0 ? null : sql.join(conditions, sql` and `)
}

/** How many records a selection means (`count`), and whether it leaves out any of the table. */
export function countRecords(
  context: PlanContext,
  selection: Omit<Selection, 'tableId' | 'viewId'>,
): { query: SQL; isFiltered: boolean } {
  const selected = select(context, selection)
  return { query: countOf(selected), isFiltered: selected.isFiltered }
}

const countOf = ({ from, where }: Selected): SQL =>
  sql`select count(*) as ${sql.identifier('count')} from ${from} ${where}`

/** The place of one record among those that a query means (`n`, from 0); no row where it is not there. */
export function positionQuery(context: PlanContext, query: Query, recordId: number | string): SQL {
  const selected = select(context, query)
  const { condition, orderViewId } = selected
  if (orderViewId !== null) return manualPositions(wholeOf(context), orderViewId, condition, [recordId])
  return sql`select n from (${rankedKeys(context, selected)}) as ranked where k = ${recordId}`
}

/** Keys (`k`) and places (`n`, from 0) of all records that a query means. */
function rankedKeys(context: PlanContext, { from, where, orderBy }: Selected): SQL {
  const key = isKeyless(context.model) ? sql`row_number() over (order by ${orderBy})` : keyOf(context.model)
  return sql`select ${key} as k, row_number() over (order by ${orderBy}) - 1 as n from ${from} ${where}`
}

/** As `positionQuery`, for several records: rows of id and place, without those that are not there. */
export function positionsQuery(
  context: PlanContext,
  query: Query,
  recordIds: readonly (number | string)[],
): SQL {
  const selected = select(context, query)
  const { condition, orderViewId } = selected
  // What is ahead of a record is counted for each: of many, putting all in order once is less work.
  if (orderViewId !== null && recordIds.length <= COUNTED_POSITIONS)
    return manualPositions(wholeOf(context), orderViewId, condition, recordIds)
  const wanted = sql.join(
    recordIds.map((recordId) => sql`${recordId}`),
    sql`, `,
  )
  return sql`select k, n from (${rankedKeys(context, selected)}) as ranked where k in (${wanted})`
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

const usable = (model: TableModel, sorts: Sort[]): Sort[] => sorts.filter((sort) => model.field(sort.fieldId))

function sortTerm(context: PlanContext, { fieldId, direction }: Sort): SQL {
  const { dialect, model } = context
  const field = requireField(model, fieldId)
  const value = fragmentsOf(context).of(field, 'value')
  if (!shownType(field).isList) return dialect.orderBy(sortedBy(context, field, value), direction)
  const whole = dialect.orderBy(value, direction)
  // As text 10 would come before 9, and people would stand by their ids: the first value says where a list stands.
  if (!ORDERED_BY_FIRST.has(filterSetOf(field))) return whole
  const first = sortedBy(context, field, fragmentsOf(context).of(field, 'first'))
  return sql`${dialect.orderBy(first, direction)}, ${whole}`
}

/** Lists whose text is in another order than their values. */
const ORDERED_BY_FIRST: ReadonlySet<FilterSet> = new Set(['number', 'select', 'user'])

/** People sort by their names, and a choice as its options stand, which is what one sees. */
function sortedBy({ dialect, moment }: PlanContext, field: Field, value: SQL): SQL {
  const { type, options } = shownType(field)
  const named = peopleOrder(dialect, field, value, moment)
  if (named || type.choices !== 'single') return named ?? value
  const titles = ((options.choices ?? []) as { title: string }[]).map((choice) => choice.title)
  return dialect.optionOrder(value, titles)
}

const searchedFields = (model: TableModel, { fieldId }: { fieldId: string | null }): Field[] | null =>
  fieldId === null ? null : [requireField(model, fieldId)]

/** A table that has been opened for reading by someone who may. */
export interface Opened {
  engine: Engine
  context: PlanContext
  model: TableModel
}

/**
 * Which records the view of a context has, as its owner means it: those of its filter, and for visitors of a link to
 * the view none of a stack that it hides. Null where it has all.
 */
function viewCondition(context: PlanContext): SQL | null {
  const { dialect, view } = context
  const own = asOwner(context)
  // A view keeps conditions on fields that have since gone to the trash: they are left out.
  const conditions = [filterCondition(own, view?.filter ?? null), shownStacks(own)].filter(
    (condition) => condition !== null,
  )
  return conditions.length === 0 ? null : dialect.and(conditions)
}

function shownStacks(own: PlanContext): SQL | null {
  const { dialect, model, view, visitor } = own
  if (!view || visitor?.grant.kind !== 'view' || visitor.grant.viewId !== view.id) return null
  const { fieldId = null, hidden = [] } = stacksOf(view) ?? {}
  const field = fieldId === null ? undefined : model.field(fieldId)
  if (!field || hidden.length === 0) return null
  // The stacks of a link are the records that it leads to, and not what these are called.
  const { key, storage } = groupTerm(own, model.field(linkOf(field)?.keyFieldId ?? '') ?? field)
  if (storage === 'boolean') {
    const shown = [true, false].filter((value) => !hidden.includes(String(value)))
    return dialect.or([dialect.constant(false), ...shown.map((value) => dialect.eq(key, value))])
  }
  const isText = isTextStorage(storage)
  const values = hidden.flatMap((said): CellValue[] => {
    if (said === null) return []
    // What no record can hold hides none.
    return isText ? [said] : Number.isSafeInteger(Number(said)) ? [Number(said)] : []
  })
  const others = values.length === 0 ? dialect.constant(true) : dialect.not(dialect.inList(key, values))
  const isEmpty = dialect.isNull(key)
  return hidden.includes(null) ? dialect.and([dialect.not(isEmpty), others]) : dialect.or([isEmpty, others])
}
