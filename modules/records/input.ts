import { z } from 'zod'
import { filterSchema } from '../../src/core/filters/index.ts'
import { MAX_GROUPS } from '../../src/core/model.ts'
import { MAX_GROUP_PAGE } from '../../src/core/query.ts'
import { timeZone } from '../../src/input.ts'
import { MAX_FIELDS } from '../schema/index.ts'
import { MAX_ACTIONS, MAX_KEPT_PEOPLE, MAX_TRASH_IDS, MAX_TRASH_PAGE } from './history/index.ts'
import { MAX_PER_TABLE, MAX_PREVIEW } from './read/index.ts'

/** Input schemas of the tRPC router, which bound the size of each input. */

const id = z.string().min(1).max(64)

export const recordId = z.union([z.int(), z.string().min(1).max(255)])

const cell = z.union([z.string(), z.number(), z.boolean(), z.null()])

/** By field id. A key `__proto__` is dropped. */
const values = z.record(id, cell)

const isId = (key: string): boolean => key.length > 0 && key.length <= 64 && key !== '__proto__'

const isCell = (value: unknown): boolean =>
  value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)

function isValues(given: unknown): boolean {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return false
  const plain = given as Record<string, unknown>
  return Object.keys(plain).every((key) => isId(key) && isCell(plain[key]))
}

const isRecordId = (given: unknown): boolean =>
  Number.isSafeInteger(given) || (typeof given === 'string' && given.length > 0 && given.length <= 255)

/** Limit of reported problems. */
const MAX_PROBLEMS = 20

/**
 * A list of rows. Checked by hand, because the schema takes ten times as long: 50,000 rows would block other requests
 * for a quarter of a second. The schema parses only rows that fail the check, and explains why.
 */
function rowsOf<T extends z.ZodType>(row: T, looksRight: (given: Record<string, unknown>) => boolean) {
  return z.array(z.unknown()).transform((given, context): z.output<T>[] => {
    const read: z.output<T>[] = []
    let problems = 0
    for (const [index, item] of given.entries()) {
      if (typeof item === 'object' && item !== null && looksRight(item as Record<string, unknown>)) {
        read.push(item as z.output<T>)
        continue
      }
      const parsed = row.safeParse(item)
      if (parsed.success) {
        read.push(parsed.data)
        continue
      }
      for (const issue of parsed.error.issues)
        context.addIssue({ code: 'custom', message: issue.message, path: [index, ...issue.path] })
      problems += parsed.error.issues.length
      if (problems >= MAX_PROBLEMS) break
    }
    return read
  })
}

const newRows = rowsOf(
  z.strictObject({ values, siblings: z.record(id, z.array(z.int().min(0)).min(1).max(1000)).optional() }),
  // A row with siblings is parsed by the schema: only pastes of records that name each other have them.
  (row) => Object.keys(row).length === 1 && isValues(row.values),
)

const changedRows = rowsOf(
  z.strictObject({ id: recordId, values, expected: values.optional() }),
  // A row with expected values is parsed by the schema: only edits of single cells have them.
  (row) => Object.keys(row).length === 2 && isRecordId(row.id) && isValues(row.values),
)

const sort = z.strictObject({
  id: z.string().max(64).optional(),
  fieldId: id,
  direction: z.enum(['asc', 'desc']),
})

export const sorts = z.array(sort).max(20)

const groups = z.array(sort).max(MAX_GROUPS)

const group = z
  .array(z.strictObject({ fieldId: id, value: cell }))
  .max(MAX_GROUPS)
  .optional()

export const signRequest = z.strictObject({
  tableId: id,
  paths: z.array(z.string().min(1).max(700)).max(500),
})

export const pictureRequest = z.strictObject({ tableId: id, path: z.string().min(1).max(500) })

export const peopleRequest = z.strictObject({ tableId: id, ids: z.array(id).max(50) })

const search = z.strictObject({ text: z.string().min(1).max(500), fieldId: id.nullable() })

export const selection = z.strictObject({
  tableId: id,
  viewId: id.optional(),
  filter: z.nullish(filterSchema),
  search: search.nullish(),
  group,
  timeZone,
  recordIds: z.array(recordId).max(10_000).optional(),
})

export const query = z.strictObject({
  tableId: id,
  viewId: id.optional(),
  fieldIds: z.array(id).max(1000).optional(),
  filter: z.nullish(filterSchema),
  groups: groups.optional(),
  sorts: sorts.optional(),
  orderViewId: id.optional(),
  search: search.nullish(),
  group,
  timeZone,
  recordIds: z.array(recordId).max(1000).optional(),
  limit: z.int().min(1).max(1000),
  offset: z.int().min(0),
})

const operation = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('insert'),
    tableId: id,
    rows: newRows,
    before: recordId.nullish(),
    viewId: id.optional(),
  }),
  z.strictObject({
    kind: z.literal('update'),
    tableId: id,
    rows: changedRows,
  }),
  z.strictObject({ kind: z.literal('delete'), tableId: id, ids: z.array(recordId) }),
  z.strictObject({
    kind: z.literal('move'),
    tableId: id,
    ids: z.array(recordId),
    before: recordId.nullable(),
    viewId: id.optional(),
  }),
  z.strictObject({
    kind: z.enum(['link', 'unlink']),
    tableId: id,
    fieldId: id,
    id: recordId,
    targets: z.array(recordId).max(10_000),
  }),
])

/** An id by which the server recognizes a change that is sent again. */
const clientId = z.string().max(64).optional()

