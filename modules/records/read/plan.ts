import { type SQL, sql } from 'drizzle-orm'
import { filterSetOf, isComputed, shownType } from '../../../src/core/fields/field.ts'
import type { CellValue, FilterSet } from '../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import type { Field, RecordId, Sort } from '../../../src/core/model.ts'
import type { IndexTerm } from '../../../src/core/performance.ts'
import type { Query, Search, Selection } from '../../../src/core/query.ts'
import { stacksOf } from '../../../src/core/views/index.ts'
import type { Engine, Statement } from '../../../src/dialects/dialect.ts'
import { isTextStorage } from '../../../src/dialects/related.ts'
import { getField, type TableModel } from '../../schema/index.ts'
import { manualOrder, manualPage, manualPositions, placeColumn } from '../rows/index.ts'
import { isForeign, isKeyless, keyFieldsOf, keyOf, listOf, ownOrder } from '../table/index.ts'
import {
  filterCondition,
  firstMatch,
  idCondition,
  refuseFaulty,
  searchCondition,
} from './expression/conditions.ts'
import { rootScope } from './expression/expression-of.ts'
import { filterCandidates } from './expression/filtered-texts.ts'
import { fragmentsOf } from './expression/fragments.ts'
import type { Form, ReadContext } from './expression/scope.ts'
import { asOwner, wholeOf } from './expression/scope.ts'
import { groupCondition, groupOrder, groupTerm, peopleOrder } from './groups/term.ts'
import { bestTerms, entersRange, rangeEntryTerms, supplies, wantedForPage } from './index-terms.ts'
import { compiled, type PlanContext } from './plan-cache.ts'

/** Up to this many records of a manual order, counting the records before each is faster than ranking all. */
const COUNTED_POSITIONS = 3

/** The SQL clauses that select and order the records of a query. */
export interface Selected {
  from: SQL
  /** `where …` or empty. */
  where: SQL
  /** The condition alone; null: all records. */
  condition: SQL | null
  orderBy: SQL
  /** True if some records of the table are excluded. */
  isFiltered: boolean
  /** True if there are conditions besides `narrow`, which uses an index. */
  isSearched: boolean
  isSorted: boolean
  /** The view whose manual order applies; null for any other order. */
  orderViewId: string | null
}

/** A page of an opened table: the records, their fields and their shape. */
export interface PageQuery extends Omit<Query, 'tableId' | 'viewId' | 'timeZone' | 'fieldIds'> {
  fields: Field[]
  shape: OutputShape
  /** Random order, ignoring sorts. */
  isShuffled?: boolean
  /** All records in any order, for a caller that names them and orders them itself: sorting whole rows is slow. */
  isUnordered?: boolean
}

/** The compiled page and count of one query. */
export interface PagePlan {
  query: PageQuery
  page: Statement
  /**
   * The page of a query of all records, counted from their end, which is faster in the last third of a large table. Null
   * where it saves nothing or has another result.
   *
   * @param total records of the table, more than the offset
   */
  fromEnd: ((total: number) => Statement) | null
  /**
   * The page of a filtered query in the table's own order, with the records that are among the first `WALKED` of the
   * table only. Null where the engine reads no more than needed for `page`.
   */
  amongFirst: Statement | null
  /** Null if the query selects all records of the table. */
  count: Statement | null
  /** True if the cost grows with the table, even for a small page. */
  grows: boolean
  /** SQL of the conditions and the order, which is evaluated for each record of the table. */
  perRecord: string
  /** Number of computed fields that it reads. */
  computedFields: number
  /** The terms of the index that serves it best; null if none would help. */
  bestIndex: IndexTerm[] | null
  /** Those of the index that serves it best if few records match; null if that makes no difference. */
  bestIndexOfFew: IndexTerm[] | null
  /** Null where no index has the range of a condition, or the engine knows how many records a range has. */
  ranged: RangedPage | null
}

/**
 * The ways to a filtered page in the table's own order or a view's manual one, where an index has the range of a condition.
 * SQLite does not know how many records a range has: it walks the order for one end of a range, and sorts all records
 * for two.
 */
