import type { SQL } from 'drizzle-orm'
import { nowMs } from '../../src/clock.ts'
import { offsetAt } from '../../src/core/dates.ts'
import { createId } from '../../src/core/ids.ts'
import { type DailyTime, type NotificationChannel, topicOf } from '../../src/core/notifications.ts'
import type { BaseRole } from '../../src/core/roles.ts'
import type { Kernel } from '../../src/kernel.ts'
import type { Notice, Notices, PreparedNotices } from '../../src/notices.ts'
import type { AuthService } from '../auth/index.ts'
import type { NotificationSettings } from './settings.ts'
import type { NotificationRow, NotificationStore } from './store.ts'

/** A mail waits this long, so that what is undone or read at once is in none. */
const MAIL_DELAY_MS = 30_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
/** Kinds about a base that the same transaction opens to the recipient. */
const GRANTS_ACCESS: ReadonlySet<Notice['kind']> = new Set(['invite'])
/** Kinds about an account that the same transaction creates. */
const IS_FIRST: ReadonlySet<Notice['kind']> = new Set(['welcome'])

/** When a notification made now is due in a mail, in milliseconds since 1970; null: in none. */
export function mailDueAt(channel: NotificationChannel, now: number, daily: DailyTime): number | null {
  if (channel === 'mail') return now + MAIL_DELAY_MS
  if (channel === 'hourly') return (Math.floor(now / HOUR_MS) + 1) * HOUR_MS
  return channel === 'daily' ? nextDaily(now, daily) : null
}

/** The next time that clocks in the zone show the hour; where they skip it, an hour later. */
function nextDaily(now: number, { dailyHour, timeZone }: DailyTime): number {
  const today = Math.floor((now + offsetAt(now, timeZone)) / DAY_MS)
  const at = (day: number): number => {
    const wall = day * DAY_MS + dailyHour * HOUR_MS
    return wall - offsetAt(wall - offsetAt(wall, timeZone), timeZone)
  }
  return at(today) > now ? at(today) : at(today + 1)
}

/** Turns notices into stored notifications. */
export function createNotices(
  { mail, events }: Pick<Kernel, 'mail' | 'events'>,
  { access }: Pick<AuthService, 'access'>,
  store: NotificationStore,
  settings: NotificationSettings,
): Notices & { tell(userIds: Iterable<string>): void } {
  /** Tells the browsers of these people to read again. */
  function tell(userIds: Iterable<string>): void {
    for (const userId of new Set(userIds)) events.emit('notification.changed', { userId })
  }

  /** The notices of one base whose recipients may open it and want them, as rows. */
  async function rowsIn(
    baseId: string | null,
    notices: readonly Notice[],
  ): Promise<{ row: NotificationRow; accumulates: boolean }[]> {
    const userIds = [...new Set(notices.map(({ userId }) => userId))]
    const standings = await access.standings(userIds, baseId === null ? [] : [baseId])
    const settingsOf = await settings.effective(userIds, baseId)
    const now = nowMs()
    return notices.flatMap((notice) => {
      const standing = standings.get(notice.userId)
      const role = baseId === null ? undefined : standing?.roles.get(baseId)
      const mayOpen = baseId === null || GRANTS_ACCESS.has(notice.kind) || opens(role)
      if (!(standing || IS_FIRST.has(notice.kind)) || !mayOpen) return []
      const { channels, isMuted, isUnsubscribed, daily } = settingsOf(notice.userId)
      const topic = topicOf(notice.kind)
      const channel = topic === null ? 'app' : channels[topic]
      if (isMuted || channel === 'off') return []
      const isMailed = mail.isConfigured && !isUnsubscribed
      const at = notice.at ?? new Date(now).toISOString()
      const row: NotificationRow = {
        id: createId('notification'),
        userId: notice.userId,
        key: notice.key,
        kind: notice.kind,
        baseId,
        tableId: notice.tableId ?? null,
        viewId: notice.viewId ?? null,
        fieldId: notice.fieldId ?? null,
        recordId: notice.recordId ?? null,
        actorId: notice.actorId,
        ref: notice.ref ?? null,
        count: notice.count ?? 1,
        detail: notice.detail ?? {},
        isRead: false,
        mailDueAt: isMailed ? mailDueAt(channel, now, daily) : null,
        createdAt: at,
        at,
      }
      return [{ row, accumulates: notice.accumulates ?? false }]
    })
  }

  async function prepare(notices: readonly Notice[], isDone?: SQL): Promise<PreparedNotices> {
    // One statement must not name a row twice.
    const byOthers = new Map(
      notices
        .filter(({ userId, actorId }) => userId !== actorId)
        .map((notice) => [`${notice.userId} ${notice.key}`, notice]),
    ).values()
    const rows: Awaited<ReturnType<typeof rowsIn>> = []
    for (const [baseId, ofBase] of Map.groupBy(byOthers, (notice) => notice.baseId ?? null)) {
      rows.push(...(await rowsIn(baseId, ofBase)))
    }
    const of = (accumulates: boolean) =>
      rows.filter((one) => one.accumulates === accumulates).map(({ row }) => row)
    return {
      statements: [
        ...store.insert(of(false), false),
        ...store.insert(of(true), true),
        ...(isDone
          ? store.removeUnless(
              rows.map(({ row }) => row.id),
              isDone,
            )
          : []),
      ],
      stored: () => tell(rows.map(({ row }) => row.userId)),
    }
  }

  return { prepare, withdraw: store.withdraw, tell }
}

const opens = (role: BaseRole | undefined): boolean => role !== undefined && role !== 'no-access'
