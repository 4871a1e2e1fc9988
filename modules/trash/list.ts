import type { z } from 'zod'
import type { Actor } from '../../src/core/actor.ts'
import { badRequest } from '../../src/core/errors.ts'
import { parseJsonOrNull } from '../../src/core/json-text.ts'
import type { Person } from '../../src/core/model.ts'
import { roleCan } from '../../src/core/roles.ts'
import { TRASH_KIND_NAMES, TRASH_KINDS, type TrashItem, type TrashKind } from '../../src/core/trash.ts'
import type { Kernel } from '../../src/kernel.ts'
import { m } from '../../src/messages.gen.ts'
import type { AuthService } from '../auth/index.ts'
import { type BasesService, trashDaysOf } from '../bases/index.ts'
import type { RecordsService } from '../records/index.ts'
import type { SchemaService } from '../schema/index.ts'
import { type DetachedFiles, matchesText } from './detached-files.ts'
import { type Position, type page, position } from './input.ts'

const DAY_MS = 24 * 60 * 60 * 1000
/** Deleted views that are read at once. */
const VIEWS_AT_ONCE = 100

export type TrashPage = z.output<typeof page>

export interface TrashListed {
  items: TrashItem[]
  /** The people who deleted them. */
  people: Person[]
  /** `cursor` of the next page; null after the last. */
  next: string | null
}

/** An item, and how far its kind has been read with it. */
interface Found {
  item: Omit<TrashItem, 'expiresAt' | 'canPurge'> & { isForeign?: boolean }
  position: Position
}

/** Lists items of one kind, latest first. */
type Source = (asked: Asked) => Promise<Found[]>

interface Asked extends Omit<TrashPage, 'kinds' | 'cursor'> {
  actor: Actor
  baseId: string
  after: Position
}

interface Deps {
  kernel: Pick<Kernel, 'config'>
  auth: Pick<AuthService, 'access' | 'people'>
  bases: Pick<BasesService, 'require' | 'sourcesOf'>
  schema: Pick<SchemaService, 'tables' | 'trashedFieldsOfBase' | 'trashedTablesOfBase'>
  records: Pick<RecordsService, 'trash' | 'deletedViews'>
  files: DetachedFiles
}

