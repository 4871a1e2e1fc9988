import { sql } from 'drizzle-orm'
import { isComputed, shownType } from '../../../src/core/fields/field.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
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
import type { IndexTerm, UnindexedFormula } from '../../../src/core/performance.ts'
import type { GroupKey, Query } from '../../../src/core/query.ts'
import type { TableModel } from '../../schema/index.ts'
import { columnName, keyFieldsOf, orderField } from '../table/index.ts'
import { storedOperands, unindexedFormula } from './expression/formula.ts'
import { fragmentsOf } from './expression/fragments.ts'
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

/** True for fields of short values that are stored, or computed by a formula from stored values of the record. */
export const isIndexable = (context: ReadContext, field: Field): boolean =>
  field.error === null &&
  !shownType(field).isList &&
  !UNINDEXED.has(valueStorage(field)) &&
  (isComputed(field)
    ? isFormula(field) && unindexedFormula(wholeOf(context), context.dialect, field) === null
    : !isSecret(field) && columnName(field) !== '')

const isFormula = (field: Field): boolean => fieldType(field.type).computed === 'formula'

/** The formulas of a view's filter, sorts and groups of which there can be no index, with the reason. */
export function unindexedFormulas(context: PlanContext): UnindexedFormula[] {
  const { view, dialect } = context
  const model = wholeOf(context)
  const named = [
    ...(view?.filter ? fieldsOf(view.filter) : []),
    ...[...(view?.sorts ?? []), ...(view?.groups ?? [])].map(({ fieldId }) => fieldId),
  ]
  return [...new Set(named)].flatMap((fieldId) => {
    const field = model.field(fieldId)
    if (!field || !isFormula(field) || field.error !== null) return []
    const reason = unindexedFormula(model, dialect, field)
    return reason === null ? [] : [{ fieldId, reason }]
  })
}

/**
 * The fields whose values an index must hold so that it alone tells the value of a field; null if none can. PostgreSQL
 * never reads the value of an expression from an index without the columns that the expression is computed from.
 */
function coveringFields(context: ReadContext, field: Field): Field[] | null {
  if (!isIndexable(context, field)) return null
  if (!isComputed(field) || context.dialect.readsIndexedExpressions) return [field]
  const operands = storedOperands(wholeOf(context), field)
  return operands.every((operand) => isIndexable(context, operand)) ? operands : null
}

/** True if records are sorted by the value; choices and people have orders of their own. */
const sortsByValue = (context: ReadContext, field: Field): boolean =>
  isIndexable(context, field) &&
  shownType(field).type.choices === undefined &&
  !showsPeople({ type: shownType(field).type.name })

/** True for instants, which are grouped by their day. */
const isMoment = (field: Field): boolean => valueStorage(field) === 'datetime'

/** The table as it is read once an index holds the field. */
const asIndexed = (context: ReadContext, field: Field): ReadContext =>
  isComputed(field) ? { ...context, indexes: [[ascending(field)]] } : context

/** True if groups are told apart and sorted by an expression over the stored value that has no parameters. */
const groupsByValue = (context: ReadContext, field: Field): boolean =>
  isIndexable(context, field) &&
  !holdsPeople({ type: shownType(field).type.name }) &&
  !isMoment(field) &&
  context.dialect.render(groupTerm(asIndexed(context, field), field).key).params.length === 0

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
  const filters = [context.view?.filter, query.filter].filter((each) => each != null)
  const found: Conditions = {
    equal: [],
    others: [],
    ranges: [],
    isCovering: !query.search,
    isFiltered: !!query.search,
  }
  for (const filter of filters) collect(context, filter, found)
  for (const key of query.group ?? []) collectGroup(context, key, found)
  found.isFiltered ||= found.equal.length + found.others.length > 0 || !found.isCovering
  return found
}

function collect(context: PlanContext, filter: Filter, found: Conditions): void {
  if (isGroup(filter) && filter.join === 'and' && !filter.not) {
    for (const child of filter.children) collect(context, child, found)
    return
  }
  const isEquality =
    !isGroup(filter) && filter.operator === 'eq' && filter.value !== null && !Array.isArray(filter.value)
  for (const id of new Set(fieldsOf(filter))) {
    const field = wholeOf(context).field(id)
    if (!field || field.error !== null) continue
    if (isEquality && isComparedExactly(field) && isIndexable(context, field)) {
      found.equal.push(ascending(field))
      continue
    }
    cover(context, field, found)
    const kind = isGroup(filter) || !isIndexable(context, field) ? null : rangeKind(field, filter)
    if (kind !== null) found.ranges.push({ field, kind })
  }
}

/** Adds a field whose value the index should tell. */
function cover(context: ReadContext, field: Field, found: Pick<Conditions, 'others' | 'isCovering'>): void {
  const fields = coveringFields(context, field)
  if (fields) found.others.push(...fields)
  else found.isCovering = false
}

/**
 * Operators that an index can be entered for, at one or a few places of it: with several values, a range with both ends, and
 * one with one end.
 */
