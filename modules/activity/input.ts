import { z } from 'zod'
import { ACTIVITY_KINDS } from '../../src/core/activity.ts'
import { AUDIT_GROUP_NAMES } from '../../src/core/audits.ts'
import { plainText, timeZone } from '../../src/input.ts'

const id = z.string().min(1).max(64)
const recordId = z.union([z.int(), z.string().min(1).max(255)])
const moment = z.iso.datetime({ offset: true }).transform((text) => new Date(text).toISOString())

/** Limit of the entries of a page. */
export const MAX_PAGE = 100

/** The ids of audits are 32-bit integers. */
export const MAX_AUDIT_ID = 2 ** 31 - 1

/** What a list of the activity is limited to. */
export const ActivityFilter = z.strictObject({
  actorId: id.optional(),
  tableId: id.optional(),
  record: z.strictObject({ tableId: id, recordId }).optional(),
  kinds: z.array(z.enum(ACTIVITY_KINDS)).max(ACTIVITY_KINDS.length).optional(),
  from: moment.optional(),
  to: moment.optional(),
})

export const ActivityRequest = z.strictObject({
  baseId: id,
  filter: ActivityFilter.default({}),
  /** The `next` of the page before. */
  cursor: z.string().max(200).nullish(),
  /** Sent by the client of infinite lists. */
  direction: z.enum(['forward', 'backward']).optional(),
  limit: z.int().min(1).max(MAX_PAGE).default(50),
  timeZone,
})

/** What the audit log is limited to. */
export const AuditLogFilter = z.strictObject({
  group: z.enum(AUDIT_GROUP_NAMES).optional(),
  /** The id of a user, or text in the address of some. */
  person: plainText(254).optional(),
  from: moment.optional(),
  to: moment.optional(),
})

export const AuditLogRequest = z.strictObject({
  filter: AuditLogFilter.default({}),
  /** The `next` of the page before. */
  cursor: z.int().min(1).max(MAX_AUDIT_ID).nullish(),
  /** Sent by the client of infinite lists. */
  direction: z.enum(['forward', 'backward']).optional(),
  limit: z.int().min(1).max(MAX_PAGE).default(50),
})

export const EntryRequest = z.strictObject({
  baseId: id,
  entryId: z.int().min(1),
  /** One of the tables that the entry touched; absent: its own. */
  tableId: id.optional(),
  /** The `next` of the page before. */
  cursor: z.union([z.strictObject({ listed: recordId }), z.strictObject({ range: z.int() })]).nullish(),
  direction: z.enum(['forward', 'backward']).optional(),
  limit: z.int().min(1).max(MAX_PAGE).default(50),
  timeZone,
})
