import type { Filter } from '../../src/core/filters/filter.ts'
import type {
  DeliveryStatus,
  HookDelivery,
  HookEvent,
  HookOperation,
  HookPause,
  HookSettings,
  ReceivedResponse,
  SentRequest,
} from '../../src/core/hooks.ts'
import type { Columns } from '../../src/db/columns.ts'

/** Webhooks, and their deliveries: those that are to be sent, and the log of those that were. */
export function defineHooksTables(c: Columns) {
  const hooks = c.table(
    'hooks',
    {
      id: c.text('id').primaryKey(),
      baseId: c.text('base_id').notNull(),
      tableId: c.text('table_id').notNull(),
      title: c.text('title').notNull(),
      description: c.text('description'),
      event: c.text('event').$type<HookEvent>().notNull(),
      operations: c.json('operations').$type<HookOperation[]>().notNull(),
      isActive: c.flag('is_active').notNull(),
      deliverPer: c.text('deliver_per').$type<HookSettings['deliverPer']>().notNull(),
      isConditional: c.flag('is_conditional').notNull(),
      filter: c.json('filter').$type<Filter | null>(),
      triggerFieldIds: c.json('trigger_field_ids').$type<string[]>().notNull(),
      channel: c.text('channel').notNull(),
      /** The settings of the channel, sealed: they may contain passwords and tokens. */
      payload: c.text('payload').notNull(),
      /** The key of its signatures, sealed. */
      secret: c.text('secret').notNull(),
      order: c.real('order').notNull(),
      pause: c.json('pause').$type<HookPause | null>(),
      /** When its deliveries began to fail; null while they succeed. */
      failingSince: c.bigInteger('failing_since'),
      /**
       * The log entry up to which its deliveries are complete or not wanted, if it is later than the position of the
       * feed: when it was activated or had caught up.
       */
      takenTo: c.bigInteger('taken_to').notNull(),
      /**
       * The log entry that it continues with when it is behind the feed: while it is paused, has too many waiting
       * deliveries, or expands a large entry. Null: the feed serves it.
       */
      behindEntry: c.bigInteger('behind_entry'),
      /** The cursor within that entry, as JSON; null: its beginning. */
      behindCursor: c.text('behind_cursor'),
      /** The last entry that the feed has left out while it was behind. */
      skippedTo: c.bigInteger('skipped_to').notNull(),
      createdBy: c.text('created_by'),
      createdAt: c.text('created_at').notNull(),
      updatedAt: c.text('updated_at').notNull(),
    },
    (table) => [c.index('hooks_table').on(table.tableId), c.index('hooks_base').on(table.baseId)],
  )
  const hookDeliveries = c.table(
    'hook_deliveries',
    {
      /** Sent as the idempotency key. */
      id: c.text('id').primaryKey(),
      hookId: c.text('hook_id').notNull(),
      baseId: c.text('base_id').notNull(),
      /** The log entry that it follows from; 0: it was triggered by hand, or is a test. */
      entryId: c.bigInteger('entry_id').notNull(),
      /** Its position among the deliveries of the entry. */
      part: c.integer('part').notNull(),
      operation: c.text('operation').$type<HookDelivery['operation']>().notNull(),
      isTest: c.flag('is_test').notNull(),
      /** Number of records. */
      rows: c.integer('rows').notNull(),
      /** Their ids as text; null if they are too many to be listed. */
      recordIds: c.json('record_ids').$type<string[] | null>(),
      /** The event as JSON. */
      event: c.text('event').notNull(),
      status: c.text('status').$type<DeliveryStatus>().notNull(),
      attempts: c.integer('attempts').notNull(),
      /** Which of several receivers have it already, while others are tried again. */
      receivedBy: c.json('received_by').$type<string[] | null>(),
      /** When it is sent next, in milliseconds since 1970. */
      dueAt: c.bigInteger('due_at').notNull(),
      createdAt: c.bigInteger('created_at').notNull(),
      endedAt: c.bigInteger('ended_at'),
      /** Of the last try. */
      request: c.json('request').$type<SentRequest | null>(),
      response: c.json('response').$type<ReceivedResponse | null>(),
      durationMs: c.integer('duration_ms'),
      errorCode: c.text('error_code'),
      errorMessage: c.text('error_message'),
      triggeredBy: c.text('triggered_by'),
    },
    (table) => [
      c.index('hook_deliveries_order').on(table.hookId, table.status, table.entryId, table.part),
      c.index('hook_deliveries_log').on(table.hookId, table.createdAt),
      c.index('hook_deliveries_due').on(table.status, table.dueAt),
      c.index('hook_deliveries_base').on(table.baseId),
    ],
  )
  return { hooks, hookDeliveries }
}
