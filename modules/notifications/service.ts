import { nowMs } from '../../src/clock.ts'
import type { Actor } from '../../src/core/actor.ts'
import { AppError, badRequest } from '../../src/core/errors.ts'
import {
  MAX_NOTIFICATIONS,
  NOTIFICATION_DAYS,
  type Notification,
  topicOf,
} from '../../src/core/notifications.ts'
import type { Kernel } from '../../src/kernel.ts'
import { m } from '../../src/messages.gen.ts'
import { type AuthService, requireUser } from '../auth/index.ts'
import type { BasesService } from '../bases/index.ts'
import type { RecordsService } from '../records/index.ts'
import type { SchemaReader } from '../schema/index.ts'
import type { ViewsService } from '../views/index.ts'
import { createChangeNotices } from './changes.ts'
import { createFollowing } from './following.ts'
import { createNotificationMails } from './mails.ts'
import { createNotices, mailDueAt } from './notices.ts'
import { createPresenter } from './presenter.ts'
import { createNotificationSettings, type SettingsPatch } from './settings.ts'
import { createNotificationStore, type ListCursor } from './store.ts'
import { createUnsubscribeTokens } from './unsubscribe.ts'
import { createWatches, type WatchTarget } from './watches.ts'

/** Notifications per page of the app's list. */
const PAGE = 30
/** Long polls of one person that may wait at the same time on each server, whose requests they are. */
const MAX_POLLS = 10
const MAIL_EVERY_MS = 15_000
const FORGET_EVERY_MS = 3_600_000
const CLEANUP = 'notification cleanup'

export type NotificationsService = ReturnType<typeof createNotificationsService>