export const change = z.strictObject({
  baseId: id,
  operations: z.array(operation).min(1).max(100),
  clientId,
  timeZone,
})

export const baseRef = z.strictObject({ baseId: id })

/** The next action to undo or redo, for the table and view on screen. */
export const nextAction = z.strictObject({
  baseId: id,
  direction: z.enum(['undo', 'redo']),
  tableId: id.optional(),
  viewId: id.optional(),
  timeZone,
})

const entryId = z.int().min(1)

/** Sent by infinite queries of the web app with the cursor. */
const direction = z.enum(['forward', 'backward']).optional()

export const actionRef = z.strictObject({ baseId: id, entryId: entryId.optional() })

/** An action chosen from the activity. */
export const namedAction = z.strictObject({ baseId: id, entryId })

export const workRef = z.strictObject({ baseId: id, workId: id })

export const revertPreview = namedAction.extend({ timeZone })

/** A deleted view, by the log entry of its deletion. */
export const deletedView = z.strictObject({ baseId: id, entryId })

export const actionsRequest = z.strictObject({
  baseId: id,
  tableId: id.optional(),
  /** The last entry seen. */
  cursor: entryId.optional(),
  direction,
  limit: z.int().min(1).max(MAX_ACTIONS).default(50),
})

export const trashRequest = z.strictObject({
  tableId: id,
  search: z.string().trim().min(1).max(500).optional(),
  /** The last record seen. */
  cursor: z.strictObject({ changeId: entryId, recordId }).optional(),
  direction,
  limit: z.int().min(1).max(MAX_TRASH_PAGE).default(50),
})

const trashedIds = z.strictObject({ tableId: id, recordIds: z.array(recordId).min(1).max(MAX_TRASH_IDS) })
const trashedWith = z.strictObject({ tableId: id, changeId: entryId })

/** Deleted records to restore: by id, or all of one deletion. */
export const trashRestore = z.union([trashedIds, trashedWith])
/** Deleted records to delete permanently: the same, or all of the table. */
export const trashPurge = z.union([
  trashedIds,
  trashedWith,
  z.strictObject({ tableId: id, all: z.literal(true) }),
])

const tableMoment = {
  tableId: id,
  /** People whose later changes stay. */
  keep: z.array(id).max(MAX_KEPT_PEOPLE).default([]),
}

/** A table with the moment to restore: a time, or the state before an entry. */
export const tableRestore = z.union([
  z.strictObject({ ...tableMoment, at: z.iso.datetime({ offset: true }) }),
  z.strictObject({ ...tableMoment, before: entryId }),
])

export const recordVersion = z.strictObject({ tableId: id, recordId, entryId })

export const recordRef = z.strictObject({ tableId: id, recordId, timeZone })
const summaries = z.array(z.strictObject({ fieldId: id, summary: z.string().max(32) })).max(MAX_FIELDS)

export const summaryRequest = z.strictObject({ selection, summaries })

export const groupRequest = z.strictObject({
  selection,
  groups: groups.min(1),
  summaries: summaries.default([]),
  limit: z.int().min(1).max(MAX_GROUP_PAGE),
  offset: z.int().min(0),
})

export const matchingDeletion = z.strictObject({ selection, clientId })
export const matchingUpdate = z.strictObject({ selection, values, clientId })
export const historyRequest = z.strictObject({
  tableId: id,
  recordId,
  /** The id of the last entry of the page before. */
  cursor: z.int().nullish(),
  /** Sent by the client of infinite lists. */
  direction: z.enum(['forward', 'backward']).optional(),
})
export const linkPage = z.strictObject({
  tableId: id,
  fieldId: id,
  recordId: recordId.nullable(),
  timeZone,
  search: z.string().trim().min(1).max(500).optional(),
  limit: z.int().min(1).max(100),
  offset: z.int().min(0),
})

const exportFormat = z.enum(['csv', 'xlsx', 'json', 'ndjson'])

export const exportRequest = z.strictObject({
  tableId: id,
  viewId: id.optional(),
  timeZone,
  format: exportFormat,
  /** File name; by default the title of the view or table. */
  title: z.string().trim().min(1).max(255).optional(),
  filter: z.nullish(filterSchema),
  sorts: sorts.optional(),
  search: search.nullish(),
  recordIds: z.array(recordId).max(10_000).optional(),
  /** A subset of the view’s fields. */
  fieldIds: z.array(id).max(1000).optional(),
  isGuarded: z.boolean().default(true),
  delimiter: z.enum([',', ';', '\t']).default(','),
})

export const baseExport = z.strictObject({
  baseId: id,
  timeZone,
  format: exportFormat,
  /** Default: all tables. */
  tableIds: z.array(id).min(1).max(1000).optional(),
  isGuarded: z.boolean().default(true),
  delimiter: z.enum([',', ';', '\t']).default(','),
})

export const baseSearch = z.strictObject({
  baseId: id,
  text: z.string().trim().min(1).max(200),
  tableId: id.optional(),
  perTable: z.int().min(1).max(MAX_PER_TABLE).optional(),
  timeZone,
})

/** An unsaved formula to try on some records. */
export const formulaPreview = z.strictObject({
  tableId: id,
  formula: z.string().max(100_000),
  fieldId: id.optional(),
  viewId: id.optional(),
  timeZone,
  recordIds: z.array(recordId).min(1).max(MAX_PREVIEW).optional(),
  limit: z.int().min(1).max(MAX_PREVIEW).optional(),
})
