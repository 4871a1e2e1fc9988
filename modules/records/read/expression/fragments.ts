import { type SQL, sql } from 'drizzle-orm'
import { shownType } from '../../../../src/core/fields/field.ts'
import { fieldType } from '../../../../src/core/fields/index.ts'
import type { FilterPrimitives } from '../../../../src/core/filters/index.ts'
import type { Field } from '../../../../src/core/model.ts'
import type { QueryDialect } from '../../../../src/dialects/dialect.ts'
import type { TableModel } from '../../../schema/index.ts'
import { expressionOf, rootScope } from './expression-of.ts'
import { linkedNames, lookupValues, primitivesOf } from './linked.ts'
import { type Form, fieldsIndexedBy, type Models, type ReadContext, wholeOf } from './scope.ts'

/** SQL of a table’s fields, cached until one of the tables it refers to changes. */
interface Fragments {
  /** A field in one of its forms, for a row of the table under the table’s own name. */
  of(field: Field, form: Form): SQL
  /** The cells of the fields as one part of a select list; empty for no fields. */
  cells(fields: Field[], form?: 'cell' | 'whole'): SQL[]
  /** The filter operations of a list or a link, which are not compared as a whole; null for other fields. */
  primitives(field: Field): FilterPrimitives<SQL> | null
  /** Applies a test to each value of a list or each name of a link; null for other fields. */
  anyOf(field: Field): ((test: (value: SQL) => SQL) => SQL) | null
}

/** Cached SQL of a table for one time zone and its indexes. */
interface CachedZone {
  expressions: Map<string, SQL>
  lists: Map<string, SQL>
}

/** Cached select lists per table: about one per view. */
const MAX_LISTS = 100
/** Cached time zones per table, with what its indexes hold. */
const MAX_ZONES = 20

interface CachedTable {
  models: Models
  dialect: QueryDialect
  zones: Map<string, CachedZone>
  timeDependent: Set<string>
}

const cachedTables = new WeakMap<TableModel, CachedTable>()

/** The cache of a table; empty if one of the tables that it reaches has changed. */
function cachedTableOf(context: ReadContext): CachedTable {
  const { models, dialect } = context
  const model = wholeOf(context)
  const known = cachedTables.get(model)
  if (known && known.dialect === dialect && isSame(known.models, models)) return known
  const fresh = { models, dialect, zones: new Map(), timeDependent: new Set<string>() }
  cachedTables.set(model, fresh)
  return fresh
}

/** True if both have the same version of every table. */
export function isSame(left: Models, right: Models): boolean {
  if (left === right) return true
  if (left.size !== right.size) return false
  for (const [id, model] of left) if (right.get(id) !== model) return false
  return true
}

/** The SQL of a table’s fields, from the cache unless it depends on the current time. */
export function fragmentsOf(context: ReadContext): Fragments {
  const { dialect, moment } = context
  const table = cachedTableOf(context)
  const { expressions, lists } = zoneOf(
    table.zones,
    `${moment.timeZone ?? ''} ${[...fieldsIndexedBy(context.indexes)].join()}`,
  )

  /** Renders SQL without parameters to text once, which makes composing statements cheap. */
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
    if (scope.state.dependsOnNow) {
      table.timeDependent.add(field.id)
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
    if (fields.some(({ id }) => table.timeDependent.has(id))) return [list]
    if (lists.size >= MAX_LISTS) lists.clear()
    const kept = frozen(list)
    lists.set(key, kept)
    return [kept]
  }

  return {
    of,
    cells,
    primitives: (field) => primitivesOf(field, rootScope(context)),
    anyOf(field) {
      const { computed } = fieldType(field.type)
      if (field.error !== null) return null
      if (computed === 'link') return linkedNames(field, rootScope(context))
      const isList = computed === 'lookup' && shownType(field).isList
      return isList ? lookupValues(field, rootScope(context), 'text') : null
    },
  }
}

function zoneOf(zones: Map<string, CachedZone>, zone: string): CachedZone {
  const known = zones.get(zone)
  if (known) return known
  if (zones.size >= MAX_ZONES) zones.clear()
  const fresh = { expressions: new Map(), lists: new Map() }
  zones.set(zone, fresh)
  return fresh
}
