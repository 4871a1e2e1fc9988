import { Elysia } from 'elysia'
import { z } from 'zod'
import type { Authenticator } from '../../../src/caller.ts'
import type { Actor } from '../../../src/core/actor.ts'
import { AppError, notFound } from '../../../src/core/errors.ts'
import { describeValue } from '../../../src/core/fields/field-type.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import type { Field } from '../../../src/core/model.ts'
import { plainObject } from '../../../src/input.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { scalar } from '../../../src/wire/answer.ts'
import { readBody, restBase } from '../../../src/wire/rest-base.ts'
import type { FieldPosition } from '../change/index.ts'
import { type FieldPatch, MAX_FIELDS, type TableModel } from '../model/index.ts'
import type { SchemaService } from '../service.ts'
import { hashOf, presentColumn, presentFull, wireContextOf } from './present.ts'
import type { WireColumn } from './wire-column-storage.ts'
import { readWireLink } from './wire-computed.ts'
import { readColumnPatch, readNewColumn } from './wire-field.ts'

const MAX_COLUMN_JSON = 2_000_000

const ColumnBody = plainObject(MAX_COLUMN_JSON)
const ColumnOrder = z.object({
  order: z.number().optional().catch(undefined),
  view_id: z.string().optional(),
})
const BulkBody = z.object({
  hash: z.string().max(64),
  ops: z.array(z.object({ op: z.enum(['add', 'update', 'delete']), column: ColumnBody })).max(2 * MAX_FIELDS),
})

/** The routes of columns (wire §8). Most calls respond with the whole table. */
export function columnsRest(prefix: string, schema: SchemaService, kernel: Kernel, auth: Authenticator) {
  return new Elysia({ prefix })
    .use(restBase(kernel, auth))

    .post('/tables/:tableId/columns', async ({ actor, params, body }) => {
      await schema.openTable(actor, 'field.create', params.tableId)
      await addColumn(schema, actor, params.tableId, readBody(ColumnBody, body))
      return presentFull(schema, kernel.registry, params.tableId, { detailed: true })
    })

    .post('/tables/:tableId/columns/bulk', async ({ actor, params, body }) => {
      const model = await schema.openTable(actor, 'field.update', params.tableId)
      const { hash, ops } = readBody(BulkBody, body)
      if (hash !== hashOf(model)) {
        throw new AppError(
          'OUT_OF_SYNC',
          'Columns are updated by someone else! Your changes are rejected. Please refresh the page and try again.',
        )
      }
      return { failedOps: await applyOps(schema, actor, model, ops) }
    })

    .get('/columns/:columnId', async ({ actor, params }) => {
      const { model, field } = await schema.openField(actor, 'field.update', params.columnId)
      return presentOne(schema, model, field.id)
    })

    .patch('/columns/:columnId', async ({ actor, params, body }) => {
      const { model, field } = await schema.openField(actor, 'field.update', params.columnId)
      const patch = await readPatch(schema, model, field, readBody(ColumnBody, body))
      await schema.updateField(actor, field.id, patch)
      return presentFull(schema, kernel.registry, field.tableId, { detailed: true })
    })

    .delete('/columns/:columnId', async ({ actor, params }) => {
      const { field } = await schema.openField(actor, 'field.delete', params.columnId)
      await schema.deleteField(actor, field.id)
      return presentFull(schema, kernel.registry, field.tableId, { detailed: true })
    })

    .post('/columns/:columnId/primary', async ({ actor, params }) => {
      await schema.setDisplayField(actor, params.columnId)
      return scalar(true)
    })
}

async function readPatch(
  schema: SchemaService,
  model: TableModel,
  field: Field,
  column: WireColumn,
): Promise<FieldPatch> {
  const current = await presentOne(schema, model, field.id)
  return readColumnPatch(column, field, { current, client: await schema.clientOf(model) })
}

async function presentOne(schema: SchemaService, model: TableModel, fieldId: string) {
  const stored = model.stored.find((field) => field.id === fieldId)
  if (!stored) throw notFound('Field', fieldId)
  return presentColumn(model.table, stored, await wireContextOf(schema, model.table.id))
}

/** The position of a new column in a view (`column_order`); empty if the body has none. */
export function readFieldPosition(columnOrder: unknown): FieldPosition {
  const { order, view_id: viewId } = ColumnOrder.safeParse(columnOrder).data ?? {}
  return viewId !== undefined && order !== undefined ? { viewId, order } : {}
}

async function addColumn(
  schema: SchemaService,
  actor: Actor,
  tableId: string,
  column: WireColumn,
): Promise<void> {
  const position = readFieldPosition(column.column_order)
  const field = readNewColumn(column)
  if (fieldType(field.type).computed !== 'link') {
    await schema.createField(actor, tableId, field, position)
    return
  }
  const link = readWireLink(column, tableId)
  const options = { ...field.options, ...link.options }
  await schema.createField(
    actor,
    link.tableId,
    { ...field, options },
    link.tableId === tableId ? position : {},
  )
}

type Op = z.output<typeof BulkBody>['ops'][number]

/** Applies the operations in order and returns those that fail; a failure does not stop the rest. */
async function applyOps(schema: SchemaService, actor: Actor, model: TableModel, ops: Op[]) {
  const failedOps: (Op & { error: string })[] = []
  for (const { op, column } of ops) {
    try {
      await applyOp(schema, actor, model.table.id, op, column)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      failedOps.push({ op, column, error: reasonOf(error) })
    }
  }
  return failedOps
}

/** The reason of a failure; for an invalid body, its first problem. */
function reasonOf({ message, details }: AppError): string {
  const [first] = Array.isArray(details?.errors) ? (details.errors as { message?: unknown }[]) : []
  return typeof first?.message === 'string' ? first.message : message
}

async function applyOp(
  schema: SchemaService,
  actor: Actor,
  tableId: string,
  op: Op['op'],
  column: WireColumn,
): Promise<void> {
  if (op === 'add') return addColumn(schema, actor, tableId, column)
  const id = typeof column.id === 'string' ? column.id : describeValue(column.id ?? '')
  const { model, field } = await schema.openField(
    actor,
    op === 'delete' ? 'field.delete' : 'field.update',
    id,
  )
  if (field.tableId !== tableId) throw notFound('Field', id)
  if (op === 'delete') await schema.deleteField(actor, field.id)
  else await schema.updateField(actor, field.id, await readPatch(schema, model, field, column))
}
