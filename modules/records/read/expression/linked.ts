import { type SQL, sql } from 'drizzle-orm'
import { isNamedLink, shownType } from '../../../../src/core/fields/field.ts'
import { fieldType } from '../../../../src/core/fields/index.ts'
import { isSingleLink } from '../../../../src/core/fields/link-options.ts'
import { LISTED_LINKS } from '../../../../src/core/fields/list-value.ts'
import type { AnyOf, FilterPrimitives } from '../../../../src/core/filters/index.ts'
import { listPrimitives } from '../../../../src/core/filters/index.ts'
import type { Field } from '../../../../src/core/model.ts'
import type { RelatedValue } from '../../../../src/dialects/related.ts'
import { isTextStorage } from '../../../../src/dialects/related.ts'
import { keyFieldsOf, keyOf } from '../../table/index.ts'
import { countedRows, follow, type Path, pathOf, stepOf } from './path.ts'
import type { Expression } from './scope.ts'
import { nameOf, type Scope, storedValue, valueIn } from './scope.ts'

/** Linked records in a REST answer, unless it asks for more: one page. */
const LISTED_RECORDS = 25

/** Linked records in an export: no record has this many. */
const ALL_RECORDS = 1_000_000_000

/** Values in the cell of a lookup, and linked records in a formula; conditions test all of them. */
export const MAX_LISTED = 1_000

/** The number of linked records in each form. */
const LISTED = {
  cell: LISTED_LINKS,
  first: LISTED_LINKS,
  records: LISTED_RECORDS,
  formula: MAX_LISTED,
  whole: ALL_RECORDS,
}

/** A link: its records as `writeLinks` encodes them; as a value, their number or the name of the single record. */
export const linkExpression: Expression = (field, scope, form) => {
  const step = stepOf(scope.model, field.id, scope.models)
  if (!step) return null
  const related = scope.dialect.related
  if (form === 'value' && !isNamedLink(field)) return related.count(countedRows(scope, step))
  const { rows, end } = follow(scope, [step])
  const title = nameOf(end)
  if (form === 'value') return sql`(select ${related.text(title)} from ${rows.from} limit 1)`
  const id = idIn(end)
  if (isSingleLink(step.link)) return related.link(rows, id, title)
  return related.links(rows, id, title, LISTED[form], countedRows(scope, step))
}

/** The id of a scope’s record, which may have several key columns. */
function idIn(scope: Scope): RelatedValue {
  const { model, alias } = scope
  return keyFieldsOf(model).length > 1
    ? { value: keyOf(model, alias), storage: 'text' }
    : storedValue(scope, model.primaryKey)
}

/** Tests the names of linked records; null if the link is broken. */
export function linkedNames(field: Field, scope: Scope): AnyOf<SQL> | null {
  const step = stepOf(scope.model, field.id, scope.models)
  if (!step) return null
  const { rows, end } = follow(scope, [step])
  const name = scope.dialect.related.text(nameOf(end))
  return (test) => sql`exists (select 1 from ${rows.from}${test ? sql` and ${test(name)}` : sql``})`
}

/** Filter operations of a link: “is blank” tests for linked records, not for their names. */
function linkWords(field: Field, scope: Scope): FilterPrimitives<SQL> | null {
  const step = stepOf(scope.model, field.id, scope.models)
  if (!step) return null
  const { rows } = follow(scope, [step])
  return { ...scope.dialect, isUnlinked: () => sql`not exists (select 1 from ${rows.from})` }
}

/** Values in the text of a list that is sorted or used in a formula. */
const MAX_JOINED = 100

/** A lookup: a single value through single links, else a list. */
export const lookupExpression: Expression = (field, scope, form) => {
  const path = pathOf(scope.model, field, scope.models)
  if (!path) return null
  const { rows, end } = follow(scope, path.steps)
  const target = targetIn(end, path)
  if (path.isSingle) return sql`(select ${target.value} from ${rows.from} limit 1)`
  const related = scope.dialect.related
  if (form === 'first') {
    return sql`(select ${target.value} from ${rows.from} and ${related.hasValue(target)} order by ${rows.orderBy} limit 1)`
  }
  return form === 'value' ? related.joined(rows, target, MAX_JOINED) : related.list(rows, target, MAX_LISTED)
}

/** Names are text, whatever the type of the display field. */
function targetIn(end: Scope, { target, isName }: Path): RelatedValue {
  const value = valueIn(end, target)
  return isName ? { value: end.dialect.related.text(value), storage: 'text' } : value
}

/**
 * Tests the values of a lookup of many records, as they are stored or as `text`; null if the lookup is broken. It
 * queries the linked rows instead of building the list.
 */
export function lookupValues(field: Field, scope: Scope, as: 'value' | 'text'): AnyOf<SQL> | null {
  const path = pathOf(scope.model, field, scope.models)
  if (!path) return null
  const { rows, end } = follow(scope, path.steps)
  const target = targetIn(end, path)
  const related = scope.dialect.related
  const value = as === 'text' || isPrinted(target) ? related.text(target) : target.value
  const there = sql`exists (select 1 from ${rows.from} and ${related.hasValue(target)}`
  return (test) => (test ? sql`${there} and ${test(value)})` : sql`${there})`)
}

/** Times are compared as printed: MySQL may add fractions of a second. */
const isPrinted = ({ storage }: RelatedValue): boolean => isTextStorage(storage) || storage === 'time'

/** Filter operations of lists (value by value) and links; null for other fields. */
export function primitivesOf(field: Field, scope: Scope): FilterPrimitives<SQL> | null {
  if (field.error !== null) return null
  if (fieldType(field.type).computed === 'link') return linkWords(field, scope)
  if (fieldType(field.type).computed !== 'lookup' || !shownType(field).isList) return null
  const any = lookupValues(field, scope, 'value')
  return any && listPrimitives(scope.dialect, any)
}
