import { z } from 'zod'
import { MAX_TRASH_ITEMS, TRASH_KIND_NAMES } from '../../src/core/trash.ts'
import { timeZone } from '../../src/input.ts'

/** Items on a page. */
export const MAX_PAGE = 100
/** Limit of `TRASH_DAYS` and of a base's own choice. */
export const MAX_TRASH_DAYS = 36_500

const id = z.string().min(1).max(64)
const recordId = z.union([z.int(), z.string().min(1).max(255)])

export const baseRef = z.strictObject({ baseId: id })

/** An item of the trash. */
const itemRef = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('record'), tableId: id, recordId }),
  z.strictObject({
    kind: z.literal('file'),
    fileId: z
      .int()
      .min(1)
      .max(2 ** 31 - 1),
  }),
  z.strictObject({ kind: z.literal('field'), fieldId: id }),
  z.strictObject({ kind: z.literal('view'), changeId: z.int().min(1) }),
  z.strictObject({ kind: z.literal('table'), tableId: id }),
])

export const items = z.array(itemRef).min(1).max(MAX_TRASH_ITEMS)

/** Which items are listed. */
export const filter = z.strictObject({
  kinds: z.array(z.enum(TRASH_KIND_NAMES)).min(1).max(TRASH_KIND_NAMES.length).optional(),
  tableId: id.optional(),
  /** The user who deleted them. */
  deletedBy: id.optional(),
  search: z.string().trim().min(1).max(500).optional(),
})

export const page = filter.extend({
  /** `next` of the page before. */
  cursor: z.string().max(2_000).nullish(),
  limit: z.int().min(1).max(MAX_PAGE).default(50),
  timeZone,
})

/** A page as the web app asks for it. */
export const listed = page.extend({
  baseId: id,
  /** Added by the client's paging. */
  direction: z.enum(['forward', 'backward']).optional(),
})

export const days = z.int().min(0).max(MAX_TRASH_DAYS).nullable()

/** How far a page has read each kind of items. */
export const position = z.strictObject({
  record: z.strictObject({ changeId: z.int(), tableId: id, recordId }).optional(),
  view: z.int().optional(),
  field: z.tuple([z.string().max(30), id]).optional(),
  table: z.tuple([z.string().max(30), id]).optional(),
  file: z.tuple([z.string().max(30), z.int()]).optional(),
})

export type Position = z.output<typeof position>
