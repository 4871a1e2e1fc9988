import type {
  NotificationDetail,
  NotificationKindName,
  NotificationTopic,
} from '../../src/core/notifications.ts'
import type { Columns } from '../../src/db/columns.ts'

/**
 * What people choose: the channel of a topic; to mute a base; and for all bases, to watch the records that one comments on
 * or is assigned to, to get no mails at all, as asked for by the link in one, and
 * the hour and time zone of daily mails.
 */
export type SettingName =
  | NotificationTopic
  | 'isMuted'
  | 'watchesOwn'
  | 'isUnsubscribed'
  | 'dailyHour'
  | 'timeZone'

/** Notifications, how people want them, and what they watch. */
export function defineNotificationTables(c: Columns) {
  const notifications = c.table(
    'notifications',
    {
      id: c.text('id').primaryKey(),
      /** The recipient. */
      userId: c.text('user_id').notNull(),
      /** Identifies the event for the recipient. */
      key: c.text('key').notNull(),
      kind: c.text('kind').$type<NotificationKindName>().notNull(),
      baseId: c.text('base_id'),
      tableId: c.text('table_id'),
      viewId: c.text('view_id'),
      fieldId: c.text('field_id'),
      recordId: c.text('record_id'),
      actorId: c.text('actor_id'),
      /** What it depends on, such as a comment. */
      ref: c.text('ref'),
      count: c.integer('count').notNull(),
      detail: c.json('detail').$type<NotificationDetail>().notNull(),
      isRead: c.flag('is_read').notNull(),
      /** Milliseconds since 1970 of the mail that will contain it; null: none, or sent. */
      mailDueAt: c.bigInteger('mail_due_at'),
      createdAt: c.text('created_at').notNull(),
      /** When it was made, or last changed by more of the same. */
      at: c.text('at').notNull(),
    },
    (t) => [
      c.uniqueIndex('notifications_key').on(t.userId, t.key),
      c.index('notifications_user').on(t.userId, t.at),
      c.index('notifications_unread').on(t.userId, t.isRead, t.at),
      c.index('notifications_ref').on(t.ref),
      c.index('notifications_due').on(t.mailDueAt),
      c.index('notifications_base').on(t.baseId),
      c.index('notifications_at').on(t.at),
    ],
  )
  const notificationSettings = c.table(
    'notification_settings',
    {
      userId: c.text('user_id').notNull(),
      /** Empty: for all bases without settings of their own. */
      baseId: c.text('base_id').notNull(),
      /** A row per choice, so that changes made at the same time do not undo each other. */
      name: c.text('name').$type<SettingName>().notNull(),
      /** A channel, `true`, an hour or the name of a time zone. */
      value: c.text('value').notNull(),
    },
    (t) => [
      c.primaryKey({ columns: [t.userId, t.baseId, t.name] }),
      c.index('notification_settings_base').on(t.baseId),
    ],
  )
  const watches = c.table(
    'watches',
    {
      userId: c.text('user_id').notNull(),
      baseId: c.text('base_id').notNull(),
      tableId: c.text('table_id').notNull(),
      kind: c.text('kind').$type<'record' | 'view'>().notNull(),
      /** The id of the record, as text, or of the view. */
      targetId: c.text('target_id').notNull(),
      createdAt: c.text('created_at').notNull(),
    },
    (t) => [
      c.primaryKey({ columns: [t.userId, t.tableId, t.kind, t.targetId] }),
      c.index('watches_target').on(t.tableId, t.kind, t.targetId),
      c.index('watches_base').on(t.baseId),
    ],
  )
  return { notifications, notificationSettings, watches }
}
