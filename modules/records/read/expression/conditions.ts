import { type SQL, sql } from 'drizzle-orm'
import { AppError } from '../../../../src/core/errors.ts'
import { shownType } from '../../../../src/core/fields/field.ts'
import { fieldType } from '../../../../src/core/fields/index.ts'
import { isSecret, showsPeople } from '../../../../src/core/fields/traits.ts'
import {
  checkFilter,
  compileFilter,
  type Filter,
  type FilterMoment,
  fieldsOf,
  isGroup,
} from '../../../../src/core/filters/index.ts'
import { searchPeople } from '../../../../src/core/filters/operand.ts'
import type { Field, RecordId, View } from '../../../../src/core/model.ts'
import { anyOf } from '../../../../src/dialects/standard-sql.ts'
import { m } from '../../../../src/messages.gen.ts'
import type { TableModel } from '../../../schema/index.ts'
import { isKeyless, keyOf, listOf } from '../../table/index.ts'
import { expressionOf } from './expression-of.ts'
import { fragmentsOf } from './fragments.ts'
import { primitivesOf } from './linked.ts'
import type { ReadContext, Scope } from './scope.ts'
import { valueStorage } from './scope.ts'

/** Limit on the values of all conditions of a filter together: each is bound once or twice. */
const MAX_VALUES = 10_000

/**
 * Rejects filters that the table cannot answer. A view ignores conditions on broken fields, but a filter from the
 * caller must not: it would return records that it was meant to exclude.
 *
 * @throws FIELD_NOT_FOUND, INVALID_FILTER, FILTER_VERIFICATION_FAILED for what the table cannot answer
 */
export function refuseFaulty(model: TableModel, filter: Filter): void {
  const problem = checkFilter(filter, (id) => model.field(id))[0]
  if (problem) throw problem
  for (const id of fieldsOf(filter)) {
    const broken = model.field(id)
    if (!broken?.error) continue
    throw new AppError(
      'INVALID_FILTER',
      m.records_error_broken_filter({ field: broken.title, reason: broken.error }),
    )
  }
  if (countValues(filter) > MAX_VALUES) {
    throw new AppError('INVALID_FILTER', m.records_error_filter_values({ max: MAX_VALUES }))
  }
}

const countValues = (filter: Filter): number => {
  if (isGroup(filter)) return filter.children.reduce((sum, child) => sum + countValues(child), 0)
  return Array.isArray(filter.value) ? filter.value.length : 1
}

/**
 * A filter over stored and computed fields; null if it has no effect. Conditions on broken or missing fields are
 * ignored.
 */
export function filterCondition(context: ReadContext, filter: Filter | null): SQL | null {
  if (filter === null) return null
  const fragments = fragmentsOf(context)
  const column = (field: Field) => fragments.of(field, 'value')
  const fields = { field: wholeFields(context.model), column, primitives: fragments.primitives }
  return compileFilter<SQL, Field>(filter, momentWith(context.moment, fields), context.dialect)
}

/** The same for the record of a scope inside a statement. */
export function conditionIn(scope: Scope, filter: Filter | null): SQL | null {
  const column = (field: Field) => expressionOf(field, scope, 'value')
  const primitives = (field: Field) => primitivesOf(field, scope)
  const fields = { field: wholeFields(scope.model), column, primitives }
  return compileFilter<SQL, Field>(filter, momentWith(scope.moment, fields), scope.dialect)
}

/** Extends a moment by delegation, not by copying: the plan cache observes the getters of the original. */
const momentWith = <T extends object>(moment: FilterMoment, more: T): FilterMoment & T =>
  Object.assign(Object.create(moment), more)

const wholeFields = (model: TableModel) => (id: string) => {
  const field = model.field(id)
  return field?.error === null ? field : undefined
}

/**
 * Searches text in the given fields, or (null) in all that show text. Through a view, only the computed fields that
 * it shows are searched.
 */
export function searchCondition(
  context: ReadContext & { view: View | null },
  text: string,
  fields: readonly Field[] | null,
): SQL {
  const searched = fields ?? searchable(context)
  const contains = (list: readonly Field[]) => anyOf(list.map((each) => searchTerm(context, each, text)))
  const { searchIndex } = context
  const key = keyOf(context.model)
  const isCandidate = searchIndex?.search ? searchIndex.isCandidate(key, text) : null
  if (isCandidate === null) return contains(searched)
  const { indexed, scanned } = divideByIndex(context, text, searched)
  if (indexed.length === 0) return contains(searched)
  if (scanned.length > 0) return sql`((${isCandidate} and ${contains(indexed)}) or ${contains(scanned)})`
  const isOneOfFew = searchIndex?.search === 'few' ? searchIndex.isOneOfFew(key, text) : null
  return sql`(${isOneOfFew ?? isCandidate} and ${contains(indexed)})`
}

