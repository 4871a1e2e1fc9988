import type { SQL } from 'drizzle-orm'
import { shownType } from '../../../../src/core/fields/field.ts'
import {
  type Condition,
  compileFilter,
  type Filter,
  type FilterPrimitives,
  findOperator,
  isGroup,
} from '../../../../src/core/filters/index.ts'
import type { Field, View } from '../../../../src/core/model.ts'
import type { Joined, SearchTexts } from '../../../../src/dialects/dialect.ts'
import { isTextStorage } from '../../../../src/dialects/related.ts'
import { keyOf } from '../../table/index.ts'
import { indexedText, searchable } from './conditions.ts'
import { asOwner, type ReadContext, valueStorage } from './scope.ts'

/*
 * A filter such as "contains" finds its records by the search index: every record that meets it contains certain texts,
 * and the index knows the records that may contain them. The filter is tested on these as on all others, so the index
 * decides only which records are read.
 */

/** Longer texts select little more. */
const MAX_LETTERS = 60
/** Texts of one pattern, and of several conditions that all have to be met. More select little more. */
const MAX_JOINED = 4
/** Conditions of which one has to be met. With more, the candidates are many. */
const MAX_CHOICES = 20

/** Joins texts; null stands for one that is unknown. Null if the unknown ones decide. */
export function joinTexts<T>(join: 'and' | 'or', parts: readonly (Joined<T> | null)[]): Joined<T> | null {
  const known = parts.filter((part) => part !== null)
  const [first] = known
  if (first === undefined || (join === 'or' && known.length < parts.length)) return null
  return known.length === 1 ? first : { join, of: known }
}

/**
 * The texts that a record must contain in fields that a search index holds to meet a filter, with the filter of the view;
 * null if it may meet them without any.
 *
 * @param index the index of the table; absent: what any index could hold
 */
export function filteredTexts(
  context: ReadContext & { view: View | null },
  filter: Filter | null,
  index?: { columns: ReadonlySet<string> },
): SearchTexts | null {
  const own = asOwner(context)
  return joinTexts('and', [
    textsOf(own, context.view?.filter ?? null, index),
    textsOf(context, filter, index),
  ])
}

function textsOf(
  context: ReadContext,
  filter: Filter | null,
  index: { columns: ReadonlySet<string> } | undefined,
): SearchTexts | null {
  if (filter === null) return null
  if (!isGroup(filter)) return textsOfCondition(context, filter, index)
  if (filter.not) return null
  if (filter.join === 'or' && filter.children.length > MAX_CHOICES) return null
  const parts = filter.children.map((child) => textsOf(context, child, index))
  return joinTexts(filter.join, filter.join === 'or' ? parts : longest(parts))
}

function textsOfCondition(
  context: ReadContext,
  condition: Condition,
  index: { columns: ReadonlySet<string> } | undefined,
): SearchTexts | null {
  const field = context.model.field(condition.fieldId)
  if (!field || !findOperator(condition.operator)?.comparesText || !isHeld(context, field, index)) return null
  const compiled = { now: NO_TIME, field: () => field, column: () => null }
  return compileFilter<SearchTexts | null, Field>(condition, compiled, TEXTS)
}

/** True for a field whose text the index holds as filters compare it: numbers are printed differently. */
function isHeld(
  context: ReadContext,
  field: Field,
  index: { columns: ReadonlySet<string> } | undefined,
): boolean {
  if (field.error !== null) return false
  if (!isTextStorage(valueStorage(field)) && !shownType(field).type.holdsFiles) return false
  const text = indexedText(context, field)
  if (text === null) return false
  return index ? index.columns.has(text) : searchable({ model: context.model, view: null }).includes(field)
}

/** Conditions that compare texts do not read the time. */
const NO_TIME = new Date(0)

const unknown = () => null

/** Builds the texts that a condition requires, in place of SQL. */
const TEXTS: FilterPrimitives<SearchTexts | null> = {
  isNull: unknown,
  eq: unknown,
  compare: unknown,
  inList: unknown,
  like: (_column, pattern) => joinTexts('and', longest(literalTexts(pattern))),
  fileNames: unknown,
  hasOption: unknown,
  and: (parts) => joinTexts('and', longest(parts)),
  or: (parts) => joinTexts('or', parts),
  not: unknown,
  constant: unknown,
}

/** The texts between the wildcards of a pattern, without escapes: `a\\_b%c` has `a_b` and `c`. */
function literalTexts(pattern: string): string[] {
  const texts: string[][] = [[]]
  const letters = [...pattern]
  for (let at = 0; at < letters.length; at++) {
    const letter = letters[at]!
    if (letter === '%' || letter === '_') texts.push([])
    else texts.at(-1)!.push(letter === '\\' ? (letters[++at] ?? '\\') : letter)
  }
  return texts.filter(({ length }) => length > 0).map((text) => text.slice(0, MAX_LETTERS).join(''))
}

/** The parts that select most. */
const longest = (parts: readonly (SearchTexts | null)[]): SearchTexts[] =>
  parts
    .filter((part) => part !== null)
    .toSorted((a, b) => lengthOf(b) - lengthOf(a))
    .slice(0, MAX_JOINED)

/** The letters by which texts select records: those of the shortest choice. */
const lengthOf = (texts: SearchTexts): number =>
  typeof texts === 'string'
    ? texts.length
    : Math[texts.join === 'and' ? 'max' : 'min'](...texts.of.map(lengthOf))

/** The condition that filters put on a record by the search index; null if they do not ask it. */
export function filterCandidates(
  context: ReadContext & { view: View | null },
  filter: Filter | null,
): SQL | null {
  const { searchIndex } = context
  const texts = searchIndex?.filter ? filteredTexts(context, filter, searchIndex) : null
  if (!searchIndex || texts === null) return null
  const key = keyOf(context.model)
  const isOneOfFew = searchIndex.filter === 'few' ? searchIndex.isOneOfFew(key, texts) : null
  return isOneOfFew ?? searchIndex.isCandidate(key, texts)
}
