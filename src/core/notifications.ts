import type { Person } from './fields/people.ts'
import type { LocalizedText } from './message.ts'
import { m } from './messages.gen.ts'
import type { RecordId } from './model.ts'

/** Subjects for which people choose a channel, in the order of the settings. */
export const NOTIFICATION_TOPICS = [
  'mentions',
  'assignments',
  'replies',
  'watches',
  'invitations',
  'jobs',
  'hooks',
] as const
export type NotificationTopic = (typeof NOTIFICATION_TOPICS)[number]

/**
 * How notifications of a topic reach a person: not at all, in the app, or also by mail: soon, or collected hourly or
 * daily.
 */
export const NOTIFICATION_CHANNELS = ['off', 'app', 'mail', 'hourly', 'daily'] as const
export type NotificationChannel = (typeof NOTIFICATION_CHANNELS)[number]

export type NotificationChannels = Record<NotificationTopic, NotificationChannel>

/** Channels of people who have chosen none. */
export const DEFAULT_CHANNELS: NotificationChannels = {
  mentions: 'mail',
  assignments: 'mail',
  replies: 'hourly',
  watches: 'app',
  invitations: 'app',
  jobs: 'app',
  hooks: 'mail',
}

/** When daily mails are sent: an hour from 0 to 23 in an IANA time zone. */
export interface DailyTime {
  dailyHour: number
  timeZone: string
}

/** Of people who have chosen none, until the time zone of their browser is known. */
export const DEFAULT_DAILY_TIME: DailyTime = { dailyHour: 7, timeZone: 'UTC' }

/** Notifications of a person that are kept: older ones are removed. */
export const MAX_NOTIFICATIONS = 1_000
/** Days after which a notification is removed. */
export const NOTIFICATION_DAYS = 90
/** Records and views that a person can watch. */
export const MAX_WATCHES = 500

/** Details of a notification, by its kind. */
export interface NotificationDetail {
  /** The comment's text, shortened, with names in place of mentions. */
  text?: string
  /** Fields that changed, by id. */
  fieldIds?: string[]
  /** The watched record was deleted. */
  isDeleted?: boolean
  /** Numbers of records that entered, changed in, and left a watched view. */
  entered?: number
  changed?: number
  left?: number
  job?: { kind: string; subject: string | null; error: string | null }
  /** A webhook, and why it fails or was paused. */
  hook?: { id: string; title: string; error: string | null; isPaused: boolean }
}

/** A notification as its owner sees it. Without access to its base, it has no names and no details. */
export interface Notification {
  id: string
  kind: NotificationKindName
  /** ISO 8601: when it was made, or last changed by more of the same. */
  at: string
  isRead: boolean
  /** Number of records or events that it stands for. */
  count: number
  /** False if it concerns a base or table that its owner cannot open any more. */
  isAvailable: boolean
  /** Who caused it. */
  actor: Person | null
  base: Named | null
  table: Named | null
  view: Named | null
  field: Named | null
  /** The title is empty if the record does not exist any more or has no name. */
  record: { id: RecordId; title: string } | null
  /** Titles of the fields that changed. */
  fields: string[]
  detail: NotificationDetail
}

interface Named {
  id: string
  title: string
}

interface NotificationKind {
  /** Null: people cannot turn it off. */
  topic: NotificationTopic | null
  /** The sentence that tells what happened. Called only for available notifications. */
  text(notification: Notification): string
}

const nameOf = ({ actor }: Notification): string =>
  actor?.displayName?.trim() || actor?.email || m.notification_someone()

const recordOf = ({ record }: Notification): string =>
  record ? record.title || m.notification_record({ id: String(record.id) }) : ''

const onRecord = (notification: Notification) => ({
  name: nameOf(notification),
  record: recordOf(notification),
  table: notification.table?.title ?? '',
})

