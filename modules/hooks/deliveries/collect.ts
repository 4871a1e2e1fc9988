import { and, eq, isNull, sql } from 'drizzle-orm'
import { nowIso, nowMs } from '../../../src/clock.ts'
import { AppError } from '../../../src/core/errors.ts'
import type { Filter } from '../../../src/core/filters/index.ts'
import { type HookOperation, type HookPause, MAX_PAYLOAD_ROWS } from '../../../src/core/hooks.ts'
import { createId } from '../../../src/core/ids.ts'
import type { RecordId } from '../../../src/core/model.ts'
import type { MetaStatement } from '../../../src/db/meta.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import type { PreparedNotices } from '../../../src/notices.ts'
import {
  type createRestRows,
  type FeedBatch,
  type FeedCursor,
  type FeedEntry,
  type FeedRecord,
  pageOfEntry,
  type RecordsService,
  type RecordVersion,
  type RestRow,
  statesAround,
} from '../../records/index.ts'
import type { SchemaReader, TableModel } from '../../schema/index.ts'
import { brokenBy, isWatchable } from '../settings.ts'
import { type DeliveryRow, type HookRow, type HookStore, UNTRIED } from '../store.ts'
import { eventNameFor, eventText, hasPrevious } from './event.ts'
import type { Failures } from './failures.ts'

/** Records of an entry up to which its deliveries are made with the feed; those of larger entries follow page by page. */
const SMALL_ENTRY = 200
/** Records per page of a large entry. */
const PAGE = 500
/** Entries per step of a webhook that is behind. */
const ENTRIES = 100
/** With more waiting deliveries, a webhook falls behind; with fewer than `RESUME` it goes on. */
const MAX_WAITING = 5_000
const RESUME = 1_000
/** A delivery of more records does not list their ids: it waits for all before it. */
const MAX_LISTED = 100

const OPERATIONS: readonly HookOperation[] = ['insert', 'update', 'delete']

/** A changed record that a webhook is called for. */
interface Affected {
  operation: HookOperation
  recordId: RecordId
  row: RestRow
  /** Before an update. */
  previous: RestRow | null
}

/** A webhook that was paused. */
interface Paused {
  tableId: string
  notices: PreparedNotices
}

/** The records of one entry and table, with the webhooks that may be called for them. */
interface Slice {
  entry: FeedEntry
  records: FeedRecord[]
}

/**
 * Turns entries of the change logs into deliveries. Webhooks are usually served with the feed (`take`); those that are
 * paused, have too many waiting deliveries or reach a large entry fall behind and go on by themselves (`catchUp`).
 */
