import { Elysia } from 'elysia'
import { z } from 'zod'
import type { Authenticator } from '../../../src/caller.ts'
import type { Actor } from '../../../src/core/actor.ts'
import { AppError, badRequest } from '../../../src/core/errors.ts'
import { plainObject } from '../../../src/input.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { scalar } from '../../../src/wire/answer.ts'
import { readBody, restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import { duplicateTable, MAX_FIELDS, type TableModel } from '../model/index.ts'
import type { SchemaService } from '../service.ts'
import { columnsRest } from './columns.ts'
import { hashOf, presentFull, presentTable } from './present.ts'
import { syncRest } from './sync.ts'
import type { WireColumn } from './wire-column-storage.ts'
import { isTrue, readNewColumn } from './wire-field.ts'

/** The path prefixes of bases and of tables, in both API versions. */
const PREFIXES = [
  { base: '/api/v1/db/meta/projects', meta: '/api/v1/db/meta' },
  { base: '/api/v2/meta/bases', meta: '/api/v2/meta' },
]

type RestAuth = Authenticator & Pick<AuthService, 'access'>

const Meta = plainObject(100_000).nullish()
const Text = z.string().max(10_000)

const CreateBody = z.object({
  title: z.string().max(1000),
  columns: z.array(z.record(z.string(), z.unknown())).max(MAX_FIELDS + 20),
  table_name: z.string().max(255).nullish(),
  description: Text.nullish(),
  meta: Meta,
})
const PatchBody = z.object({
  title: z.string().max(1000).nullish(),
  table_name: z.string().max(1000).nullish(),
  description: Text.nullish(),
  meta: Meta,
})
const OrderBody = z.object({ order: z.number() })

/** The routes of tables and columns (wire §7, §8). */
export const schemaRest = (kernel: Kernel, { schema, auth }: { schema: SchemaService; auth: RestAuth }) => {
  const app = new Elysia({ name: 'schema-rest' })
  for (const { base, meta } of PREFIXES) {
    app
      .use(listRoutes(base, schema, kernel, auth))
      .use(syncRest(base, schema, kernel, auth))
      .use(tableRoutes(meta, schema, kernel, auth))
      .use(columnsRest(meta, schema, kernel, auth))
  }
  return app
}

function listRoutes(prefix: string, schema: SchemaService, kernel: Kernel, auth: RestAuth) {
  const list = async (actor: Actor, idOrTitle: string, query: Record<string, unknown>, sourceId?: string) => {
    const base = await schema.resolveBase(actor, idOrTitle)
    const tables = await schema.tables(actor, base.id, { includeJunctions: isTrue(query.includeM2M) })
    const ofSource = tables.filter((table) => sourceId === undefined || table.sourceId === sourceId)
    return { list: ofSource.map(presentTable) }
  }
  const create = async (actor: Actor, idOrTitle: string, body: unknown, sourceId?: string) => {
    const base = await schema.resolveBase(actor, idOrTitle)
    if (sourceId !== undefined && !(await schema.hasSource(base.id, sourceId))) throw unknownSource()
    await auth.access.authorize(actor, 'table.create', base.id)
    if (sourceId !== undefined) await schema.refuseForeignTables(sourceId)
    const { title, columns, table_name: tableName, description, meta } = readBody(CreateBody, body)
    const { table } = await schema.createTable(actor, base.id, {
      title,
      description,
      fields: columns.filter((column) => !isSystemColumn(column)).map(readNewColumn),
      ...(tableName && { tableName }),
      ...(meta && { meta }),
    })
    return presentFull(schema, kernel.registry, table.id)
  }
  return (
    new Elysia({ prefix })
      .use(restBase(kernel, auth))
      .get('/:baseId/tables', ({ actor, params, query }) => list(actor, params.baseId, query))
      .post('/:baseId/tables', ({ actor, params, body }) => create(actor, params.baseId, body))
      // The same, limited to one source.
      .get('/:baseId/:sourceId/tables', ({ actor, params, query }) =>
        list(actor, params.baseId, query, params.sourceId),
      )
      .post('/:baseId/:sourceId/tables', ({ actor, params, body }) =>
        create(actor, params.baseId, body, params.sourceId),
      )
  )
}

const unknownSource = (): AppError =>
  new AppError('NOT_FOUND', 'Source not found or source id not extracted', undefined, 'msg')

const SYSTEM_COLUMNS = ['created_at', 'updated_at', 'created_by', 'updated_by', 'nc_order']

/** System columns in the body are ignored, because every table gets them anyway. */
const isSystemColumn = ({ system, column_name: name }: WireColumn): boolean =>
  isTrue(system) && SYSTEM_COLUMNS.some((column) => column === name)

function tableRoutes(prefix: string, schema: SchemaService, kernel: Kernel, auth: RestAuth) {
  return new Elysia({ prefix: `${prefix}/tables/:tableId` })
    .use(restBase(kernel, auth))

    .get('/', async ({ actor, params }) => {
      await schema.openTable(actor, 'table.read', params.tableId)
      return presentFull(schema, kernel.registry, params.tableId, {
        detailed: true,
        forVisitors: actor.kind === 'share',
      })
    })

    .patch('/', async ({ actor, params, body }) => {
      const model = await schema.openTable(actor, 'table.update', params.tableId)
      await schema.updateTable(actor, params.tableId, readTablePatch(model, readBody(PatchBody, body)))
      return { msg: 'The table has been updated successfully' }
    })

    .delete('/', async ({ actor, params }) => {
      await schema.deleteTable(actor, params.tableId)
      return scalar(true)
    })

    .post('/reorder', async ({ actor, params, body }) => {
      await schema.openTable(actor, 'table.update', params.tableId)
      await schema.placeTable(actor, params.tableId, readBody(OrderBody, body).order)
      return scalar(1)
    })

    .get('/columns/hash', async ({ actor, params }) => ({
      hash: hashOf(await schema.openTable(actor, 'table.read', params.tableId)),
    }))
}

/** A rename needs `table_name`, optionally with `title`; `meta` and `description` may come alone. */
function readTablePatch({ table }: TableModel, patch: z.output<typeof PatchBody>) {
  const { title, table_name: tableName, description, meta } = patch
  const renames = title != null || tableName != null
  const hasOthers = meta !== undefined || description !== undefined
  if (!tableName && (renames || !hasOthers)) {
    throw badRequest('Missing table name `table_name` property in request body')
  }
  const newTitle = title ?? tableName ?? undefined
  if (newTitle === table.title && !hasOthers) throw duplicateTable(newTitle, table.baseId)
  return {
    ...(newTitle !== undefined && { title: newTitle }),
    ...(description !== undefined && { description }),
    ...(meta !== undefined && { meta: meta ?? {} }),
  }
}
