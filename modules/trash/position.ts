import { badRequest } from '../../src/core/errors.ts'
import { parseJsonOrNull } from '../../src/core/json-text.ts'
import { LISTED_TRASH_KINDS, type ListedTrashItem, type ListedTrashKind } from '../../src/core/trash.ts'
import type { ListPosition } from '../../src/db/newest-first.ts'
import { m } from '../../src/messages.gen.ts'
import { type Position, position } from './input.ts'

/** An item of a list, and where the list goes on behind it. */
export interface Found {
  item: Omit<ListedTrashItem, 'base' | 'expiresAt' | 'canPurge'> & { isForeign?: boolean }
  position: Exclude<Position, { kind: 'start' }>
}

/** The order of the list: the latest deletion first, then by base, then by kind. */
export function compareFound({ position: a }: Found, { position: b }: Found): number {
  if (a.at !== b.at) return a.at < b.at ? 1 : -1
  if (a.baseId !== b.baseId) return a.baseId < b.baseId ? -1 : 1
  return orderOf(a.kind) - orderOf(b.kind)
}

const orderOf = (kind: ListedTrashKind): number => LISTED_TRASH_KINDS.indexOf(kind)

/** Where the items of a kind, whose keys are of this type, go on in a list of several bases. */
export function startAmong<Key>(kind: ListedTrashKind, after: Position | null): ListPosition<Key> | null {
  if (after === null) return null
  if (after.kind === 'start') return { at: after.at, baseId: '', rest: 'all' }
  const { at, baseId } = after
  if (after.kind === kind && 'key' in after) return { at, baseId, rest: { after: after.key as Key } }
  return { at, baseId, rest: orderOf(kind) > orderOf(after.kind) ? 'all' : 'none' }
}

/** The same in the list of one base: at a time, and behind an item if that was deleted at this time. */
export function startIn<Key>(
  baseId: string,
  kind: ListedTrashKind,
  after: Position | null,
): { until?: string; after?: Key } {
  const start = startAmong<Key>(kind, after)
  if (start === null) return {}
  const { at, rest } = start
  const isDone = baseId < start.baseId || (baseId === start.baseId && rest === 'none')
  if (isDone) return { until: new Date(Date.parse(at) - 1).toISOString() }
  return baseId === start.baseId && typeof rest === 'object'
    ? { until: at, after: rest.after }
    : { until: at }
}

export const writeCursor = (at: Position): string => Buffer.from(JSON.stringify(at)).toString('base64url')

/** @throws BAD_REQUEST for anything but the `next` of a page */
export function readCursor(text: string | null | undefined): Position | null {
  if (text === null || text === undefined) return null
  const parsed = position.safeParse(parseJsonOrNull(Buffer.from(text, 'base64url').toString()))
  if (!parsed.success) throw badRequest(m.trash_error_cursor())
  return parsed.data
}
