import { type SQL, sql } from 'drizzle-orm'
import type { Actor } from '../../../src/core/actor.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { isSingleLink, linkOf } from '../../../src/core/fields/link-options.ts'
import type { Filter } from '../../../src/core/filters/index.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import type { TableModel } from '../../schema/index.ts'
import {
  conditionIn,
  expressionOf,
  follow,
  type Models,
  type Opened,
  type ReadContext,
  refuseFaulty,
  rootScope,
  stepOf,
  tableIn,
  titledForm,
  wholeOf,
} from '../read/index.ts'
import type { RecordsService } from '../service.ts'
import { keyOf } from '../table/index.ts'
import { readFields, readFilter, readLimit, readNames, readOffset } from './parameters.ts'
import { defaultFields, type PresenterFor, type Row } from './present.ts'

/** What `nested[<Title>][…]` asks of the records of one link. */
interface Nested extends NestedRequest {
  field: Field
  isSingle: boolean
  models: Models
  present: ReturnType<PresenterFor>
}

/** True where a query string shapes the records of a link. */
export const hasNested = (search: string): boolean => /(^|&)nested(\[|%5B)/i.test(search)

/**
 * Reads the linked records that `nested[<Title>][fields|limit|offset|where]` shapes: one statement for each link
 * that it names, whatever the number of rows. Gives what puts them into the rows of a page.
 *
 * @throws FIELD_NOT_FOUND for a field that the related table has not; 422 for a bad `where`
 */
export async function readNested(
  {
    records,
    presenterFor,
  }: { records: Pick<RecordsService, 'open' | 'openNames'>; presenterFor: PresenterFor },
  actor: Actor,
  opened: Opened,
  fields: Field[],
  query: URLSearchParams,
): Promise<(rows: Row[], keys: RecordId[]) => Promise<void>> {
  const wanted: Nested[] = []
  for (const field of fields) {
    const own = parametersOf(query, field.title)
    const link = fieldType(field.type).linkAnswer === 'records' && field.error === null ? linkOf(field) : null
    if (!own || !link || !stepOf(wholeOf(opened.context), field.id, opened.context.models)) continue
    const related = await openRelated(records, actor, link.relatedTableId)
    const filter = readFilter(related.model, own)
    if (filter) refuseFaulty(related.model, filter)
    const limit = readLimit(own.get('limit'))
    const models = new Map([...related.context.models, ...opened.context.models])
    const shown = fieldsOf(related.model, own)
    wanted.push({
      field,
      models,
      filter,
      limit,
      fields: shown,
      isSingle: isSingleLink(link),
      present: presenterFor(shown, { ...opened.context, models }),
      offset: readOffset(own, limit),
    })
  }
  return async (rows, keys) => {
    await Promise.all(wanted.map((nested) => fill(opened, nested, rows, keys)))
  }
}

/** The table of linked records; to visitors of a view these are names and nothing else. */
const openRelated = (
  records: Pick<RecordsService, 'open' | 'openNames'>,
  actor: Actor,
  tableId: string,
): Promise<Opened> =>
  actor.kind === 'share' && actor.grant.kind === 'view'
    ? records.openNames(actor, tableId, null)
    : records.open(actor, tableId)

/** The parameters under one title, as if they stood alone; null where there are none. */
function parametersOf(query: URLSearchParams, title: string): URLSearchParams | null {
  const start = `nested[${title}][`
  const own = [...query].flatMap(([name, value]) =>
    name.startsWith(start) && name.includes(']', start.length)
      ? [[name.slice(start.length).replace(']', ''), value] as [string, string]]
      : [],
  )
  return own.length === 0 ? null : new URLSearchParams(own)
}

/** The key is always there; of the rest what is asked for, or the name. */
function fieldsOf(model: TableModel, query: URLSearchParams): Field[] {
  const all = readNames(query).includes('*')
  const asked = all ? defaultFields(model) : (readFields(model, query) ?? [model.displayField])
  return [...new Set([model.primaryKey, ...asked])]
}

async function fill(opened: Opened, nested: Nested, rows: Row[], keys: RecordId[]): Promise<void> {
  const { field, models, isSingle } = nested
  const { engine, context } = opened
  const query = keys.length === 0 ? null : nestedQuery({ ...context, models }, field, keys, nested)
  const found = query ? await engine.all<Row>(engine.dialect.render(query)) : []
  const byOwner = Map.groupBy(found, (row) => String(row[OWNER]))
  for (const row of found) delete row[OWNER]
  await nested.present?.(found)
  for (const [at, row] of rows.entries()) {
    const own = byOwner.get(String(keys[at])) ?? []
    row[field.title] = isSingle ? (own[0] ?? null) : own
  }
}

/** Which of the linked records are read, and what of them. */
interface NestedRequest {
  /** Fields of the related table. */
  fields: Field[]
  filter: Filter | null
  limit: number
  offset: number
}

/** Name of the column that says whose record a row is; titles hold no control characters. */
const OWNER = '~\u0001owner'

/**
 * The records that are linked to some others by one link, `limit` for each of these, in their table's order: a
 * row is the key of the one (`OWNER`) and the fields of the other by title. Null for a link that is broken.
 *
 * @param context of the table that has the link, with all the models that the related table's fields reach
 */
export function nestedQuery(
  context: ReadContext,
  link: Field,
  keys: RecordId[],
  { fields, filter, limit, offset }: NestedRequest,
): SQL | null {
  const outer = rootScope(context)
  const step = stepOf(wholeOf(context), link.id, context.models)
  if (!step) return null
  const { rows, end } = follow(outer, [step])
  const values = fields.map(
    (field, at) => sql`${expressionOf(field, end, titledForm(field))} as ${nameAt(at)}`,
  )
  const shown = fields.map((field, at) => sql`${nameAt(at)} as ${sql.identifier(field.title)}`)
  const key = keyOf(context.model)
  const ids = list(keys.map((id) => sql`${id}`))
  const narrow = conditionIn(end, filter)
  const [owner, place] = [sql.identifier(OWNER), sql.identifier('~\u0001place')]
  const numbered = sql`select ${key} as ${owner},
      row_number() over (partition by ${key} order by ${rows.orderBy}) as ${place}, ${list(values)}
    from ${tableIn(outer)}, ${rows.from} and ${key} in (${ids}) ${narrow ? sql`and ${narrow}` : sql``}`
  return sql`select ${owner}, ${list(shown)} from (${numbered}) as numbered
    where ${place} > ${offset} and ${place} <= ${offset + limit} order by ${owner}, ${place}`
}

const list = (parts: SQL[]): SQL => sql.join(parts, sql`, `)

const nameAt = (at: number): SQL => sql`${sql.identifier(`~\u0001${at}`)}`
