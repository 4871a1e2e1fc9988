import { z } from 'zod'
import { isTimeZone } from '../../src/core/dates.ts'
import { plainText } from '../../src/input.ts'
import { m } from '../../src/messages.gen.ts'

/** Shortest passphrase of encrypted backups. */
export const MIN_PASSPHRASE = 16

const line = (max: number) =>
  z
    .string()
    .trim()
    .max(max)
    .refine((text) => !/\p{Cc}/u.test(text), { error: () => m.backups_error_one_line() })
const count = z.int().min(0).max(9_999)

/** Settings as people enter them; secrets that are left out stay. */
export const SettingsInput = z.strictObject({
  /** `file:/mnt/backups` or `s3://bucket/folder`. */
  url: line(1_000).min(1),
  endpoint: line(1_000).nullable(),
  region: line(100).nullable(),
  accessKeyId: line(500).nullable(),
  secretAccessKey: line(500).nullable().optional(),
  /** Null: not encrypted. */
  passphrase: line(500)
    .min(MIN_PASSPHRASE, { error: () => m.backups_error_short_passphrase({ min: MIN_PASSPHRASE }) })
    .nullable()
    .optional(),
  frequency: z.enum(['off', 'hourly', 'daily', 'weekly']),
  /** Of day, `03:30`. */
  time: z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/),
  /** 0 is Sunday. */
  weekday: z.int().min(0).max(6),
  timeZone: z
    .string()
    .max(100)
    .refine(isTimeZone, { error: () => m.backups_error_time_zone() }),
  retention: z.strictObject({ last: count, daily: count, weekly: count, monthly: count }),
  /** Whether attached files in buckets are copied. */
  withBucketFiles: z.boolean().default(true),
  /** Which backups are restored for a test. */
  test: z.enum(['always', 'weekly', 'never']),
})
export type SettingsInput = z.output<typeof SettingsInput>

export const BackupRef = z.strictObject({ backupId: z.string().max(64) })

/** A backup that replaces everything, and its id once more, as a confirmation. */
export const RestoreAllRef = BackupRef.extend({ confirm: z.string().max(64) })
export type RestoreAllRef = z.output<typeof RestoreAllRef>

/** The body of a request that restores everything. */
export const RestoreAllBody = RestoreAllRef.omit({ backupId: true })

const Title = plainText(255).trim().min(1)

/** A base of a backup, and the title of the base that it is restored as. */
export const BaseRestoreRef = BackupRef.extend({
  baseId: z.string().max(64),
  title: Title.nullish(),
})
export type BaseRestoreRef = z.output<typeof BaseRestoreRef>

/** A base of this server or of backups, and the time that its records are restored to. */
export const BaseRewindRef = z.strictObject({
  baseId: z.string().max(64),
  at: z.iso.datetime({ offset: true, error: () => m.records_error_rewind_moment() }),
  title: Title.nullish(),
})
export type BaseRewindRef = z.output<typeof BaseRewindRef>

/** The body of a request that restores a base to a time. */
export const BaseRewindBody = BaseRewindRef.omit({ baseId: true })

/** The body of a request that restores a base. */
export const BaseRestoreBody = BaseRestoreRef.pick({ title: true })