export interface RangedPage {
  /** Counts the records that match up to a number, as `n`. */
  count(most: number): Statement
  /** The page among the first records of the table, so many. */
  among(walked: number): Statement
  /** The page by the index, which finds all records that match; they are sorted. */
  byRange: Statement
}

/** A read of at most this part of a table's records is one of few: sorting them is as fast as looking for a page. */
export const FEW_SHARE = 0.01

/**
 * The records that a query selects. The view’s own filter always applies; the caller’s filter and search narrow it
 * further; the caller’s sorts replace the view’s.
 *
 * @throws FIELD_NOT_FOUND, INVALID_FILTER, FILTER_VERIFICATION_FAILED for what the table cannot answer
 */
export function select(
  context: PlanContext,
  query: Omit<Selection, 'tableId' | 'viewId'> & Pick<Query, 'groups' | 'sorts' | 'orderViewId'>,
  { isReversed = false }: { isReversed?: boolean } = {},
): Selected {
  const { model, view } = context
  const own = asOwner(context)
  const searched = searchedRecords(context, query)
  const condition = allOf([searched, context.narrow])
  const isFiltered = condition !== null
  const groups = query.groups ?? []
  const isUnindexed = isFiltered && !hasOrderIndex(context, query)
  const directed = (sort: Sort): Sort =>
    isReversed ? { ...sort, direction: sort.direction === 'asc' ? 'desc' : 'asc' } : sort
  const sortsOf = (within: PlanContext, list: Sort[]) =>
    list.map((sort, at) => sortTerm(within, directed(sort), isUnindexed && groups.length === 0 && at === 0))
  const sorts = [
    ...groups
      .map(directed)
      .flatMap(({ fieldId, direction }, at) =>
        groupOrder(context, getField(model, fieldId), direction, isUnindexed && at === 0),
      ),
    ...(query.sorts ? sortsOf(context, query.sorts) : sortsOf(own, usable(own.model, view?.sorts ?? []))),
  ]
  if (context.leading) sorts.unshift(sql`case when ${context.leading} then 0 else 1 end`)
  const orderViewId = sorts.length === 0 ? (query.orderViewId ?? null) : null
  const order =
    orderViewId === null ? ownOrder(rootScope(context)) : manualOrder(wholeOf(context), orderViewId)
  return {
    from: sql`${sql.identifier(model.table.tableName)}`,
    where: condition === null ? sql`` : sql`where ${condition}`,
    condition,
    orderBy: sql.join([...sorts, ...(isReversed ? order.map((term) => sql`${term} desc`) : order)], sql`, `),
    isFiltered,
    isSearched: searched !== null,
    isSorted: sorts.length > 0,
    orderViewId,
  }
}

/**
 * True if the records may be read in the order of an index: filtered, that only pays with an index that also has what
 * the filter compares. Connected databases keep the indexes that they were given.
 */
export function hasOrderIndex(context: PlanContext, query: Parameters<typeof wantedForPage>[1]): boolean {
  const model = wholeOf(context)
  if (isForeign(model)) return true
  const { indexes = [] } = context
  // A table is stored in the order of its key: walking it reads no more than a scan.
  if (indexes.length === 0 && isSortedByKey(context, query)) return true
  const wanted = wantedForPage(context, query)
  return wanted !== null && indexes.some((index) => supplies(index, wanted))
}

function isSortedByKey(
  context: PlanContext,
  { groups = [], sorts }: Pick<Query, 'groups' | 'sorts'>,
): boolean {
  const [first] = sorts ?? context.view?.sorts ?? []
  const [key] = keyFieldsOf(wholeOf(context))
  return groups.length === 0 && first !== undefined && first.fieldId === key?.id
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
    return allOf([
      filterCandidates(watched, filter ?? null),
      viewCondition(watched),
      filterCondition(watched, filter ?? null),
      search ? searchCondition(watched, search.text, searchedFields(model, search)) : null,
      recordIds ? idCondition(watched, recordIds) : null,
      ...group.map(({ fieldId, value }) => groupCondition(watched, getField(model, fieldId), value)),
    ])
  })
}

/**
 * Compiles a page to one statement, whatever the number of rows and fields.
 *
 * @throws as `select`
 */
