import type { Actor } from '../../../src/core/actor.ts'
import { badRequest } from '../../../src/core/errors.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import { isSingleLink, linkOf } from '../../../src/core/fields/link-options.ts'
import type { Field, RecordId } from '../../../src/core/model.ts'
import { m } from '../../../src/messages.gen.ts'
import { readLimit } from '../../../src/wire/lists.ts'
import type { TableModel } from '../../schema/index.ts'
import {
  MAX_NESTED,
  type Models,
  type NestedRequest,
  nestedQuery,
  type Opened,
  OWNER,
  refuseFaulty,
  stepOf,
  wholeOf,
} from '../read/index.ts'
import type { RecordsService } from '../service.ts'
import { readFields, readFilter, readNames, readOffset } from './parameters.ts'
import { defaultFields, type PresenterFor, type Row } from './present.ts'

/** A `nested[<Title>][…]` parameter for the records of one link. */
interface Nested extends NestedRequest {
  field: Field
  isSingle: boolean
  models: Models
  present: ReturnType<PresenterFor>
}

/** How many linked records an answer has of each link, by its id: `MAX_NESTED` at most, whatever the number of its lists. */
export type LinkedCounts = Map<string, number>

/**
 * Reads the linked records that `nested[<Title>][fields|limit|offset|where]` select, in one statement per link,
 * whatever the number of rows. Returns a function that adds them to the rows of a page.
 *
 * @throws FIELD_NOT_FOUND for a field that the related table does not have; 422 for an invalid `where`; the returned function
 *   BAD_REQUEST for more than `MAX_NESTED` records of one link
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
  linked: LinkedCounts = new Map(),
): Promise<(rows: Row[], keys: RecordId[]) => Promise<void>> {
  const wanted: Nested[] = []
  const given = [...query].filter(([name]) => name.startsWith('nested['))
  for (const field of fields) {
    const own = parametersOf(given, field.title)
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
    await Promise.all(wanted.map((nested) => fill(opened, nested, rows, keys, linked)))
  }
}

/** The related table; for visitors of a view only its names. */
const openRelated = (
  records: Pick<RecordsService, 'open' | 'openNames'>,
  actor: Actor,
  tableId: string,
): Promise<Opened> =>
  actor.kind === 'share' && actor.grant.kind === 'view'
    ? records.openNames(actor, tableId, null)
    : records.open(actor, tableId)

/** The nested parameters of one title, or null. */
function parametersOf(given: [name: string, value: string][], title: string): URLSearchParams | null {
  const start = `nested[${title}][`
  const own = given.flatMap(([name, value]) =>
    name.startsWith(start) && name.includes(']', start.length)
      ? [[name.slice(start.length).replace(']', ''), value] as [string, string]]
      : [],
  )
  return own.length === 0 ? null : new URLSearchParams(own)
}

/** The key, and the requested fields or the display field. */
function fieldsOf(model: TableModel, query: URLSearchParams): Field[] {
  const all = readNames(query).includes('*')
  const asked = all ? defaultFields(model) : (readFields(model, query) ?? [model.displayField])
  return [...new Set([model.primaryKey, ...asked])]
}

async function fill(
  opened: Opened,
  nested: Nested,
  rows: Row[],
  keys: RecordId[],
  linked: LinkedCounts,
): Promise<void> {
  const { field, models, isSingle } = nested
  const { engine, context } = opened
  const query = keys.length === 0 ? null : nestedQuery({ ...context, models }, field, keys, nested)
  // Numbers all records that are linked to the page, however many they are.
  const found = query ? await engine.all<Row>(engine.dialect.render(query), { scan: true }) : []
  const count = (linked.get(field.id) ?? 0) + found.length
  if (count > MAX_NESTED)
    throw badRequest(m.records_error_too_many_nested({ field: field.title, max: MAX_NESTED }))
  linked.set(field.id, count)
  const byOwner = Map.groupBy(found, (row) => String(row[OWNER]))
  for (const row of found) delete row[OWNER]
  await nested.present?.(found)
  for (const [at, row] of rows.entries()) {
    const own = byOwner.get(String(keys[at])) ?? []
    row[field.title] = isSingle ? (own[0] ?? null) : own
  }
}
