import { type SQL, sql } from 'drizzle-orm'
import type { ShareActor } from '../../../../src/core/actor.ts'
import { badRequest } from '../../../../src/core/errors.ts'
import { isNamedLink, shownType, storageOf } from '../../../../src/core/fields/field.ts'
import { fieldType } from '../../../../src/core/fields/index.ts'
import type { FilterMoment } from '../../../../src/core/filters/index.ts'
import type { Field } from '../../../../src/core/model.ts'
import type { QueryDialect } from '../../../../src/dialects/dialect.ts'
import { isTemporal } from '../../../../src/dialects/foreign.ts'
import { isTextStorage, type RelatedValue } from '../../../../src/dialects/related.ts'
import type { TableModel } from '../../../schema/index.ts'
import { columnIn } from '../../table/index.ts'

/** Tables by id: one, and all that its computed fields reach, directly or by way of others. */
export type Models = ReadonlyMap<string, TableModel>

/**
 * How large one expression may become. Fields of tables are smaller (`modules/schema/computed/graph.ts`): this ends
 * what was never a field, such as the preview of a formula.
 */
const MAX_WORDS = 400_000

/** What a subquery over linked records adds. */
const SUBQUERY_WORDS = 40

/** The record that an expression speaks of: a row of a table under the name that it has in the statement. */
export interface Scope {
  model: TableModel
  /** The table's own name, or an alias of it. */
  alias: string
  models: Models
  dialect: QueryDialect
  /** Formulas look at the clock, and write instants as they are in a time zone. */
  moment: FilterMoment
  /** Any field as an expression, `expressionOf`: the kinds of computed fields build on each other. */
  of: (field: Field, scope: Scope, form: Form) => SQL
  /** Shared by all scopes of one expression, so that its size is bounded and its aliases differ. */
  spent: Spent
}

/** What there is to know of an expression once it is made. */
export interface Spent {
  words: number
  aliases: number
  /** True where the expression holds the present: it is good for one statement. */
  isFleeting: boolean
}

/** A table that is read, with all that its computed fields reach, how its engine is asked, and when. */
export interface ReadContext {
  /** The table as whoever asks may name it: to visitors, what they do not see is not there. */
  model: TableModel
  /** The whole of the table, where `model` is less: its values are worked out over this. */
  whole?: TableModel
  models: Models
  dialect: QueryDialect
  moment: FilterMoment
  /** Whoever came by a public link: people are told to them by their names alone. */
  visitor?: ShareActor
  /** The circumstances as the table's owner has them, where `moment` says less: with the addresses of people. */
  ownMoment?: FilterMoment
}

/** The table with all its fields, whoever asks. */
export const wholeOf = ({ model, whole }: Pick<ReadContext, 'model' | 'whole'>): TableModel => whole ?? model

/** The same reading by someone who sees the whole table: for what its owner has said of it, such as a view's filter. */
export const asOwner = <C extends ReadContext>(context: C): C =>
  context.whole || context.ownMoment
    ? { ...context, model: wholeOf(context), moment: context.ownMoment ?? context.moment }
    : context

/** The scope of a row of another table, under a name that nothing else in the expression has. */
export const innerScope = (outer: Scope, model: TableModel): Scope => ({
  ...outer,
  model,
  // A sign that tables' names do not begin with: a table of that name would be hidden.
  alias: `~${++outer.spent.aliases}`,
})

/**
 * Counts a piece of an expression that is being made.
 *
 * @throws BAD_REQUEST where it becomes too large for any engine
 */
export function spend({ spent }: Pick<Scope, 'spent'>, words = SUBQUERY_WORDS): void {
  spent.words += words
  if (spent.words > MAX_WORDS) throw badRequest('This is too complex together with the fields it uses')
}

/**
 * A stored field of the scope as it is shown and compared. In a connected database a column that is shown
 * as text may be of any type; keys are joined by `columnIn`, as they are.
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

/** The table of a scope as `from` names it. */
export const tableIn = ({ model, alias }: Scope): SQL => {
  const name = sql.identifier(model.table.tableName)
  return alias === model.table.tableName ? sql`${name}` : sql`${name} as ${sql.identifier(alias)}`
}

/** A stored field of a scope with its kind of storage. */
export const storedValue = (scope: Scope, field: Field): RelatedValue => ({
  value: storedIn(scope, field),
  storage: storageOf(field),
})

/**
 * What is wanted of a field: what its `cell` shows, or the `value` that it is filtered, sorted, grouped
 * and summed up by. They differ for what holds several: a link counts (or is its record's name), a list
 * is the text of its values. `records` is a cell that lists as many linked records as REST clients get,
 * `whole` one that lists all of them, `first` the first value of a list.
 */
export type Form = 'cell' | 'value' | 'records' | 'whole' | 'first'

/** How one kind of computed field is worked out; null where something it needs is gone. */
export type Expression = (field: Field, scope: Scope, form: Form) => SQL | null

/** The value of a field for comparing, with the kind of storage that it has in that form. */
export function valueIn(scope: Scope, field: Field): RelatedValue {
  return { value: scope.of(field, scope, 'value'), storage: valueStorage(field) }
}

/** Of what kind a field's value is in the form in which it is compared. */
export function valueStorage(field: Field) {
  if (fieldType(field.type).computed === 'link') return isNamedLink(field) ? 'text' : 'integer'
  return shownType(field).isList ? 'longText' : storageOf(field)
}

/** The name of a scope's record. */
export const nameOf = (scope: Scope): RelatedValue => valueIn(scope, scope.model.displayField)
