import { Elysia } from 'elysia'
import { z } from 'zod'
import type { Actor } from '../../../src/core/actor.ts'
import { badRequest } from '../../../src/core/errors.ts'
import type { Hook, HookDelivery, HookOperation, HookPayload, HookSettings } from '../../../src/core/hooks.ts'
import { HOOK_EVENTS, HOOK_OPERATIONS } from '../../../src/core/hooks.ts'
import { parseJsonOrNull } from '../../../src/core/json-text.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import { json, scalar } from '../../../src/wire/answer.ts'
import { wireFlag } from '../../../src/wire/body-values.ts'
import { pageInfo, readPage } from '../../../src/wire/lists.ts'
import { readBody, restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import { parseRecordId } from '../../records/index.ts'
import type { SchemaReader } from '../../schema/index.ts'
import { filterList, readFilter } from '../../views/index.ts'
import type { HooksService } from '../service.ts'
import { presentHook, presentHookFilters, presentLog } from './present.ts'

const PREFIXES = ['/api/v1/db/meta', '/api/v2/meta']
const TAGS = ['Webhooks']

interface Services {
  hooks: HooksService
  schema: Pick<SchemaReader, 'load'>
  auth: AuthService
}

const id = z.string().min(1).max(64)

/** A webhook as clients send it; the service checks the texts. */
const HookBody = z.object({
  title: z.string(),
  description: z.string().nullish(),
  event: z.enum(HOOK_EVENTS),
  operation: z.array(z.enum([...HOOK_OPERATIONS, 'trigger'])).max(10),
  active: wireFlag.nullish(),
  condition: wireFlag.nullish(),
  notification: z.union([z.string().max(1_000_000), z.record(z.string(), z.unknown())]),
  trigger_field: wireFlag.nullish(),
  trigger_fields: z.array(id).max(500).nullish(),
  version: z.string(),
})
const TestBody = z.object({
  hook: z.record(z.string(), z.unknown()),
  payload: z.record(z.string(), z.unknown()).nullish(),
})
const MAX_TEST_ROWS = 100
const TestRows = z.object({
  data: z.object({ rows: z.array(z.record(z.string(), z.unknown())).max(MAX_TEST_ROWS) }),
})

/** Webhooks over REST (wire §11). */
export function hooksRest(kernel: Kernel, services: Services) {
  const app = new Elysia()
  for (const prefix of PREFIXES) app.use(hookRoutes(prefix, kernel, services))
  return app
}

function hookRoutes(prefix: string, kernel: Kernel, { hooks, schema, auth }: Services) {
  const present = async (hook: Hook) => presentHook(hook, (await schema.load(hook.tableId)).table)
  const sample = async (
    actor: Actor,
    tableId: string,
    { event, operation, version }: { event?: string; operation: string; version: string },
  ) => {
    const isKnown = (name: string): name is HookDelivery['operation'] =>
      name === 'trigger' || HOOK_OPERATIONS.some((known) => known === name)
    const plain = operation.replace(/^bulk/, '').toLowerCase()
    if (!isKnown(plain)) throw badRequest(m.hooks_error_operation({ operation: operation.slice(0, 64) }))
    const known = HOOK_EVENTS.find((one) => one === event) ?? 'after'
    const payload = await hooks.sample(actor, tableId, { event: known, operation: plain })
    const { primaryKey } = await schema.load(tableId)
    return sampleOf({ version, operation, keyTitle: primaryKey.title }, payload)
  }

  return new Elysia({ prefix, tags: TAGS })
    .use(restBase(kernel, auth))
    .get(
      '/tables/:tableId/hooks',
      async ({ actor, params }) => {
        const list = await hooks.list(actor, params.tableId)
        const { table } = await schema.load(params.tableId)
        return { list: list.map((hook) => presentHook(hook, table)) }
      },
      { detail: { summary: 'List the webhooks of a table' } },
    )
    .post(
      '/tables/:tableId/hooks',
      async ({ actor, params, body }) => {
        await hooks.list(actor, params.tableId)
        return json(
          await present(await hooks.create(actor, params.tableId, readSettings(body, DEFAULTS))),
          200,
        )
      },
      { detail: { summary: 'Create a webhook' } },
    )
    .post(
      '/tables/:tableId/hooks/test',
      async ({ actor, params, body }) => {
        await hooks.list(actor, params.tableId)
        const { hook, payload } = readBody(TestBody, body)
        const { channel, event, operations } = readSettings(hook, DEFAULTS)
        const rows = TestRows.safeParse(payload).data?.data.rows
        const operation = event === 'manual' ? 'trigger' : (operations[0] ?? 'insert')
        const result = await hooks.test(actor, { tableId: params.tableId, event, operation, channel, rows })
        // As in the reference, which calls every failure one of the database.
        if (result.error) return json({ error: 'DATABASE_ERROR', ...result.error }, 400)
        return json({ msg: 'The hook has been tested successfully' }, 200)
      },
      { detail: { summary: 'Try a webhook without saving it' } },
    )
    .get(
      '/tables/:tableId/hooks/samplePayload/:event/:operation/:version',
      ({ actor, params }) => sample(actor, params.tableId, params),
      { detail: { summary: 'An example of the event' } },
    )
    .get(
      '/tables/:tableId/hooks/samplePayload/:event/:operation',
      // Earlier clients name the operation and the version (spec §7).
      ({ actor, params: { tableId, event, operation } }) =>
        sample(actor, tableId, { operation: event, version: operation }),
      { detail: { summary: 'An example of the event, for earlier clients' } },
    )
    .patch(
      '/hooks/:hookId',
      async ({ actor, params, body }) => {
        const before = await hooks.get(actor, params.hookId)
        return json(await present(await hooks.update(actor, params.hookId, readSettings(body, before))), 200)
      },
      { detail: { summary: 'Change a webhook' } },
    )
    .delete(
      '/hooks/:hookId',
      async ({ actor, params }) => {
        await hooks.delete(actor, params.hookId)
        return scalar(true)
      },
      { detail: { summary: 'Delete a webhook' } },
    )
    .get(
      '/hooks/:hookId/filters',
      async ({ actor, params, query }) => {
        const hook = await hooks.get(actor, params.hookId)
        return filterList(presentHookFilters(hook, await schema.load(hook.tableId)), query)
      },
      { detail: { summary: 'List the conditions of a webhook' } },
    )
    .post(
      '/hooks/:hookId/filters',
      async ({ actor, params, body }) => {
        const { tableId } = await hooks.get(actor, params.hookId)
        const model = await schema.load(tableId)
        const { id: filterId, addTo } = readFilter(model, body)
        const hook = await hooks.changeFilter(actor, params.hookId, addTo)
        return json(
          presentHookFilters(hook, model).find((filter) => filter.id === filterId),
          200,
        )
      },
      { detail: { summary: 'Add a condition to a webhook' } },
    )
    .get(
      '/hooks/:hookId/logs',
      async ({ actor, params, query }) => {
        const page = readPage(query)
        const level = kernel.config.automationLogLevel
        const { deliveries, total, hook } = await hooks.log(actor, params.hookId, {
          ...page,
          only: level === 'OFF' ? 'none' : level === 'ERROR' ? 'failed' : 'all',
        })
        const userIds = deliveries.flatMap(({ triggeredBy }) => triggeredBy ?? [])
        const people = await auth.people([...new Set(userIds)])
        return {
          list: deliveries.map((delivery) => presentLog(hook, delivery, people)),
          pageInfo: pageInfo(total, page),
        }
      },
      { detail: { summary: 'List the calls of a webhook' } },
    )
    .post(
      '/hooks/:hookId/trigger/:rowId',
      async ({ actor, params }) => {
        const model = await hooks.tableOf(actor, params.hookId)
        await hooks.trigger(actor, params.hookId, [parseRecordId(model, params.rowId)])
        return scalar(true, 201)
      },
      { detail: { summary: 'Trigger a webhook for a record' } },
    )
}

const DEFAULTS: HookSettings = {
  title: '',
  description: null,
  event: 'after',
  operations: [],
  isActive: true,
  deliverPer: 'call',
  isConditional: false,
  filter: null,
  triggerFieldIds: [],
  channel: { type: 'URL', payload: {} },
}

/**
 * Reads a webhook; what clients cannot say is kept.
 *
 * @throws BAD_REQUEST for another version; INVALID_REQUEST_BODY
 */
function readSettings(body: unknown, before: HookSettings): HookSettings {
  const version = typeof body === 'object' && body !== null && 'version' in body ? body.version : undefined
  if (version !== 'v3') throw badRequest('hook version is deprecated / not supported anymore')
  const hook = readBody(HookBody, body)
  const watched = hook.trigger_fields ?? before.triggerFieldIds
  return {
    ...before,
    title: hook.title,
    description: hook.description === undefined ? before.description : hook.description,
    event: hook.event,
    operations: hook.operation.filter((operation): operation is HookOperation => operation !== 'trigger'),
    isActive: hook.active ?? before.isActive,
    isConditional: hook.condition ?? before.isConditional,
    triggerFieldIds: hook.trigger_field === false ? [] : watched,
    channel: readChannel(hook.notification),
  }
}

/** A channel as an object, or as its JSON text, as answers have it. */
function readChannel(notification: unknown): HookSettings['channel'] {
  const value = typeof notification === 'string' ? parseJsonOrNull(notification) : notification
  const { type, payload } = (value ?? {}) as { type?: unknown; payload?: unknown }
  const isObject = typeof payload === 'object' && payload !== null && !Array.isArray(payload)
  if (typeof type !== 'string') throw badRequest(m.hooks_error_channel({ type: String(type).slice(0, 64) }))
  return { type, payload: isObject ? (payload as Record<string, unknown>) : {} }
}

/**
 * The event in the form of a version. Before v2 it is a bare row, of a deleted record its key only; v2 names bulk
 * operations, and has only the number of rows that a bulk insert has added.
 */
function sampleOf(
  { version, operation, keyTitle }: { version: string; operation: string; keyTitle: string },
  { base_id: _, version: current, data, ...head }: HookPayload,
) {
  if (version === 'v1') return operation === 'delete' ? { [keyTitle]: 1 } : data.rows[0]
  if (version === 'v3') return { ...head, version: current, data }
  if (!/^bulk/.test(operation)) return { ...head, data }
  const { table_id, table_name } = data
  return {
    ...head,
    type: `records.after.${operation}`,
    data: operation === 'bulkInsert' ? { table_id, table_name, row_inserted: 10 } : data,
  }
}
