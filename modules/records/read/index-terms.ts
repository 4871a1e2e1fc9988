import { sql } from 'drizzle-orm'
import { isComputed, shownType } from '../../../src/core/fields/field.ts'
import { holdsPeople, isSecret, showsPeople } from '../../../src/core/fields/traits.ts'
import {
  type Condition,
  type Filter,
  fieldsOf,
  findOperator,
  isComplete,
  isGroup,
  setOf,
} from '../../../src/core/filters/index.ts'
import type { Field, Sort } from '../../../src/core/model.ts'
import type { IndexTerm } from '../../../src/core/performance.ts'
import type { GroupKey, Query } from '../../../src/core/query.ts'
import type { TableModel } from '../../schema/index.ts'
import { columnName, keyFieldsOf, orderField } from '../table/index.ts'
import { type ReadContext, valueStorage, wholeOf } from './expression/scope.ts'
import { groupTerm } from './groups/term.ts'
import type { PlanContext } from './plan-cache.ts'

/** What a query asks of an index. */
interface WantedIndex {
  /** Fields that must equal a value. */
  equal: IndexTerm[]
  /** The order of the records; empty if no index can supply it. */
  order: IndexTerm[]
  /** Other fields that decide which records match, or in which order they are. */
  others: IndexTerm[]
  /** Fields that must be in a range or equal one of several values, the most selective conditions first. */
  ranges: IndexTerm[]
  /** All fields of conditions other than equalities. */
  filtered: IndexTerm[]
  /** False if the query also reads values that no index holds, such as long texts. */
  isCovering: boolean
  /** False if the query returns all records in the table's own order, for which there is an index already. */
  isUseful: boolean
}

/** More terms make an index larger than it is worth. */
const MAX_TERMS = 8

/** Storage kinds whose values may be too long for an index, or have no order. */
const UNINDEXED: ReadonlySet<string> = new Set(['longText', 'json'])

/** True for stored fields of short values. */
export const isIndexable = (field: Field): boolean =>
  !isComputed(field) &&
  !isSecret(field) &&
  field.error === null &&
  !shownType(field).isList &&
  columnName(field) !== '' &&
  !UNINDEXED.has(valueStorage(field))

/** True if records are sorted by the stored value; choices and people have orders of their own. */
const sortsByValue = (field: Field): boolean =>
  isIndexable(field) &&
  shownType(field).type.choices === undefined &&
  !showsPeople({ type: shownType(field).type.name })

/** True for instants, which are grouped by their day. */
const isMoment = (field: Field): boolean => valueStorage(field) === 'datetime'

/** True if groups are told apart and sorted by an expression over the stored value that has no parameters. */
const groupsByValue = (context: ReadContext, field: Field): boolean =>
  isIndexable(field) &&
  !holdsPeople({ type: shownType(field).type.name }) &&
  !isMoment(field) &&
  context.dialect.render(groupTerm(context, field).key).params.length === 0

interface Conditions {
  equal: IndexTerm[]
  others: Field[]
  /** Those of the others with a range, with its kind (`RANGES`). */
  ranges: { field: Field; kind: number }[]
  isCovering: boolean
  isFiltered: boolean
}

const ascending = ({ id: fieldId }: Field, as: IndexTerm['as'] = 'value'): IndexTerm => ({
  fieldId,
  as,
  direction: 'asc',
})

type Conditioned = Pick<Query, 'filter' | 'search' | 'group' | 'recordIds'>

/** The conditions of a query; null if they depend on more than the table's own columns. */
function conditionsOf(context: PlanContext, query: Conditioned): Conditions | null {
  if (query.recordIds || context.narrow || context.leading) return null
  const model = wholeOf(context)
  const filters = [context.view?.filter, query.filter].filter((each) => each != null)
  const found: Conditions = {
    equal: [],
    others: [],
    ranges: [],
    isCovering: !query.search,
    isFiltered: !!query.search,
  }
  for (const filter of filters) collect(model, filter, found)
  for (const key of query.group ?? []) collectGroup(context, key, found)
  found.isFiltered ||= found.equal.length + found.others.length > 0 || !found.isCovering
  return found
}

function collect(model: TableModel, filter: Filter, found: Conditions): void {
  if (isGroup(filter) && filter.join === 'and' && !filter.not) {
    for (const child of filter.children) collect(model, child, found)
    return
  }
  const isEquality =
    !isGroup(filter) && filter.operator === 'eq' && filter.value !== null && !Array.isArray(filter.value)
  for (const id of new Set(fieldsOf(filter))) {
    const field = model.field(id)
    if (!field || field.error !== null) continue
    if (!isIndexable(field)) found.isCovering = false
    else if (isEquality && isComparedExactly(field)) found.equal.push(ascending(field))
    else {
      found.others.push(field)
      const kind = isGroup(filter) ? null : rangeKind(field, filter)
      if (kind !== null) found.ranges.push({ field, kind })
    }
  }
}

/**
 * Operators that an index can be entered for, at one or a few places of it: with several values, a range with both ends, and
 * one with one end.
 */
