import { Elysia } from 'elysia'
import { z } from 'zod'
import { withoutCaller } from '../../../src/caller.ts'
import type { Person } from '../../../src/core/model.ts'
import {
  type Notification,
  type NotificationKindName,
  notificationText,
} from '../../../src/core/notifications.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { scalar } from '../../../src/wire/answer.ts'
import { pageInfo, readPage, wireTime } from '../../../src/wire/lists.ts'
import { readBody, restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import type { NotificationsService } from '../service.ts'
import type { NotificationRow } from '../store.ts'

/** A long poll that hears nothing is answered after this time (wire §12). */
const POLL_MS = 30_000

const PatchBody = z.object({ is_read: z.union([z.boolean(), z.literal([0, 1]).transform(Boolean)]) })

interface Services {
  notifications: NotificationsService
  auth: AuthService
}

/** Notifications over REST (wire §12, spec §7). */
export function notificationsRest(kernel: Kernel, { notifications, auth }: Services) {
  return new Elysia({ prefix: '/api/v1/notifications', tags: ['Notifications'] })
    .use(restBase(kernel, auth))
    .get(
      '/',
      async ({ actor, query }) => {
        const page = readPage(query)
        const found = await notifications.page(actor, { isRead: readFlag(query.is_read), ...page })
        return {
          list: found.notifications.map(presentNotification),
          pageInfo: pageInfo(found.total, page),
          unreadCount: found.unread,
        }
      },
      { detail: { summary: 'List your notifications' } },
    )
    .get(
      '/poll',
      async ({ actor, query, request }) => {
        const waitMs = Math.min(POLL_MS, readSeconds(query.wait) * 1_000)
        // It may wait longer than a read of this request may take.
        const news = await withoutCaller(() => notifications.next(actor, { waitMs, signal: request.signal }))
        if (news === null) return { status: 'refresh' }
        return { status: 'success', data: JSON.stringify(presentNotification(news)) }
      },
      { detail: { summary: 'Wait for your next notification' } },
    )
    .patch(
      '/:notificationId',
      async ({ actor, params, body }) => {
        await notifications.mark(actor, [params.notificationId], readBody(PatchBody, body).is_read)
        return scalar(true)
      },
      { detail: { summary: 'Mark a notification as read or unread' } },
    )
    .delete(
      '/:notificationId',
      async ({ actor, params }) => {
        await notifications.remove(actor, params.notificationId)
        return new Response(null, { status: 200 })
      },
      { detail: { summary: 'Delete a notification' } },
    )
    .post(
      '/mark-all-read',
      async ({ actor }) => {
        await notifications.markAllRead(actor)
        return scalar(true)
      },
      { detail: { summary: 'Mark all your notifications as read' } },
    )
    .post(
      '/unsubscribe/:token',
      async ({ params }) => {
        await notifications.unsubscribe(params.token)
        return scalar(true)
      },
      { detail: { summary: 'End all mails to the recipient of the one with this link' } },
    )
}

/** Seconds that a client is willing to wait; the longest for anything else. */
const readSeconds = (text: string | undefined): number =>
  text !== undefined && /^\d{1,2}$/.test(text) ? Number(text) : POLL_MS / 1_000

const readFlag = (text: string | undefined): boolean | null =>
  text === 'true' || text === '1' ? true : text === 'false' || text === '0' ? false : null

/** The names of kinds as clients know them; those that NocoDB does not have are in its style. */
const TYPES: Record<NotificationKindName, string> = {
  welcome: 'app.welcome',
  invite: 'base.invite',
  mention: 'row.user.mention',
  reply: 'comment.reply',
  comment: 'comment.create',
  assigned: 'row.user.assign',
  recordChanged: 'row.update',
  viewChanged: 'view.records.update',
  jobEnded: 'job.end',
  hookFailing: 'hook.failing',
}

function presentNotification({ row, shown }: { row: NotificationRow; shown: Notification }) {
  return {
    id: row.id,
    type: TYPES[row.kind],
    body: bodyOf(shown),
    is_read: shown.isRead,
    is_deleted: false,
    fk_user_id: row.userId,
    created_at: wireTime(row.createdAt),
    updated_at: wireTime(row.at),
  }
}

/** Whatever the notification names; `{}` for the welcome. */
function bodyOf(notification: Notification) {
  const { kind, isAvailable, base, table, view, record, field, actor, count, fields, detail } = notification
  if (kind === 'welcome' || !isAvailable) return {}
  const body = {
    ...(base && { base }),
    ...(actor && { user: presentPerson(actor) }),
  }
  if (kind === 'invite') return body
  return {
    ...body,
    ...(table && { table }),
    ...(view && { view }),
    ...(record && { row: record }),
    ...(field && { column: field }),
    ...(detail.text !== undefined && { comment: detail.text }),
    ...(fields.length > 0 && { fields }),
    ...(detail.job && { job: detail.job }),
    ...(detail.hook && { hook: detail.hook }),
    ...(count > 1 && { count }),
    message: notificationText(notification),
  }
}

const presentPerson = ({ id, email, displayName }: Person) => ({
  id,
  email,
  displayName,
  meta: null,
})