export function createCollector(
  kernel: Kernel,
  schema: Pick<SchemaReader, 'load' | 'engineOf'>,
  records: Pick<RecordsService, 'openForFollowUp' | 'versions' | 'feed'>,
  rows: ReturnType<typeof createRestRows>,
  store: HookStore,
  failures: Failures,
  /** Lets the webhooks of a table go on that are paused and do not need to be. */
  resumeRepaired: (tableId: string) => void,
) {
  const { events, meta } = kernel
  const { hooks } = store
  /** The webhooks with deliveries in the last batch of each base, and those that it has paused, with their notices. */
  const fresh = new Map<string, { hookIds: readonly string[]; paused: readonly Paused[] }>()

  /** The table, or null while it is in the trash. */
  async function tableOf(tableId: string): Promise<TableModel | null> {
    try {
      return await schema.load(tableId)
    } catch (error) {
      if (error instanceof AppError && error.code === 'TABLE_NOT_FOUND') return null
      throw error
    }
  }

  /** What happened to records of one table, as the webhooks see it: one read of their states, one of their rows. */
  async function affectedBy(
    model: TableModel,
    slices: readonly Slice[],
    filters: readonly Filter[],
  ): Promise<Map<FeedRecord, Affected & { meets: boolean[] }>> {
    const touched = slices.flatMap(({ entry, records: list }) =>
      list.map((record) => ({ entryId: entry.id, recordId: record.recordId, record, entry })),
    )
    const affected = new Map<FeedRecord, Affected & { meets: boolean[] }>()
    if (touched.length === 0) return affected
    const opened = await records.openForFollowUp(model.table.id)
    const home = await kernel.sources.engine(model.table.baseId)
    const states = await statesAround(opened, home, touched)
    const changes = touched.flatMap(({ record, entry }, at) => {
      const { before, after } = states[at]!
      const operation = record.before === null ? 'insert' : record.after === null ? 'delete' : 'update'
      const current = operation === 'delete' ? before : after
      // A record that was deleted forever meanwhile left nothing.
      if (current === null) return []
      return [{ record, operation: operation as HookOperation, current, before, entry }]
    })
    const fields = rows.fieldsOf(opened.model)
    const currents = new Map<FeedRecord, RecordVersion>()
    const hasLog = opened.engine === home
    const byDeletion = Map.groupBy(changes, ({ operation, entry }) =>
      operation === 'delete' && hasLog && touchesOthers(model, entry) ? entry.id : undefined,
    )
    for (const [deletedBy, list] of byDeletion) {
      const given = list.map(({ current }) => current)
      const read = await records.versions(opened, { given, fields, filters, deletedBy })
      list.forEach(({ record }, at) => {
        currents.set(record, read[at]!)
      })
    }
    const updates = changes.filter(({ operation }) => operation === 'update')
    const previous = await records.versions(opened, {
      given: updates.map(({ before, current }) => before ?? current),
      fields,
      filters: [],
    })
    await rows.present(
      opened,
      fields,
      [...currents.values(), ...previous].map(({ row }) => row),
    )
    const previousOf = new Map(updates.map(({ record }, at) => [record, previous[at]!.row]))
    for (const { record, operation } of changes) {
      const { row, meets } = currents.get(record)!
      const before = previousOf.get(record) ?? null
      affected.set(record, { operation, recordId: record.recordId, row, previous: before, meets })
    }
    return affected
  }

  /** The deliveries of one entry for one webhook. */
  function deliveriesOf(
    hook: HookRow,
    model: TableModel,
    {
      entry,
      list,
      total,
      firstPart = 0,
      outcome = {},
    }: {
      entry: FeedEntry
      list: readonly Affected[]
      /** The number of records by operation, if it is larger. */
      total?: Partial<Record<HookOperation, number>>
      firstPart?: number
      outcome?: Outcome | undefined
    },
  ): DeliveryRow[] {
    const groups: { operation: HookOperation; group: readonly Affected[] }[] =
      hook.deliverPer === 'record'
        ? list.map((one) => ({ operation: one.operation, group: [one] }))
        : OPERATIONS.map((operation) => ({
            operation,
            group: list.filter((one) => one.operation === operation),
          })).filter(({ group }) => group.length > 0)
    const now = nowMs()
    return groups.map(({ operation, group }, index) => {
      const id = createId('hookLog')
      const name = eventNameFor(hook.event, operation)
      const count = Math.max(group.length, total?.[operation] ?? 0)
      return {
        id,
        hookId: hook.id,
        baseId: hook.baseId,
        entryId: entry.id,
        part: firstPart + index,
        operation,
        isTest: false,
        rows: count,
        recordIds:
          count > group.length || count > MAX_LISTED ? null : group.map(({ recordId }) => String(recordId)),
        event: eventText(model, name, {
          rows: group.map(({ row }) => row),
          previousRows: hasPrevious(name) ? group.map(({ row, previous }) => previous ?? row) : undefined,
          count,
        }),
        ...UNTRIED,
        dueAt: now,
        createdAt: now,
        triggeredBy: entry.actorId,
        ...outcome,
      }
    })
  }

  /**
   * A statement that makes a webhook go on by itself from an entry on, unless somebody has activated it anew. With a pause it
   * fails if somebody has changed the webhook since it was read.
   */
  const fallBehind = (hook: HookRow, entryId: number, last: number, pause: HookPause | null): MetaStatement =>
    meta.db
      .update(hooks)
      .set({
        behindEntry: entryId,
        behindCursor: null,
        skippedTo: last,
        ...(pause && { pause, ...store.unlessChanged(hook) }),
      })
      .where(and(eq(hooks.id, hook.id), isNull(hooks.behindEntry), eq(hooks.takenTo, hook.takenTo)))

  /** Fails if the webhook has caught up since it was read: then it needs these entries. */
  const leaveOut = (hook: HookRow, last: number): MetaStatement =>
    meta.db
      .update(hooks)
      .set({
        skippedTo: sql`case when ${hooks.behindEntry} is not null
          then case when ${hooks.skippedTo} > ${last} then ${hooks.skippedTo} else cast(${last} as bigint) end end`,
      })
      .where(eq(hooks.id, hook.id))

  const pauseFor = (model: TableModel, hook: HookRow): HookPause | null => {
    const broken = brokenBy(model, hook)
    return broken && { ...broken, at: nowIso() }
  }

  return {
    /** The deliveries of a batch of the feed, and the webhooks that fall behind with it. */
    async take({ baseId, entries }: FeedBatch): Promise<MetaStatement[]> {
      const active = await store.activeOfBase(baseId)
      const last = entries.at(-1)?.id ?? 0
      if (active.length === 0) return []
      const behind = active.filter(({ behindEntry }) => behindEntry !== null)
      const live = active.filter(({ behindEntry }) => behindEntry === null)
      const statements: MetaStatement[] = []
      const paused: Paused[] = []
      const isConcerned = (hook: HookRow) => entries.some((entry) => sizeFor(hook, entry) > 0)
      const concerned = live.filter(isConcerned)
      const waiting = await store.counts(concerned.map(({ id }) => id))
      for (const [tableId, ofTable] of Map.groupBy(concerned, (hook) => hook.tableId)) {
        const model = await tableOf(tableId)
        if (!model) continue
        const plans = ofTable.map((hook) => {
          const isFull = (waiting.get(hook.id)?.waiting ?? 0) >= MAX_WAITING
          return planFor(hook, entries, { isFull, pause: hook.pause ?? pauseFor(model, hook) })
        })
        for (const { hook, stopsAt, pause } of plans) {
          if (stopsAt === null) continue
          statements.push(fallBehind(hook, stopsAt, last, pause))
          if (pause && hook.pause === null) {
            const notices = await failures.paused(hook, pause)
            statements.push(...notices.statements)
            paused.push({ tableId, notices })
          }
        }
        statements.push(...(await deliver(model, plans)))
      }
      fresh.set(baseId, { hookIds: concerned.map(({ id }) => id), paused })
      // Only where something would be left out: other entries need no write.
      statements.push(...behind.filter(isConcerned).map((hook) => leaveOut(hook, last)))
      return statements
    },

    /** Announces the deliveries of a batch that is stored. */
    stored(baseId: string): void {
      const { hookIds = [], paused = [] } = fresh.get(baseId) ?? {}
      for (const hookId of hookIds) events.emit('hook.due', { hookId, baseId })
      for (const { tableId, notices } of paused) {
        notices.stored()
        // It may have been repaired before it was paused.
        resumeRepaired(tableId)
      }
      fresh.delete(baseId)
    },

    /**
     * Makes further deliveries of a webhook that is behind.
     *
     * @returns false if there is nothing to do for now
     */
    async catchUp(hookId: string): Promise<boolean> {
      const hook = await store.find(hookId)
      if (!hook?.isActive || hook.pause !== null || hook.behindEntry === null) return false
      const model = await tableOf(hook.tableId)
      if (!model) return false
      const pause = pauseFor(model, hook)
      if (pause) {
        // Changed since it was read: it is looked at again.
        if (!(await failures.pauseNow(hook, pause))) return true
        // It may have been repaired before it was paused.
        resumeRepaired(hook.tableId)
        return false
      }
      const counts = await store.counts([hook.id])
      if ((counts.get(hook.id)?.waiting ?? 0) > RESUME) return false
      return expand(hook, model, hook.behindEntry)
    },

    /**
     * Makes the deliveries of a webhook that is behind up to an entry, also while it is paused and however many wait: its table
     * is about to move. For a webhook whose condition or fields are gone, nothing tells which changes concern it: those that it
     * has missed become deliveries that were given up, to be looked at and sent by a person.
     *
     * @param check called between steps
     */
    async catchUpTo(hookId: string, entryId: number, check: () => void): Promise<void> {
      for (;;) {
        check()
        const hook = await store.find(hookId)
        if (!hook?.isActive || hook.behindEntry === null || hook.behindEntry > entryId) return
        const model = await tableOf(hook.tableId)
        if (!model) return
        const broken = pauseFor(model, hook)
        try {
          const isAsStored = broken === null
          const [called, outcome] = isAsStored ? [hook] : [unconditional(hook), givenUp(broken)]
          if (!(await expand(called, model, hook.behindEntry, outcome))) return
        } catch (error) {
          // Its own deliverer, here or on another server, was faster.
          const now = await store.find(hookId)
          if (now?.behindEntry === hook.behindEntry && now.behindCursor === hook.behindCursor) throw error
        }
      }
    },
  }

  /** Makes the next deliveries of a webhook that is behind. @returns false if there are none */
  async function expand(hook: HookRow, model: TableModel, from: number, outcome?: Outcome): Promise<boolean> {
    const entries = await records.feed.read(hook.baseId, from, ENTRIES)
    const [first] = entries
    if (!first) return !(await caughtUp(hook, from))
    if (sizeFor(hook, first) > SMALL_ENTRY) await expandLarge(hook, model, first, outcome)
    else await expandSmall(hook, model, entries, outcome)
    return true
  }

  /** How far a webhook comes with the entries of a batch. */
  interface Plan {
    hook: HookRow
    /** The entries that concern it. */
    entries: FeedEntry[]
    /** The entry that it stops at; null: none. */
    stopsAt: number | null
    pause: HookPause | null
  }

  function planFor(
    hook: HookRow,
    batch: readonly FeedEntry[],
    { isFull, pause }: { isFull: boolean; pause: HookPause | null },
  ): Plan {
    const entries: FeedEntry[] = []
    for (const entry of batch) {
      const size = sizeFor(hook, entry)
      if (size === 0) continue
      if (isFull || pause || size > SMALL_ENTRY) return { hook, entries, stopsAt: entry.id, pause }
      entries.push(entry)
    }
    return { hook, entries, stopsAt: null, pause: null }
  }

  /** Statements with the deliveries of small entries, for webhooks of one table. */
  async function deliver(
    model: TableModel,
    plans: readonly Plan[],
    outcome?: Outcome,
  ): Promise<MetaStatement[]> {
    const entries = [...new Set(plans.flatMap((plan) => plan.entries))].toSorted((a, b) => a.id - b.id)
    const home = await kernel.sources.engine(model.table.baseId)
    const slices: Slice[] = []
    for (const entry of entries) {
      const page = await pageOfEntry(home, model, entry, { after: null, limit: SMALL_ENTRY })
      slices.push({ entry, records: page.records.filter((record) => isVisibleChange(model, record)) })
    }
    const filters = filtersOf(plans.map(({ hook }) => hook))
    const affected = await affectedBy(model, slices, filters)
    const deliveries = plans.flatMap(({ hook, entries: own }) =>
      slices
        .filter(({ entry }) => own.includes(entry))
        .flatMap(({ entry, records: list }) =>
          deliveriesOf(hook, model, { entry, list: wanted(hook, list, affected, filters), outcome }),
        ),
    )
    return store.insertDeliveries(deliveries)
  }

  async function expandSmall(
    hook: HookRow,
    model: TableModel,
    batch: readonly FeedEntry[],
    outcome?: Outcome,
  ): Promise<void> {
    const plan = planFor(hook, batch, { isFull: false, pause: null })
    const next = plan.stopsAt ?? batch.at(-1)!.id + 1
    await advance(hook, next, null, await deliver(model, [plan], outcome))
  }

  /** One page of a large entry; all of it for a webhook that gets one delivery for all records. */
  async function expandLarge(
    hook: HookRow,
    model: TableModel,
    entry: FeedEntry,
    outcome?: Outcome,
  ): Promise<void> {
    const home = await kernel.sources.engine(model.table.baseId)
    const filters = filtersOf([hook])
    let cursor = hook.behindCursor === null ? null : (JSON.parse(hook.behindCursor) as StoredCursor)
    if (hook.deliverPer === 'record') {
      const page = await pageOfEntry(home, model, entry, { after: cursor?.at ?? null, limit: PAGE })
      const list = await matching(hook, model, { entry, records: page.records }, filters)
      const firstPart = cursor?.parts ?? 0
      const deliveries = deliveriesOf(hook, model, { entry, list, firstPart, outcome })
      const next: StoredCursor | null = page.next && { at: page.next, parts: firstPart + deliveries.length }
      await advance(hook, next ? entry.id : entry.id + 1, next, store.insertDeliveries(deliveries))
      return
    }
    const list: Affected[] = []
    const total: Partial<Record<HookOperation, number>> = {}
    const isSelective = filters.length > 0 || hook.triggerFieldIds.length > 0
    do {
      const page = await pageOfEntry(home, model, entry, { after: cursor?.at ?? null, limit: PAGE })
      for (const one of await matching(hook, model, { entry, records: page.records }, filters)) {
        total[one.operation] = (total[one.operation] ?? 0) + 1
        if ((total[one.operation] ?? 0) <= MAX_PAYLOAD_ROWS) list.push(one)
      }
      cursor = page.next && { at: page.next, parts: 0 }
      // Without a condition, the log knows the numbers.
      if (!isSelective && list.length >= MAX_PAYLOAD_ROWS) break
    } while (cursor !== null)
    if (!isSelective) {
      const own = entry.tables.find(({ tableId }) => tableId === hook.tableId)
      for (const operation of hook.operations) total[operation] = own?.[COUNTS[operation]] ?? 0
    }
    const deliveries = deliveriesOf(hook, model, { entry, list, total, outcome })
    await advance(hook, entry.id + 1, null, store.insertDeliveries(deliveries))
  }

  async function matching(
    hook: HookRow,
    model: TableModel,
    { entry, records: all }: Slice,
    filters: readonly Filter[],
  ): Promise<Affected[]> {
    const slice = { entry, records: all.filter((record) => isVisibleChange(model, record)) }
    return wanted(hook, slice.records, await affectedBy(model, [slice], filters), filters)
  }

  /** Stores deliveries with the position, unless the webhook was moved meanwhile. */
  async function advance(
    hook: HookRow,
    entryId: number,
    cursor: StoredCursor | null,
    deliveries: MetaStatement[],
  ): Promise<void> {
    const isUnmoved = and(
      eq(hooks.behindEntry, hook.behindEntry ?? 0),
      hook.behindCursor === null ? isNull(hooks.behindCursor) : eq(hooks.behindCursor, hook.behindCursor),
    )
    const move = meta.db
      .update(hooks)
      .set({
        // Fails on a webhook that was moved: the column takes no null.
        skippedTo: sql`case when ${isUnmoved} then ${hooks.skippedTo} end`,
        behindEntry: entryId,
        behindCursor: cursor === null ? null : JSON.stringify(cursor),
      })
      .where(eq(hooks.id, hook.id))
    await meta.atomically([move, ...deliveries])
  }

  /** Returns a webhook to the feed, unless that has left out further entries. */
  async function caughtUp(hook: HookRow, next: number): Promise<boolean> {
    const done = await meta.db
      .update(hooks)
      .set({ behindEntry: null, behindCursor: null, takenTo: next - 1 })
      .where(and(eq(hooks.id, hook.id), eq(hooks.behindEntry, next), sql`${hooks.skippedTo} < ${next}`))
      .returning({ id: hooks.id })
    if (done.length > 0) return true
    // The log ends before what the feed has left out: it was replaced by an older one.
    if (hook.skippedTo >= next) await advance(hook, hook.skippedTo + 1, null, [])
    return false
  }
}

