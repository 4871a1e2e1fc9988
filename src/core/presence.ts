import type { RecordId } from './model.ts'

/** Where a person is in a base: ids only, never values. Everything below the table is null on other screens of the base. */
export interface Position {
  tableId: string | null
  viewId: string | null
  /** The selected or open record. */
  recordId: RecordId | null
  /** The selected field of the record. */
  fieldId: string | null
  isEditing: boolean
}

/** One connection of a person to a base. A person with several tabs has several. */
export interface Presence extends Position {
  /** Unique among the connections to all servers. */
  id: string
  userId: string
  /** Display name, or the e-mail address. */
  name: string
}

/**
 * Changes of the people in a base. Positions within a table (record, field, editing) are only sent to those who look at
 * the same table; for others these are null.
 */
export interface PresenceNews {
  baseId: string
  /** True if `here` lists everyone, so that others that the browser knows have left. */
  isComplete?: true
  /** New connections and those that have moved. */
  here: Presence[]
  /** Ids of connections that have left. */
  gone: string[]
}

/** A browser's report of its position, sent on changes and every `REPORT_EVERY_MS`. */
export interface PositionReport extends Position {
  baseId: string
  /** The person appears offline: others are not told, but the browser is told of others. */
  isHidden: boolean
}

/** Without a report for `POSITION_TTL_MS`, a person is taken to have left: the tab sleeps, or the network is gone. */
export const REPORT_EVERY_MS = 4_000
export const POSITION_TTL_MS = 10_000

/** Ids of bases, tables, views and fields. */
const ID = /^[\w-]{1,64}$/

const MAX_RECORD_ID_LENGTH = 255

/** Reads a report of a browser; null if it is not one. */
export function readReport(input: unknown): PositionReport | null {
  if (typeof input !== 'object' || input === null) return null
  const { baseId, tableId, viewId, recordId, fieldId, isEditing, isHidden } = input as Record<string, unknown>
  if (!isId(baseId) || !isIdOrNull(tableId) || !isIdOrNull(viewId) || !isIdOrNull(fieldId)) return null
  if (recordId !== null && !isRecordId(recordId)) return null
  if (typeof isEditing !== 'boolean' || typeof isHidden !== 'boolean') return null
  return { baseId, tableId, viewId, recordId, fieldId, isEditing, isHidden }
}

const isId = (value: unknown): value is string => typeof value === 'string' && ID.test(value)

const isIdOrNull = (value: unknown): value is string | null => value === null || isId(value)

const isRecordId = (value: unknown): value is RecordId =>
  Number.isSafeInteger(value) ||
  (typeof value === 'string' && value.length > 0 && value.length <= MAX_RECORD_ID_LENGTH)

/** True if two positions are the same, to the record and field. */
export const isSamePosition = (a: Position, b: Position): boolean =>
  isSameScreen(a, b) && a.recordId === b.recordId && a.fieldId === b.fieldId && a.isEditing === b.isEditing

/** True if two positions are in the same table and view. */
export const isSameScreen = (a: Position, b: Position): boolean =>
  a.tableId === b.tableId && a.viewId === b.viewId
