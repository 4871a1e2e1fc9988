import { createHash } from 'node:crypto'
import { nowIso, nowMs } from '../../src/clock.ts'
import type { Actor, UserActor } from '../../src/core/actor.ts'
import { commentKey, REACTIONS, type Reaction, type RecordComment } from '../../src/core/comments.ts'
import { AppError, badRequest, notFound } from '../../src/core/errors.ts'
import { createId, randomText } from '../../src/core/ids.ts'
import { mentionOf, mentionsIn, replaceMentions } from '../../src/core/mentions.ts'
import type { Person, RecordId } from '../../src/core/model.ts'
import { type BaseRight, holdsBaseRole } from '../../src/core/roles.ts'
import type { Kernel } from '../../src/kernel.ts'
import { m } from '../../src/messages.gen.ts'
import type { Notice } from '../../src/notices.ts'
import type { AuthService } from '../auth/index.ts'
import type { ImportedComments } from '../base-imports/index.ts'
import type { CopiedComments } from '../imports/index.ts'
import type { NotificationsService } from '../notifications/index.ts'
import { type RecordsService, referenceKey, storedId } from '../records/index.ts'
import type { SchemaReader, TableModel } from '../schema/index.ts'
import {
  type CommentFilter,
  type CommentRow,
  createCommentStore,
  type ReactionRow,
  type ThreadCursor,
} from './store.ts'

/** Comments of one record, with their replies. */
const MAX_COMMENTS = 1_000
/** Threads per page of the inbox. */
const INBOX_PAGE = 30
/** People whom a comment may mention. */
const MAX_MENTIONS = 50
/** Comments that are read at once when a table is copied. */
const COPIED_AT_ONCE = 500
/** How far the times of comments may be ahead of the clock. */
const MAX_AHEAD_MS = 1_000
/** Random characters at the end of a copy's id. */
const COPY_RANDOM = 9
/** Characters of a comment in its notifications. */
const EXCERPT = 300

export type CommentsService = ReturnType<typeof createCommentsService>

/** An open thread in the inbox of a base. */
export interface OpenThread {
  comment: RecordComment
  replies: number
  /** The text of the record's display field. */
  recordTitle: string
  tableTitle: string
}

/** A comment with what it is on. */
export type WrittenComment = CommentRow & Pick<OpenThread, 'recordTitle' | 'tableTitle'>

/** A comment to be written. */
export interface NewComment {
  id?: string
  tableId: string
  recordId: RecordId
  fieldId?: string | null
  parentId?: string | null
  text: string
}

/**
 * Comments on records and cells. Whoever reads a base reads its comments; commenters and above write. The comments of a
 * deleted record are hidden, and are back with it when it is restored.
 */