export function planPage(context: PlanContext, query: PageQuery): Omit<PagePlan, 'count'> {
  const selected = select(context, query)
  const { dialect } = context
  const wanted = query.isShuffled ? null : wantedForPage(context, query)
  return {
    query,
    page: dialect.render(pageStatement(context, query, selected)),
    fromEnd: hasEnd(context, query, selected)
      ? keepingLast((total) => dialect.render(pageFromEnd(context, query, selected, total)))
      : null,
    amongFirst: mayWalk(context, query, selected)
      ? dialect.render(pageAmongFirst(context, query, selected))
      : null,
    grows: selected.isSearched || selected.isSorted || query.isShuffled === true || query.offset > SCAN_FROM,
    perRecord: dialect.render(sql`${selected.where} order by ${selected.orderBy}`).sql,
    computedFields: query.fields.filter(isComputed).length,
    bestIndex: bestTerms(wanted),
    bestIndexOfFew: rangeEntryTerms(wanted),
    ranged: mayEnterRange(context, query, selected, wanted) ? rangedPage(context, query, selected) : null,
  }
}

/**
 * True if the engine may read the matching records by the index of another query and sort them, although many match: a
 * walk in the table's own order would soon end.
 */
const mayWalk = (context: PlanContext, query: PageQuery, selected: Selected): boolean =>
  isWalkable(context, query, selected) && !hasOrderIndex(context, query)

/** True if an index has the range of a condition of a page that might be found sooner by walking the order. */
const mayEnterRange = (
  context: PlanContext,
  query: PageQuery,
  selected: Selected,
  wanted: ReturnType<typeof wantedForPage>,
): boolean =>
  wanted !== null &&
  isWalkable(context, query, selected) &&
  (context.indexes ?? []).some((index) => entersRange(index, wanted))

function rangedPage(context: PlanContext, query: PageQuery, selected: Selected): RangedPage {
  const { dialect } = context
  return {
    count: keepingLast((most) => dialect.render(countUpTo(context, query, most))),
    among: keepingLast((walked) => dialect.render(pageAmongFirst(context, query, selected, walked))),
    byRange: dialect.render(
      pageStatement(context, query, selected, (order) => dialect.unindexed?.(order) ?? order),
    ),
  }
}

function isWalkable(context: PlanContext, query: PageQuery, { condition, isSorted }: Selected): boolean {
  const { model, dialect, indexes = [] } = context
  if (condition === null || isSorted || query.isShuffled) return false
  if (query.search || query.recordIds || context.narrow || context.leading) return false
  if (context.searchIndex?.filter) return false
  return !!dialect.unindexedCondition && indexes.length > 0 && !isForeign(model) && !isKeyless(model)
}

/** As `pageStatement`, for a page of which `mayWalk` is true. */
function pageAmongFirst(context: PlanContext, query: PageQuery, selected: Selected, walked = WALKED): SQL {
  const { model, dialect } = context
  const { from, condition, orderBy, orderViewId } = selected
  const own = ownOrder(rootScope(context))
  const [order] = own
  const last = sql`(select ${order} from ${from} order by ${sql.join(own, sql`, `)} limit 1 offset ${sql.raw(String(walked))})`
  const isComplete = sql`not exists (select 1 from ${from} where ${order} is null)`
  const matching = condition && (dialect.unindexedCondition?.(condition) ?? condition)
  const id = keyOf(model)
  if (orderViewId !== null) {
    const ids = manualPage(wholeOf(context), orderViewId, sql`${matching} and ${isComplete}`, query, { last })
    return sql`select ${listed(context, query, id)} from ${from} where ${id} in (select k from (${ids}) as page) order by ${orderBy}`
  }
  const isWalked = sql`${order} <= ${last} and ${isComplete}`
  return sql`select ${listed(context, query, id)} from ${from} where ${isWalked} and ${matching}
    order by ${orderBy} limit ${sql.raw(String(Math.floor(query.limit)))} offset ${query.offset}`
}

/** Returns the same statement for the same number: results are cached by their statement. */
function keepingLast(render: (total: number) => Statement): (total: number) => Statement {
  let last: { total: number; statement: Statement } | null = null
  return (total) => {
    if (last?.total !== total) last = { total, statement: render(total) }
    return last.statement
  }
}