export type Collector = ReturnType<typeof createCollector>

/** How a delivery has ended that is made with it. */
type Outcome = Partial<Pick<DeliveryRow, 'status' | 'endedAt' | 'errorCode' | 'errorMessage'>>

const givenUp = ({ reason }: Pick<HookPause, 'reason'>): Outcome => ({
  status: 'dead',
  endedAt: nowMs(),
  errorCode: 'MISSED',
  errorMessage:
    reason === 'condition' ? m.hooks_error_missed_without_condition() : m.hooks_error_missed_without_fields(),
})

/** The webhook as if it were called for all changes. */
const unconditional = (hook: HookRow): HookRow => ({
  ...hook,
  isConditional: false,
  filter: null,
  triggerFieldIds: [],
})

/** A position within a large entry, and the number of deliveries before it. */
interface StoredCursor {
  at: FeedCursor
  parts: number
}

const COUNTS = { insert: 'inserted', update: 'updated', delete: 'deleted' } as const

/** The number of records in the webhook's table under an entry; 0 if it is not called for any of them. */
function sizeFor(hook: HookRow, entry: FeedEntry): number {
  const own = entry.tables.find(({ tableId }) => tableId === hook.tableId)
  if (!own || entry.id <= hook.takenTo) return 0
  const isConcerned = hook.operations.some((operation) => own[COUNTS[operation]] > 0)
  return isConcerned ? own.inserted + own.updated + own.deleted : 0
}

