import { type SQL, sql } from 'drizzle-orm'
import type { Values } from '../../../src/core/changes.ts'
import { significantDigits, sumDecimals } from '../../../src/core/exact-decimal.ts'
import { isComputed, shownType, storageOf } from '../../../src/core/fields/field.ts'
import type { CellValue, StorageKind } from '../../../src/core/fields/field-type.ts'
import { isSecret } from '../../../src/core/fields/traits.ts'
import { fieldsOf } from '../../../src/core/filters/index.ts'
import type { Field } from '../../../src/core/model.ts'
import type { Selection } from '../../../src/core/query.ts'
import type { SummaryPart } from '../../../src/core/summaries.ts'
import { NEWEST_ENTRY } from '../../../src/db/change-log/append.ts'
import { type ChangedRecord, MAX_CHANGED } from '../../../src/db/change-log/effects.ts'
import type { Dialect, Statement } from '../../../src/dialects/dialect.ts'
import type { TableModel } from '../../schema/index.ts'
import { columnName, isForeign, keyOf } from '../table/index.ts'
import { fragmentsOf } from './expression/fragments.ts'
import { valueStorage } from './expression/scope.ts'
import { select } from './plan.ts'
import type { PlanContext } from './plan-cache.ts'
import { asVersions, VERSIONS_TABLE } from './versions.ts'

/*
 * Keeps cached results up to date without reading the table again. The database evaluates the condition, the group keys
 * and the summarized values of the changed records twice: with the values that the change log has from before, and with
 * those of now. The differences are added to the cached rows.
 */

/** A statement whose cached result can be kept up to date. */
export interface MaintainedStatement extends Statement {
  /** Null if the result depends on more than the stored values of each record. */
  upkeep?: () => Upkeep | null
}

/** How the cached result of a statement follows changes of a few records. */
export interface Upkeep {
  /** Selects the contributions; null for values that the log does not have exactly. */
  select(dialect: Dialect, changed: readonly ChangedRecord[]): Statement | null
  /** The rows with the contributions of changed records; null if the statement has to run again. */
  adjust(rows: readonly object[], contributions: readonly Contribution[]): object[] | null
}

/** What a record that meets the condition adds to a result. */
interface Contribution {
  /** 1 for what it contributes now, -1 for what it contributed before. */
  sign: 1 | -1
  /** The keys of its group, then the values that are summarized, as the driver returns them. */
  values: unknown[]
}

/** The answer of `Upkeep.select`. */
interface Contributions {
  list: Contribution[]
  /** The newest entry of the log in the same snapshot. */
  newest: number
}

/** What a result reads of each record. */
interface Read {
  selection: Omit<Selection, 'tableId' | 'viewId'>
  /** Fields of the group keys, with their SQL for a context. */
  keys?: { field: Field; sql(context: PlanContext): SQL }[]
  /** Fields whose values are summarized. */
  summarized?: readonly Field[]
}

/** Adds upkeep to a statement. It is compiled when the result is first out of date. */
export function maintained(statement: Statement, upkeep: () => Upkeep | null): MaintainedStatement {
  let compiled: Upkeep | null | undefined
  return {
    ...statement,
    upkeep() {
      if (compiled === undefined) compiled = upkeep()
      return compiled
    },
  }
}

/** For a result of one row with the number of records as `count`. */
export const countUpkeep = (context: PlanContext, selection: Read['selection']): Upkeep | null =>
  upkeepOf(context, { selection }, ([row], contributions) => {
    const { count } = row as { count: unknown }
    return [{ ...row, count: Number(count) + sumOf(contributions.map(({ sign }) => sign)) }]
  })

/** For a page: it stays as it is unless a changed record meets its condition, or met it before. */
export function pageUpkeep(
  context: PlanContext,
  selection: Read['selection'],
  { sql: text }: Statement,
): Upkeep | null {
  const { dialect, model } = context
  // Subqueries over the same table, as of links between its records, read others than the listed ones.
  const readsOthers = text.includes(`${dialect.quote(model.table.tableName)} as `)
  if (readsOthers || conditionFields(context, selection).length === 0) return null
  return upkeepOf(context, { selection }, (rows, contributions) =>
    contributions.length === 0 ? [...rows] : null,
  )
}

