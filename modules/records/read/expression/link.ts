import { type SQL, sql } from 'drizzle-orm'
import { isNamedLink } from '../../../../src/core/fields/field.ts'
import { isSingleLink } from '../../../../src/core/fields/link-options.ts'
import { LISTED_LINKS } from '../../../../src/core/fields/list-value.ts'
import type { AnyOf, FilterWords } from '../../../../src/core/filters/index.ts'
import type { Field } from '../../../../src/core/model.ts'
import type { RelatedValue } from '../../../../src/dialects/related.ts'
import { keyFieldsOf, keyOf } from '../../table/index.ts'
import { countedRows, follow, stepOf } from './path.ts'
import type { Expression } from './scope.ts'
import { nameOf, type Scope, storedValue } from './scope.ts'

/** Linked records that REST clients get without asking for more: a page of them. */
const LISTED_RECORDS = 25

/** Those of a cell that is written to a file: all, as no record has as many. */
const ALL_RECORDS = 1_000_000_000

/** How many of its records a link names in each form. */
const LISTED = { cell: LISTED_LINKS, first: LISTED_LINKS, records: LISTED_RECORDS, whole: ALL_RECORDS }

/** A link: its records as `writeLinks` has them; as a value their number, or the name of its one record. */
export const linkExpression: Expression = (field, scope, form) => {
  const step = stepOf(scope.model, field.id, scope.models)
  if (!step) return null
  const words = scope.dialect.related
  if (form === 'value' && !isNamedLink(field)) return words.count(countedRows(scope, step))
  const { rows, end } = follow(scope, [step])
  const title = nameOf(end)
  if (form === 'value') return sql`(select ${words.text(title)} from ${rows.from} limit 1)`
  const id = idIn(end)
  if (isSingleLink(step.link)) return words.link(rows, id, title)
  return words.links(rows, id, title, LISTED[form], countedRows(scope, step))
}

/** The id of a scope's record: its key, or the parts of it that an id is made of. */
function idIn(scope: Scope): RelatedValue {
  const { model, alias } = scope
  return keyFieldsOf(model).length > 1
    ? { value: keyOf(model, alias), storage: 'text' }
    : storedValue(scope, model.primaryKey)
}

/** What a search says of the names of linked records; null where something the link needs is gone. */
export function linkedNames(field: Field, scope: Scope): AnyOf<SQL> | null {
  const step = stepOf(scope.model, field.id, scope.models)
  if (!step) return null
  const { rows, end } = follow(scope, [step])
  const name = scope.dialect.related.text(nameOf(end))
  return (test) => sql`exists (select 1 from ${rows.from}${test ? sql` and ${test(name)}` : sql``})`
}

/** The words in which a link is compared: whether there is a linked record is asked of the records, not of their names. */
export function linkWords(field: Field, scope: Scope): FilterWords<SQL> | null {
  const step = stepOf(scope.model, field.id, scope.models)
  if (!step) return null
  const { rows } = follow(scope, [step])
  return { ...scope.dialect, isUnlinked: () => sql`not exists (select 1 from ${rows.from})` }
}