/** Every kind of notification: its topic, and its text in lists, mails and messages. */
export const NOTIFICATION_KINDS = {
  welcome: { topic: null, text: () => m.notification_welcome() },
  invite: {
    topic: 'invitations',
    text: (it) => m.notification_invite({ name: nameOf(it), base: it.base?.title ?? '' }),
  },
  mention: { topic: 'mentions', text: (it) => m.notification_mention(onRecord(it)) },
  reply: { topic: 'replies', text: (it) => m.notification_reply(onRecord(it)) },
  comment: { topic: 'watches', text: (it) => m.notification_comment(onRecord(it)) },
  assigned: {
    topic: 'assignments',
    text: (it) =>
      it.record
        ? m.notification_assigned({ ...onRecord(it), field: it.field?.title ?? '' })
        : m.notification_assigned_many({ name: nameOf(it), table: it.table?.title ?? '', count: it.count }),
  },
  recordChanged: {
    topic: 'watches',
    text(it) {
      if (it.detail.isDeleted) return m.notification_record_deleted(onRecord(it))
      if (it.fields.length === 0) return m.notification_record_changed(onRecord(it))
      return m.notification_record_fields_changed({ ...onRecord(it), fields: it.fields.join(', ') })
    },
  },
  viewChanged: {
    topic: 'watches',
    text: (it) =>
      m.notification_view_changed({
        name: nameOf(it),
        view: it.view?.title ?? '',
        table: it.table?.title ?? '',
        summary: viewSummary(it),
      }),
  },
  jobEnded: {
    topic: 'jobs',
    text({ detail: { job } }) {
      const title = jobTitle(job?.kind ?? '', job?.subject ?? null)
      return job?.error == null
        ? m.notification_job_completed({ job: title })
        : m.notification_job_failed({ job: title, error: job.error })
    },
  },
  hookFailing: {
    topic: 'hooks',
    text({ base, detail: { hook } }) {
      const names = { hook: hook?.title ?? '', base: base?.title ?? '' }
      if (!hook?.isPaused) return m.notification_hook_failing({ ...names, error: hook?.error ?? '' })
      return hook.error === null
        ? m.notification_hook_paused_settings(names)
        : m.notification_hook_paused({ ...names, error: hook.error })
    },
  },
} satisfies Record<string, NotificationKind>

export type NotificationKindName = keyof typeof NOTIFICATION_KINDS

/** The topic of a kind; null if it cannot be turned off. */
export const topicOf = (kind: NotificationKindName): NotificationTopic | null =>
  NOTIFICATION_KINDS[kind].topic

/** The sentence of a notification, as plain text. */
export function notificationText(notification: Notification): string {
  if (!notification.isAvailable) return m.notification_unavailable()
  const kind: NotificationKind = NOTIFICATION_KINDS[notification.kind]
  return kind.text(notification)
}

function viewSummary({ detail: { entered = 0, changed = 0, left = 0 } }: Notification): string {
  return [
    entered > 0 ? m.notification_view_entered({ count: entered }) : '',
    changed > 0 ? m.notification_view_edited({ count: changed }) : '',
    left > 0 ? m.notification_view_left({ count: left }) : '',
  ]
    .filter(Boolean)
    .join(', ')
}

/** Names of the kinds of jobs; others are named by their subject alone. */
const JOB_TITLES: Record<string, (inputs: { subject: string }) => string> = {
  import: m.notification_job_import,
  'data-export': m.notification_job_export,
  'base-export': m.notification_job_export,
  'base-file-export': m.notification_job_export,
  'base-file-import': m.notification_job_import,
  'duplicate-base': m.notification_job_copy,
  'duplicate-model': m.notification_job_copy,
  'duplicate-column': m.notification_job_copy,
  'copy-tables-to-base': m.notification_job_copy,
  'copy-table-to-base': m.notification_job_copy,
  'copy-records': m.notification_job_copy,
}

/** Jobs of the whole server, which have no subject. */
const SERVER_JOB_TITLES: Record<string, () => string> = {
  backup: m.notification_job_backup,
  'backup-test': m.notification_job_backup_test,
  'backup-restore-base': m.notification_job_restored_base,
}

function jobTitle(kind: string, subject: string | null): string {
  if (subject === null) return (SERVER_JOB_TITLES[kind] ?? m.notification_job_other)()
  return JOB_TITLES[kind]?.({ subject }) ?? subject
}

/**
 * The path of the app that shows what a notification is about, such as `/nc/p123/m456?rowId=7`. Null if there is
 * nothing to open.
 */
export function notificationPath(notification: Notification): string | null {
  const { base, table, view, record, isAvailable, detail } = notification
  if (!isAvailable || base === null) return null
  if (detail.hook) return `/nc/${base.id}/webhooks?hookId=${detail.hook.id}&tab=deliveries`
  if (table === null) return `/nc/${base.id}`
  const path = `/nc/${base.id}/${table.id}${view ? `/${view.id}` : ''}`
  return record ? `${path}?rowId=${encodeURIComponent(String(record.id))}` : path
}

/** Titles of the topics. */
export const TOPIC_TITLES: Record<NotificationTopic, LocalizedText> = {
  mentions: m.notification_topic_mentions,
  assignments: m.notification_topic_assignments,
  replies: m.notification_topic_replies,
  watches: m.notification_topic_watches,
  invitations: m.notification_topic_invitations,
  jobs: m.notification_topic_jobs,
  hooks: m.notification_topic_hooks,
}