const RANGES = [
  ['in', 'anyof'],
  ['eq', 'btw', 'isWithin'],
  ['gt', 'gte', 'lt', 'lte'],
] as const

/** The index of the operator's kind in `RANGES`; null for conditions that every entry has to be tested for. */
function rangeKind(field: Field, condition: Condition): number | null {
  const key = findOperator(condition.operator)?.key
  const kind = RANGES.findIndex((keys) => keys.some((each) => each === key))
  if (kind < 0 || !isComplete(condition, field)) return null
  // A cell with several options or people is searched for each.
  const isList = setOf(field) === 'multiSelect' || setOf(field) === 'user'
  return isList && key === 'anyof' ? null : kind
}

/** The fields of ranges in one order, so that queries that name them differently share an index. */
const rangeTerms = ({ ranges }: Conditions): IndexTerm[] =>
  ranges
    .toSorted((a, b) => a.kind - b.kind || (a.field.id < b.field.id ? -1 : 1))
    .map(({ field }) => ascending(field))

function collectGroup(context: PlanContext, { fieldId, value }: GroupKey, found: Conditions): void {
  const field = wholeOf(context).field(fieldId)
  if (!field) return
  if (!groupsByValue(context, field)) found.isCovering = false
  else if (value === null || value === '') found.others.push(field)
  else found.equal.push(ascending(field, 'group'))
}

/** False for instants and days, which equal ranges. */
const isComparedExactly = (field: Field): boolean =>
  shownType(field).type.filters !== 'date' && !showsPeople({ type: shownType(field).type.name })

/** The table's own order, which ends every order. */
function ownTerms(model: TableModel): IndexTerm[] {
  const order = orderField(model)
  return [...(order ? [order] : []), ...keyFieldsOf(model)].map((field) => ascending(field))
}

/** What a page, with the count of its records, asks of an index. Null if no index can help. */
export function wantedForPage(
  context: PlanContext,
  query: Conditioned & Pick<Query, 'groups' | 'sorts'>,
): WantedIndex | null {
  const found = conditionsOf(context, query)
  if (!found) return null
  const model = wholeOf(context)
  const groups = query.groups ?? []
  const sorts = query.sorts ?? (context.view?.sorts ?? []).filter(({ fieldId }) => model.field(fieldId))
  const order: IndexTerm[] = []
  const unordered: Field[] = []
  let isCovering = found.isCovering
  for (const { fieldId, direction } of groups) {
    const field = model.field(fieldId)
    if (field && groupsByValue(context, field) && sortsByValue(field))
      order.push({ fieldId, as: 'group', direction })
    else if (field) unordered.push(field)
  }
  for (const { fieldId, direction } of sorts) {
    const field = model.field(fieldId)
    if (field && sortsByValue(field)) order.push({ fieldId, as: 'value', direction })
    else if (field) unordered.push(field)
  }
  if (unordered.some((field) => !isIndexable(field))) isCovering = false
  const isOrdered = unordered.length === 0
  const isSorted = groups.length + sorts.length > 0
  return {
    equal: found.equal,
    ranges: rangeTerms(found),
    filtered: found.others.map((field) => ascending(field)),
    order: isOrdered ? [...order, ...ownTerms(model)] : [],
    others: [
      ...(isOrdered ? [] : [...order, ...ownTerms(model)]),
      ...[...unordered, ...found.others].filter(isIndexable).map((field) => ascending(field)),
    ],
    isCovering,
    isUseful: found.isFiltered || isSorted,
  }
}

/** What the groups of a selection ask of an index: the groups' keys in order, with all else that is read. */
export function wantedForGroups(
  context: PlanContext,
  selection: Conditioned,
  groups: readonly Sort[],
  summarized: readonly string[],
): WantedIndex | null {
  const keys = groups.flatMap(({ fieldId }) => context.model.field(fieldId) ?? [])
  // Without summaries, records are counted by the stored values (`list-groups.ts`).
  const as = summarized.length > 0 && context.dialect.readsIndexedExpressions ? 'group' : 'value'
  const isGroupable = (field: Field) =>
    as === 'value' ? isIndexable(field) && !isMoment(field) : groupsByValue(context, field)
  return wantedForKeys(context, selection, { keys, as, isIndexed: keys.every(isGroupable) }, summarized)
}

/** As `wantedForGroups`, for records that are told apart by their stored values. */
export const wantedForCombinations = (
  context: PlanContext,
  selection: Conditioned,
  keys: readonly Field[],
  counted: readonly Field[],
): WantedIndex | null =>
  wantedForKeys(
    context,
    selection,
    { keys, as: 'value', isIndexed: keys.every(isIndexable) },
    counted.map(({ id }) => id),
  )

function wantedForKeys(
  context: PlanContext,
  selection: Conditioned,
  { keys, as, isIndexed }: { keys: readonly Field[]; as: IndexTerm['as']; isIndexed: boolean },
  summarized: readonly string[],
): WantedIndex | null {
  const found = conditionsOf(context, selection)
  if (!found) return null
  const model = wholeOf(context)
  const values = summarized.flatMap((fieldId) => model.field(fieldId) ?? [])
  return {
    equal: found.equal,
    ranges: rangeTerms(found),
    filtered: found.others.map((field) => ascending(field)),
    order: isIndexed ? keys.map((field) => ascending(field, as)) : [],
    others: [...new Set([...found.others, ...values])].filter(isIndexable).map((field) => ascending(field)),
    isCovering: found.isCovering && isIndexed && values.every(isIndexable),
    isUseful: true,
  }
}

