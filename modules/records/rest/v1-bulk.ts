import { Elysia } from 'elysia'
import type { Actor } from '../../../src/core/actor.ts'
import { AppError, badRequest } from '../../../src/core/errors.ts'
import { allOf, type Filter, isComplete, isGroup } from '../../../src/core/filters/index.ts'
import { parseJsonOrNull } from '../../../src/core/json-text.ts'
import type { RecordId } from '../../../src/core/model.ts'
import type { Selection } from '../../../src/core/query.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import { scalar } from '../../../src/wire/answer.ts'
import { listed } from '../../../src/wire/lists.ts'
import { restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import type { TableModel } from '../../schema/index.ts'
import type { RecordsService } from '../service.ts'
import { type Body, readBodies, readKey, readValues, refuseReadOnly, requireKeyField } from './body.ts'
import type { RestOperations } from './operations.ts'
import { queryOf, readFilter, readKeyFilter } from './parameters.ts'
import { presentKey } from './present.ts'

interface Deps {
  records: RecordsService
  auth: AuthService
  operations: RestOperations
  resolve(actor: Actor, params: { base: string; table: string }): Promise<{ tableId: string }>
}

/** Up to this many deleted records are returned completely, beyond it only their ids. */
const MAX_DELETED_ROWS = 10_000

/** Bulk operations over `/api/v1/db/data/bulk/{orgs}/{base}/{table}` (wire §14.3). */
export function recordsV1Bulk(kernel: Kernel, { records, auth, operations, resolve }: Deps) {
  const listOf = (body: unknown): Body[] => {
    const { bodies, isList } = readBodies(body)
    if (!isList) throw badRequest(m.records_error_body_list())
    return bodies
  }

  /** Updates the records that exist and returns their ids; bodies without a key or of other records are ignored. */
  async function updateExisting(actor: Actor, tableId: string, bodies: Body[]): Promise<RecordId[]> {
    const model = await operations.enter(actor, 'record.update', tableId)
    const { existing } = await splitByExistence(actor, model, bodies)
    const idOf = new Map(existing.map(({ id, body }) => [body, id]))
    const { ids } = await operations.update(actor, tableId, [...idOf.keys()], (_, body) => idOf.get(body)!)
    return ids
  }

  /** Updates the records that exist and inserts the others in one change. Returns the ids of both, in this order. */
  async function upsert(actor: Actor, tableId: string, bodies: Body[]): Promise<RecordId[]> {
    const model = await operations.enter(actor, 'record.update', tableId)
    const { existing, others } = await splitByExistence(actor, model, bodies)
    const updated = existing.map(({ id, body }) => ({ id, values: readValues(model, body) }))
    const newValues = others.map((body) => readValues(model, body, { isNew: true }))
    for (const body of others) refuseReadOnly(model, body)
    await operations.refuseChangedColumns(actor, tableId, existing)
    const links = await operations.newLinks(model, others)
    const added = newValues.map((values, index) => ({ values: { ...values, ...links[index] } }))
    const { inserted } = await records.apply(actor, {
      baseId: model.table.baseId,
      operations: [
        { kind: 'update', tableId, rows: updated },
        { kind: 'insert', tableId, rows: added },
      ],
    })
    return [...updated.map(({ id }) => id), ...inserted]
  }

  /** Separates the bodies whose key is that of an existing record, with its id, from the others. */
  async function splitByExistence(actor: Actor, model: TableModel, bodies: Body[]) {
    const keyed = bodies.map((body) => ({ id: readKey(model, body), body }))
    const known = keyed.flatMap(({ id }) => (id === undefined ? [] : [id]))
    const present = new Set((await operations.present(actor, model.table.id, known)).map(String))
    const existing: { id: RecordId; body: Body }[] = []
    const others: Body[] = []
    for (const { id, body } of keyed) {
      if (id !== undefined && present.has(String(id))) existing.push({ id, body })
      else others.push(body)
    }
    return { existing, others }
  }

  return new Elysia({ prefix: '/api/v1/db/data/bulk/:orgs/:base/:table', tags: ['Records v1'] })
    .use(restBase(kernel, auth))
    .post('/', async ({ actor, params, body }) => {
      const { tableId } = await resolve(actor, params)
      const { model, ids } = await operations.create(actor, tableId, listOf(body))
      return ids.map((id) => presentKey(model, id))
    })
    .patch('/', async ({ actor, params, body }) => {
      const { tableId } = await resolve(actor, params)
      return operations.written(actor, tableId, await updateExisting(actor, tableId, listOf(body)))
    })
    .delete('/', async ({ actor, params, body }) => {
      const { tableId } = await resolve(actor, params)
      const model = await operations.enter(actor, 'record.delete', tableId)
      const wanted = listOf(body).map((item) => requireKeyField(model, item))
      const ids = await operations.present(actor, tableId, wanted)
      await operations.remove(actor, tableId, ids)
      return ids.map((id) => ({ [model.primaryKey.columnName]: id }))
    })
    .post('/upsert', async ({ actor, params, body, set }) => {
      const { tableId } = await resolve(actor, params)
      const ids = await upsert(actor, tableId, listOf(body))
      set.status = 201
      return operations.written(actor, tableId, ids)
    })
    .patch('/all', async ({ actor, params, body, request }) => {
      const { tableId } = await resolve(actor, params)
      const model = await operations.enter(actor, 'record.update', tableId)
      const selection = readMatching(model, new URLSearchParams(queryOf(request)))
      const { bodies, isList } = readBodies(body)
      if (isList) throw badRequest(m.records_error_body_values())
      refuseReadOnly(model, bodies[0] ?? {})
      const values = readValues(model, bodies[0] ?? {})
      const { count } = await records.updateMatching(actor, selection, values)
      return scalar(count)
    })
    .delete('/all', async ({ actor, params, request }) => {
      const { tableId } = await resolve(actor, params)
      const model = await operations.enter(actor, 'record.delete', tableId)
      const selection = readMatching(model, new URLSearchParams(queryOf(request)))
      const ids = await records.matchingIds(actor, selection)
      const rows =
        ids.length <= MAX_DELETED_ROWS
          ? await operations.read(actor, tableId, ids)
          : ids.map((id) => presentKey(model, id))
      await records.deleteMatching(actor, selection)
      return rows
    })
}

/**
 * The selection of a bulk write: `where`, `filterArrJson` and `pks`, within the view `viewId`, except `skipPks`;
 * every record without any of these. Lists ignore incomplete conditions, but a bulk write must not, as it would
 * change too many records.
 *
 * @throws as `readFilter`; INVALID_FILTER for a condition without a value, an incomplete `filterArrJson`, several
 *   views, and a `pks` without ids; INVALID_PK_VALUE, RECORD_NOT_FOUND for impossible ids
 */
function readMatching(
  model: TableModel,
  query: URLSearchParams,
): Pick<Selection, 'tableId' | 'viewId' | 'filter'> {
  const views = listed(query, 'viewId').items
  if (views.length > 1) throw invalid(m.records_error_one_view())
  const chosen = readKeyFilter(model, query, 'pks')
  if (chosen === null && listed(query, 'pks').items.length > 0) throw invalid(m.records_error_no_pks())
  const skipped = readKeyFilter(model, query, 'skipPks')
  const others: Filter | null = skipped && { join: 'and', not: true, children: [skipped] }
  const filter = allOf([readWhole(model, query), chosen, others])
  return { tableId: model.table.id, viewId: views[0], filter }
}

function readWhole(model: TableModel, query: URLSearchParams): Filter | null {
  // Parsed first, as this rejects excessive nesting.
  const filter = readFilter(model, query)
  const list = query.get('filterArrJson')
  if (list && !isWhole(parseJsonOrNull(list))) throw invalid(m.records_error_filter_list())
  if (filter) refuseIncomplete(model, filter)
  return filter
}

const invalid = (message: string): AppError => new AppError('INVALID_FILTER', message)

/** True for a list of complete conditions and non-empty groups. */
function isWhole(items: unknown): boolean {
  return (
    Array.isArray(items) &&
    items.every((item) => {
      if (typeof item !== 'object' || item === null) return false
      if (item.is_group || Array.isArray(item.children))
        return item.children?.length > 0 && isWhole(item.children)
      return Boolean(item.fk_column_id && item.comparison_op)
    })
  )
}

function refuseIncomplete(model: TableModel, filter: Filter): void {
  if (isGroup(filter)) {
    for (const child of filter.children) refuseIncomplete(model, child)
    return
  }
  const field = model.field(filter.fieldId)
  if (field && !isComplete(filter, field))
    throw invalid(m.records_error_condition_value({ field: field.title }))
}