const RANGES = [
  ['in', 'anyof'],
  ['eq', 'btw', 'isWithin', 'during'],
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
  else if (value === null || value === '') cover(context, field, found)
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
  const filtered = found.others.map((field) => ascending(field))
  const order: IndexTerm[] = []
  const ordered: Field[] = []
  const unordered: Field[] = []
  for (const { fieldId, direction } of groups) {
    const field = model.field(fieldId)
    if (!field) continue
    const isOrdered = groupsByValue(context, field) && sortsByValue(context, field)
    if (isOrdered) order.push({ fieldId, as: 'group', direction })
    const list = isOrdered ? ordered : unordered
    list.push(field)
  }
  for (const { fieldId, direction } of sorts) {
    const field = model.field(fieldId)
    if (!field) continue
    const isOrdered = sortsByValue(context, field)
    if (isOrdered) order.push({ fieldId, as: 'value', direction })
    const list = isOrdered ? ordered : unordered
    list.push(field)
  }
  const isWalked = found.isFiltered && found.equal.length === 0 && !context.dialect.readsIndexedExpressions
  // An index that is walked in the order of an expression reads the value of the expression as well.
  const read = isWalked ? [...unordered, ...ordered.filter(isComputed)] : unordered
  for (const field of read) cover(context, field, found)
  const isOrdered = unordered.length === 0
  const isSorted = groups.length + sorts.length > 0
  return {
    equal: found.equal,
    ranges: rangeTerms(found),
    filtered,
    order: isOrdered ? [...order, ...ownTerms(model)] : [],
    others: [
      ...(isOrdered ? [] : [...order, ...ownTerms(model)]),
      ...found.others.map((field) => ascending(field)),
    ],
    isCovering: found.isCovering,
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
    as === 'value' ? isIndexable(context, field) && !isMoment(field) : groupsByValue(context, field)
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
    { keys, as: 'value', isIndexed: keys.every((field) => isIndexable(context, field)) },
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
  const filtered = found.others.map((field) => ascending(field))
  // All records are read: an index in the order of an expression whose value it cannot tell would be of no use.
  const isOrdered = isIndexed && keys.every((field) => coveringFields(context, field)?.includes(field))
  for (const field of isOrdered ? values : [...keys, ...values]) cover(context, field, found)
  return {
    equal: found.equal,
    ranges: rangeTerms(found),
    filtered,
    order: isOrdered ? keys.map((field) => ascending(field, as)) : [],
    others: found.others.map((field) => ascending(field)),
    isCovering: found.isCovering && isIndexed,
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
 * the index of the page in the table's own order, which has them as well. Null if none would help.
 */
export function termsOfCount(context: PlanContext, selection: Conditioned): IndexTerm[] | null {
  const page = wantedForPage(context, { ...selection, sorts: [], groups: [] })
  const isEntered = page !== null && page.equal.length + page.ranges.length > 0
  return isEntered ? termsOfSummaries(context, selection, []) : bestTerms(page)
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

/** Begins what an index holds of a formula; no column has such a name. */
export const EXPRESSION_PREFIX = 'expression:'

/**
 * What an index holds of a field: its column, or what tells the expression of its formula from any other. Empty if there
 * can be no index of it.
 */
export function indexedValue(context: ReadContext, fieldId: string): string {
  const { model, dialect } = context
  const field = model.field(fieldId)
  if (!field || (isComputed(field) && !isIndexable(context, field))) return ''
  if (!isComputed(field)) return columnName(field)
  const { sql: text } = dialect.render(fragmentsOf(asIndexed(context, field)).of(field, 'value'))
  const prefix = `${dialect.quote(model.table.tableName)}.`
  const digest = new Bun.CryptoHasher('sha256').update(text.replaceAll(prefix, '')).digest('hex')
  return `${EXPRESSION_PREFIX}${digest.slice(0, 32)}`
}

/** The SQL of the terms, exactly as the planner writes them, without the table's name; null if there can be no such index. */
export function indexSql(context: ReadContext, terms: readonly IndexTerm[]): string[] | null {
  const { dialect, model } = context
  const prefix = `${dialect.quote(model.table.tableName)}.`
  const written = terms.map(({ fieldId, as, direction }) => {
    const field = model.field(fieldId)
    if (!field || !isIndexable(context, field)) return null
    if (as === 'value' && !isComputed(field)) {
      const column = sql`${sql.identifier(columnName(field))}`
      return dialect.render(dialect.orderBy(column, direction)).sql
    }
    const indexed = asIndexed(context, field)
    const value = as === 'value' ? fragmentsOf(indexed).of(field, 'value') : groupTerm(indexed, field).key
    const key = dialect.render(value)
    if (key.params.length > 0) return null
    return dialect.render(dialect.orderBy(sql.raw(`(${key.sql.replaceAll(prefix, '')})`), direction)).sql
  })
  const known = written.filter((term) => term !== null)
  return known.length === terms.length && dialect.fitIndex?.(known) !== false ? known : null
}
