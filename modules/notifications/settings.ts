import { and, eq, inArray } from 'drizzle-orm'
import type { Actor } from '../../src/core/actor.ts'
import {
  DEFAULT_CHANNELS,
  type NotificationChannels,
  type NotificationTopic,
} from '../../src/core/notifications.ts'
import type { MetaStatement } from '../../src/db/meta.ts'
import type { Kernel } from '../../src/kernel.ts'
import { type AuthService, requireUser } from '../auth/index.ts'
import { defineNotificationTables } from './tables.ts'

/** The base id under which settings for all bases are stored. */
const ALL_BASES = ''
const NAMED_AT_ONCE = 500

/** How a person wants to be notified in a base. */
export interface EffectiveSettings {
  channels: NotificationChannels
  isMuted: boolean
  watchesOwn: boolean
  isUnsubscribed: boolean
}

/** A change of settings; a null channel follows the settings for all bases, or the default. */
export interface SettingsPatch {
  channels?: Partial<Record<NotificationTopic, NotificationChannels[NotificationTopic] | null>>
  isMuted?: boolean
  watchesOwn?: boolean
  isUnsubscribed?: boolean
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
    const [before] = await rowsOf([userId], [baseId])
    const channels = { ...before?.channels, ...patch.channels }
    const chosen = Object.fromEntries(Object.entries(channels).filter(([, channel]) => channel != null))
    const row = {
      userId,
      baseId,
      channels: chosen as Partial<NotificationChannels>,
      isMuted: patch.isMuted ?? before?.isMuted ?? false,
      watchesOwn: patch.watchesOwn ?? before?.watchesOwn ?? false,
      isUnsubscribed: patch.isUnsubscribed ?? before?.isUnsubscribed ?? false,
    }
    const { userId: _, baseId: __, ...set } = row
    await db
      .insert(table)
      .values(row)
      .onConflictDoUpdate({ target: [table.userId, table.baseId], set })
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
        const general = own.find((row) => row.baseId === ALL_BASES)
        const inBase = own.find((row) => row.baseId !== ALL_BASES)
        return {
          channels: { ...DEFAULT_CHANNELS, ...general?.channels, ...inBase?.channels },
          isMuted: inBase?.isMuted ?? false,
          watchesOwn: general?.watchesOwn ?? false,
          isUnsubscribed: general?.isUnsubscribed ?? false,
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
      const general = rows.find(({ baseId }) => baseId === ALL_BASES)
      return {
        channels: { ...DEFAULT_CHANNELS, ...general?.channels },
        watchesOwn: general?.watchesOwn ?? false,
        isUnsubscribed: general?.isUnsubscribed ?? false,
        bases: rows
          .filter(({ baseId }) => baseId !== ALL_BASES)
          .map(({ baseId, channels, isMuted }) => ({ baseId, channels, isMuted })),
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