export function createCommentsService(
  kernel: Kernel,
  auth: Pick<AuthService, 'access' | 'people'>,
  schema: Pick<SchemaReader, 'openTable' | 'isKept'>,
  records: Pick<RecordsService, 'open' | 'readOne' | 'titlesOf'>,
  notifications: Pick<NotificationsService, 'notices' | 'settings' | 'watches' | 'recipientsOf' | 'revise'>,
) {
  const { meta } = kernel
  const store = createCommentStore(kernel)
  kernel.removals.push(store.forRemovedBase)
  const nextTime = createTimes()

  /** False also for records without a key, which cannot be told apart. */
  async function exists(
    actor: Actor,
    { table, primaryKey }: TableModel,
    recordId: RecordId,
  ): Promise<boolean> {
    const opened = await records.open(actor, table.id)
    return (await records.readOne(opened, recordId, [primaryKey])) !== null
  }

  /** A comment that the actor may see. @throws GENERIC_NOT_FOUND; PERMISSION_DENIED */
  async function open(
    actor: Actor,
    right: BaseRight,
    commentId: string,
  ): Promise<{ row: CommentRow; actor: UserActor }> {
    const row = await store.find(commentId)
    if (!row || !(await schema.isKept(row.tableId))) throw notFound('Comment', commentId)
    await schema.openTable(actor, right, row.tableId)
    return { row, actor: asUser(actor) }
  }

  function announce({
    baseId,
    tableId,
    recordId,
  }: Pick<CommentRow, 'baseId' | 'tableId' | 'recordId'>): void {
    kernel.events.emit('comment.changed', { baseId, tableId, recordId })
  }

  async function present(rows: readonly CommentRow[]): Promise<RecordComment[]> {
    const reactions = Map.groupBy(
      await store.reactions(rows.map(({ id }) => id)),
      ({ commentId }) => commentId,
    )
    return rows.map(({ baseId: _, resolvedAt: __, ...row }) => ({
      ...row,
      reactions: grouped(reactions.get(row.id) ?? []),
    }))
  }

  const peopleIn = (comments: readonly RecordComment[]): Promise<Person[]> =>
    auth.people([
      ...new Set(
        comments.flatMap(({ text, createdBy, resolvedBy, reactions }) => [
          createdBy,
          ...mentionsIn(text),
          ...(resolvedBy === null ? [] : [resolvedBy]),
          ...reactions.flatMap(({ userIds }) => userIds),
        ]),
      ),
    ])

  /** The text to store: mentions of people who cannot open the base, who are told nothing, become plain text. */
  async function withMembersOnly(baseId: string, text: string): Promise<string> {
    const mentioned = mentionsIn(text)
    if (mentioned.length === 0) return text
    if (mentioned.length > MAX_MENTIONS)
      throw badRequest(m.comments_error_too_many_mentions({ max: MAX_MENTIONS }))
    return withMembersOf(baseId, await auth.access.standings(mentioned, [baseId]), text)
  }

  /** Texts of comments that come to a base, in which only its members are mentioned. */
  async function textsFor(baseId: string, rows: readonly CommentRow[]): Promise<string[]> {
    const mentioned = new Set(rows.flatMap(({ text }) => mentionsIn(text)))
    if (mentioned.size === 0) return rows.map(({ text }) => text)
    const standings = await auth.access.standings([...mentioned], [baseId])
    return rows.map(({ text }) => withMembersOf(baseId, standings, text))
  }

  async function* pagesOf(tableId: string): AsyncGenerator<CommentRow[], void, undefined> {
    for (let after = ''; ; ) {
      const page = await store.pageOfTable(tableId, after, COPIED_AT_ONCE)
      const last = page.at(-1)
      if (!last) return
      yield page
      after = last.id
      // An SQLite file keeps the thread busy: others have their turn.
      await Bun.sleep(0)
    }
  }

  /** The beginning of a text with names in place of mentions. */
  async function excerptOf(text: string): Promise<string> {
    const people = new Map((await auth.people(mentionsIn(text))).map((person) => [person.id, person]))
    const plain = replaceMentions(text, (userId) => {
      const person = people.get(userId)
      return `@${person?.displayName || person?.email || ''}`
    })
    const letters = [...plain]
    return letters.length > EXCERPT ? `${letters.slice(0, EXCERPT - 1).join('')}…` : plain
  }

  /**
   * Notices of a comment to those whom it mentions, else to those in its thread, else to those who watch the record; one
   * for each person, however often the comment is changed.
   */
  async function noticesOf(row: CommentRow): Promise<Notice[]> {
    const { id, baseId, tableId, recordId, fieldId, parentId, createdBy } = row
    const inThread = parentId === null ? [] : await store.authorsInThread(parentId)
    const kinds = new Map<string, Notice['kind']>()
    for (const userId of await notifications.watches.watchersOf(tableId, recordId))
      kinds.set(userId, 'comment')
    for (const userId of inThread) kinds.set(userId, 'reply')
    for (const userId of mentionsIn(row.text)) kinds.set(userId, 'mention')
    const detail = { text: await excerptOf(row.text) }
    const shared = {
      key: `comment ${id}`,
      ref: id,
      actorId: createdBy,
      baseId,
      tableId,
      recordId,
      fieldId,
      detail,
    }
    return [...kinds].map(([userId, kind]) => ({ ...shared, userId, kind }))
  }

  return {
    /** The rows of comments for files of whole bases. Does not check access. */
    rows: {
      page: store.page,
      reactions: store.reactions,
      allIn: store.allIn,
      insertAll: store.insertAll,
    },
    /** Fills `COPIED_COMMENTS`. */
    copies: {
      countOf: store.countOfTable,
      async copy(tableId, { baseId, tableId: newTableId, ids, has }, check) {
        const newIds = new Map<string, string>()
        const newIdOf = (id: string): string => {
          const known = newIds.get(id) ?? copyIdOf(id)
          newIds.set(id, known)
          return known
        }
        for await (const page of pagesOf(tableId)) {
          check()
          const kept = await has([...new Set(page.map(({ recordId }) => recordId))])
          const rows = page.filter(({ recordId }) => kept.has(recordId))
          const texts = await textsFor(baseId, rows)
          const reactions = await store.reactions(rows.map(({ id }) => id))
          await meta.atomically(
            store.insertAll(
              rows.map((row, at) => ({
                ...row,
                baseId,
                tableId: newTableId,
                id: newIdOf(row.id),
                parentId: row.parentId === null ? null : newIdOf(row.parentId),
                fieldId: row.fieldId === null ? null : (ids.get(row.fieldId) ?? null),
                text: texts[at] ?? row.text,
              })),
              reactions.map((row) => ({ ...row, commentId: newIdOf(row.commentId) })),
            ),
          )
        }
      },
      async copyOfRecords(from, { model, ids, records: pairs }) {
        const { id: tableId, baseId } = model.table
        const newKeys = new Map(pairs.map(([former, id]) => [keyIn(from, former), keyIn(model, id)]))
        const found = await store.ofRecords(from.table.id, [...newKeys.keys()])
        const placed = found.map((row) => {
          const recordId = newKeys.get(row.recordId) ?? row.recordId
          // A reply is on the record of its thread.
          return { row, recordId, newIdOf: (id: string) => copyIdOn(`${tableId} ${recordId}`, id) }
        })
        const copied = await store.existing(placed.map(({ row, newIdOf }) => newIdOf(row.id)))
        const left = placed.filter(({ row, newIdOf }) => !copied.has(newIdOf(row.id)))
        if (left.length === 0) return
        const rows = left.map(({ row }) => row)
        const texts = await textsFor(baseId, rows)
        const newIds = new Map(left.map(({ row, newIdOf }) => [row.id, newIdOf(row.id)]))
        const reactions = await store.reactions(rows.map(({ id }) => id))
        const copies = left.map(({ row, recordId, newIdOf }, at) => ({
          ...row,
          baseId,
          tableId,
          id: newIdOf(row.id),
          recordId,
          parentId: row.parentId && newIdOf(row.parentId),
          fieldId: row.fieldId && (ids.get(row.fieldId) ?? null),
          text: texts[at] ?? row.text,
        }))
        await meta.atomically(
          store.insertAll(
            copies,
            reactions.map((row) => ({ ...row, commentId: newIds.get(row.commentId) ?? row.commentId })),
          ),
        )
        for (const recordId of new Set(copies.map((row) => row.recordId)))
          announce({ baseId, tableId, recordId })
      },
      async removeCopies(tableId) {
        for await (const page of pagesOf(tableId))
          await meta.atomically(store.removeAll(page.map(({ id }) => id)))
      },
      async move(from, to) {
        const mentioning = await store.mentioning(from.tableId)
        const texts = await textsFor(to.baseId, mentioning)
        return [
          ...store.moveAll(from, to),
          ...mentioning.flatMap(({ id, text }, at) => {
            const own = texts[at] ?? text
            return own === text ? [] : [store.updating(id, { text: own })]
          }),
        ]
      },
    } satisfies CopiedComments,

    /** Fills `IMPORTED_COMMENTS`. Nobody is notified of comments that were written elsewhere. */
    imported: {
      storing: (rows) =>
        rows.flatMap(({ reactions, ...own }) => {
          const row = { ...own, fieldId: null, updatedAt: null, resolvedBy: null, resolvedAt: null }
          const { id: commentId, parentId, createdAt } = row
          return [
            ...(parentId === null ? [store.insert(row)] : store.insertReply(row, parentId)),
            ...store.insertAll(
              [],
              reactions.map((reaction) => ({ ...reaction, commentId, createdAt })),
            ),
          ]
        }),
      present: store.present,
      reacting: (commentId, reactions) =>
        store.reacting(reactions.map((reaction) => ({ ...reaction, commentId, createdAt: nowIso() }))),
      async attribute(ids, author) {
        for (const record of await store.attribute(ids, author)) announce(record)
      },
      changing: (id, text) => store.updating(id, { text, updatedAt: nowIso() }),
      removing: store.removeUnanswered,
      announce,
    } satisfies ImportedComments,

    /** The comments of a record, oldest first, with the people they name. Empty for a record that is not there. */
    async list(
      actor: Actor,
      tableId: string,
      recordId: RecordId,
    ): Promise<{ comments: RecordComment[]; people: Person[] }> {
      const model = await schema.openTable(actor, 'comment.list', tableId)
      if (!(await exists(actor, model, recordId))) return { comments: [], people: [] }
      const comments = await present(await store.ofRecord(tableId, keyIn(model, recordId)))
      return { comments, people: await peopleIn(comments) }
    },

    /** The numbers of comments by record, without those that have none. */
    async counts(
      actor: Actor,
      tableId: string,
      recordIds: readonly RecordId[],
    ): Promise<{ recordId: string; count: number }[]> {
      const model = await schema.openTable(actor, 'comment.list', tableId)
      const counts = await store.counts(
        tableId,
        recordIds.map((id) => keyIn(model, id)),
      )
      return [...counts].map(([recordId, n]) => ({ recordId, count: n }))
    },

    /** A page of the open threads of a base, newest first, without those of deleted tables and records. */
    async inbox(
      actor: Actor,
      { baseId, cursor, timeZone }: { baseId: string; cursor?: string | null | undefined; timeZone?: string },
    ): Promise<{ threads: OpenThread[]; people: Person[]; next: string | null }> {
      await auth.access.authorize(actor, 'comment.list', baseId)
      const rows = await store.openThreads(baseId, cursor == null ? null : readCursor(cursor), INBOX_PAGE)
      const last = rows.length === INBOX_PAGE ? rows.at(-1) : undefined
      const titles = await records.titlesOf(actor, rows, timeZone)
      const shown = rows.filter((row) => titles.has(referenceKey(row)))
      const comments = await present(shown)
      const replies = await store.replies(shown.map(({ id }) => id))
      return {
        threads: comments.map((comment) => ({
          comment,
          replies: replies.get(comment.id) ?? 0,
          ...titles.get(referenceKey(comment))!,
        })),
        people: await peopleIn(comments),
        next: last ? `${last.createdAt} ${last.id}` : null,
      }
    },

    /**
     * A page of all comments of a base, newest first, without those of deleted tables and records: there may be fewer
     * than `limit` with more to come.
     */
    async written(
      actor: Actor,
      baseId: string,
      {
        record,
        ...filter
      }: Omit<CommentFilter, 'recordId'> & { record?: { tableId: string; recordId: RecordId } },
      {
        after,
        limit,
        timeZone,
      }: { after: ThreadCursor | null; limit: number; timeZone?: string | undefined },
    ): Promise<{ comments: WrittenComment[]; next: ThreadCursor | null }> {
      await auth.access.authorize(actor, 'comment.list', baseId)
      const wanted = record
        ? { ...filter, tableId: record.tableId, recordId: commentKey(record.recordId) }
        : filter
      const rows = await store.ofBase(baseId, wanted, after, limit + 1)
      const page = rows.slice(0, limit)
      const titles = await records.titlesOf(actor, page, timeZone)
      const last = rows.length > limit ? page.at(-1) : undefined
      return {
        comments: page.flatMap((row) => {
          const place = titles.get(referenceKey(row))
          return place ? [{ ...row, ...place }] : []
        }),
        next: last ? { createdAt: last.createdAt, id: last.id } : null,
      }
    },

    /**
     * Writes a comment. A reply belongs to the thread of the comment that it answers.
     *
     * @throws TABLE_NOT_FOUND, RECORD_NOT_FOUND, FIELD_NOT_FOUND; GENERIC_NOT_FOUND for an answered comment that is not
     *   there; BAD_REQUEST past `MAX_COMMENTS` on a record
     */
    async create(actor: Actor, input: NewComment): Promise<RecordComment> {
      const { tableId, recordId, fieldId = null, parentId = null } = input
      const model = await schema.openTable(actor, 'comment.create', tableId)
      const user = asUser(actor)
      if (!(await exists(actor, model, recordId))) throw notFound('Record', String(recordId))
      if (fieldId !== null && !model.field(fieldId)) throw notFound('Field', fieldId)
      const key = keyIn(model, recordId)
      const parent = parentId === null ? null : await store.find(parentId)
      if (parentId !== null && (parent?.tableId !== tableId || parent.recordId !== key)) {
        throw notFound('Comment', parentId)
      }
      if ((await store.countOfRecord(tableId, key)) >= MAX_COMMENTS) {
        throw badRequest(m.comments_error_too_many({ max: MAX_COMMENTS }))
      }
      const row: CommentRow = {
        id: input.id ?? createId('comment'),
        baseId: model.table.baseId,
        tableId,
        recordId: key,
        fieldId: parent ? parent.fieldId : fieldId,
        parentId: parent ? (parent.parentId ?? parent.id) : null,
        text: await withMembersOnly(model.table.baseId, input.text),
        createdBy: user.id,
        authorName: null,
        createdAt: nextTime(),
        updatedAt: null,
        resolvedBy: null,
        resolvedAt: null,
      }
      const notices = await notifications.notices.prepare(await noticesOf(row))
      const { watchesOwn } = (await notifications.settings.effective([user.id], row.baseId))(user.id)
      const watch = { userId: user.id, baseId: row.baseId, tableId, targetId: key }
      const isSent = (await store.find(row.id)) !== null
      if (!isSent) {
        await meta.atomically([
          ...(row.parentId === null ? [store.insert(row)] : store.insertReply(row, row.parentId)),
          ...notices.statements,
          ...(await notifications.watches.adding(watchesOwn ? [watch] : [])),
        ])
        notices.stored()
        if (watchesOwn) await notifications.watches.follow(row.baseId)
      }
      const stored = await store.find(row.id)
      if (stored === null && parentId !== null) {
        await meta.atomically(notifications.notices.withdraw([row.id]))
        throw notFound('Comment', parentId)
      }
      if (stored?.createdBy !== user.id || stored.recordId !== key || stored.tableId !== tableId) {
        throw badRequest(m.comments_error_id_in_use())
      }
      announce(stored)
      const [comment] = await present([stored])
      return comment!
    },

    /**
     * Changes one's own comment.
     *
     * @throws GENERIC_NOT_FOUND; PERMISSION_DENIED for a comment of somebody else, also if one has imported it
     */
    async update(actor: Actor, commentId: string, text: string): Promise<RecordComment> {
      const { row, actor: user } = await open(actor, 'comment.create', commentId)
      if (row.createdBy !== user.id || row.authorName !== null) throw notOwn()
      const patch = { text: await withMembersOnly(row.baseId, text), updatedAt: nowIso() }
      const changed = { ...row, ...patch }
      // Those who know of it already have its key.
      const notices = await notifications.notices.prepare(
        (await noticesOf(changed)).filter(({ kind }) => kind === 'mention'),
      )
      await meta.atomically([
        store.updating(row.id, patch),
        notifications.revise(row.id, await excerptOf(patch.text)),
        ...notices.statements,
      ])
      notices.stored()
      announce(row)
      const [comment] = await present([changed])
      return comment!
    },

    /**
     * Deletes a comment with its replies: one's own, or with the right `comment.moderate` any.
     *
     * @throws GENERIC_NOT_FOUND, PERMISSION_DENIED
     */
    async remove(actor: Actor, commentId: string): Promise<void> {
      const { row, actor: user } = await open(actor, 'comment.create', commentId)
      if (row.createdBy !== user.id) await auth.access.authorize(actor, 'comment.moderate', row.baseId)
      const ids = await store.idsInThread(row.id)
      const recipients = await notifications.recipientsOf(ids)
      await meta.atomically([...store.removing(row.id), ...notifications.notices.withdraw(ids)])
      notifications.notices.tell(recipients)
      announce(row)
    },

    /** Ends a thread or opens it again. @throws GENERIC_NOT_FOUND; BAD_REQUEST for a reply */
    async resolve(actor: Actor, commentId: string, isResolved: boolean): Promise<void> {
      const { row, actor: user } = await open(actor, 'comment.create', commentId)
      if (row.parentId !== null) throw badRequest(m.comments_error_resolve_reply())
      await store.update(row.id, {
        resolvedBy: isResolved ? user.id : null,
        resolvedAt: isResolved ? nowIso() : null,
      })
      announce(row)
    },

    /** Adds or removes one's reaction. @throws GENERIC_NOT_FOUND */
    async react(actor: Actor, commentId: string, emoji: Reaction, isOn: boolean): Promise<void> {
      const { row, actor: user } = await open(actor, 'comment.create', commentId)
      const reaction = { commentId: row.id, userId: user.id, emoji }
      if (isOn) await store.react({ ...reaction, createdAt: nowIso() })
      else await store.unreact(reaction)
      announce(row)
    },

    /** The stored comment, for REST. @throws GENERIC_NOT_FOUND */
    async get(actor: Actor, commentId: string): Promise<RecordComment> {
      const { row } = await open(actor, 'comment.list', commentId)
      const [comment] = await present([row])
      return comment!
    },
  }
}