/** True if an entry that deletes records of a table may also have removed links to them. */
const touchesOthers = ({ table }: TableModel, { tables }: FeedEntry): boolean =>
  tables.some(({ tableId, updated }) => tableId !== table.id || updated > 0)

/** False for an update of nothing but positions, times and authors. */
function isVisibleChange(model: TableModel, { before, after }: FeedRecord): boolean {
  if (before === null || after === null) return true
  return Object.keys(after).some((id) => {
    const field = model.field(id)
    return field !== undefined && !field.isSystem && isWatchable(field)
  })
}

/** The distinct conditions of webhooks, in order. */
function filtersOf(list: readonly HookRow[]): Filter[] {
  const filters = new Map<string, Filter>()
  for (const { isConditional, filter } of list) {
    if (isConditional && filter) filters.set(JSON.stringify(filter), filter)
  }
  return [...filters.values()]
}

/** The records that a webhook is called for. */
function wanted(
  hook: HookRow,
  list: readonly FeedRecord[],
  affected: ReadonlyMap<FeedRecord, Affected & { meets: boolean[] }>,
  filters: readonly Filter[],
): Affected[] {
  const condition = hook.isConditional && hook.filter ? JSON.stringify(hook.filter) : null
  const at = condition === null ? -1 : filters.findIndex((filter) => JSON.stringify(filter) === condition)
  return list.flatMap((record) => {
    const one = affected.get(record)
    if (!one || !hook.operations.includes(one.operation)) return []
    if (one.operation === 'update' && !touchesWatched(hook, record)) return []
    return at >= 0 && !one.meets[at] ? [] : [one]
  })
}

/** True unless the webhook watches fields and none of them has another value. */
function touchesWatched({ triggerFieldIds }: HookRow, { before, after }: FeedRecord): boolean {
  if (triggerFieldIds.length === 0) return true
  // A link is in `after` only, as the difference.
  return triggerFieldIds.some((id) => after !== null && id in after && after[id] !== before?.[id])
}
