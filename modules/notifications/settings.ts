import { and, eq, inArray } from 'drizzle-orm'
import type { Actor } from '../../src/core/actor.ts'
import { isTimeZone } from '../../src/core/dates.ts'
import {
  type DailyTime,
  DEFAULT_CHANNELS,
  DEFAULT_DAILY_TIME,
  NOTIFICATION_CHANNELS,
  NOTIFICATION_TOPICS,
  type NotificationChannels,
  type NotificationTopic,
} from '../../src/core/notifications.ts'
import type { MetaStatement } from '../../src/db/meta.ts'
import type { Kernel } from '../../src/kernel.ts'
import { type AuthService, requireUser } from '../auth/index.ts'
import { defineNotificationTables, type SettingName } from './tables.ts'

/** The base id under which settings for all bases are stored. */
const ALL_BASES = ''
const NAMED_AT_ONCE = 500
const FLAGS = ['isMuted', 'watchesOwn', 'isUnsubscribed'] as const

/** How a person wants to be notified in a base. */
export interface EffectiveSettings {
  channels: NotificationChannels
  isMuted: boolean
  watchesOwn: boolean
  isUnsubscribed: boolean
  daily: DailyTime
}

/** A change of settings; a null channel follows the settings for all bases, or the default. */
export interface SettingsPatch {
  channels?: Partial<Record<NotificationTopic, NotificationChannels[NotificationTopic] | null>>
  isMuted?: boolean
  watchesOwn?: boolean
  isUnsubscribed?: boolean
  dailyHour?: number | undefined
  timeZone?: string | undefined
  /** Taken where the person has none yet. */
  browserTimeZone?: string | undefined
}

export type NotificationSettings = ReturnType<typeof createNotificationSettings>

