import type { SQL } from 'drizzle-orm'
import { sql } from 'drizzle-orm'
import { shownType } from '../../../../src/core/fields/field.ts'
import { fieldType } from '../../../../src/core/fields/index.ts'
import { type AnyOf, type FilterWords, listWords } from '../../../../src/core/filters/index.ts'
import type { Field } from '../../../../src/core/model.ts'
import { isTextStorage, type RelatedValue } from '../../../../src/dialects/related.ts'
import { linkWords } from './link.ts'
import { follow, type Path, pathOf } from './path.ts'
import type { Expression, Scope } from './scope.ts'
import { valueIn } from './scope.ts'

/** Values that the cell of a lookup lists; conditions look at all of them. */
const MAX_LISTED = 1_000

/** Values that the text of a list is made of, where it is sorted by or put into a formula. */
const MAX_JOINED = 100

/** A lookup: through links to one the bare value, through others a list. */
export const lookupExpression: Expression = (field, scope, form) => {
  const path = pathOf(scope.model, field, scope.models)
  if (!path) return null
  const { rows, end } = follow(scope, path.steps)
  const target = targetIn(end, path)
  if (path.isSingle) return sql`(select ${target.value} from ${rows.from} limit 1)`
  const words = scope.dialect.related
  if (form === 'first') {
    return sql`(select ${target.value} from ${rows.from} and ${words.isThere(target)} order by ${rows.orderBy} limit 1)`
  }
  return form === 'value' ? words.joined(rows, target, MAX_JOINED) : words.list(rows, target, MAX_LISTED)
}

/** Names are texts, whatever the field that gives them. */
function targetIn(end: Scope, { target, isName }: Path): RelatedValue {
  const value = valueIn(end, target)
  return isName ? { value: end.dialect.related.text(value), storage: 'text' } : value
}

/**
 * What is said of the values of a lookup through many, as they are kept or as `text`; null where something it
 * needs is gone. The rows behind the links are asked, so that no list has to be made of them.
 */
export function lookupValues(field: Field, scope: Scope, as: 'value' | 'text'): AnyOf<SQL> | null {
  const path = pathOf(scope.model, field, scope.models)
  if (!path) return null
  const { rows, end } = follow(scope, path.steps)
  const target = targetIn(end, path)
  const words = scope.dialect.related
  const value = as === 'text' || isPrinted(target) ? words.text(target) : target.value
  const there = sql`exists (select 1 from ${rows.from} and ${words.isThere(target)}`
  return (test) => (test ? sql`${there} and ${test(value)})` : sql`${there})`)
}

/** A time is compared as it prints, too: MySQL may add fractions of a second to it. */
const isPrinted = ({ storage }: RelatedValue): boolean => isTextStorage(storage) || storage === 'time'

/** The words of fields that are not compared as a whole: lists, value by value, and links; null for any other field. */
export function wordsIn(field: Field, scope: Scope): FilterWords<SQL> | null {
  if (field.error !== null) return null
  if (fieldType(field.type).computed === 'link') return linkWords(field, scope)
  if (fieldType(field.type).computed !== 'lookup' || !shownType(field).isList) return null
  const any = lookupValues(field, scope, 'value')
  return any && listWords(scope.dialect, any)
}
