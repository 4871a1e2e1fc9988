import type { Actor } from '../../src/core/actor.ts'
import { badRequest, notFound } from '../../src/core/errors.ts'
import type {
  DeliveryStatus,
  Hook,
  HookDelivery,
  HookDeliveryDetail,
  HookPayload,
  HookSettings,
  HookTestResult,
  ListedHook,
  TriggeredDelivery,
} from '../../src/core/hooks.ts'
import { MAX_HOOKS } from '../../src/core/hooks.ts'
import { createId } from '../../src/core/ids.ts'
import type { RecordId } from '../../src/core/model.ts'
import type { BaseRight } from '../../src/core/roles.ts'
import type { Kernel } from '../../src/kernel.ts'
import { m } from '../../src/messages.gen.ts'
import { seal, unseal } from '../../src/secrets.ts'
import type { AuthService } from '../auth/index.ts'
import { createRestRows, type RecordsService, storedId } from '../records/index.ts'
import { orderAt, type SchemaReader, type TableModel, uniqueTitle } from '../schema/index.ts'
import { createSender, eventOf, sampleEvent } from './deliveries/index.ts'
import { checkChannel, checkSettings, newSecret, present } from './settings.ts'
import { createHookStore, type DeliveryRow, type HookRow } from './store.ts'

/** Deliveries per page of the log. */
const LOG_PAGE = 50
/** A delivery of more records does not list their ids. */
const LISTED_IDS = 100
/** The name of the webhooks among the consumers of the change logs. */
const CONSUMER = 'hooks'

export type HooksService = ReturnType<typeof createHooksService>