/** Lists the trash of a base: one list from the change log, the metadata and the detached files. */
export function createTrashList({ kernel, auth, bases, schema, records, files }: Deps) {
  const sources: Record<TrashKind, Source> = {
    async record({ actor, baseId, tableId, deletedBy, search, after, limit, timeZone }) {
      const request = { baseId, tableId, deletedBy, search, after: after.record, limit, timeZone }
      return (await records.trash.listOfBase(actor, request)).map(
        ({ recordId, changeId, deletedWith, table: { id, title }, ...record }) => ({
          item: {
            ...record,
            ref: { kind: 'record', tableId: id, recordId },
            table: { id, title },
            deletion: { changeId, records: deletedWith },
          },
          position: { record: { changeId, tableId: id, recordId } },
        }),
      )
    },

    async file({ baseId, tableId, deletedBy, search, after, limit }) {
      const request = { tableId, detachedBy: deletedBy, search, after: after.file, limit }
      return (await files.list(baseId, request)).map((file) => ({
        item: {
          ref: { kind: 'file', fileId: file.id },
          title: file.item.title,
          table: { id: file.model.table.id, title: file.model.table.title },
          deletedAt: file.detachedAt,
          deletedBy: file.detachedBy,
          file: { size: file.item.size, field: file.field.title, recordId: file.recordId },
        },
        position: { file: [file.detachedAt, file.id] },
      }))
    },

    async view({ actor, baseId, tableId, deletedBy, search, after, limit }) {
      const found: Found[] = []
      let before = after.view
      while (found.length < limit) {
        const request = { before, actorId: deletedBy, tableId, limit: VIEWS_AT_ONCE }
        const { actions } = await records.deletedViews(actor, baseId, request)
        for (const { id, viewTitle, tableId: of, tableTitle, at, actorId } of actions) {
          const title = viewTitle ?? ''
          if (!matchesText(title, search)) continue
          found.push({
            item: {
              ref: { kind: 'view', changeId: id },
              title,
              table: of === null ? null : { id: of, title: tableTitle ?? '' },
              deletedAt: at,
              deletedBy: actorId,
            },
            position: { view: id },
          })
        }
        before = actions.at(-1)?.id
        if (before === undefined || actions.length < VIEWS_AT_ONCE) break
      }
      return found.slice(0, limit)
    },

    async field({ actor, baseId, after, ...filter }) {
      const fields = await schema.trashedFieldsOfBase(actor, baseId)
      const tables = new Map((await schema.tables(actor, baseId)).map((table) => [table.id, table]))
      return fields
        .filter((field) => isWanted(field, filter, after.field) && tables.has(field.tableId))
        .slice(0, filter.limit)
        .map(({ id, title, tableId, deletedAt, deletedBy, databaseType }) => ({
          item: {
            ref: { kind: 'field', fieldId: id },
            title,
            table: { id: tableId, title: tables.get(tableId)?.title ?? '' },
            deletedAt,
            deletedBy,
            isForeign: databaseType !== null,
          },
          position: { field: [deletedAt, id] },
        }))
    },

    async table({ actor, baseId, after, ...filter }) {
      const own = (await bases.sourcesOf([baseId])).get(baseId)?.find(({ isOwn }) => isOwn)?.id
      return (await schema.trashedTablesOfBase(actor, baseId))
        .filter((table) => isWanted({ ...table, tableId: table.id }, filter, after.table))
        .slice(0, filter.limit)
        .map(({ id, title, sourceId, deletedAt, deletedBy }) => ({
          item: {
            ref: { kind: 'table', tableId: id },
            title,
            table: null,
            deletedAt,
            deletedBy,
            isForeign: sourceId !== own,
          },
          position: { table: [deletedAt, id] },
        }))
    },
  }

  /**
   * A page of the trash of a base, latest deletion first, with those kinds of items that the actor may restore.
   *
   * @throws BASE_NOT_FOUND; PERMISSION_DENIED below editor; BAD_REQUEST for a broken cursor
   */
  return async function list(
    actor: Actor,
    baseId: string,
    { kinds = TRASH_KIND_NAMES, cursor, limit, ...filter }: TrashPage,
  ): Promise<TrashListed> {
    const base = await bases.require(baseId)
    await auth.access.authorize(actor, 'record.restore', base.id)
    const role = await auth.access.baseRole(actor, base.id)
    const after = readCursor(cursor)
    const allowed = TRASH_KIND_NAMES.filter(
      (kind) => kinds.includes(kind) && roleCan(role, TRASH_KINDS[kind].restore),
    )
    const asked = { actor, baseId: base.id, after, limit: limit + 1, ...filter }
    const found = await Promise.all(allowed.map((kind) => sources[kind](asked)))
    const hasMore = found.reduce((sum, { length }) => sum + length, 0) > limit
    const shown = latest(found, limit)
    const days = trashDaysOf(base, kernel.config)
    const ids = shown.flatMap(({ item }) => item.deletedBy ?? [])
    return {
      items: shown.map(({ item: { isForeign, ...item } }) => ({
        ...item,
        expiresAt:
          days === 0 || isForeign ? null : new Date(Date.parse(item.deletedAt) + days * DAY_MS).toISOString(),
        canPurge: !isForeign && roleCan(role, TRASH_KINDS[item.ref.kind].purge),
      })),
      people: await auth.people([...new Set(ids)]),
      next: hasMore ? writeCursor(Object.assign({}, after, ...shown.map(({ position: at }) => at))) : null,
    }
  }
}

/** Whether an item that is read with all others of its kind is on the page. */
function isWanted(
  item: { id: string; title: string; tableId: string; deletedAt: string; deletedBy: string | null },
  { tableId, deletedBy, search }: Pick<TrashPage, 'tableId' | 'deletedBy' | 'search'>,
  after: readonly [string, string] | undefined,
): boolean {
  const isAfter =
    after === undefined || item.deletedAt < after[0] || (item.deletedAt === after[0] && item.id > after[1])
  return (
    isAfter &&
    (tableId === undefined || item.tableId === tableId) &&
    (deletedBy === undefined || item.deletedBy === deletedBy) &&
    matchesText(item.title, search)
  )
}

/** The latest items of several lists, each of which keeps its order. */
function latest(lists: readonly Found[][], limit: number): Found[] {
  const heads = lists.map(() => 0)
  const merged: Found[] = []
  while (merged.length < limit) {
    let next = -1
    for (const [at, list] of lists.entries()) {
      const head = list[heads[at]!]
      const best = lists[next]?.[heads[next]!]
      if (head && (!best || head.item.deletedAt > best.item.deletedAt)) next = at
    }
    const taken = lists[next]?.[heads[next]!]
    if (!taken) break
    merged.push(taken)
    heads[next]!++
  }
  return merged
}

const writeCursor = (at: Position): string => Buffer.from(JSON.stringify(at)).toString('base64url')

/** @throws BAD_REQUEST for anything but the `next` of a page */
function readCursor(text: string | null | undefined): Position {
  if (text === null || text === undefined) return {}
  const parsed = position.safeParse(parseJsonOrNull(Buffer.from(text, 'base64url').toString()))
  if (!parsed.success) throw badRequest(m.trash_error_cursor())
  return parsed.data
}
