import { z } from 'zod'
import { LISTED_TRASH_KINDS, MAX_TRASH_ITEMS, TRASH_KIND_NAMES } from '../../src/core/trash.ts'
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
  /** Of days and times in the search, and in titles and previews. */
  timeZone,
})

export const page = filter.extend({
  /** `next` of the page before. */
  cursor: z.string().max(2_000).nullish(),
  limit: z.int().min(1).max(MAX_PAGE).default(50),
})

/** Added by the client's paging. */
const direction = z.enum(['forward', 'backward']).optional()

/** A page as the web app asks for it. */
export const listed = page.extend({ baseId: id, direction })

/** Which items of all bases are listed. */
const filterOfAll = filter.omit({ tableId: true }).extend({
  kinds: z.array(z.enum(LISTED_TRASH_KINDS)).min(1).max(LISTED_TRASH_KINDS.length).optional(),
})

export const pageOfAll = filterOfAll.extend({
  cursor: page.shape.cursor,
  limit: page.shape.limit,
})

/** The same as the web app asks for it. */
export const listedOfAll = pageOfAll.extend({ direction })

/** A part of emptying the trash of all bases; `cursor`: the `next` of the part before. */
export const emptied = filterOfAll.extend({ cursor: page.shape.cursor })

export const days = z.int().min(0).max(MAX_TRASH_DAYS).nullable()

const at = z.iso.datetime()

/** The last item of a page; or `start`, before all items of a time. */
export const position = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('record'),
    at,
    baseId: id,
    key: z.strictObject({ changeId: z.int(), tableId: id, recordId }),
  }),
  z.strictObject({
    kind: z.literal('file'),
    at,
    baseId: id,
    key: z
      .int()
      .min(0)
      .max(2 ** 31 - 1),
  }),
  z.strictObject({ kind: z.literal('view'), at, baseId: id, key: z.int() }),
  z.strictObject({ kind: z.enum(['field', 'table']), at, baseId: id, key: id }),
  z.strictObject({ kind: z.literal('base'), at, baseId: id }),
  z.strictObject({ kind: z.literal('start'), at }),
])

export type Position = z.output<typeof position>
