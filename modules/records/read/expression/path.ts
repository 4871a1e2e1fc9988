import { type SQL, sql } from 'drizzle-orm'
import { fieldType } from '../../../../src/core/fields/index.ts'
import { isSingleLink, type LinkOptions, linkOf } from '../../../../src/core/fields/link-options.ts'
import type { Field } from '../../../../src/core/model.ts'
import type { RelatedRows } from '../../../../src/dialects/related.ts'
import type { TableModel } from '../../../schema/index.ts'
import { columnIn, ownOrder } from '../../table/index.ts'
import { innerScope, type Models, type Scope, tableIn } from './scope.ts'

/** Limit of links in one path: engines join about sixty tables, and an mm link takes two. */
const MAX_LINKS = 12

/** A link with the tables at both ends. */
export interface Step {
  link: LinkOptions
  from: TableModel
  to: TableModel
}

/** The path from a record to values in another table: links, then a field of the last table. */
export interface Path {
  steps: Step[]
  target: Field
  /** True if every link leads to one record at most. */
  isSingle: boolean
  /** True for a lookup of a link: the target is the field by which the records are named. */
  isName: boolean
}

/** The link of a field with both tables; null if anything is missing. */
export function stepOf(model: TableModel, fieldId: unknown, models: Models): Step | null {
  const field = typeof fieldId === 'string' ? model.field(fieldId) : undefined
  if (!field || field.error !== null) return null
  const link = linkOf(field)
  const to = link && models.get(link.relatedTableId)
  if (!link || !to) return null
  const step = { link, from: model, to }
  return areKeysThere(step, models) ? step : null
}

function areKeysThere({ link, from, to }: Step, models: Models): boolean {
  if (link.kind === 'mm') {
    const pairs = link.junction && models.get(link.junction.tableId)
    return Boolean(pairs?.field(link.junction!.ownFieldId) && pairs.field(link.junction!.relatedFieldId))
  }
  const [child, parent] = link.holdsKey ? [from, to] : [to, from]
  return Boolean(child.field(link.keyFieldId ?? '') && parentKey(parent, link))
}

/** The field that the key of an hm, bt or oo link refers to: the parent’s primary key, unless another is named. */
const parentKey = (parent: TableModel, link: LinkOptions): Field | undefined =>
  link.parentFieldId === null ? parent.primaryKey : parent.field(link.parentFieldId)

const isLookup = ({ type }: Field): boolean => fieldType(type).computed === 'lookup'

/**
 * The path of a lookup or rollup. Lookups of lookups form one chain of joins, however deep they are nested; a lookup
 * that ends at a link gives the names of its records. Null if a link or field is missing, or the lookups form a
 * circle.
 *
 * @param field a field of `model` whose options name `relationFieldId` and `targetFieldId`
 */
export function pathOf(model: TableModel, field: Field, models: Models): Path | null {
  const steps: Step[] = []
  let [at, next]: [TableModel, Field] = [model, field]
  let isName = false
  for (;;) {
    const isLink = linkOf(next) !== null
    // A rollup over a link aggregates the number of linked records.
    if (steps.length > 0 && !isLookup(next) && !(isLink && isLookup(field))) break
    const step =
      next.error === null ? stepOf(at, isLink ? next.id : next.options.relationFieldId, models) : null
    const target = step && (isLink ? step.to.displayField : step.to.field(String(next.options.targetFieldId)))
    if (!step || !target || steps.push(step) > MAX_LINKS) return null
    if (isLink) isName = true
    at = step.to
    next = target
  }
  if (next.error !== null) return null
  return { steps, target: next, isName, isSingle: steps.every(({ link }) => isSingleLink(link)) }
}

/** The rows at the end of a path from a scope’s record, and the scope of such a row. */
export function follow(outer: Scope, steps: Step[]): { rows: RelatedRows; end: Scope } {
  const joined: { table: SQL; on: SQL }[] = []
  const orders: SQL[] = []
  let here = outer
  for (const step of steps) {
    const pairs = pairsOf(here, step)
    const there = innerScope(here, step.to)
    if (pairs) joined.push({ table: tableIn(pairs.scope), on: pairs.own })
    const key = sql`${columnIn(there, step.to.primaryKey)}`
    joined.push({
      table: tableIn(there),
      on: pairs ? sql`${key} = ${pairs.related}` : keyCondition(here, there, step),
    })
    orders.push(...ownOrder(there))
    here = there
  }
  // The condition of the first table ties all of them to the outer record.
  const [first, ...rest] = joined
  const joins = rest.map(({ table, on }) => sql` join ${table} on ${on}`)
  const from = sql`${first!.table}${sql.join(joins)} where ${first!.on}`
  return { rows: { from, orderBy: sql.join(orders, sql`, `) }, end: here }
}

/** The linked rows to count: for an mm link the junction alone. */
export function countedRows(outer: Scope, step: Step): SQL {
  const pairs = pairsOf(outer, step)
  return pairs ? sql`${tableIn(pairs.scope)} where ${pairs.own}` : follow(outer, [step]).rows.from
}

/** The junction rows of an mm link that belong to the scope’s record. */
function pairsOf(here: Scope, { link }: Step): { scope: Scope; own: SQL; related: SQL } | null {
  const model = link.junction && here.models.get(link.junction.tableId)
  if (link.kind !== 'mm' || !link.junction || !model) return null
  const scope = innerScope(here, model)
  const column = (fieldId: string) => columnIn(scope, model.field(fieldId)!)
  return {
    scope,
    own: sql`${column(link.junction.ownFieldId)} = ${columnIn(here, here.model.primaryKey)}`,
    related: column(link.junction.relatedFieldId),
  }
}

function keyCondition(here: Scope, there: Scope, { link, from, to }: Step): SQL {
  if (link.holdsKey) {
    return sql`${columnIn(there, parentKey(to, link)!)} = ${columnIn(here, from.field(link.keyFieldId ?? '')!)}`
  }
  return sql`${columnIn(there, to.field(link.keyFieldId ?? '')!)} = ${columnIn(here, parentKey(from, link)!)}`
}