/** Notifications of people: what they are told, how, and what they watch. Everyone reads only their own. */
export function createNotificationsService(
  kernel: Kernel,
  auth: AuthService,
  bases: Pick<BasesService, 'require'>,
  schema: SchemaReader,
  views: Pick<ViewsService, 'load'>,
  records: RecordsService,
) {
  const { events, log, meta } = kernel
  const store = createNotificationStore(kernel)
  const settings = createNotificationSettings(kernel, auth)
  const notices = createNotices(kernel, auth, store, settings)
  const present = createPresenter({ auth, bases, schema, views, records })
  const following = createFollowing(kernel, records, schema, () => watches)
  const watches = createWatches(kernel, {
    auth,
    bases,
    schema,
    views,
    records,
    follow: following.follow,
    ended: following.reconsider,
  })
  const tokens = createUnsubscribeTokens(kernel.secrets)
  const mails = createNotificationMails(kernel, { auth, store, settings, present, tokens })
  records.feed.consume(
    createChangeNotices(kernel, { auth, schema, views, records, store, settings, watches, notices }),
  )
  kernel.removals.push(store.forRemovedBase, settings.forRemovedBase, watches.forRemovedBase)
  kernel.tableMoves.push({
    statements: async (move) => [...store.forMovedTables(move), ...watches.forMovedTables(move)],
  })

  async function own(actor: Actor, right: 'notification.read' | 'notification.update'): Promise<string> {
    await auth.access.authorize(actor, right)
    return requireUser(actor).id
  }

  /** After a change of settings: unwanted notifications are in no mail, and daily ones in that of the chosen time. */
  async function adaptMails(userId: string): Promise<void> {
    const unwanted: string[] = []
    const daily: string[] = []
    const time = (await settings.effective([userId], null))(userId).daily
    for (const [baseId, rows] of Map.groupBy(await store.awaitingMail(userId), (row) => row.baseId)) {
      const { channels, isMuted, isUnsubscribed } = (await settings.effective([userId], baseId))(userId)
      for (const { id, kind } of rows) {
        const topic = topicOf(kind)
        const channel = topic === null ? 'app' : channels[topic]
        if (isMuted || isUnsubscribed || channel === 'app' || channel === 'off') unwanted.push(id)
        else if (channel === 'daily') daily.push(id)
      }
    }
    const nextDaily = mailDueAt('daily', nowMs(), time)
    await meta.atomically([...store.setMailTime(unwanted, null), ...store.setMailTime(daily, nextDaily)])
  }

  async function forget(): Promise<void> {
    if (!(await meta.cluster.claims.take(CLEANUP))) return
    const before = new Date(nowMs() - NOTIFICATION_DAYS * 86_400_000).toISOString()
    await store.forget(before, MAX_NOTIFICATIONS)
    await watches.forgetGone()
  }

  /** Waiting long polls by person. */
  const polling = new Map<string, number>()
  let timers: Timer[] = []
  let running: Promise<void> = Promise.resolve()
  let isBusy = false

  /** Runs work of the server that is due, one piece at a time. */
  function run(work: () => Promise<void>, failure: string): void {
    if (isBusy) return
    isBusy = true
    running = work()
      .catch((error) => log.error(failure, error))
      .finally(() => {
        isBusy = false
      })
  }
  const sendMails = () => run(() => mails.sendDue(), 'mails of notifications could not be sent')
  const cleanUp = () => run(forget, 'old notifications could not be removed')

  return {
    /** Fills `NOTICES`. */
    notices,
    watches,
    settings,
    mails,
    /** Removes what is too old, what a person has too much of, and what stands in the way of new watches. */
    forget,

    /** A page of the actor's notifications, newest first, and how many are unread. */
    async list(
      actor: Actor,
      {
        unreadOnly,
        cursor,
        timeZone,
      }: { unreadOnly: boolean; cursor?: string | null | undefined; timeZone?: string },
    ): Promise<{ notifications: Notification[]; unread: number; next: string | null }> {
      const userId = await own(actor, 'notification.read')
      const after = cursor == null ? null : readCursor(cursor)
      const [rows, unread] = await Promise.all([
        store.list(userId, { unreadOnly, after, limit: PAGE }),
        store.countUnread(userId),
      ])
      const last = rows.length === PAGE ? rows.at(-1) : undefined
      return {
        notifications: await present(actor, rows, timeZone),
        unread,
        next: last ? `${last.at} ${last.id}` : null,
      }
    },

    /** A page by offset, as REST asks for it; `isRead`: only those, null: all. */
    async page(actor: Actor, options: { isRead: boolean | null; limit: number; offset: number }) {
      const userId = await own(actor, 'notification.read')
      const [{ rows, total }, unread] = await Promise.all([
        store.page(userId, options),
        store.countUnread(userId),
      ])
      const shown = await present(actor, rows)
      return { total, unread, notifications: rows.map((row, at) => ({ row, shown: shown[at]! })) }
    },

    async unread(actor: Actor): Promise<number> {
      return store.countUnread(await own(actor, 'notification.read'))
    },

    /** Marks some of the actor's notifications as read or unread; others are left alone. */
    async mark(actor: Actor, ids: readonly string[], isRead: boolean): Promise<void> {
      const userId = await own(actor, 'notification.update')
      await store.mark(userId, ids, isRead)
      notices.tell([userId])
    },

    async markAllRead(actor: Actor): Promise<void> {
      const userId = await own(actor, 'notification.update')
      await store.markAllRead(userId)
      notices.tell([userId])
    },

    /** Deletes one of the actor's notifications; does nothing for others. */
    async remove(actor: Actor, id: string): Promise<void> {
      const userId = await own(actor, 'notification.update')
      await store.remove(userId, id)
      notices.tell([userId])
    },

    /** Changes the actor's settings, see `createNotificationSettings`. Mails that are not wanted any more are not sent. */
    async setSettings(actor: Actor, baseId: string | null, patch: SettingsPatch): Promise<void> {
      await settings.set(actor, baseId, patch)
      await adaptMails(requireUser(actor).id)
    },

    watch: (actor: Actor, target: WatchTarget, isOn: boolean) => watches.watch(actor, target, isOn),

    /** The token in the mails to a person. */
    unsubscribeToken: tokens.tokenFor,

    /** Ends all mails to the person who got the link in one of them. @throws BAD_REQUEST for another token */
    async unsubscribe(token: string): Promise<void> {
      const userId = tokens.read(token)
      if (userId === null) throw badRequest(m.notifications_error_unsubscribe_link())
      await settings.unsubscribe(userId)
      await adaptMails(userId)
    },

    /** For the module that owns what a notification refers to. */
    recipientsOf: store.recipientsOf,
    revise: store.revise,

    /**
     * Waits until something changes in the actor's notifications.
     *
     * @returns the newest unread one, if it came or changed meanwhile; null after `waitMs`, or when `signal` ends it
     */
    async next(actor: Actor, { waitMs, signal }: { waitMs: number; signal: AbortSignal }) {
      const userId = await own(actor, 'notification.read')
      const polls = polling.get(userId) ?? 0
      if (polls >= MAX_POLLS)
        throw new AppError('TOO_MANY_REQUESTS', m.notifications_error_too_many_polls(), {
          retryAfterSeconds: 30,
        })
      polling.set(userId, polls + 1)
      try {
        return await nextOf(actor, userId, waitMs, signal)
      } finally {
        const left = (polling.get(userId) ?? 1) - 1
        if (left > 0) polling.set(userId, left)
        else polling.delete(userId)
      }
    },

    /** Sends mails and removes old notifications from now on. Call it once the feed runs. */
    async start(): Promise<void> {
      await following.start()
      timers = [setInterval(sendMails, MAIL_EVERY_MS), setInterval(cleanUp, FORGET_EVERY_MS)]
      for (const timer of timers) timer.unref()
      cleanUp()
    },

    async close(): Promise<void> {
      for (const timer of timers) clearInterval(timer)
      await running
    },
  }

  /** The next notification of a person, see `next`. */
  async function nextOf(actor: Actor, userId: string, waitMs: number, signal: AbortSignal) {
    const newest = async () => (await store.page(userId, { isRead: false, limit: 1, offset: 0 })).rows[0]
    const changes = followChanges(userId, signal)
    try {
      const known = await newest()
      const deadline = Date.now() + waitMs
      while (!signal.aborted && Date.now() < deadline) {
        await changes.next(deadline - Date.now())
        const row = await newest()
        const isNew =
          row && (known === undefined || (row.at >= known.at && row.id !== known.id) || row.at > known.at)
        if (!row || !isNew) continue
        const [shown] = await present(actor, [row])
        return { row, shown: shown! }
      }
      return null
    } finally {
      changes.stop()
    }
  }

  /** The changes of a person's notifications from now on. Call `stop` at the end. */
  function followChanges(userId: string, signal: AbortSignal) {
    let change = Promise.withResolvers<void>()
    const wake = () => change.resolve()
    const stop = events.on('notification.changed', (changed) => {
      if (changed.userId === userId) wake()
    })
    signal.addEventListener('abort', wake)
    return {
      /** Resolves at once for a change since it last did, at the next one, after `ms`, or when the signal ends it. */
      async next(ms: number): Promise<void> {
        const timer = setTimeout(wake, ms)
        await change.promise
        clearTimeout(timer)
        change = Promise.withResolvers()
      },
      stop() {
        stop()
        signal.removeEventListener('abort', wake)
      },
    }
  }
}

/** The cursor of `list`. @throws BAD_REQUEST for one that no page ended with */
function readCursor(text: string): ListCursor {
  const [at = '', id = ''] = text.split(' ')
  if (Number.isNaN(Date.parse(at)) || id === '') throw badRequest(m.notifications_error_cursor())
  return { at, id }
}