/** True if the page is deep and may be counted from the end of the table. */
function hasEnd(context: PlanContext, query: PageQuery, { isFiltered, orderViewId }: Selected): boolean {
  if (query.offset < SCAN_FROM || query.isShuffled || isFiltered || orderViewId !== null) return false
  return !context.leading && !isForeign(context.model) && !isKeyless(context.model)
}

/** As `pageStatement`, for a page of which `hasEnd` is true. */
function pageFromEnd(context: PlanContext, query: PageQuery, selected: Selected, total: number): SQL {
  const id = keyOf(context.model)
  const last = Math.min(query.offset + query.limit, total)
  const { from, orderBy } = select(context, query, { isReversed: true })
  const ids = sql`select ${id} as k from ${from} order by ${orderBy}
    limit ${sql.raw(String(Math.floor(last - query.offset)))} offset ${total - last}`
  return sql`select ${listed(context, query, id)} from ${selected.from}
    where ${id} in (select k from (${ids}) as page) order by ${selected.orderBy}`
}

/** The select list of records. */
function listed(
  context: PlanContext,
  { fields, shape, orderViewId }: Pick<PageQuery, 'fields' | 'shape' | 'orderViewId'>,
  id: SQL,
): SQL {
  const columns = outputColumns(context, fields, shape)
  if (orderViewId !== undefined) columns.push(placeColumn(wholeOf(context), orderViewId))
  if (shape.kind === 'rows') columns.push(id)
  else if (shape.withKey) columns.push(sql`${id} as ${sql.identifier(RECORD_KEY)}`)
  // SQL needs at least one column.
  return sql.join(columns.length > 0 ? columns : [id], sql`, `)
}

/** @param ordered writes the first term of the table's own order, if the page has that or a manual order */
function pageStatement(
  context: PlanContext,
  query: PageQuery,
  selected: Selected,
  ordered?: (order: SQL) => SQL,
): SQL {
  const { fields, limit, offset } = query
  const { from, where, condition, orderViewId } = selected
  const [first, ...others] = ownOrder(rootScope(context))
  const ownOrdered = ordered && first && sql.join([ordered(first), ...others], sql`, `)
  const given = orderViewId === null ? (ownOrdered ?? selected.orderBy) : selected.orderBy
  const orderBy = query.isShuffled ? context.dialect.random : given
  // Records without a key are identified by their position in the list.
  const keyless = isKeyless(context.model)
  const id = keyless ? sql`row_number() over (order by ${orderBy})` : keyOf(context.model)
  const list = listed(context, query, id)
  if (query.isUnordered) return sql`select ${list} from ${from} ${where}`
  if (orderViewId !== null) {
    const ids = manualPage(wholeOf(context), orderViewId, condition, query, { ordered })
    return sql`select ${list} from ${from} where ${id} in (select k from (${ids}) as page) order by ${orderBy}`
  }
  // Not bound: SQLite replans for every bound limit.
  const page = sql`limit ${sql.raw(String(Math.floor(limit)))} offset ${offset}`
  // Skipped rows are not computed.
  const deep = fields.some(isComputed) ? 1 : DEEP_OFFSET
  if (keyless || (!selected.isSorted && offset < deep)) {
    return sql`select ${list} from ${from} ${where} order by ${orderBy} ${page}`
  }
  // Sorting ids is several times cheaper than sorting whole rows, and skipping an offset in the index does not read
  // the table.
  const ids = sql`select ${id} as k from ${from} ${where} order by ${orderBy} ${page}`
  // A nested subquery, because MySQL takes no limit directly inside `in`.
  return sql`select ${list} from ${from} where ${id} in (select k from (${ids}) as page) order by ${orderBy}`
}

/** Selects records by their ids, in no order, within the limits of the context. */
export function recordsQuery(
  context: PlanContext,
  { fields, shape, ids }: { fields: Field[]; shape: OutputShape; ids: readonly RecordId[] },
): SQL {
  const { model } = context
  const key = keyOf(model)
  const where = allOf([sql`${key} in (${listOf(ids)})`, boundCondition(context)])
  return sql`select ${listed(context, { fields, shape }, key)} from ${sql.identifier(model.table.tableName)}
    where ${where}`
}

