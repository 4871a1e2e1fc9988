import { z } from 'zod'
import { NOTIFICATION_CHANNELS, NOTIFICATION_TOPICS } from '../../src/core/notifications.ts'
import { timeZone } from '../../src/input.ts'
import { m } from '../../src/messages.gen.ts'

const id = z.string().min(1).max(64)
const recordId = z.union([z.int(), z.string().min(1).max(255)])
const channel = z.enum(NOTIFICATION_CHANNELS).nullable()

export const ListInput = z.strictObject({
  unreadOnly: z.boolean(),
  /** The `next` of the page before. */
  cursor: z.string().max(64).nullish(),
  /** Sent by the client of infinite lists. */
  direction: z.enum(['forward', 'backward']).optional(),
  timeZone,
})
export const MarkInput = z.strictObject({ ids: z.array(id).min(1).max(500), isRead: z.boolean() })
export const WatchesInput = z.strictObject({ timeZone }).optional()
export const NotificationRef = z.strictObject({ id })
const WatchTargetInput = z.union([
  z.strictObject({ tableId: id, recordId }),
  z.strictObject({ tableId: id, viewId: id }),
])
export const WatchInput = z.strictObject({ target: WatchTargetInput, isOn: z.boolean() })
/** Settings that are the same for all bases. */
const GENERAL = ['dailyHour', 'timeZone', 'browserTimeZone'] as const
export const SettingsInput = z
  .strictObject({
    /** Null: for all bases without settings of their own. */
    baseId: id.nullable(),
    channels: z.partialRecord(z.enum(NOTIFICATION_TOPICS), channel).optional(),
    isMuted: z.boolean().optional(),
    watchesOwn: z.boolean().optional(),
    isUnsubscribed: z.boolean().optional(),
    dailyHour: z.int().min(0).max(23).optional(),
    timeZone,
    browserTimeZone: timeZone,
  })
  .refine((input) => input.baseId === null || GENERAL.every((name) => input[name] === undefined), {
    error: () => m.notifications_error_time_of_base(),
  })
export const UnsubscribeInput = z.strictObject({ token: z.string().max(200) })
