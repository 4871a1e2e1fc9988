import { Elysia } from 'elysia'
import type { Actor } from '../../../src/core/actor.ts'
import { badRequest, notFound } from '../../../src/core/errors.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import { json, scalar } from '../../../src/wire/answer.ts'
import { restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import type { BasesService } from '../../bases/index.ts'
import type { SchemaReader } from '../../schema/index.ts'
import type { ViewsService } from '../../views/index.ts'
import type { RecordsService } from '../service.ts'
import { parseRecordId } from '../table/index.ts'
import { readBodies } from './body.ts'
import type { RestGroups } from './groups.ts'
import type { RestLists } from './list.ts'
import type { RestOperations } from './operations.ts'
import { queryOf, readFilter } from './parameters.ts'

interface Deps {
  records: RecordsService
  bases: BasesService
  schema: SchemaReader
  views: ViewsService
  auth: AuthService
  lists: RestLists
  groups: RestGroups
  operations: RestOperations
}

/** The target of a v1 path: base and table by id or title, and an optional view. */
export interface Target {
  tableId: string
  viewId?: string
}

interface PathParams {
  base: string
  table: string
  view?: string
}

/** Resolves the names in a v1 path. @throws BASE_, TABLE_ or VIEW_NOT_FOUND */
export function createResolver({ bases, schema, views }: Pick<Deps, 'bases' | 'schema' | 'views'>) {
  return async function resolve(actor: Actor, params: PathParams): Promise<Target> {
    const base = await bases.resolve(params.base, actor)
    // Visitors must not learn which other bases exist.
    if (actor.kind === 'share' && actor.baseId !== base.id) throw notFound('Base', params.base.slice(0, 64))
    const { table } = await schema.resolveTable(base.id, params.table)
    const shared = actor.kind === 'share' && actor.grant.kind === 'view' ? actor.grant.viewId : null
    const offered = params.view === undefined && shared === null ? [] : await views.ofTable(table.id)
    const visible = offered.filter(({ id }) => shared === null || id === shared)
    if (shared !== null && visible.length === 0) throw notFound('Table', params.table.slice(0, 255))
    if (params.view === undefined) return { tableId: table.id }
    const name = params.view
    const view = visible.find((candidate) => candidate.id === name || candidate.title === name)
    if (!view) throw notFound('View', name.slice(0, 255))
    return { tableId: table.id, viewId: view.id }
  }
}

export type Resolver = ReturnType<typeof createResolver>

/**
 * Records over `/api/v1/db/data/{orgs}/{base}/{table}`, and the same through a view (wire §14).
 * `{orgs}` may be any text.
 */
export function recordsV1(kernel: Kernel, deps: Deps) {
  const tables = routes(kernel, deps, '/api/v1/db/data/:orgs/:base/:table')
  const views = routes(kernel, deps, '/api/v1/db/data/:orgs/:base/:table/views/:view')
  return new Elysia().use(views).use(tables)
}

interface Call {
  actor: Actor
  params: object
  request: Request
  body?: unknown
}

function routes(kernel: Kernel, deps: Deps, prefix: string) {
  const { records, auth, lists, groups, operations } = deps
  const resolve = createResolver(deps)
  const targetOf = ({ actor, params }: Call) => resolve(actor, params as PathParams)
  const queryOfCall = ({ request }: Call) => new URLSearchParams(queryOf(request))
  const idOf = ({ params }: Call) => (params as { recordId: string }).recordId

  async function firstOf(call: Call): Promise<object> {
    const { tableId, viewId } = await targetOf(call)
    const query = queryOfCall(call)
    query.set('limit', '1')
    const { list } = await lists.list(call.actor, tableId, query.toString(), viewId)
    return list[0] ?? {}
  }

  return new Elysia({ prefix, tags: ['Records v1'] })
    .use(restBase(kernel, auth))
    .get('/', async (call) => {
      const { tableId, viewId } = await targetOf(call)
      return lists.list(call.actor, tableId, queryOf(call.request), viewId)
    })
    .post('/', async (call) => {
      const { tableId, viewId } = await targetOf(call)
      const { bodies, isList } = readBodies(call.body)
      if (isList) throw badRequest(m.records_error_body_record())
      const { ids } = await operations.create(call.actor, tableId, bodies)
      return (await operations.written(call.actor, tableId, ids, viewId))[0]
    })
    .get('/count', async (call) => {
      const { tableId, viewId } = await targetOf(call)
      const opened = await records.open(call.actor, tableId, viewId)
      const filter = readFilter(opened.model, queryOfCall(call))
      return { count: await records.countOpened(opened, { filter }) }
    })
    .get('/find-one', firstOf)
    .get('/groupby', async (call) => {
      const { tableId, viewId } = await targetOf(call)
      return groups.groupBy(call.actor, tableId, queryOfCall(call), viewId)
    })
    .get('/groupby/count', async (call) => {
      const { tableId, viewId } = await targetOf(call)
      return scalar(await groups.count(call.actor, tableId, queryOfCall(call), viewId))
    })
    .get('/group/:columnId', async (call) => {
      const { tableId, viewId } = await targetOf(call)
      return groups.byOption(call.actor, tableId, call.params.columnId, queryOf(call.request), viewId)
    })
    .get('/:recordId', async (call) => {
      const { tableId, viewId } = await targetOf(call)
      return operations.get(call.actor, tableId, idOf(call), queryOfCall(call), viewId)
    })
    .get('/:recordId/exist', async (call) => {
      const { tableId } = await targetOf(call)
      return json(await operations.exists(call.actor, tableId, idOf(call)))
    })
    .patch('/:recordId', async (call) => {
      const { tableId, viewId } = await targetOf(call)
      const { bodies } = readBodies(call.body)
      const { ids } = await operations.update(call.actor, tableId, bodies.slice(0, 1), (model) =>
        parseRecordId(model, idOf(call)),
      )
      return (await operations.written(call.actor, tableId, ids, viewId))[0]
    })
    .delete('/:recordId', async (call) => {
      const { tableId } = await targetOf(call)
      const model = await operations.enter(call.actor, 'record.delete', tableId)
      await operations.remove(call.actor, tableId, [parseRecordId(model, idOf(call))])
      return scalar(1)
    })
}
