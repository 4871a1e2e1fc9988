import { type SQL, sql } from 'drizzle-orm'
import type { ShareActor } from '../../../../src/core/actor.ts'
import { badRequest } from '../../../../src/core/errors.ts'
import { isNamedLink, shownType, storageOf } from '../../../../src/core/fields/field.ts'
import { fieldType } from '../../../../src/core/fields/index.ts'
import type { FilterMoment } from '../../../../src/core/filters/index.ts'
import type { Field } from '../../../../src/core/model.ts'
import type { IndexTerm } from '../../../../src/core/performance.ts'
import type { QueryDialect, SearchMatch, SearchTexts, Statement } from '../../../../src/dialects/dialect.ts'
import { isTemporal } from '../../../../src/dialects/foreign.ts'
import { isTextStorage, type RelatedValue } from '../../../../src/dialects/related.ts'
import { m } from '../../../../src/messages.gen.ts'
import type { TableModel } from '../../../schema/index.ts'
import { columnIn } from '../../table/index.ts'

/** Tables by id: one table, and all that its computed fields reach. */
export type Models = ReadonlyMap<string, TableModel>

/**
 * Size limit of one expression. Stored fields stay below it (`modules/schema/computed/graph.ts`); it bounds others,
 * such as previews of formulas.
 */
const MAX_SIZE = 400_000

/** Size of a subquery over linked records. */
const SUBQUERY_SIZE = 40

/** The record that an expression refers to: a row of a table under its alias in the statement. */
export interface Scope {
  model: TableModel
  alias: string
  models: Models
  dialect: QueryDialect
  /** For NOW() and for the time zone of instants. */
  moment: FilterMoment
  /** Ids of the fields that indexes of the table hold: their formulas are written as the indexes have them. */
  indexed: ReadonlySet<string>
  /** `expressionOf`: computed fields build on each other. */
  of: (field: Field, scope: Scope, form: Form) => SQL
  /** Shared by all scopes of one expression: bounds its size and keeps its aliases unique. */
  state: ExpressionState
}

/** Collected while an expression is built. */
interface ExpressionState {
  size: number
  aliases: number
  /** True if the SQL depends on the current time, and is valid for one statement. */
  dependsOnNow: boolean
}

/** Statements that tell how many candidates a search has; see `SearchIndexes`. */
export interface SearchCandidates {
  /** What the index is asked. */
  match: SearchMatch
  count?(most: number): Statement
  sample?(share: number): Statement
  among?(range: { order: string; first: number; most: number }): Statement
}

/** How a read asks the search index: for few candidates, for any number of them, or (null) not at all. */
export type CandidateUse = 'few' | 'many' | null

/** The search index of a table. */
export interface TableSearchIndex {
  generation: number
  /** The SQL texts that it holds, as `indexedText` renders them. */
  columns: ReadonlySet<string>
  /** How the search at hand asks it. */
  search: CandidateUse
  /** The same for the filters at hand, which look for texts (`filteredTexts`). */
  filter: CandidateUse
  /** True for records that may show the texts, by their keys; null if the index cannot tell. */
  isCandidate(key: SQL, texts: SearchTexts): SQL | null
  /** The same, if nothing but the candidates has to be read and they are few. */
  isOneOfFew(key: SQL, texts: SearchTexts): SQL | null
  /** How many candidates the texts have; null if the index cannot tell. */
  candidates(texts: SearchTexts): SearchCandidates | null
}

export type IndexTerms = readonly (readonly IndexTerm[])[]

const NONE: IndexTerms = []
const indexedFields = new WeakMap<IndexTerms, ReadonlySet<string>>()

/** Ids of the fields that indexes hold. */
export function fieldsIndexedBy(indexes: IndexTerms = NONE): ReadonlySet<string> {
  const known = indexedFields.get(indexes)
  if (known) return known
  const found = new Set(indexes.flatMap((terms) => terms.map(({ fieldId }) => fieldId)))
  indexedFields.set(indexes, found)
  return found
}

