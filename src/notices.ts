import type { SQL } from 'drizzle-orm'
import type { NotificationDetail, NotificationKindName } from './core/notifications.ts'
import type { MetaStatement } from './db/meta.ts'
import { defineSlot } from './registry.ts'

/** Something that a person is to be notified of. */
export interface Notice {
  kind: NotificationKindName
  /** The recipient. */
  userId: string
  /**
   * Identifies the event for this recipient: a second notice with the same key adds its `count` to the first if it
   * `accumulates`, and otherwise changes nothing.
   */
  key: string
  accumulates?: boolean
  /** Who caused it: one's own actions do not notify oneself. Null: a visitor, or the server. */
  actorId: string | null
  baseId?: string | null
  tableId?: string | null
  viewId?: string | null
  fieldId?: string | null
  recordId?: string | null
  /** Whatever the notification depends on, such as a comment: `withdraw` takes back all that refer to it. */
  ref?: string | null
  count?: number
  detail?: NotificationDetail
  /** ISO 8601; now by default. */
  at?: string
}

/** Notices on their way: run the statements in the transaction of what they tell of, then call `stored`. */
export interface PreparedNotices {
  statements: MetaStatement[]
  /** Tells the recipients. */
  stored(): void
}

/** How modules and the kernel notify people. */
export interface Notices {
  /**
   * Leaves out recipients without access to the base, those who caused the event, and those who want no notification of
   * it.
   *
   * @param isDone if the event may turn out not to happen: true in the transaction if it did
   */
  prepare(notices: readonly Notice[], isDone?: SQL): Promise<PreparedNotices>
  /** Takes back all notifications with these references. */
  withdraw(refs: readonly string[]): MetaStatement[]
}

/** Filled by the notifications module. */
export const NOTICES = defineSlot<Notices>('notices')