/** The terms of the index that serves a query best; null if none would help. */
export function bestTerms(wanted: WantedIndex | null): IndexTerm[] | null {
  if (!wanted?.isUseful) return null
  const { equal, order, others, isCovering } = wanted
  // Without all conditions, an index in the order of a sort would be walked from its start, row by row of the table.
  if (!isCovering && equal.length === 0) return null
  const terms = distinct([...sorted(equal), ...order, ...(isCovering ? others : [])])
  return terms.length > MAX_TERMS ? null : terms
}

/**
 * The terms of the index that serves a count best: the fields of its conditions if the index can be entered at one, else
 * the index of the page, which has them as well. Null if none would help.
 */
export function termsOfCount(
  context: PlanContext,
  query: Conditioned & Pick<Query, 'groups' | 'sorts'>,
): IndexTerm[] | null {
  const page = wantedForPage(context, query)
  const isEntered = page !== null && page.equal.length + page.ranges.length > 0
  return isEntered ? termsOfSummaries(context, query, []) : bestTerms(page)
}

/** The terms of the index that serves summaries of a selection best; null if none would help. */
export function termsOfSummaries(
  context: PlanContext,
  selection: Conditioned,
  summarized: readonly string[],
): IndexTerm[] | null {
  const wanted = wantedForKeys(context, selection, { keys: [], as: 'value', isIndexed: true }, summarized)
  const terms = (wanted?.isCovering ? rangeEntryTerms(wanted) : null) ?? bestTerms(wanted)
  return terms?.length === 0 ? null : terms
}

/**
 * The terms of the index that serves a query best which few records meet: it is entered at the values of a condition, and
 * the matching records are sorted. Null if no condition has a range.
 */
export function rangeEntryTerms(wanted: WantedIndex | null): IndexTerm[] | null {
  const [range] = wanted?.ranges ?? []
  if (!wanted || !range) return null
  const { equal, filtered, order, others, isCovering } = wanted
  const entered = distinct([...sorted(equal), range])
  const all = distinct([...entered, ...filtered, ...order, ...others])
  return isCovering && all.length <= MAX_TERMS ? all : entered
}

/** Equalities in one order, so that queries that name them differently share an index. */
const sorted = (terms: IndexTerm[]): IndexTerm[] =>
  terms.toSorted((a, b) => (a.fieldId < b.fieldId ? -1 : a.fieldId > b.fieldId ? 1 : 0))

function distinct(terms: IndexTerm[]): IndexTerm[] {
  const seen = new Set<string>()
  return terms.filter(({ fieldId, as }) => {
    const key = `${as} ${fieldId}`
    return !seen.has(key) && seen.add(key)
  })
}

/** True if nothing but ranges decides where an index can be entered for a query, and it begins with one of them. */
export const entersRange = ([first]: readonly IndexTerm[], { equal, ranges }: WantedIndex): boolean =>
  equal.length === 0 && ranges.some(({ fieldId, as }) => fieldId === first?.fieldId && as === first.as)

/** True if an index supplies the order of a query, and everything else that its conditions compare. */
export function supplies(index: readonly IndexTerm[], wanted: WantedIndex): boolean {
  const { order, others, isCovering } = wanted
  const equal = distinct(wanted.equal)
  const rest = distinct([...equal, ...order]).slice(equal.length)
  const isEqual = (a: IndexTerm | undefined, b: IndexTerm) =>
    a?.fieldId === b.fieldId && a.as === b.as && a.direction === b.direction
  const leads = equal.every((term) => index.slice(0, equal.length).some((own) => isEqual(own, term)))
  if (order.length === 0 || !leads) return false
  if (!rest.every((term, at) => isEqual(index[equal.length + at], term))) return false
  if (equal.length > 0) return true
  return (
    isCovering &&
    others.every((term) => index.some((own) => own.fieldId === term.fieldId && own.as === term.as))
  )
}

/** The SQL of the terms, exactly as the planner writes them, without the table's name; null if one has no index. */
export function indexSql(context: ReadContext, terms: readonly IndexTerm[]): string[] | null {
  const { dialect, model } = context
  const prefix = `${dialect.quote(model.table.tableName)}.`
  const written = terms.map(({ fieldId, as, direction }) => {
    const field = model.field(fieldId)
    if (!field || !isIndexable(field)) return null
    if (as === 'value') {
      const column = sql`${sql.identifier(columnName(field))}`
      return dialect.render(dialect.orderBy(column, direction)).sql
    }
    const key = dialect.render(groupTerm(context, field).key)
    if (key.params.length > 0) return null
    return dialect.render(dialect.orderBy(sql.raw(`(${key.sql.replaceAll(prefix, '')})`), direction)).sql
  })
  return written.every((term) => term !== null) ? written : null
}