/** What people have chosen: for all bases, and per base. */
export function createNotificationSettings(
  { meta }: Pick<Kernel, 'meta'>,
  { access }: Pick<AuthService, 'access'>,
) {
  const { notificationSettings: table } = meta.tables(defineNotificationTables)
  const { db } = meta
  type Row = typeof table.$inferSelect

  async function rowsOf(userIds: readonly string[], baseIds: readonly string[]): Promise<Row[]> {
    const rows: Row[] = []
    for (let start = 0; start < userIds.length; start += NAMED_AT_ONCE) {
      const some = inArray(table.userId, userIds.slice(start, start + NAMED_AT_ONCE))
      rows.push(
        ...(await db
          .select()
          .from(table)
          .where(and(some, inArray(table.baseId, [...baseIds])))),
      )
    }
    return rows
  }

  async function write(userId: string, baseId: string, patch: SettingsPatch): Promise<void> {
    const { channels = {}, dailyHour, timeZone, browserTimeZone, ...flags } = patch
    const values = new Map<SettingName, string | null>()
    for (const topic of NOTIFICATION_TOPICS) {
      const channel = channels[topic]
      if (channel !== undefined) values.set(topic, channel)
    }
    for (const name of FLAGS) if (flags[name] !== undefined) values.set(name, flags[name] ? 'true' : null)
    if (dailyHour !== undefined) values.set('dailyHour', String(dailyHour))
    if (timeZone !== undefined) values.set('timeZone', timeZone)
    const statements: MetaStatement[] = [...values].map(([name, value]) =>
      value === null
        ? db
            .delete(table)
            .where(and(eq(table.userId, userId), eq(table.baseId, baseId), eq(table.name, name)))
        : db
            .insert(table)
            .values({ userId, baseId, name, value })
            .onConflictDoUpdate({ target: [table.userId, table.baseId, table.name], set: { value } }),
    )
    if (browserTimeZone !== undefined) {
      const first = { userId, baseId, name: 'timeZone' as const, value: browserTimeZone }
      statements.push(db.insert(table).values(first).onConflictDoNothing())
    }
    if (statements.length > 0) await meta.atomically(statements)
  }

  return {
    /** The settings of people in a base; null: outside of bases. */
    async effective(
      userIds: readonly string[],
      baseId: string | null,
    ): Promise<(userId: string) => EffectiveSettings> {
      const rows = await rowsOf(userIds, baseId === null ? [ALL_BASES] : [ALL_BASES, baseId])
      const byUser = Map.groupBy(rows, ({ userId }) => userId)
      return (userId) => {
        const own = byUser.get(userId) ?? []
        const general = own.filter((row) => row.baseId === ALL_BASES)
        const inBase = own.filter((row) => row.baseId !== ALL_BASES)
        return {
          channels: { ...DEFAULT_CHANNELS, ...channelsIn(general), ...channelsIn(inBase) },
          isMuted: isSet(inBase, 'isMuted'),
          watchesOwn: isSet(general, 'watchesOwn'),
          isUnsubscribed: isSet(general, 'isUnsubscribed'),
          daily: dailyTimeIn(general),
        }
      }
    },

    /** The actor's settings: for all bases, and those of the bases that have their own. */
    async get(actor: Actor) {
      await access.authorize(actor, 'notification.read')
      const rows = await db
        .select()
        .from(table)
        .where(eq(table.userId, requireUser(actor).id))
      const byBase = Map.groupBy(rows, ({ baseId }) => baseId)
      const general = byBase.get(ALL_BASES) ?? []
      byBase.delete(ALL_BASES)
      return {
        channels: { ...DEFAULT_CHANNELS, ...channelsIn(general) },
        watchesOwn: isSet(general, 'watchesOwn'),
        isUnsubscribed: isSet(general, 'isUnsubscribed'),
        ...dailyTimeIn(general),
        bases: [...byBase].map(([baseId, own]) => ({
          baseId,
          channels: channelsIn(own),
          isMuted: isSet(own, 'isMuted'),
        })),
      }
    },

    /** Changes the actor's settings for all bases, or for one. @throws FORBIDDEN for a base without access */
    async set(actor: Actor, baseId: string | null, patch: SettingsPatch): Promise<void> {
      await access.authorize(actor, 'notification.update')
      if (baseId !== null) await access.authorize(actor, 'base.read', baseId)
      await write(requireUser(actor).id, baseId ?? ALL_BASES, patch)
    },

    /** Ends all mails to a person. */
    unsubscribe: (userId: string): Promise<void> => write(userId, ALL_BASES, { isUnsubscribed: true }),

    forRemovedBase: (baseId: string): MetaStatement[] => [db.delete(table).where(eq(table.baseId, baseId))],
  }
}

type SettingRow = Pick<
  ReturnType<typeof defineNotificationTables>['notificationSettings']['$inferSelect'],
  'name' | 'value'
>

const isSet = (rows: readonly SettingRow[], name: SettingName): boolean =>
  rows.some((row) => row.name === name && row.value === 'true')

function dailyTimeIn(rows: readonly SettingRow[]): DailyTime {
  const chosen = (wanted: SettingName) => rows.find(({ name }) => name === wanted)?.value
  const { dailyHour, timeZone } = DEFAULT_DAILY_TIME
  const zone = chosen('timeZone')
  return {
    dailyHour: Number(chosen('dailyHour') ?? dailyHour),
    // A server with another version of the time zones may not know it.
    timeZone: zone !== undefined && isTimeZone(zone) ? zone : timeZone,
  }
}

/** The chosen channels; names and values of a later version are left out. */
function channelsIn(rows: readonly SettingRow[]): Partial<NotificationChannels> {
  const channels: Partial<NotificationChannels> = {}
  for (const topic of NOTIFICATION_TOPICS) {
    const value = rows.find(({ name }) => name === topic)?.value
    const channel = NOTIFICATION_CHANNELS.find((known) => known === value)
    if (channel) channels[topic] = channel
  }
  return channels
}
