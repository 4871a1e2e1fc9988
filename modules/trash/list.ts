import type { z } from 'zod'
import { nowIso } from '../../src/clock.ts'
import type { Actor } from '../../src/core/actor.ts'
import { AppError } from '../../src/core/errors.ts'
import type { Person, Table } from '../../src/core/model.ts'
import { roleCan } from '../../src/core/roles.ts'
import {
  LISTED_TRASH_KINDS,
  type ListedTrashItem,
  TRASH_KINDS,
  type TrashItemOfBase,
  type TrashKind,
} from '../../src/core/trash.ts'
import type { LastChange } from '../../src/db/last-change.ts'
import type { Kernel } from '../../src/kernel.ts'
import type { AuthService } from '../auth/index.ts'
import { type BasesService, type DeletedBase, trashDaysOf } from '../bases/index.ts'
import type { RecordsService } from '../records/index.ts'
import type { SchemaService } from '../schema/index.ts'
import type { DetachedFiles } from './detached-files.ts'
import type { Position, page, pageOfAll } from './input.ts'
import { createNewestItems } from './newest-items.ts'
import { compareFound, type Found, readCursor, writeCursor } from './position.ts'
import { type Asked, createTrashReaders, type LogKind, type Read, type Scope } from './readers.ts'

const DAY_MS = 24 * 60 * 60 * 1000
/** Logs of bases that are read for a page of several bases, and of these at once. */
const MAX_LOGS = 100
const LOGS_AT_ONCE = 8
/** Items of a log that are read at once for such a page, which needs few of each base. */
const ITEMS_AT_ONCE = 20
/** As the time of a log of which is not known when it was changed: after all others. */
const ANY_TIME = '9999'

/** What a page is limited to. */
export type TrashPage = Omit<z.output<typeof page>, 'kinds'> & Pick<z.output<typeof pageOfAll>, 'kinds'>

export interface TrashListed<Item = ListedTrashItem> {
  items: Item[]
  /** The people who deleted them. */
  people: Person[]
  /** `cursor` of the next page; null after the last. */
  next: string | null
  /** Number of bases that have not been read, as that would take long: their items come later in the list. */
  unread: number
  /** Bases that cannot be read, as their data are missing or damaged. */
  unreadable: { id: string; title: string }[]
}

/** A sorted list that a page is merged from. */
interface Lane {
  items: Found[]
  /** Reads on behind the last item; null: there is no more. */
  readOn: (() => Promise<void>) | null
}

/** The log of a base. */
interface Log {
  scope: Scope
  kinds: readonly LogKind[]
  /** Its base and the filter, for `newestItems`. */
  key: string
  mark: string | null
  /** No item is later. */
  until: string
}

interface Deps {
  kernel: Pick<Kernel, 'config' | 'sources'>
  auth: Pick<AuthService, 'access' | 'people'>
  bases: Pick<BasesService, 'require' | 'visible' | 'listDeleted' | 'homesOf'>
  schema: Pick<SchemaService, 'tablesIn' | 'trashedFieldsIn' | 'trashedTablesIn'>
  records: Pick<RecordsService, 'trash' | 'deletedViews'>
  files: DetachedFiles
}

/**
 * Lists the trash of one or all bases, the latest deletion first. Tables, fields, files and deleted bases are in the metadata:
 * one statement reads those of all bases. Records and views are in the logs of the bases, which are opened in the order in which they
 * were last changed, until no other can have an item for the page.
 */
