import type { z } from 'zod'
import type { ActivityItem, ActivityKind, AuditKind } from '../../src/core/activity.ts'
import type { Actor } from '../../src/core/actor.ts'
import { AUDIT_GROUPS, type AuditEntry } from '../../src/core/audits.ts'
import { badRequest } from '../../src/core/errors.ts'
import { mentionsIn } from '../../src/core/mentions.ts'
import type { Person } from '../../src/core/model.ts'
import { roleCan } from '../../src/core/roles.ts'
import { m } from '../../src/messages.gen.ts'
import type { AuthService } from '../auth/index.ts'
import type { BasesService } from '../bases/index.ts'
import type { CommentsService } from '../comments/index.ts'
import type { RecordsService } from '../records/index.ts'
import { type ActivityFilter, type AuditLogRequest, type EntryRequest, MAX_AUDIT_ID } from './input.ts'

export type ActivityService = ReturnType<typeof createActivityService>

export interface ActivityPage {
  items: ActivityItem[]
  people: Person[]
  /** Null after the last page. */
  next: string | null
  /** The time that the history goes back to; null: nothing has been removed. */
  historySince: string | null
}

export interface AuditLogPage {
  items: AuditEntry[]
  /** Who acted and whom it concerns, also deleted accounts. */
  people: Person[]
  /** Also those in the trash. */
  bases: { id: string; title: string }[]
  /** Null after the last page. */
  next: number | null
}

/** What is only listed for those who may share the base. */
const OF_LINKS: readonly AuditKind[] = ['share.create', 'share.update', 'share.delete']

/** How far a page has read each source; null: to its end. */
interface Cursor {
  change: number | null
  comment: { createdAt: string; id: string } | null
  audit: number | null
}

const START: Cursor = {
  change: Number.MAX_SAFE_INTEGER,
  comment: { createdAt: '9999', id: '' },
  audit: MAX_AUDIT_ID,
}

/** An item of a source, with the position of the source after it. */
interface Positioned {
  item: ActivityItem
  source: keyof Cursor
  position: Cursor[keyof Cursor]
}