/** How the rows of a result of groups are read. */
interface GroupRows {
  /** The keys of the group of a row. */
  keysOf(row: object): unknown[]
  countOf(row: object): number
  /** The row with another count and other parts of summaries. */
  change(row: object, count: number, parts: CellValue[]): object
  partsOf(row: object): CellValue[]
  /** The summary parts, with the index of their field among those that are summarized. */
  parts: readonly { part: SummaryPart; at: number }[]
  /** True if the rows are all groups. */
  isComplete(rows: readonly object[]): boolean
}

/** For a page of groups. */
export function groupsUpkeep(
  context: PlanContext,
  read: Read & Required<Pick<Read, 'keys'>>,
  group: GroupRows,
): Upkeep | null {
  const depth = read.keys.length
  return upkeepOf(context, read, (rows, contributions) => {
    const changes = Map.groupBy(contributions, ({ values }) => keyText(values.slice(0, depth)))
    let isAnyGone = false
    const adjusted = rows.map((row) => {
      const key = keyText(group.keysOf(row))
      const own = changes.get(key)
      if (!own) return row
      changes.delete(key)
      const count = group.countOf(row) + sumOf(own.map(({ sign }) => sign))
      isAnyGone ||= count === 0
      const parts = adjustParts(group, group.partsOf(row), own, depth)
      return parts && group.change(row, count, parts)
    })
    // A group that the page does not list may be a new one, or follow on a later page.
    if ([...changes.values()].some((own) => !cancelsOut(own)) || adjusted.includes(null)) return null
    if (!isAnyGone) return adjusted as object[]
    return group.isComplete(rows) ? (adjusted as object[]).filter((row) => group.countOf(row) > 0) : null
  })
}

/** For a result of one row of summary parts. */
export const summariesUpkeep = (context: PlanContext, read: Read, parts: GroupRows['parts']): Upkeep | null =>
  upkeepOf(context, read, ([row], contributions) => {
    const adjusted = adjustParts({ parts }, row as CellValue[], contributions, 0)
    return adjusted && [adjusted]
  })

/** @param offset of the summarized values in a contribution */
function adjustParts(
  { parts }: Pick<GroupRows, 'parts'>,
  before: CellValue[],
  contributions: readonly Contribution[],
  offset: number,
): CellValue[] | null {
  const adjusted = parts.map(({ part, at }, index) => {
    const changes = contributions.map(({ sign, values }) => ({ sign, value: values[offset + at] }))
    return cancelsOut(changes.map(({ sign, value }) => ({ sign, values: [value] })))
      ? before[index]!
      : adjustPart(part, before[index]!, changes)
  })
  return adjusted.includes(undefined as never) ? null : (adjusted as CellValue[])
}

/** A part of a summary after changes; undefined if it has to be computed again. */
function adjustPart(
  part: SummaryPart,
  before: CellValue,
  changes: { sign: 1 | -1; value: unknown }[],
): CellValue | undefined {
  const counted = (isCounted: (value: unknown) => boolean): number =>
    Number(before) + sumOf(changes.flatMap(({ sign, value }) => (isCounted(value) ? [sign] : [])))
  switch (part) {
    case 'count':
      return counted(() => true)
    case 'filled':
      return counted((value) => value !== null && value !== '')
    case 'checked':
      return counted((value) => value === true || value === 1)
    case 'sum':
      return adjustSum(before, changes)
    case 'min':
    case 'max':
      return adjustExtreme(before, changes, part)
    default:
      return undefined
  }
}

/**
 * Digits up to which a sum is taken as exact. Databases round it to those of a double, on SQLite to 15: a sum that lost digits
 * hardly ever ends with that many zeros.
 */
const MAX_SUM_DIGITS = 12

/** Sums of decimal numbers. One with more digits may have been rounded, and those it lost cannot be told from it: it is read again. */
function adjustSum(before: CellValue, changes: { sign: 1 | -1; value: unknown }[]): CellValue | undefined {
  const filled = changes.filter(({ value }) => value !== null)
  if (filled.length === 0) return before
  if (significantDigits(Number(before ?? 0)) > MAX_SUM_DIGITS) return undefined
  const sum = sumDecimals([Number(before ?? 0), ...filled.map(({ sign, value }) => sign * Number(value))])
  // Without values the sum is NULL.
  const isCertain = sum !== 0 || filled.every(({ sign }) => sign === 1)
  return sum !== null && isCertain ? sum : undefined
}

