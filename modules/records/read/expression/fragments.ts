import { type SQL, sql } from 'drizzle-orm'
import { shownType } from '../../../../src/core/fields/field.ts'
import { fieldType } from '../../../../src/core/fields/index.ts'
import type { FilterWords } from '../../../../src/core/filters/index.ts'
import type { Field } from '../../../../src/core/model.ts'
import type { QueryDialect } from '../../../../src/dialects/dialect.ts'
import type { TableModel } from '../../../schema/index.ts'
import { expressionOf, rootScope } from './expression-of.ts'
import { linkedNames } from './link.ts'
import { lookupValues, wordsIn } from './lookup.ts'
import { type Form, type Models, type ReadContext, wholeOf } from './scope.ts'

/** The SQL of a table's fields, made once for each version of the tables that it speaks of. */
export interface Fragments {
  /** A field in one of its forms, over a row of the table under the table's own name. */
  of(field: Field, form: Form): SQL
  /** The cells of some fields, one after the other, as parts of a select list: one part, or none for no field. */
  cells(fields: Field[], form?: 'cell' | 'whole'): SQL[]
  /** The words of a list or a link, which are not compared as a whole; null for any other field. */
  words(field: Field): FilterWords<SQL> | null
  /** Where a text is looked for in a field: in each value of a list, in each name of a link. */
  anyOf(field: Field): ((test: (value: SQL) => SQL) => SQL) | null
}

/** What is kept of a table's fragments for one time zone. */
interface Kept {
  expressions: Map<string, SQL>
  lists: Map<string, SQL>
}

/** Select lists that are kept for each table: views have one each. */
const KEPT_LISTS = 100
/** Time zones for which a table's fragments are kept. */
const KEPT_ZONES = 20

interface KeptTable {
  models: Models
  dialect: QueryDialect
  zones: Map<string, Kept>
  fleeting: Set<string>
}

const keptTables = new WeakMap<TableModel, KeptTable>()

/** What is kept of a table; nothing where one of the tables that it reaches has changed since. */
function keptOf(context: ReadContext): KeptTable {
  const { models, dialect } = context
  const model = wholeOf(context)
  const known = keptTables.get(model)
  if (known && known.dialect === dialect && isSame(known.models, models)) return known
  const fresh = { models, dialect, zones: new Map(), fleeting: new Set<string>() }
  keptTables.set(model, fresh)
  return fresh
}

/** True where both hold the same version of every table. */
export function isSame(left: Models, right: Models): boolean {
  if (left === right) return true
  if (left.size !== right.size) return false
  for (const [id, model] of left) if (right.get(id) !== model) return false
  return true
}

/** The fragments of a table, from memory where they do not hold the present. */
export function fragmentsOf(context: ReadContext): Fragments {
  const { dialect, moment } = context
  const table = keptOf(context)
  const { expressions, lists } = zoneOf(table.zones, moment.timeZone ?? '')

  /** SQL that binds nothing is text from now on: composing a page of it costs next to nothing. */
  function frozen(expression: SQL): SQL {
    const { sql: text, params } = dialect.render(expression)
    return params.length === 0 ? sql.raw(text) : expression
  }

  function of(field: Field, form: Form): SQL {
    const key = `${form} ${field.id}`
    const known = expressions.get(key)
    if (known) return known
    const scope = rootScope(context)
    const fresh = expressionOf(field, scope, form)
    if (scope.spent.isFleeting) {
      table.fleeting.add(field.id)
      return fresh
    }
    const kept = frozen(fresh)
    expressions.set(key, kept)
    return kept
  }

  function cells(fields: Field[], form: 'cell' | 'whole' = 'cell'): SQL[] {
    if (fields.length === 0) return []
    const key = `${form} ${fields.map((field) => field.id).join()}`
    const known = lists.get(key)
    if (known) return [known]
    const list = sql.join(
      fields.map((field) => of(field, form)),
      sql`, `,
    )
    if (fields.some(({ id }) => table.fleeting.has(id))) return [list]
    if (lists.size >= KEPT_LISTS) lists.clear()
    const kept = frozen(list)
    lists.set(key, kept)
    return [kept]
  }

  return {
    of,
    cells,
    words: (field) => wordsIn(field, rootScope(context)),
    anyOf(field) {
      const { computed } = fieldType(field.type)
      if (field.error !== null) return null
      if (computed === 'link') return linkedNames(field, rootScope(context))
      const isList = computed === 'lookup' && shownType(field).isList
      return isList ? lookupValues(field, rootScope(context), 'text') : null
    },
  }
}

function zoneOf(zones: Map<string, Kept>, zone: string): Kept {
  const known = zones.get(zone)
  if (known) return known
  if (zones.size >= KEPT_ZONES) zones.clear()
  const fresh = { expressions: new Map(), lists: new Map() }
  zones.set(zone, fresh)
  return fresh
}