/** Selects the key of each record and the index of the first of the fields that shows the text, in no order. */
export function matchedFieldsQuery(
  context: PlanContext,
  text: string,
  fields: readonly Field[],
  ids: RecordId[],
): SQL {
  const { from, where } = select(context, { recordIds: ids })
  return sql`select ${keyOf(context.model)}, ${firstMatch(context, text, fields)} from ${from} ${where}`
}

/** Selects the keys of all records of a query, in its order. */
export function keysQuery(context: PlanContext, query: Parameters<typeof select>[1]): SQL {
  const { from, where, orderBy } = select(context, query)
  return sql`select ${keyOf(context.model)} from ${from} ${where} order by ${orderBy}`
}

/** The condition on every record read through a visitor’s context, including reads by id. Null for members. */
export function boundCondition(context: PlanContext): SQL | null {
  return context.whole ? allOf([viewCondition(context), context.narrow]) : null
}

/** The conditions joined by `and`; null if there are none. */
function allOf(conditions: readonly (SQL | null | undefined)[]): SQL | null {
  const given = conditions.filter((condition) => condition != null)
  return given.length === 0 ? null : sql.join(given, sql` and `)
}

/** Counts the records of a selection (`count`). */
export function countRecords(
  context: PlanContext,
  selection: Omit<Selection, 'tableId' | 'viewId'>,
): { query: SQL; isFiltered: boolean } {
  const selected = select(context, selection)
  return { query: countOf(selected), isFiltered: selected.isFiltered }
}

/** Counts the records of a selection up to a number (`n`). */
export function countUpTo(
  context: PlanContext,
  selection: Omit<Selection, 'tableId' | 'viewId'>,
  most: number,
): SQL {
  const { from, where } = select(context, selection)
  return sql`select count(*) as n from (select 1 as one from ${from} ${where} limit ${sql.raw(String(most))}) as counted`
}

const countOf = ({ from, where }: Selected): SQL =>
  sql`select count(*) as ${sql.identifier('count')} from ${from} ${where}`

/** Keys (`k`) and positions (`n`, from 0) of all records of a query. */
function rankedKeys(context: PlanContext, { from, where, orderBy }: Selected): SQL {
  const key = isKeyless(context.model) ? sql`row_number() over (order by ${orderBy})` : keyOf(context.model)
  return sql`select ${key} as k, row_number() over (order by ${orderBy}) - 1 as n from ${from} ${where}`
}

/** Selects the keys (`k`) and the positions in a query (`n`, from 0) of records; those not included are omitted. */
export function positionsQuery(
  context: PlanContext,
  query: Query,
  recordIds: readonly (number | string)[],
): SQL {
  const selected = select(context, query)
  const { condition, orderViewId } = selected
  // `manualPositions` counts for each record: for many, ranking all once is cheaper.
  if (orderViewId !== null && recordIds.length <= COUNTED_POSITIONS)
    return manualPositions(wholeOf(context), orderViewId, condition, recordIds)
  const wanted = listOf(recordIds)
  return sql`select k, n from (${rankedKeys(context, selected)}) as ranked where k in (${wanted})`
}

/**
 * The fields of a query in its order; by default all that are not system fields. Fields in the trash are omitted: whoever
 * has the table open asks for a deleted field until the news has arrived.
 *
 * @throws FIELD_NOT_FOUND
 */
export function wantedFields(model: TableModel, fieldIds: string[] | undefined): Field[] {
  if (!fieldIds) return model.fields.filter((field) => !field.isSystem)
  return fieldIds.filter((id) => !model.isTrashed(id)).map((id) => getField(model, id))
}

const usable = (model: TableModel, sorts: Sort[]): Sort[] => sorts.filter((sort) => model.field(sort.fieldId))

/** @param isUnindexed true: no index supplies the order */
function sortTerm(context: PlanContext, { fieldId, direction }: Sort, isUnindexed: boolean): SQL {
  const { dialect, model } = context
  const field = getField(model, fieldId)
  const value = fragmentsOf(context).of(field, 'value')
  if (!shownType(field).isList) {
    const sorted = sortedBy(context, field, value)
    return dialect.orderBy(isUnindexed ? (dialect.unindexed?.(sorted) ?? sorted) : sorted, direction)
  }
  const whole = dialect.orderBy(value, direction)
  // As text, 10 would sort before 9, and people by their ids: sort such lists by the first value.
  if (!ORDERED_BY_FIRST.has(filterSetOf(field))) return whole
  const first = sortedBy(context, field, fragmentsOf(context).of(field, 'first'))
  return sql`${dialect.orderBy(first, direction)}, ${whole}`
}