function adjustExtreme(
  before: CellValue,
  changes: { sign: 1 | -1; value: unknown }[],
  part: 'min' | 'max',
): CellValue | undefined {
  const filled = changes.filter(({ value }) => value !== null)
  if (filled.length === 0) return before
  const isComparable = [before, ...filled.map(({ value }) => value)].every(
    typeof before === 'number' ? (value) => typeof value === 'number' : isDateText,
  )
  // The next one is unknown when the extreme leaves.
  if (!isComparable || filled.some(({ sign, value }) => sign === -1 && value === before)) return undefined
  const added = filled.filter(({ sign }) => sign === 1).map(({ value }) => value as number | string)
  return added.reduce((a, b) => ((part === 'min' ? b < a : b > a) ? b : a), before as number | string)
}

/** True for dates and instants in UTC whose texts have the order of time. */
const isDateText = (value: unknown): boolean =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\d(?: \d\d:\d\d:\d\d(?:\.\d+)?\+00(?::00)?)?$/.test(value)

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0)

/** True if the records contribute the same as before. */
function cancelsOut(contributions: readonly Contribution[]): boolean {
  const balance = new Map<string, number>()
  for (const { sign, values } of contributions) {
    const key = keyText(values)
    balance.set(key, (balance.get(key) ?? 0) + sign)
  }
  return [...balance.values()].every((sum) => sum === 0)
}

const keyText = (values: unknown[]): string =>
  JSON.stringify(values, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))

/** The fields that decide which records a selection has. */
function conditionFields({ model, view }: PlanContext, { filter, group = [] }: Read['selection']): Field[] {
  const ids = [view?.filter, filter].flatMap((each) => (each ? fieldsOf(each) : []))
  return [...ids, ...group.map(({ fieldId }) => fieldId)].flatMap((id) => model.field(id) ?? [])
}

/** True for a field with a column whose values the log has exactly. */
const isOwnValue = (field: Field): boolean =>
  !isComputed(field) &&
  !isSecret(field) &&
  field.error === null &&
  field.databaseType === null &&
  columnName(field) !== '' &&
  !shownType(field).isList &&
  valueStorage(field) !== 'json'

/** Upkeep for a result over the records of a selection; null if it depends on more than their own stored values. */
function upkeepOf(context: PlanContext, read: Read, adjust: Upkeep['adjust']): Upkeep | null {
  const { model, whole, narrow, leading } = context
  const { selection, keys = [], summarized = [] } = read
  if (whole || narrow || leading || selection.search || selection.recordIds || isForeign(model)) return null
  const fields = [
    ...new Set([...conditionFields(context, selection), ...keys.map(({ field }) => field), ...summarized]),
  ]
  if (!fields.every(isOwnValue)) return null
  const versions = asVersions(context)
  const { condition } = select(versions, { ...selection, sorts: [] })
  const values = [
    ...keys.map((key) => key.sql(versions)),
    ...summarized.map((field) => fragmentsOf(versions).of(field, 'value')),
  ]
  const columns = columnsOf(model, fields)
  const statements = new Map<number, Statement>()
  return {
    adjust,
    select(dialect, changed) {
      const rows = changed.map((record) => versionJson(record, columns))
      const size = SIZES.find((most) => most >= rows.length)
      if (size === undefined || rows.includes(null)) return null
      const known = statements.get(size)
      const statement =
        known ?? dialect.render(contributionsQuery(dialect, model, { size, columns, condition, values }))
      statements.set(size, statement)
      const padding = Array.from({ length: size - rows.length }, () => null)
      return { sql: statement.sql, params: [...rows, ...padding, ...statement.params.slice(size)] }
    },
  }
}

/** Numbers of records that statements are compiled for. */
const SIZES = [1, 4, 16, 64, MAX_CHANGED]

/** A column that a result reads, with the fields that show it. */
interface Column {
  name: string
  storage: StorageKind
  fieldIds: string[]
}

