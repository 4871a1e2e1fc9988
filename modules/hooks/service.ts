import { nowIso, nowMs } from '../../src/clock.ts'
import { type Actor, actorIdOf } from '../../src/core/actor.ts'
import { badRequest, notFound } from '../../src/core/errors.ts'
import type { ChoiceTitles } from '../../src/core/fields/choice-titles.ts'
import { type Filter, fieldsOf } from '../../src/core/filters/index.ts'
import type {
  DeliveryStatus,
  Hook,
  HookDelivery,
  HookDeliveryDetail,
  HookEvent,
  HookPayload,
  HookSettings,
  HookTestResult,
  ListedHook,
  TriggeredDelivery,
} from '../../src/core/hooks.ts'
import { isRecordEvent, MAX_HOOKS } from '../../src/core/hooks.ts'
import { createId, renameIds } from '../../src/core/ids.ts'
import type { RecordId } from '../../src/core/model.ts'
import type { BaseRight } from '../../src/core/roles.ts'
import { renameInFilter } from '../../src/core/views/index.ts'
import type { MetaReader } from '../../src/db/meta.ts'
import type { Kernel } from '../../src/kernel.ts'
import { m } from '../../src/messages.gen.ts'
import { seal, unseal } from '../../src/secrets.ts'
import type { AuthService } from '../auth/index.ts'
import type { CopiedHooks } from '../imports/index.ts'
import type { PluginsService } from '../plugins/index.ts'
import { createRestRows, type RecordsService, type RestRow, storedId } from '../records/index.ts'
import { choiceTitles, orderAt, type SchemaReader, type TableModel, uniqueTitle } from '../schema/index.ts'
import type { FilterHolder } from '../views/index.ts'
import {
  createCollector,
  createDeliverer,
  createFailures,
  createSender,
  type EventName,
  eventNameFor,
  eventOf,
  eventText,
  hasPrevious,
  mailTopicOf,
  sampleEvent,
} from './deliveries/index.ts'
import { brokenBy, checkChannel, checkSettings, newSecret, present } from './settings.ts'
import { createHookStore, type DeliveryRow, type HookRow, UNTRIED } from './store.ts'

/** Deliveries per page of the log. */
const LOG_PAGE = 50
/** A delivery of more records does not list their ids. */
const LISTED_IDS = 100
/** How long a call by hand waits for its first try, and how often it looks. */
const TRIGGER_PATIENCE_MS = 10_000
const TRIGGER_LOOK_MS = 40
/** Pauses that end when the table fits again. */
const REPAIRABLE: ReadonlySet<string> = new Set(['condition', 'fields'])
/** Tries of a change of webhooks that others change as well, and the pause before the next, which grows by itself. */
const MAX_TRIES = 20
const TRY_AGAIN_MS = 10
/** The name of the webhooks among the consumers of the change logs. */
const CONSUMER = 'hooks'

/** The columns of a webhook that has not been called yet. */
const IDLE = {
  pause: null,
  failingSince: null,
  takenTo: 0,
  behindEntry: null,
  behindCursor: null,
  skippedTo: 0,
} as const

export type HooksService = ReturnType<typeof createHooksService>

/** A condition with the titles of options that have been renamed since it was made. */
function carried(filter: Filter | null, before: TableModel, now: TableModel): Filter | null {
  return fieldsOf(filter).reduce((renamed: Filter | null, fieldId) => {
    const [old, field] = [before.field(fieldId), now.field(fieldId)]
    const titles = old && field ? choiceTitles(old, field) : null
    return renamed && titles ? renameInFilter(renamed, fieldId, titles) : renamed
  }, filter)
}