/** Lists sorted by their first value. */
const ORDERED_BY_FIRST: ReadonlySet<FilterSet> = new Set(['number', 'select', 'user'])

/** Sorts people by name, and choices in the order of the options. */
function sortedBy({ dialect, moment }: PlanContext, field: Field, value: SQL): SQL {
  const { type, options } = shownType(field)
  const named = peopleOrder(dialect, field, value, moment)
  if (named || type.choices !== 'single') return named ?? value
  const titles = ((options.choices ?? []) as { title: string }[]).map((choice) => choice.title)
  return dialect.optionOrder(value, titles)
}

function searchedFields(model: TableModel, { fieldId, fieldIds }: Search): Field[] | null {
  if (fieldId !== null) return [getField(model, fieldId)]
  return fieldIds?.map((id) => getField(model, id)) ?? null
}

/** A table opened for reading, after the access check. */
export interface Opened {
  engine: Engine
  context: PlanContext
  model: TableModel
}

/**
 * The records of the context’s view, as its owner configured it: its filter, and for visitors without the hidden
 * stacks. Null for all.
 */
function viewCondition(context: PlanContext): SQL | null {
  const { dialect, view } = context
  const own = asOwner(context)
  // Conditions on fields in the trash are ignored.
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
  // Stacks of a link are the linked records, not their names.
  const { key, storage } = groupTerm(own, model.field(linkOf(field)?.keyFieldId ?? '') ?? field)
  if (storage === 'boolean') {
    const shown = [true, false].filter((value) => !hidden.includes(String(value)))
    return dialect.or([dialect.constant(false), ...shown.map((value) => dialect.eq(key, value))])
  }
  const isText = isTextStorage(storage)
  const values = hidden.flatMap((said): CellValue[] => {
    if (said === null) return []
    // Ignores values that no record can have.
    return isText ? [said] : Number.isSafeInteger(Number(said)) ? [Number(said)] : []
  })
  const others = values.length === 0 ? dialect.constant(true) : dialect.not(dialect.inList(key, values))
  const isEmpty = dialect.isNull(key)
  return hidden.includes(null) ? dialect.and([dialect.not(isEmpty), others]) : dialect.or([isEmpty, others])
}

/** From this offset on, ids are found in the index first, and their columns read afterwards. */
const DEEP_OFFSET = 500

/** Records that a page is looked for among, before all that match are read: about a millisecond. */
export const WALKED = 2_000

/** From this many records on, reads whose cost grows with the table run in a worker thread. */
export const SCAN_FROM = 5_000

/** The shape of the rows of a page. */
export type OutputShape =
  /** Lists of values in field order, then the id. Links have the first of their records, or all. */
  | { kind: 'rows'; links: 'first' | 'all' }
  /** Objects by field title for REST: the engine names the keys, which saves a second pass. */
  | { kind: 'titled'; withKey: boolean }

export type TitledRow = Record<string, unknown>

/** Key of the record’s id in titled objects; titles contain no control characters. */
const RECORD_KEY = '~\u0001key'

/** Removes the id from a titled object and returns it. */
export function takeRecordKey(row: TitledRow): RecordId {
  const key = row[RECORD_KEY] as RecordId
  delete row[RECORD_KEY]
  return key
}

/** The form of a field in titled objects: Links give their number, LinkToAnotherRecord the records. */
export const titledForm = (field: Field): Form => {
  if (linkOf(field) === null) return 'cell'
  return fieldType(field.type).linkAnswer === 'count' ? 'value' : 'records'
}

/** The select list of a page, without the id. */
export function outputColumns(context: ReadContext, fields: Field[], shape: OutputShape): SQL[] {
  const fragments = fragmentsOf(context)
  if (shape.kind === 'rows') return fragments.cells(fields, shape.links === 'all' ? 'whole' : 'cell')
  return fields.map(
    (field) => sql`${fragments.of(field, titledForm(field))} as ${sql.identifier(field.title)}`,
  )
}