export function createTrashList({ kernel, auth, bases, schema, records, files }: Deps) {
  const readers = createTrashReaders({ schema, records, files })
  const newestItems = createNewestItems()

  async function list(
    asked: Asked,
    scopes: readonly Scope[],
    { kinds = [...LISTED_TRASH_KINDS], cursor, limit }: Pick<TrashPage, 'kinds' | 'cursor' | 'limit'>,
    { isOfAll, may }: { isOfAll: boolean; may: 'restore' | 'purge' },
  ): Promise<TrashListed> {
    const startedAt = nowIso()
    const after = readCursor(cursor)
    const scopesOf = (kind: TrashKind) =>
      kinds.includes(kind) ? scopes.filter(({ role }) => roleCan(role, TRASH_KINDS[kind][may])) : []
    const lanes = await Promise.all([
      ...(['table', 'field', 'file'] as const).map((kind) =>
        openLane(readers.inMetadata[kind](asked, scopesOf(kind)), after, limit + 1),
      ),
      ...(kinds.includes('base')
        ? [openLane(readers.inMetadata.base(asked, []), after, Number.POSITIVE_INFINITY)]
        : []),
    ])
    const unreadable: TrashListed['unreadable'] = []
    const opened: { log: Log; own: Lane[] }[] = []
    /** @returns false for a base whose data cannot be read, which takes no time */
    const openLog = async (log: Log, tables: readonly Table[]): Promise<boolean> => {
      const { id, title } = log.scope.row
      try {
        const size = isOfAll ? ITEMS_AT_ONCE : limit + 1
        const own = await Promise.all(
          log.kinds.map((kind) => openLane(readers.inLog[kind](asked, id, tables), after, size)),
        )
        if (isOfAll) newestItems.set({ ...log, from: after }, newestOf(own)?.position.at ?? null, startedAt)
        opened.push({ log, own })
        lanes.push(...own)
        return true
      } catch (error) {
        if (!isOfAll || !(error instanceof AppError) || concernsAll(error)) throw error
        // The others are listed all the same. The base may have been deleted meanwhile, or access to it revoked.
        if (error.status !== 404 && error.status !== 403) unreadable.push({ id, title })
        return error.code === 'QUERY_TIMEOUT'
      }
    }

    let waiting = await logsToRead(
      asked,
      new Set(scopesOf('record')),
      new Set(scopesOf('view')),
      after,
      isOfAll,
    )
    let room = isOfAll ? MAX_LOGS : waiting.length
    let atOnce = 1
    let isIncomplete = false
    const shown: Found[] = []
    while (shown.length < limit) {
      const next = newestOf(lanes)
      const later = next ? waiting.findIndex(({ until }) => until < next.position.at) : -1
      const due = waiting.slice(0, later < 0 ? waiting.length : later)
      if (due.length > 0) {
        isIncomplete = room === 0
        if (isIncomplete) break
        // The first ones may fill the page.
        const some = due.slice(0, Math.min(atOnce, room))
        atOnce = Math.min(atOnce * 2, LOGS_AT_ONCE)
        const tables = await schema.tablesIn(some.map(({ scope }) => scope.row.id))
        const read = await Promise.all(some.map((log) => openLog(log, tables.get(log.scope.row.id) ?? [])))
        waiting = waiting.slice(some.length)
        // Those that cannot be read would be tried again, and others never.
        room -= read.filter(Boolean).length
        continue
      }
      if (!next) break
      shown.push(next)
      await passItem(lanes, next)
    }
    const last: Position = shown.at(-1)?.position ?? after ?? { kind: 'start', at: startedAt }
    if (isOfAll) {
      for (const { log, own } of opened)
        newestItems.set({ ...log, from: last }, newestOf(own)?.position.at ?? null, startedAt)
    }
    const hasMore = waiting.length > 0 || newestOf(lanes) !== null
    const ids = shown.flatMap(({ item }) => item.deletedBy ?? [])
    return {
      items: present(shown, scopes, asked),
      people: await auth.people([...new Set(ids)]),
      next: hasMore ? writeCursor(last) : null,
      unread: isIncomplete ? waiting.length : 0,
      unreadable,
    }
  }

  /** The logs that may have items for a page, those that were changed last first. */
  async function logsToRead(
    { filter, timeZone }: Asked,
    ofRecords: ReadonlySet<Scope>,
    ofViews: ReadonlySet<Scope>,
    after: Position | null,
    isOfAll: boolean,
  ): Promise<Log[]> {
    const scopes = [...new Set([...ofRecords, ...ofViews])]
    const ids = scopes.map(({ row }) => row.id)
    const changes: ReadonlyMap<string, LastChange | null> = isOfAll
      ? await kernel.sources.lastChanges(await bases.homesOf(ids))
      : new Map()
    const logs = scopes.flatMap((scope): Log | [] => {
      const kinds = [
        ...(ofRecords.has(scope) ? ['record' as const] : []),
        ...(ofViews.has(scope) ? ['view' as const] : []),
      ]
      const { tableId, deletedBy, search } = filter
      const key = JSON.stringify([scope.row.id, kinds, tableId, deletedBy, search, search && timeZone])
      const change = changes.get(scope.row.id)
      const { until = null, mark = null } = change ?? {}
      const newest = isOfAll ? newestItems.get({ key, mark, from: after }) : undefined
      if (change === null || newest === null) return []
      const times = [until, newest, after?.at].map((time) => time ?? ANY_TIME)
      return { scope, kinds, key, mark, until: times.sort()[0] ?? ANY_TIME }
    })
    return logs.sort((a, b) => (a.until < b.until ? 1 : a.until > b.until ? -1 : 0))
  }

  function present(shown: readonly Found[], scopes: readonly Scope[], { deleted }: Asked): ListedTrashItem[] {
    const live = new Map(scopes.map((scope) => [scope.row.id, scope]))
    const keptDays = new Map(deleted.map(({ base }) => [base.id, base.keepsDays]))
    return shown.flatMap(
      ({ item: { ref, isForeign, ...item }, position: { baseId } }): ListedTrashItem | [] => {
        if (ref.kind === 'base') {
          const expiresAt = expiry(item, keptDays.get(baseId) ?? 0)
          return { ...item, ref, base: { id: baseId, title: item.title }, expiresAt, canPurge: true }
        }
        const scope = live.get(baseId)
        if (!scope) return []
        const { row, role } = scope
        return {
          ...item,
          ref,
          base: { id: baseId, title: row.title },
          expiresAt: isForeign ? null : expiry(item, trashDaysOf(row, kernel.config)),
          canPurge: !isForeign && roleCan(role, TRASH_KINDS[ref.kind].purge),
        }
      },
    )
  }

  return {
    /**
     * A page of the trash of a base, with those kinds of items that the actor may restore.
     *
     * @throws BASE_NOT_FOUND; PERMISSION_DENIED below editor; BAD_REQUEST for a broken cursor
     */
    async ofBase(actor: Actor, baseId: string, page: TrashPage): Promise<TrashListed<TrashItemOfBase>> {
      const row = await bases.require(baseId)
      await auth.access.authorize(actor, 'record.restore', row.id)
      const role = await auth.access.baseRole(actor, row.id)
      const scopes = role ? [{ row, role }] : []
      const found = await list(asAsked(actor, page, []), scopes, page, { isOfAll: false, may: 'restore' })
      return { ...found, items: found.items.flatMap((item) => (isOfBase(item) ? item : [])) }
    },

    /**
     * A page of the trash of all bases that the actor may restore something in, with the deleted bases that the actor may
     * restore.
     *
     * @param may `purge`: only what the actor may delete forever
     * @throws BAD_REQUEST for a broken cursor
     */
    async ofAll(actor: Actor, page: TrashPage, may: 'restore' | 'purge' = 'restore'): Promise<TrashListed> {
      await auth.access.authorize(actor, 'base.list')
      const deleted = await bases.listDeleted(actor)
      return list(asAsked(actor, page, deleted), await scopesOf(actor), page, { isOfAll: true, may })
    },

    scopesOf,
  }

  /** The live bases in which the actor may restore something. */
  async function scopesOf(actor: Actor): Promise<Scope[]> {
    if (actor.kind !== 'user') return []
    const visible = await bases.visible(actor)
    return visible.flatMap(({ base: row, role }) => (roleCan(role, 'record.restore') ? [{ row, role }] : []))
  }
}