/** What was done in a base, from the change log, the comments and the audits. */
export function createActivityService(
  auth: Pick<AuthService, 'access' | 'audits' | 'people'>,
  bases: Pick<BasesService, 'require' | 'named'>,
  records: Pick<RecordsService, 'activity'>,
  comments: Pick<CommentsService, 'written'>,
) {
  type Filter = z.output<typeof ActivityFilter>
  type Source = (
    cursor: Cursor,
    limit: number,
  ) => Promise<{ found: Positioned[]; rest: Cursor[keyof Cursor] }>

  const wants = ({ kinds }: Filter, kind: ActivityKind) => kinds === undefined || kinds.includes(kind)

  const changes =
    (actor: Actor, baseId: string, filter: Filter, timeZone: string | undefined): Source =>
    async ({ change }, limit) => {
      const kinds = filter.kinds?.filter((kind) => kind !== 'comments' && kind !== 'access')
      if (change === null || kinds?.length === 0) return { found: [], rest: null }
      const { items, next } = await records.activity.list(
        actor,
        baseId,
        { ...filter, kinds },
        { before: change, limit, timeZone },
      )
      const found = items.map(
        (item): Positioned => ({ item, source: 'change', position: entryIdOf(item.id) }),
      )
      return { found, rest: next }
    }

  const written =
    (actor: Actor, baseId: string, filter: Filter, timeZone: string | undefined): Source =>
    async ({ comment }, limit) => {
      if (comment === null || !wants(filter, 'comments')) return { found: [], rest: null }
      const { kinds: _, ...wanted } = filter
      const page = await comments.written(actor, baseId, wanted, { after: comment, limit, timeZone })
      const found = page.comments.map(
        (one): Positioned => ({
          source: 'comment',
          position: { createdAt: one.createdAt, id: one.id },
          item: {
            kind: 'comment',
            id: `comment ${one.id}`,
            at: one.createdAt,
            actorId: one.authorName === null ? one.createdBy : null,
            tableId: one.tableId,
            tableTitle: one.tableTitle,
            recordId: one.recordId,
            recordTitle: one.recordTitle,
            text: one.text,
            isReply: one.parentId !== null,
            authorName: one.authorName,
          },
        }),
      )
      return { found, rest: page.next }
    }

  const audited =
    (actor: Actor, baseId: string, filter: Filter): Source =>
    async ({ audit }, limit) => {
      const isOfRecords = filter.tableId !== undefined || filter.record !== undefined
      if (audit === null || isOfRecords || !wants(filter, 'access')) return { found: [], rest: null }
      const seesLinks = roleCan(await auth.access.baseRole(actor, baseId), 'base.share')
      const { actorId, from, to } = filter
      const rows = await auth.audits.list(
        baseId,
        { actorId, from, to, except: seesLinks ? [] : OF_LINKS },
        { before: audit, limit: limit + 1 },
      )
      const page = rows.slice(0, limit)
      const found = page.map(
        ({ id, at, actorId: by, kind, detail }): Positioned => ({
          source: 'audit',
          position: id,
          item: { kind: 'audit', id: `audit ${id}`, at, actorId: by, auditKind: kind, detail },
        }),
      )
      return { found, rest: rows.length > limit ? (page.at(-1)?.id ?? null) : null }
    }

  return {
    /**
     * A page of the activity of a base, newest first, with the people who acted or are mentioned. Leaves out what the actor does not
     * see: hidden tables, those in the trash without the right to restore them, and links without the right to share.
     *
     * @throws BASE_NOT_FOUND; PERMISSION_DENIED; BAD_REQUEST for a cursor that no page ended with
     */
    async list(
      actor: Actor,
      {
        baseId,
        filter,
        cursor,
        limit,
        timeZone,
      }: {
        baseId: string
        filter: Filter
        cursor?: string | null | undefined
        limit: number
        timeZone?: string
      },
    ): Promise<ActivityPage> {
      const { historySince } = await bases.require(baseId)
      await auth.access.authorize(actor, 'base.activity', baseId)
      const start = cursor == null ? START : readCursor(cursor)
      const sources = [changes, written, audited].map((source) => source(actor, baseId, filter, timeZone))
      const read = await Promise.all(sources.map((source) => source(start, limit)))
      const all = read.flatMap(({ found }) => found).toSorted((a, b) => compareTimes(b.item, a.item))
      const page = all.slice(0, limit)
      const next: Cursor = { ...start }
      const names = ['change', 'comment', 'audit'] as const
      names.forEach((name, index) => {
        const { found, rest } = read[index]!
        const isWhole = found.every((one) => page.includes(one))
        // What the page has no room for is read again.
        const last = page.findLast(({ source }) => source === name)
        Object.assign(next, { [name]: isWhole ? rest : (last?.position ?? start[name]) })
      })
      const hasMore = names.some((name) => next[name] !== null)
      const personIds = page.flatMap(({ item }) => [
        ...(item.actorId === null ? [] : [item.actorId]),
        ...(item.kind === 'comment' ? mentionsIn(item.text) : []),
      ])
      return {
        items: page.map(({ item }) => item),
        people: await auth.people([...new Set(personIds)]),
        next: hasMore ? JSON.stringify(next) : null,
        historySince,
      }
    },

    /**
     * A page of the audit log of the server, newest first.
     * @throws PERMISSION_DENIED below super admin
     */
    async log(
      actor: Actor,
      { filter, cursor, limit }: Omit<z.output<typeof AuditLogRequest>, 'direction'>,
    ): Promise<AuditLogPage> {
      await auth.access.authorize(actor, 'audit.list')
      const { group, ...rest } = filter
      const kinds = group && AUDIT_GROUPS[group]
      const before = cursor ?? MAX_AUDIT_ID
      const rows = await auth.audits.log({ ...rest, kinds }, { before, limit: limit + 1 })
      const items = rows.slice(0, limit)
      const [people, named] = await Promise.all([
        auth.people(idsIn(items.flatMap(({ actorId, userId }) => [actorId, userId]))),
        bases.named(idsIn(items.map(({ baseId }) => baseId))),
      ])
      return { items, people, bases: named, next: rows.length > limit ? (items.at(-1)?.id ?? null) : null }
    },

    /** As `records.activity.records`. */
    entry: (
      actor: Actor,
      { cursor, tableId, ...request }: Omit<z.output<typeof EntryRequest>, 'direction'>,
    ) => records.activity.records(actor, { ...request, tableId, cursor: cursor ?? null }),
  }
}

const idsIn = (ids: readonly (string | null)[]): string[] => [...new Set(ids.filter((id) => id !== null))]

/** The log's entry behind an item's id. */
const entryIdOf = (id: string): number => Number(id.slice('change '.length))

const compareTimes = (a: { at: string }, b: { at: string }): number =>
  a.at < b.at ? -1 : a.at > b.at ? 1 : 0

function readCursor(text: string): Cursor {
  const invalid = badRequest(m.records_error_cursor())
  let parsed: Partial<Cursor> | null
  try {
    parsed = JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw invalid
    throw error
  }
  const { change, comment, audit } = parsed ?? {}
  const isId = (value: unknown): value is number | null => value === null || Number.isSafeInteger(value)
  const isPlace =
    comment === null || (typeof comment?.createdAt === 'string' && typeof comment.id === 'string')
  if (!isId(change) || !isId(audit) || !isPlace) throw invalid
  return { change, comment: comment ?? null, audit }
}