/** The columns of the fields. The log may have a value under another field with the same column. */
function columnsOf(model: TableModel, fields: readonly Field[]): Column[] {
  const byName = new Map(fields.map((field) => [columnName(field), storageOf(field)]))
  return Array.from(byName, ([name, storage]) => ({
    name,
    storage,
    fieldIds: model.fields.filter((field) => columnName(field) === name).map(({ id }) => id),
  }))
}

/**
 * A changed record for `contributionsQuery`: its id (`i`), whether it existed (`e`), and of each column that changed
 * (`h`) the former value (`v`). Null if the log does not have a value exactly.
 */
function versionJson(
  { recordId, existed, before }: ChangedRecord,
  columns: readonly Column[],
): string | null {
  const given: Values = { i: recordId, e: existed ? 1 : 0 }
  for (const [at, { storage, fieldIds }] of columns.entries()) {
    const value = fieldIds.map((id) => before[id]).find((one) => one !== undefined)
    if (value === undefined) continue
    if (!isExact(storage, value)) return null
    given[`h${at}`] = 1
    given[`v${at}`] = value
  }
  return JSON.stringify(given)
}

/** False for values that the log has in another form than the column, such as numbers beyond those of JavaScript. */
function isExact(storage: StorageKind, value: CellValue): boolean {
  if (value === null) return true
  if (storage === 'integer' || storage === 'id') return Number.isSafeInteger(value)
  if (storage === 'real') return typeof value === 'number'
  return typeof value === (storage === 'boolean' ? 'boolean' : 'string')
}

/**
 * Selects the sign of each contribution, the newest entry of the log, and the values. One more row, with the sign 0,
 * tells the newest entry where there is no contribution. The first parameters are the changed records.
 */
function contributionsQuery(
  dialect: Dialect,
  model: TableModel,
  read: { size: number; columns: readonly Column[]; condition: SQL | null; values: readonly SQL[] },
): SQL {
  const { size, columns, condition, values } = read
  const name = (text: string) => sql`${sql.identifier(text)}`
  const [table, changed, now, then] = [
    name(model.table.tableName),
    name('~changed'),
    name('~now'),
    name('~then'),
  ]
  const key = keyOf(model)
  const json = (member: string, storage: StorageKind) => dialect.jsonValue(sql`${changed}.j`, member, storage)
  const current = columns.map((column) => sql`${table}.${name(column.name)} as ${name(column.name)}`)
  const former = columns.map((column, at) => {
    const { storage } = column
    const value = sql`case when ${json(`h${at}`, 'integer')} = 1 then ${json(`v${at}`, storage)}
      else ${table}.${name(column.name)} end`
    return sql`${dialect.asColumn?.(value, storage) ?? value} as ${name(column.name)}`
  })
  // SQL needs at least one column.
  const list = (selected: SQL[]) => (selected.length > 0 ? sql.join(selected, sql`, `) : sql`1 as one`)
  const given = Array.from({ length: size }, () => sql`select ${null} as j`)
  const contributed = (sign: 1 | -1, from: SQL) => sql`
    select ${sql.raw(String(sign))}, ${sql.raw(NEWEST_ENTRY)}${sql.join(values.map((value) => sql`, ${value}`))}
    from ${from} as ${name(VERSIONS_TABLE)}${condition ? sql` where ${condition}` : sql``}`
  // Materialized, so that the records are found by their keys, whatever indexes fit the condition.
  return sql`with ${changed} as materialized (${sql.join(given, sql` union all `)}),
    ${now} as materialized (select ${list(current)} from ${table}
      where ${key} in (select ${json('i', 'id')} from ${changed})),
    ${then} as materialized (select ${list(former)} from ${changed}
      left join ${table} on ${key} = ${json('i', 'id')} where ${json('e', 'integer')} = 1)
    ${contributed(1, now)} union all ${contributed(-1, then)}
    union all select 0, ${sql.raw(NEWEST_ENTRY)}${sql.join(values.map(() => sql`, null`))}`
}

/** Reads the answer of `contributionsQuery`. */
export function readContributions(rows: readonly unknown[][]): Contributions {
  const list: Contribution[] = []
  let newest = 0
  for (const [sign, entryId, ...values] of rows) {
    newest = Number(entryId)
    if (Number(sign) !== 0) list.push({ sign: Number(sign) as 1 | -1, values })
  }
  return { list, newest }
}