/** The fields in which the search index finds a text, and those that may show it in any record of the table. */
export function divideByIndex(
  context: ReadContext,
  text: string,
  fields: readonly Field[],
): { indexed: Field[]; scanned: Field[] } {
  const canMatch = context.searchIndex?.candidates(text) != null
  const indexed = fields.filter((field) => canMatch && isIndexed(context, field))
  // A condition that is always false would still make the engine read the whole table.
  const mayShow = (field: Field) =>
    isOfPeople(field) ? searchPeople(text, context.moment).length > 0 : showsText(field)
  const scanned = fields.filter((field) => !indexed.includes(field) && mayShow(field))
  return { indexed, scanned }
}

/**
 * The text of a field that a search index holds, as SQL without parameters; null for fields that it cannot hold: computed
 * ones, which change without a write to the record, and people, who are found by their names.
 */
export function indexedText(context: ReadContext, field: Field): string | null {
  if (fieldType(field.type).computed !== undefined || isSecret(field) || isOfPeople(field)) return null
  const { dialect } = context
  const value = fragmentsOf(context).of(field, 'value')
  const text = dialect.searchedText?.(value, shownType(field).type.holdsFiles ? 'files' : valueStorage(field))
  if (!text) return null
  const { sql: rendered, params } = dialect.render(text)
  return params.length === 0 ? rendered : null
}

function isIndexed(context: ReadContext, field: Field): boolean {
  const text = indexedText(context, field)
  return text !== null && context.searchIndex?.columns.has(text) === true
}

const isOfPeople = (field: Field): boolean => showsPeople({ type: shownType(field).type.name })

/**
 * The index of the first of the fields that shows the text; NULL for none.
 *
 * @param fields at least one
 */
export function firstMatch(context: ReadContext, text: string, fields: readonly Field[]): SQL {
  const cases = fields.map(
    (field, at) => sql`when ${searchTerm(context, field, text)} then ${sql.raw(String(at))}`,
  )
  return sql`case ${sql.join(cases, sql` `)} end`
}

function searchTerm(context: ReadContext, field: Field, text: string): SQL {
  const { dialect } = context
  if (!showsText(field)) return dialect.constant(false)
  const fragments = fragmentsOf(context)
  const anyOf = fragments.anyOf(field)
  // Search the names of files, not the rest of their JSON.
  const { name, holdsFiles: isFiles } = shownType(field).type
  const shown = (value: SQL) => (isFiles ? dialect.fileNames(value) : value)
  // Search people by their names, not by their ids.
  if (showsPeople({ type: name })) {
    const found = searchPeople(text, context.moment)
    const among = (value: SQL) =>
      found.length > 0 ? dialect.or(found.map((id) => dialect.hasOption(value, id))) : dialect.constant(false)
    return anyOf ? anyOf(among) : among(fragments.of(field, 'value'))
  }
  if (anyOf) return anyOf((value) => dialect.search(shown(value), 'text', text))
  return dialect.search(shown(fragments.of(field, 'value')), valueStorage(field), text)
}

/** The fields that a search of all fields covers. */
export function searchable({ model, view }: { model: TableModel; view: View | null }): Field[] {
  const hidden = new Set(view?.fields.filter((field) => !field.show).map((field) => field.fieldId))
  return model.fields.filter(
    (field) =>
      !field.isSystem &&
      isSearchable(field) &&
      (fieldType(field.type).computed === undefined || !hidden.has(field.id)),
  )
}

/** False for a broken computed field, and for checkboxes. */
export const isSearchable = (field: Field): boolean =>
  (fieldType(field.type).computed === undefined || field.error === null) && showsText(field)

/** False for checkboxes, whatever number or word the engine stores. */
const showsText = (field: Field): boolean => shownType(field).type.storage !== 'boolean'

/** @throws BAD_REQUEST for more records than a statement can bind */
export function idCondition({ model, dialect }: ReadContext, ids: RecordId[]): SQL {
  const most = dialect.maxBoundParameters / 2
  if (ids.length > most) throw new AppError('BAD_REQUEST', m.records_error_selection_size({ max: most }))
  const list = listOf(ids)
  return ids.length === 0 || isKeyless(model) ? sql`1 = 0` : sql`${keyOf(model)} in (${list})`
}