/** Webhooks of tables: their settings, their deliveries, and calls by hand. */
export function createHooksService(
  kernel: Kernel,
  auth: Pick<AuthService, 'access' | 'people'>,
  schema: Pick<SchemaReader, 'load'>,
  records: Pick<RecordsService, 'open' | 'titledMap' | 'attachments' | 'feed'>,
) {
  const key = kernel.secrets.connections
  const store = createHookStore(kernel)
  const sender = createSender(kernel)
  const rows = createRestRows(records, auth)
  kernel.removals.push(store.forRemovedBase)

  /** @throws TABLE_NOT_FOUND before access is checked */
  async function enter(actor: Actor, right: BaseRight, tableId: string): Promise<TableModel> {
    const model = await schema.load(tableId)
    await auth.access.authorize(actor, right, model.table.baseId)
    return model
  }

  /** @throws HOOK_NOT_FOUND, also for webhooks of tables in the trash; PERMISSION_DENIED */
  async function open(
    actor: Actor,
    right: BaseRight,
    hookId: string,
  ): Promise<{ row: HookRow; model: TableModel }> {
    const row = await store.find(hookId)
    const model = row && (await schema.load(row.tableId).catch(() => null))
    if (!row || !model) throw notFound('Hook', hookId.slice(0, 64))
    await auth.access.authorize(actor, right, row.baseId)
    return { row, model }
  }

  /** From now on, the changes of the base are taken. Returns the newest entry of its log. */
  const follow = (baseId: string): Promise<number> => records.feed.follow(CONSUMER, baseId)

  async function insert(
    actor: Actor,
    model: TableModel,
    settings: HookSettings,
    secret: string,
  ): Promise<HookRow> {
    const { table } = model
    const checked = checkSettings(model, settings, key)
    const others = await store.ofTable(table.id)
    if (others.length >= MAX_HOOKS) throw badRequest(m.hooks_error_too_many({ max: MAX_HOOKS }))
    const now = new Date().toISOString()
    const newest = checked.isActive && checked.event === 'after' ? await follow(table.baseId) : 0
    const row: HookRow = {
      ...checked,
      id: createId('hook'),
      baseId: table.baseId,
      tableId: table.id,
      secret: seal(key, secret),
      order: (others.at(-1)?.order ?? 0) + 1,
      pause: null,
      failingSince: null,
      takenTo: newest,
      behindEntry: null,
      behindCursor: null,
      skippedTo: 0,
      createdBy: actor.kind === 'user' ? actor.id : null,
      createdAt: now,
      updatedAt: now,
    }
    await store.insert(row)
    return row
  }

  async function replace(row: HookRow, patch: Partial<HookRow>): Promise<Hook> {
    const changed = { ...patch, updatedAt: new Date().toISOString() }
    await store.update(row.id, changed)
    return present({ ...row, ...changed }, key)
  }

  /** The records of a call by hand, in the order of the ids. @throws RECORD_NOT_FOUND */
  async function readRows(actor: Actor, model: TableModel, recordIds: readonly RecordId[]) {
    const ids = recordIds.map((id) => storedId(model, id))
    const found = await rows.byIds(await records.open(actor, model.table.id), ids)
    return ids.map((id) => {
      const row = found.get(id)
      if (!row) throw notFound('Record', String(id).slice(0, 64))
      return { id, row }
    })
  }

  const secretOf = (row: HookRow): string => {
    const secret = unseal(key, row.secret)
    if (secret === null) throw badRequest(m.hooks_error_secret_lost({ hook: row.title }))
    return secret
  }

  return {
    /** The webhooks of a table in their order, with the state of their deliveries. */
    async list(actor: Actor, tableId: string): Promise<ListedHook[]> {
      await enter(actor, 'hook.list', tableId)
      const found = await store.ofTable(tableId)
      const ids = found.map(({ id }) => id)
      const [counts, last] = await Promise.all([store.counts(ids), store.last(ids)])
      return found.map((row) => {
        const ended = last.get(row.id)
        return {
          ...present(row, key),
          waiting: counts.get(row.id)?.waiting ?? 0,
          dead: counts.get(row.id)?.dead ?? 0,
          last: ended ? { status: ended.status, at: asTime(ended.at) } : null,
        }
      })
    },

    /** The active webhooks of a table that are triggered by hand, for those who may do so. */
    async manual(actor: Actor, tableId: string): Promise<{ id: string; title: string }[]> {
      await enter(actor, 'hook.trigger', tableId)
      const found = await store.ofTable(tableId)
      return found
        .filter(({ event, isActive }) => event === 'manual' && isActive)
        .map(({ id, title }) => ({ id, title }))
    },

    /** @throws HOOK_NOT_FOUND */
    async get(actor: Actor, hookId: string): Promise<Hook> {
      return present((await open(actor, 'hook.list', hookId)).row, key)
    },

    /** @throws TABLE_NOT_FOUND; BAD_REQUEST past `MAX_HOOKS`; as `checkSettings` */
    async create(actor: Actor, tableId: string, settings: HookSettings): Promise<Hook> {
      const model = await enter(actor, 'hook.create', tableId)
      return present(await insert(actor, model, settings, newSecret()), key)
    },

    /** Changes the settings that the patch names. @throws HOOK_NOT_FOUND; as `checkSettings` */
    async update(actor: Actor, hookId: string, patch: Partial<HookSettings>): Promise<Hook> {
      const { row, model } = await open(actor, 'hook.update', hookId)
      const checked = checkSettings(model, { ...present(row, key), ...patch }, key)
      return replace(row, checked)
    },

    /**
     * Turns a webhook on or off, or lets a paused one go on.
     *
     * @param skipMissed leaves out what has changed during the pause, and deliveries that wait
     */
    async setActive(
      actor: Actor,
      hookId: string,
      { isActive, skipMissed }: { isActive: boolean; skipMissed: boolean },
    ): Promise<Hook> {
      const { row } = await open(actor, 'hook.update', hookId)
      return replace(row, { isActive, pause: skipMissed ? null : row.pause })
    },

    /** A copy below the webhook, turned off, with a secret of its own. @throws as `create` */
    async duplicate(actor: Actor, hookId: string): Promise<Hook> {
      const { row, model } = await open(actor, 'hook.create', hookId)
      const others = await store.ofTable(row.tableId)
      const title = uniqueTitle(row.title, others)
      const copy = await insert(actor, model, { ...present(row, key), title, isActive: false }, newSecret())
      return present(copy, key)
    },

    /** Moves a webhook before another; null: to the end. @throws HOOK_NOT_FOUND */
    async reorder(actor: Actor, hookId: string, before: string | null): Promise<void> {
      const { row } = await open(actor, 'hook.update', hookId)
      const others = (await store.ofTable(row.tableId)).filter(({ id }) => id !== hookId)
      const at = before === null ? others.length : others.findIndex(({ id }) => id === before)
      if (at < 0) throw notFound('Hook', (before ?? '').slice(0, 64))
      const { order, moved } = orderAt(others, at)
      for (const other of [...moved, { id: hookId, order }])
        await store.update(other.id, { order: other.order })
    },

    /** Removes a webhook with its log. @throws HOOK_NOT_FOUND */
    async delete(actor: Actor, hookId: string): Promise<void> {
      const { row } = await open(actor, 'hook.delete', hookId)
      await store.remove(row.id)
    },

    /** The key of a webhook's signatures, e.g. `whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD`. */
    async secret(actor: Actor, hookId: string): Promise<string> {
      return secretOf((await open(actor, 'hook.update', hookId)).row)
    },

    /** Replaces the key of a webhook's signatures, and returns the new one. */
    async renewSecret(actor: Actor, hookId: string): Promise<string> {
      const { row } = await open(actor, 'hook.update', hookId)
      const secret = newSecret()
      await replace(row, { secret: seal(key, secret) })
      return secret
    },

    /**
     * Sends an event with unsaved settings at once and returns the response.
     *
     * @throws as `checkSettings`; HOOK_NOT_FOUND, RECORD_NOT_FOUND
     */
    async test(
      actor: Actor,
      input: {
        tableId: string
        hookId?: string | undefined
        operation: HookDelivery['operation']
        recordId?: RecordId | undefined
        channel: HookSettings['channel']
      },
    ): Promise<HookTestResult> {
      const { operation, recordId } = input
      const model = await enter(actor, 'hook.update', input.tableId)
      const stored = input.hookId === undefined ? null : (await open(actor, 'hook.update', input.hookId)).row
      const target = { ...checkChannel(input.channel), secret: stored ? secretOf(stored) : newSecret() }
      const event =
        recordId === undefined
          ? sampleEvent(model, operation, rows.fieldsOf(model))
          : await eventFor(actor, model, operation, recordId)
      const {
        isFinal: _,
        retryAfterMs: __,
        ...result
      } = await sender.send({ ...target, templates: new Map() }, event)
      return result
    },

    /** An event with made-up values. */
    async sample(actor: Actor, tableId: string, operation: HookDelivery['operation']): Promise<HookPayload> {
      const model = await enter(actor, 'hook.list', tableId)
      return sampleEvent(model, operation, rows.fieldsOf(model))
    },

    /** A page of the deliveries of a webhook, newest first. @throws HOOK_NOT_FOUND */
    async deliveries(
      actor: Actor,
      {
        hookId,
        status,
        cursor,
      }: { hookId: string; status?: DeliveryStatus | undefined; cursor?: string | null | undefined },
    ): Promise<{ deliveries: HookDelivery[]; next: string | null }> {
      await open(actor, 'hook.list', hookId)
      const found = await store.deliveries(hookId, status, readCursor(cursor), LOG_PAGE)
      const last = found.length === LOG_PAGE ? found.at(-1) : undefined
      return {
        deliveries: found.map(presentDelivery),
        next: last ? `${last.createdAt} ${last.id}` : null,
      }
    },

    /** A delivery with the request and the response of its last try. @throws GENERIC_NOT_FOUND */
    async delivery(actor: Actor, hookId: string, deliveryId: string): Promise<HookDeliveryDetail> {
      await open(actor, 'hook.list', hookId)
      const found = await store.findDelivery(hookId, deliveryId)
      if (!found) throw notFound('Delivery', deliveryId.slice(0, 64))
      return { ...presentDelivery(found), request: found.request, response: found.response }
    },

    /** Sends ended deliveries again, with the same ids: some, or all that were given up. Returns their number. */
    async retry(actor: Actor, hookId: string, deliveries: readonly string[] | 'dead'): Promise<number> {
      await open(actor, 'hook.update', hookId)
      return store.retry(hookId, deliveries, Date.now())
    },

    /**
     * Triggers a webhook for records: one delivery, or one for each record. Returns the deliveries.
     *
     * @throws HOOK_NOT_FOUND, RECORD_NOT_FOUND; BAD_REQUEST for a webhook that is turned off or not triggered by hand
     */
    async trigger(
      actor: Actor,
      hookId: string,
      recordIds: readonly RecordId[],
    ): Promise<TriggeredDelivery[]> {
      const { row, model } = await open(actor, 'hook.trigger', hookId)
      if (row.event !== 'manual') throw badRequest(m.hooks_error_not_manual({ hook: row.title }))
      if (!row.isActive) throw badRequest(m.hooks_error_not_active({ hook: row.title }))
      const found = await readRows(actor, model, recordIds)
      const groups = row.deliverPer === 'record' ? found.map((one) => [one]) : [found]
      const now = Date.now()
      const triggeredBy = actor.kind === 'user' ? actor.id : null
      const deliveries = groups.map((group, part): DeliveryRow => {
        const id = createId('hookLog')
        const event = eventOf(model, id, 'trigger', { rows: group.map((one) => one.row) })
        return {
          id,
          hookId,
          baseId: row.baseId,
          entryId: 0,
          part,
          operation: 'trigger',
          isTest: false,
          rows: group.length,
          recordIds: group.map((one) => String(one.id)),
          event: JSON.stringify(event),
          status: 'waiting',
          attempts: 0,
          dueAt: now,
          createdAt: now,
          endedAt: null,
          request: null,
          response: null,
          durationMs: null,
          errorCode: null,
          errorMessage: null,
          triggeredBy,
        }
      })
      await kernel.meta.atomically(store.insertDeliveries(deliveries))
      return deliveries.map(({ id, status }) => ({ id, status, error: null }))
    },
  }

  async function eventFor(
    actor: Actor,
    model: TableModel,
    operation: HookDelivery['operation'],
    recordId: RecordId,
  ): Promise<HookPayload> {
    const [found] = await readRows(actor, model, [recordId])
    const list = found ? [found.row] : []
    const previousRows = operation === 'update' ? list : undefined
    return eventOf(model, createId('hookLog'), operation, { rows: list, previousRows })
  }
}

const asTime = (ms: number): string => new Date(ms).toISOString()

function presentDelivery(row: DeliveryRow): HookDelivery {
  return {
    id: row.id,
    hookId: row.hookId,
    operation: row.operation,
    isTest: row.isTest,
    status: row.status,
    attempts: row.attempts,
    rows: row.rows,
    recordIds: (row.recordIds ?? []).slice(0, LISTED_IDS),
    createdAt: asTime(row.createdAt),
    dueAt: row.status === 'waiting' ? asTime(row.dueAt) : null,
    endedAt: row.endedAt === null ? null : asTime(row.endedAt),
    statusCode: row.response?.status ?? null,
    durationMs: row.durationMs,
    error: row.errorCode === null ? null : { code: row.errorCode, message: row.errorMessage ?? '' },
    triggeredBy: row.triggeredBy,
  }
}

/** A cursor of `deliveries`; null for one that is not valid. */
function readCursor(cursor: string | null | undefined): { createdAt: number; id: string } | null {
  const [createdAt = '', id = ''] = (cursor ?? '').split(' ')
  return /^\d{1,15}$/.test(createdAt) && id !== '' ? { createdAt: Number(createdAt), id } : null
}