/** True for an error in a base that the others have as well: the caller has left, or the database of all bases is away. */
export const concernsAll = ({ code }: AppError): boolean =>
  code === 'QUERY_CANCELLED' || code === 'DATABASE_UNREACHABLE'

const isOfBase = (item: ListedTrashItem): item is TrashItemOfBase => item.ref.kind !== 'base'

const asAsked = (
  actor: Actor,
  { tableId, deletedBy, search, timeZone }: TrashPage,
  deleted: readonly DeletedBase[],
): Asked => ({ actor, filter: { tableId, deletedBy, search }, timeZone, deleted })

const expiry = ({ deletedAt }: { deletedAt: string }, days: number): string | null =>
  days === 0 ? null : new Date(Date.parse(deletedAt) + days * DAY_MS).toISOString()

/** @param size items that are read at once */
async function openLane(read: Read, after: Position | null, size: number): Promise<Lane> {
  const lane: Lane = { items: [], readOn: null }
  const readFrom = async (from: Position | null): Promise<void> => {
    lane.items = await read(from, size)
    const last = lane.items.at(-1)
    lane.readOn = last && lane.items.length === size ? () => readFrom(last.position) : null
  }
  await readFrom(after)
  return lane
}

/** The next item of several lists. */
function newestOf(lanes: readonly Lane[]): Found | null {
  let newest: Found | null = null
  for (const { items } of lanes) {
    const [first] = items
    if (first && (newest === null || compareFound(first, newest) < 0)) newest = first
  }
  return newest
}

/** Removes the next item from its list. */
async function passItem(lanes: readonly Lane[], item: Found): Promise<void> {
  const lane = lanes.find(({ items }) => items[0] === item)
  lane?.items.shift()
  if (lane?.items.length === 0) await lane.readOn?.()
}