/** The id under which the comments of a record are stored: “02” names the record 2. */
const keyIn = (model: TableModel, recordId: RecordId): string => commentKey(storedId(model, recordId))

/** Times of comments in the order in which they are written: no two are in the same millisecond. */
function createTimes(): () => string {
  let last = 0
  return () => {
    const now = nowMs()
    // A clock that was set back is followed.
    last = last - now > MAX_AHEAD_MS ? now : Math.max(now, last + 1)
    return new Date(last).toISOString()
  }
}

/** The text in which mentions of people who cannot open the base are plain text. */
const withMembersOf = (
  baseId: string,
  standings: Awaited<ReturnType<AuthService['access']['standings']>>,
  text: string,
): string =>
  replaceMentions(text, (userId, label) => {
    const role = standings.get(userId)?.roles.get(baseId)
    return holdsBaseRole(role ?? null, 'viewer') ? mentionOf(userId) : `@${label}`
  })

/**
 * The id of a comment's copy. It begins like that of the original, so that comments of the same millisecond have the same
 * order in both.
 */
const copyIdOf = (id: string): string => id.slice(0, -COPY_RANDOM) + randomText(COPY_RANDOM)

/** The same for the copy on one record, of which there is one only: always the same id. */
function copyIdOn(record: string, id: string): string {
  const digest = BigInt(`0x${createHash('sha256').update(`${record} ${id}`).digest('hex')}`)
  return id.slice(0, -COPY_RANDOM) + digest.toString(36).slice(-COPY_RANDOM)
}

/** The cursor of `inbox`. @throws BAD_REQUEST for one that no page ended with */
function readCursor(text: string): ThreadCursor {
  const [createdAt = '', id = ''] = text.split(' ')
  if (Number.isNaN(Date.parse(createdAt)) || id === '') throw badRequest(m.comments_error_cursor())
  return { createdAt, id }
}

function grouped(rows: readonly ReactionRow[]): RecordComment['reactions'] {
  const byEmoji = Map.groupBy(rows, ({ emoji }) => emoji)
  return REACTIONS.flatMap((emoji) => {
    const found = byEmoji.get(emoji)
    return found ? [{ emoji, userIds: found.map(({ userId }) => userId) }] : []
  })
}

/** Only members hold the rights of comments. */
function asUser(actor: Actor): UserActor {
  if (actor.kind !== 'user') throw new AppError('AUTHENTICATION_REQUIRED', m.wire_error_unauthorized())
  return actor
}

const notOwn = (): AppError => new AppError('PERMISSION_DENIED', m.comments_error_not_own())