/** Webhooks of tables: their settings, their deliveries, and calls by hand. */
export function createHooksService(
  kernel: Kernel,
  auth: Pick<AuthService, 'access' | 'people'>,
  schema: Pick<SchemaReader, 'load' | 'openTable' | 'engineOf' | 'isKept' | 'unlessChanged'>,
  records: Pick<
    RecordsService,
    'open' | 'openForFollowUp' | 'titledMap' | 'versions' | 'attachments' | 'feed'
  >,
  plugins: Pick<PluginsService, 'chat'>,
) {
  const key = kernel.secrets.connections
  const store = createHookStore(kernel)
  const sender = createSender(kernel, plugins)
  const rows = createRestRows(records, auth)
  const failures = createFailures(kernel, auth, store)
  const collector = createCollector(kernel, schema, records, rows, store, failures, resumeInBackground)
  const deliverer = createDeliverer(kernel, schema, store, sender, collector, failures)
  const { events, removals } = kernel
  removals.push(store.forRemovedBase)
  records.feed.consume({ name: CONSUMER, take: collector.take, stored: collector.stored })
  events.on('schema.changed', ({ tableId }) => {
    if (tableId !== null) resumeInBackground(tableId)
  })

  function resumeInBackground(tableId: string): void {
    resumeRepaired(tableId).catch((error) => kernel.log.error('resuming webhooks failed', error, { tableId }))
  }

  /** Lets webhooks go on whose condition or fields were restored. */
  async function resumeRepaired(tableId: string): Promise<void> {
    await untilUnchanged(async () => {
      const all = await store.ofTable(tableId)
      const paused = all.filter(({ pause }) => pause && REPAIRABLE.has(pause.reason))
      if (paused.length === 0) return
      const model = await schema.load(tableId).catch(() => null)
      for (const row of paused) {
        if (model && brokenBy(model, row) === null) await replace(row, { pause: null, failingSince: null })
      }
    })
  }

  /** Runs a change of webhooks, anew if what it has read was changed before it was stored. */
  async function untilUnchanged<T>(change: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await change()
      } catch (error) {
        if (kernel.meta.violation(error)?.kind !== 'required' || tries === MAX_TRIES) throw error
        await Bun.sleep(TRY_AGAIN_MS * tries)
      }
    }
  }

  /** Changes a webhook. @throws as `open` and `change` */
  const changing = (
    actor: Actor,
    hookId: string,
    change: (row: HookRow, model: TableModel) => Promise<Hook>,
  ): Promise<Hook> =>
    untilUnchanged(async () => {
      const { row, model } = await open(actor, 'hook.update', hookId)
      return change(row, model)
    })

  const announce = ({ id, baseId, tableId }: HookRow): void =>
    events.emit('hook.changed', { hookId: id, baseId, tableId })

  /** Ends the following of a base without active webhooks. */
  const unfollowUnused = async (baseId: string): Promise<void> => {
    const isWanted = async () => (await store.activeOfBase(baseId)).length > 0
    if (!(await isWanted())) await records.feed.unfollow(CONSUMER, baseId, isWanted)
  }

  /**
   * The columns of a webhook that is turned on from now on: earlier changes do not concern it. Written before the base is
   * followed, which then cannot be ended in between.
   */
  async function startFrom(
    baseId: string,
  ): Promise<Pick<HookRow, 'takenTo' | 'behindEntry' | 'behindCursor'>> {
    return { takenTo: await follow(baseId), behindEntry: null, behindCursor: null }
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

  /** Ends a webhook whose table was moved or deleted while it was created. @throws TABLE_NOT_FOUND */
  async function refuseGone({ id, tableId }: HookRow): Promise<void> {
    try {
      await schema.load(tableId)
    } catch (error) {
      await store.remove(id)
      throw error
    }
  }

  /** From now on, the changes of the base are taken. Returns the newest entry of its log. */
  const follow = (baseId: string): Promise<number> => records.feed.follow(CONSUMER, baseId)

  async function insert(
    actor: Actor,
    asked: TableModel,
    settings: HookSettings,
    secret: string,
  ): Promise<HookRow> {
    const { table } = asked
    const model = await schema.load(table.id)
    const checked = checkSettings(model, { ...settings, filter: carried(settings.filter, asked, model) }, key)
    const others = await store.ofTable(table.id)
    if (others.length >= MAX_HOOKS) throw badRequest(m.hooks_error_too_many({ max: MAX_HOOKS }))
    const now = nowIso()
    const isFollowing = checked.isActive && isRecordEvent(checked.event)
    const row: HookRow = {
      ...checked,
      id: createId('hook'),
      baseId: table.baseId,
      tableId: table.id,
      secret: seal(key, secret),
      order: (others.at(-1)?.order ?? 0) + 1,
      ...IDLE,
      ...(isFollowing && (await startFrom(table.baseId))),
      createdBy: actorIdOf(actor),
      createdAt: now,
      updatedAt: now,
    }
    await kernel.meta.atomically([schema.unlessChanged(model), store.insert(row)])
    await refuseGone(row)
    // Again: another server may have ended it before it knew of this webhook.
    if (isFollowing) await follow(table.baseId)
    announce(row)
    return row
  }

  /**
   * Stores changed settings. Violates a not-null constraint if the webhook was changed since it was read.
   *
   * @param model the table by which a condition is checked: it must not have changed either
   */
  async function replace(row: HookRow, patch: Partial<HookRow>, model?: TableModel): Promise<Hook> {
    const changed = store.changed(row, patch)
    await kernel.meta.atomically([...(model ? [schema.unlessChanged(model)] : []), changed.statement])
    announce(row)
    return present(changed.row, key)
  }

  /** Turns a webhook on or off, as `setActive`, with other changes. */
  async function activate(
    row: HookRow,
    isActive: boolean,
    {
      skipMissed = false,
      more = {},
      model,
    }: {
      skipMissed?: boolean
      more?: Partial<HookRow>
      /** As in `replace`. */
      model?: TableModel | undefined
    } = {},
  ): Promise<Hook> {
    const changed = { ...row, ...more }
    if (!isActive) {
      const idle = { isActive, pause: null, behindEntry: null, behindCursor: null }
      const hook = await replace(row, { ...more, ...idle }, model)
      await unfollowUnused(row.baseId)
      return hook
    }
    const isNew = !row.isActive || row.event !== changed.event
    const restarts = isRecordEvent(changed.event) && (isNew || skipMissed)
    if (skipMissed) {
      await store.giveUpWaiting(row.id, { code: 'SKIPPED', message: m.hooks_error_skipped() }, nowMs())
    }
    const started = {
      isActive,
      pause: null,
      failingSince: null,
      ...(restarts && (await startFrom(row.baseId))),
    }
    const hook = await replace(row, { ...more, ...started }, model)
    if (restarts) await follow(row.baseId)
    return hook
  }

  /** Changes the condition of a webhook. @throws HOOK_NOT_FOUND; as `checkSettings` */
  const changeFilter = (
    actor: Actor,
    hookId: string,
    decide: (filter: Filter | null, model: TableModel) => Filter | null,
  ): Promise<Hook> =>
    changing(actor, hookId, async (row, model) => {
      const settings = { ...present(row, key), filter: decide(row.filter, model) }
      const { filter } = checkSettings(model, settings, key, row)
      // As any change of its settings, it may repair what the webhook was paused for.
      return row.pause === null
        ? replace(row, { filter }, model)
        : activate(row, row.isActive, { more: { filter }, model })
    })

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
    start: deliverer.start,
    close: deliverer.close,
    forgetOld: deliverer.forgetOld,
    /** True while deliveries of a base wait, or webhooks are behind. For tests. */
    isBusy: store.isBusy,

    /** Fills `HOOK_CHOICES`. */
    async renamedChoices(tableId: string, fieldId: string, titles: ChoiceTitles) {
      const changed = (await store.ofTable(tableId)).flatMap((row) => {
        const filter = row.filter && renameInFilter(row.filter, fieldId, titles)
        return Bun.deepEquals(filter, row.filter) ? [] : [store.changed(row, { filter })]
      })
      return {
        statements: changed.map(({ statement }) => statement),
        stored() {
          for (const { row } of changed) announce(row)
        },
      }
    },
    /** Fills `HOOK_COUNT`. */
    countOf: async (baseId: string): Promise<number> => (await store.ofBase(baseId)).length,
    /** Fills `COPIED_HOOKS`. */
    copies: {
      ofBase: store.ofBase,
      idsOfTable: async (tableId: string) => (await store.ofTable(tableId)).map(({ id }) => id),
      async catchUp(tableIds: readonly string[], entryId: number, check: () => void) {
        for (const tableId of tableIds)
          for (const { id } of await store.ofTable(tableId)) await collector.catchUpTo(id, entryId, check)
      },
      async announceMoved(tables: ReadonlyMap<string, string>) {
        for (const [fromId, toId] of tables) {
          // Their deliveries belong to the moved ones.
          for (const original of await store.ofTable(fromId)) announce(original)
          for (const moved of await store.ofTable(toId)) {
            if (moved.isActive && isRecordEvent(moved.event)) await follow(moved.baseId)
            announce(moved)
          }
        }
      },
      async insert(
        baseId: string,
        ids: ReadonlyMap<string, string>,
        ownerId: string,
        { from, isMove = false }: { from?: MetaReader | undefined; isMove?: boolean } = {},
      ) {
        const now = nowIso()
        const originals = await store.ofBase(baseId, from)
        const toBaseId = ids.get(baseId) ?? baseId
        const copied: HookRow[] = []
        for (const row of originals) {
          const [id, tableId] = [ids.get(row.id), ids.get(row.tableId)]
          if (id === undefined || tableId === undefined) continue
          // Otherwise receivers would be called for both bases.
          const isActive = isMove && row.isActive
          const { pause, failingSince } = row
          copied.push({
            ...row,
            id,
            tableId,
            baseId: toBaseId,
            filter: renameIds(row.filter, ids),
            triggerFieldIds: renameIds(row.triggerFieldIds, ids),
            isActive,
            secret: isMove ? row.secret : seal(key, newSecret()),
            ...IDLE,
            ...(isActive && isRecordEvent(row.event) && (await startFrom(toBaseId))),
            ...(isActive && pause && { pause, failingSince }),
            createdBy: ownerId,
            createdAt: now,
            updatedAt: now,
          })
        }
        const copies = new Map(copied.map((row) => [row.id, row]))
        const deliveries = originals.flatMap(({ id }) => {
          const copy = isMove ? copies.get(ids.get(id) ?? '') : undefined
          return copy ? [store.movedDeliveries(id, { hookId: copy.id, baseId: copy.baseId })] : []
        })
        return [...store.insertHooks(copied), ...deliveries]
      },
    } satisfies CopiedHooks,

    /** The webhooks of a table in their order, with the state of their deliveries. */
    async list(actor: Actor, tableId: string): Promise<ListedHook[]> {
      await schema.openTable(actor, 'hook.list', tableId)
      return withDeliveries(await store.ofTable(tableId))
    },

    /** The webhooks of all tables of a base, without those of tables in the trash. */
    async listOfBase(actor: Actor, baseId: string): Promise<ListedHook[]> {
      await auth.access.authorize(actor, 'hook.list', baseId)
      const found = await store.ofBase(baseId)
      const tableIds = [...new Set(found.map(({ tableId }) => tableId))]
      const kept = new Set<string>()
      for (const id of tableIds) if (await schema.isKept(id)) kept.add(id)
      return withDeliveries(found.filter(({ tableId }) => kept.has(tableId)))
    },

    /** The active webhooks of a table that are triggered by hand, for those who may do so. */
    async manual(actor: Actor, tableId: string): Promise<{ id: string; title: string }[]> {
      await schema.openTable(actor, 'hook.trigger', tableId)
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
      const model = await schema.openTable(actor, 'hook.create', tableId)
      const secret = newSecret()
      return present(await untilUnchanged(() => insert(actor, model, settings, secret)), key)
    },

    /** Changes the settings that the patch names. @throws HOOK_NOT_FOUND; as `checkSettings` */
    async update(actor: Actor, hookId: string, patch: Partial<HookSettings>): Promise<Hook> {
      let asked: TableModel | null = null
      return changing(actor, hookId, async (row, model) => {
        asked ??= model
        const { filter } = patch
        const wanted = filter ? { ...patch, filter: carried(filter, asked, model) } : patch
        const { isActive, ...more } = checkSettings(model, { ...present(row, key), ...wanted }, key, row)
        const isSwitched = isActive !== row.isActive || (isActive && more.event !== row.event)
        const checkedBy = filter ? model : undefined
        // New settings may have repaired what it was paused for.
        if (isSwitched || row.pause !== null) return activate(row, isActive, { more, model: checkedBy })
        return replace(row, more, checkedBy)
      })
    },

    /**
     * Turns a webhook on or off, or lets a paused one go on.
     *
     * @param skipMissed leaves out what has changed during the pause, and deliveries that wait
     */
    setActive: (
      actor: Actor,
      hookId: string,
      { isActive, skipMissed }: { isActive: boolean; skipMissed: boolean },
    ): Promise<Hook> => changing(actor, hookId, (row) => activate(row, isActive, { skipMissed })),

    /** A copy below the webhook, turned off, with a secret of its own. @throws as `create` */
    async duplicate(actor: Actor, hookId: string): Promise<Hook> {
      const copy = await untilUnchanged(async () => {
        const { row, model } = await open(actor, 'hook.create', hookId)
        const title = uniqueTitle(row.title, await store.ofTable(row.tableId))
        return insert(actor, model, { ...present(row, key), title, isActive: false }, newSecret())
      })
      return present(copy, key)
    },

    /** Moves a webhook before another; null: to the end. @throws HOOK_NOT_FOUND */
    async reorder(actor: Actor, hookId: string, before: string | null): Promise<void> {
      const { row } = await open(actor, 'hook.update', hookId)
      const others = (await store.ofTable(row.tableId)).filter(({ id }) => id !== hookId)
      const at = before === null ? others.length : others.findIndex(({ id }) => id === before)
      if (at < 0) throw notFound('Hook', (before ?? '').slice(0, 64))
      const { order, moved } = orderAt(others, at)
      for (const other of [...moved, { id: hookId, order }]) await store.setOrder(other.id, other.order)
    },

    /** Removes a webhook with its log. @throws HOOK_NOT_FOUND */
    async delete(actor: Actor, hookId: string): Promise<void> {
      const { row } = await open(actor, 'hook.delete', hookId)
      await store.remove(row.id)
      announce(row)
      await unfollowUnused(row.baseId)
    },

    /** The key of a webhook's signatures, e.g. `whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD`. */
    async secret(actor: Actor, hookId: string): Promise<string> {
      return secretOf((await open(actor, 'hook.update', hookId)).row)
    },

    /** Replaces the key of a webhook's signatures, and returns the new one. */
    async renewSecret(actor: Actor, hookId: string): Promise<string> {
      const secret = newSecret()
      await changing(actor, hookId, (row) => replace(row, { secret: seal(key, secret) }))
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
        /** By default `after`. */
        event?: HookEvent | undefined
        operation: HookDelivery['operation']
        recordId?: RecordId | undefined
        channel: HookSettings['channel']
        /** Sent in place of a sample or a record. */
        rows?: RestRow[] | undefined
      },
    ): Promise<HookTestResult> {
      const { recordId } = input
      const name = eventNameFor(input.event ?? 'after', input.operation)
      const model = await schema.openTable(actor, 'hook.update', input.tableId)
      const stored = input.hookId === undefined ? null : (await open(actor, 'hook.update', input.hookId)).row
      const target = {
        ...checkChannel(input.channel),
        secret: stored ? secretOf(stored) : newSecret(),
        mailTopic: mailTopicOf(stored?.id ?? input.tableId),
      }
      const event = input.rows
        ? eventOf(model, name, { rows: input.rows })
        : recordId === undefined
          ? sampleEvent(model, name, rows.fieldsOf(model))
          : await eventFor(actor, model, name, recordId)
      const {
        isFinal: _,
        isHeld: __,
        retryAfterMs: ___,
        receivedBy: ____,
        ...result
      } = await sender.send({ ...target, templates: new Map() }, event)
      return result
    },

    /** An event with made-up values. */
    async sample(
      actor: Actor,
      tableId: string,
      { event = 'after', operation }: { event?: HookEvent; operation: HookDelivery['operation'] },
    ): Promise<HookPayload> {
      const model = await schema.openTable(actor, 'hook.list', tableId)
      return sampleEvent(model, eventNameFor(event, operation), rows.fieldsOf(model))
    },

    /** The table of a webhook that the actor may trigger. @throws HOOK_NOT_FOUND */
    async tableOf(actor: Actor, hookId: string): Promise<TableModel> {
      return (await open(actor, 'hook.trigger', hookId)).model
    },

    changeFilter,

    /** Fills `HOOK_FILTERS`. */
    async filterHolder(filterId: string): Promise<FilterHolder | null> {
      const found = await store.holdingFilter(filterId)
      return (
        found && {
          async read(actor) {
            const { row, model } = await open(actor, 'hook.list', found.id)
            const { id, createdAt, updatedAt, filter } = row
            return { owner: { viewId: null, hookId: id, createdAt, updatedAt }, model, filter }
          },
          async change(actor, decide) {
            await changeFilter(actor, found.id, decide)
          },
        }
      )
    },

    /** Deliveries of a webhook by their number, newest first, with the total. @throws HOOK_NOT_FOUND */
    async log(
      actor: Actor,
      hookId: string,
      page: { limit: number; offset: number; only: 'none' | 'failed' | 'all' },
    ): Promise<{ deliveries: DeliveryRow[]; total: number; hook: Hook }> {
      const hook = present((await open(actor, 'hook.list', hookId)).row, key)
      if (page.only === 'none') return { deliveries: [], total: 0, hook }
      return { ...(await store.log(hookId, { ...page, isFailed: page.only === 'failed' })), hook }
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
      const { row } = await open(actor, 'hook.update', hookId)
      const count = await store.retry(hookId, deliveries, nowMs())
      if (count > 0) deliverer.due(row)
      return count
    },

    /**
     * Triggers a webhook for records: one delivery, or one for each record. Returns after their first tries, or some
     * seconds.
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
      const now = nowMs()
      const triggeredBy = actorIdOf(actor)
      const deliveries = groups.map((group, part): DeliveryRow => {
        return {
          id: createId('hookLog'),
          hookId,
          baseId: row.baseId,
          entryId: 0,
          part,
          operation: 'trigger',
          isTest: false,
          rows: group.length,
          recordIds: group.map((one) => String(one.id)),
          event: eventText(model, eventNameFor('manual', 'trigger'), {
            rows: group.map(({ row }) => row),
            count: group.length,
          }),
          ...UNTRIED,
          dueAt: now,
          createdAt: now,
          triggeredBy,
        }
      })
      // The deliveries of a record are sent in order.
      const ahead = await store.repeated(hookId)
      const held = deliveries.filter(({ recordIds }) =>
        ahead.some((other) => !other || !recordIds || other.some((id) => recordIds.includes(id))),
      )
      await kernel.meta.atomically(store.insertDeliveries(deliveries))
      deliverer.due(row)
      return firstTries(
        deliveries.map(({ id }) => id),
        new Set(held.map(({ id }) => id)),
      )
    },
  }

  /**
   * Waits for the first tries of deliveries, by whichever server.
   *
   * @param held those that wait for the repetition of an earlier one
   */
  async function firstTries(ids: readonly string[], held: ReadonlySet<string>): Promise<TriggeredDelivery[]> {
    const patience = Date.now() + TRIGGER_PATIENCE_MS
    for (;;) {
      const rows = await store.outcomes(ids)
      if (rows.every(({ id, attempts }) => attempts > 0 || held.has(id)) || Date.now() > patience) {
        return rows.map(({ id, status, errorCode, errorMessage }) => ({
          id,
          status,
          error: errorCode === null ? null : { code: errorCode, message: errorMessage ?? '' },
        }))
      }
      await Bun.sleep(TRIGGER_LOOK_MS)
    }
  }

  async function withDeliveries(found: readonly HookRow[]): Promise<ListedHook[]> {
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
  }

  async function eventFor(
    actor: Actor,
    model: TableModel,
    name: EventName,
    recordId: RecordId,
  ): Promise<HookPayload> {
    const [found] = await readRows(actor, model, [recordId])
    const list = found ? [found.row] : []
    return eventOf(model, name, { rows: list, previousRows: hasPrevious(name) ? list : undefined })
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
