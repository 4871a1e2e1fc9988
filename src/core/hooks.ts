import type { Filter } from './filters/filter.ts'

/**
 * When a webhook is called. `after`: for changes of records. `before`: likewise, under the name that clients of the
 * reference may have chosen. `manual`: when somebody triggers it for a record, by a button or from the record's menu.
 * `view`, `field`: never, as in the reference, whose clients may store them (wire §11).
 */
export const HOOK_EVENTS = ['after', 'before', 'manual', 'view', 'field'] as const
export type HookEvent = (typeof HOOK_EVENTS)[number]

/** The events of webhooks that are called for changes of records. */
export const RECORD_EVENTS = ['after', 'before'] as const satisfies readonly HookEvent[]
export const isRecordEvent = (event: HookEvent): event is (typeof RECORD_EVENTS)[number] =>
  event === 'after' || event === 'before'

/** The changes of records that webhooks may be called for. */
export const HOOK_OPERATIONS = ['insert', 'update', 'delete'] as const
export type HookOperation = (typeof HOOK_OPERATIONS)[number]

/** Webhooks of a table. */
export const MAX_HOOKS = 50
/** Records that one call may trigger a webhook for. */
export const MAX_TRIGGERED = 1_000
/** Channels that one webhook may post to. */
export const MAX_CHAT_RECEIVERS = 10
/** Rows in one payload; a change of more records sends the first ones and their number. */
export const MAX_PAYLOAD_ROWS = 1_000
/** Length of the JSON of one event; the rows are limited to those that fit. */
export const MAX_EVENT_LENGTH = 1_000_000

/** The channel of a webhook, with its settings as its own schema describes them, e.g. `{"type":"URL","payload":{…}}`. */
export interface HookChannel {
  type: string
  payload: Record<string, unknown>
}

/** A webhook that was changed, or whose deliveries were. */
export interface HookNews {
  hookId: string
  baseId: string
}

/** Why the server stopped calling a webhook. Changes that come meanwhile are delivered once it goes on. */
export interface HookPause {
  /**
   * `failing`: its deliveries failed for too long. `condition`, `fields`: its condition or the fields that it watches
   * are gone or have another type. `settings`: its stored settings cannot be read.
   */
  reason: 'failing' | 'condition' | 'fields' | 'settings'
  /** The last error, for users; null if the reason says everything. */
  detail: string | null
  /** ISO 8601. */
  at: string
}

/** The settings of a webhook. */
export interface HookSettings {
  title: string
  description: string | null
  event: HookEvent
  /** For events of records. Empty: it is never called. */
  operations: HookOperation[]
  isActive: boolean
  /** One call for each changed record, or one for all records of a change. */
  deliverPer: 'record' | 'call'
  /** Whether `filter` applies. */
  isConditional: boolean
  /** Records that it is called for; changed ones after their change, deleted ones as they were. */
  filter: Filter | null
  /** Updates of other fields do not call it. Empty: any field. */
  triggerFieldIds: string[]
  channel: HookChannel
}

/** A webhook as the web app shows it. */
export interface Hook extends HookSettings {
  id: string
  baseId: string
  tableId: string
  order: number
  pause: HookPause | null
  createdBy: string | null
  createdAt: string
  updatedAt: string
}

/** A webhook in the list of its table. */
export interface ListedHook extends Hook {
  /** Deliveries that are to be sent, or sent again. */
  waiting: number
  /** Deliveries that were given up. */
  dead: number
  last: { status: DeliveryStatus; at: string } | null
}

/** `waiting`: to be sent, perhaps again. `dead`: given up after too many tries, or refused for good. */
export type DeliveryStatus = 'waiting' | 'delivered' | 'dead'

/** A delivery in the log of a webhook. Its id is the idempotency key. */
export interface HookDelivery {
  id: string
  hookId: string
  operation: HookOperation | 'trigger'
  isTest: boolean
  status: DeliveryStatus
  /** Tries so far. */
  attempts: number
  /** Number of records. */
  rows: number
  /** Ids of its records as text, if they are few. */
  recordIds: string[]
  createdAt: string
  /** When it is sent next; null if it has ended. */
  dueAt: string | null
  endedAt: string | null
  /** Of the last try; null before it. */
  statusCode: number | null
  durationMs: number | null
  /** Of the last try; null if it succeeded. `code` is a name such as `ECONNREFUSED`. */
  error: { code: string; message: string } | null
  /** Id of the user whose change or click it follows. */
  triggeredBy: string | null
}

/** The request of a delivery as it was sent, with secrets masked and a bounded body. */
export interface SentRequest {
  /** For mails `MAIL`. */
  method: string
  url: string
  headers: [name: string, value: string][]
  body: string | null
}

/** The response of the receiver, with a bounded body. */
export interface ReceivedResponse {
  status: number
  statusText: string
  headers: [name: string, value: string][]
  body: string
}

export interface HookDeliveryDetail extends HookDelivery {
  request: SentRequest | null
  response: ReceivedResponse | null
}

/** A delivery that was triggered by hand, after its first try; `waiting`: it is tried again, or still running. */
export interface TriggeredDelivery {
  id: string
  status: DeliveryStatus
  /** Of the first try; null if it succeeded. */
  error: { code: string; message: string } | null
}

/** The result of a test call. */
export interface HookTestResult {
  isDelivered: boolean
  error: { code: string; message: string } | null
  durationMs: number
  request: SentRequest | null
  response: ReceivedResponse | null
}

/** The event that templates and receivers see (wire §11). */
export interface HookPayload {
  /** e.g. `records.after.update`. */
  type: string
  /** The id of the delivery. */
  id: string
  base_id: string
  version: 'v3'
  data: {
    table_id: string
    table_name: string
    /** Before an update, in the order of `rows`. */
    previous_rows?: Record<string, unknown>[]
    rows: Record<string, unknown>[]
    /** The number of changed records, if not all are among `rows`. */
    row_count?: number
  }
}