/** A table to read, with the tables its computed fields reach, the dialect and the time. */
export interface ReadContext {
  /** The table with the fields that the reader may name. */
  model: TableModel
  /** The complete table if `model` is narrowed: values are computed over this. */
  whole?: TableModel
  models: Models
  dialect: QueryDialect
  moment: FilterMoment
  /** The terms of each automatic index of the table; the same list until it changes. */
  indexes?: IndexTerms
  /** Absent: the table is searched without an index. */
  searchIndex?: TableSearchIndex
  /** The visitor of a public link, who sees people by name only. */
  visitor?: ShareActor
  /** The moment with the addresses of people, if `moment` omits them. */
  ownMoment?: FilterMoment
}

/** The table with all its fields. */
export const wholeOf = ({ model, whole }: Pick<ReadContext, 'model' | 'whole'>): TableModel => whole ?? model

/** The same context with all fields and addresses, for what the owner configured, such as a view’s filter. */
export const asOwner = <C extends ReadContext>(context: C): C =>
  context.whole || context.ownMoment
    ? { ...context, model: wholeOf(context), moment: context.ownMoment ?? context.moment }
    : context

/** The scope of a row of another table, under a unique alias. */
export const innerScope = (outer: Scope, model: TableModel): Scope => ({
  ...outer,
  model,
  // No table name begins with this character, so no table is shadowed.
  alias: `~${++outer.state.aliases}`,
})

/**
 * Adds to the size of the expression being built.
 *
 * @throws BAD_REQUEST where it becomes too large for any engine
 */
export function addSize({ state }: Pick<Scope, 'state'>, size = SUBQUERY_SIZE): void {
  state.size += size
  if (state.size > MAX_SIZE) throw badRequest(m.records_error_too_complex())
}

/**
 * A stored field as it is shown and compared. In a connected database a column that is shown as text may have any
 * type; `columnIn` gives keys unconverted.
 */
export function storedIn(scope: Pick<Scope, 'alias' | 'dialect'>, field: Field): SQL {
  const column = columnIn(scope, field)
  if (field.databaseType === null) return column
  const storage = storageOf(field)
  const { foreign } = scope.dialect
  if (isTextStorage(storage)) return foreign.asText(column, field.databaseType)
  if (isTemporal(storage)) return foreign.asTemporal(column, storage, field.databaseType)
  return storage === 'integer' || storage === 'real' ? foreign.asNumber(column, field.databaseType) : column
}

/** The table of a scope in a `from` clause. */
export const tableIn = ({ model, alias }: Scope): SQL => {
  const name = sql.identifier(model.table.tableName)
  return alias === model.table.tableName ? sql`${name}` : sql`${name} as ${sql.identifier(alias)}`
}

/** A stored field with its storage kind. */
export const storedValue = (scope: Scope, field: Field): RelatedValue => ({
  value: storedIn(scope, field),
  storage: storageOf(field),
})

/**
 * Forms of a field: the `cell` that is shown, or the `value` that is filtered, sorted, grouped and summarized. They
 * differ for fields with several values: a link has the number of its records (or the name of a single one), a list
 * the text of its values. `records` is a cell with one page of linked records, `formula` one with those that a formula
 * takes, `whole` one with all of them, `first` the first value of a list.
 */
export type Form = 'cell' | 'value' | 'records' | 'formula' | 'whole' | 'first'

/** Builds one kind of computed field; null if something it needs is missing. */
export type Expression = (field: Field, scope: Scope, form: Form) => SQL | null

/** The comparable value of a field, with its storage kind. */
export function valueIn(scope: Scope, field: Field): RelatedValue {
  return { value: scope.of(field, scope, 'value'), storage: valueStorage(field) }
}

/** The storage kind of a field’s comparable value. */
export function valueStorage(field: Field) {
  if (fieldType(field.type).computed === 'link') return isNamedLink(field) ? 'text' : 'integer'
  return shownType(field).isList ? 'longText' : storageOf(field)
}

/** The display value of a scope’s record. */
export const nameOf = (scope: Scope): RelatedValue => valueIn(scope, scope.model.displayField)
