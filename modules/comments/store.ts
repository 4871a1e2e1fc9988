import {
  type AnyColumn,
  and,
  asc,
  count,
  desc,
  eq,
  getTableColumns,
  gt,
  gte,
  inArray,
  isNotNull,
  isNull,
  like,
  lt,
  lte,
  notInArray,
  or,
  sql,
} from 'drizzle-orm'
import { randomText } from '../../src/core/ids.ts'
import { MENTION_START } from '../../src/core/mentions.ts'
import type { MetaReader, MetaStatement } from '../../src/db/meta.ts'
import { idBatches, renamedIds } from '../../src/db/renamed-ids.ts'
import type { Kernel } from '../../src/kernel.ts'
import { defineCommentsTables } from './tables.ts'

type Tables = ReturnType<typeof defineCommentsTables>
export type CommentRow = Tables['comments']['$inferSelect']
export type ReactionRow = Tables['commentReactions']['$inferSelect']

/** Where a page of threads begins: after a thread in the order of their times. */
export interface ThreadCursor {
  createdAt: string
  id: string
}

/** Which comments of a base are listed. */
export interface CommentFilter {
  actorId?: string | undefined
  tableId?: string | undefined
  recordId?: string | undefined
  /** ISO 8601, both inclusive. */
  from?: string | undefined
  to?: string | undefined
}

/** Characters of an id as `createId` makes it. */
const ID_LENGTH = 17
/** Characters that follow them in the ids of copies that the database makes. */
const COPY_SUFFIX_LENGTH = 5

/** Rows of comments and reactions. */
export function createCommentStore({ meta }: Pick<Kernel, 'meta'>) {
  const { comments, commentReactions } = meta.tables(defineCommentsTables)
  const { db } = meta
  const onRecord = (tableId: string, recordId: string) =>
    and(eq(comments.tableId, tableId), eq(comments.recordId, recordId))

  const isAfter = (after: ThreadCursor | null) =>
    after
      ? or(
          lt(comments.createdAt, after.createdAt),
          and(eq(comments.createdAt, after.createdAt), lt(comments.id, after.id)),
        )
      : undefined
  const inThread = (id: string) => or(eq(comments.id, id), eq(comments.parentId, id))
  const updating = (id: string, patch: Partial<CommentRow>) =>
    db.update(comments).set(patch).where(eq(comments.id, id))

  return {
    async find(id: string): Promise<CommentRow | null> {
      const [row] = await db.select().from(comments).where(eq(comments.id, id))
      return row ?? null
    },

    /** The comments of a record, oldest first. */
    ofRecord: (tableId: string, recordId: string): Promise<CommentRow[]> =>
      Promise.resolve(
        db
          .select()
          .from(comments)
          .where(onRecord(tableId, recordId))
          .orderBy(asc(comments.createdAt), asc(comments.id)),
      ),

    /** The comments of some records, threads before their replies. */
    async ofRecords(tableId: string, recordIds: readonly string[]): Promise<CommentRow[]> {
      const found: CommentRow[] = []
      for (const batch of inBatches(recordIds)) {
        const isAmong = and(eq(comments.tableId, tableId), inArray(comments.recordId, batch))
        const order = [asc(comments.createdAt), asc(comments.id)]
        found.push(
          ...(await db
            .select()
            .from(comments)
            .where(isAmong)
            .orderBy(...order)),
        )
      }
      return found
    },

    /** Those of the ids that comments have. */
    async existing(ids: readonly string[]): Promise<Set<string>> {
      const found = new Set<string>()
      for (const batch of inBatches(ids)) {
        const rows = await db.select({ id: comments.id }).from(comments).where(inArray(comments.id, batch))
        for (const { id } of rows) found.add(id)
      }
      return found
    },

    async countOfTable(tableId: string): Promise<number> {
      const [row] = await db.select({ n: count() }).from(comments).where(eq(comments.tableId, tableId))
      return Number(row?.n ?? 0)
    },

    /** A page of a table's comments in the order of their ids, after one of them. */
    pageOfTable: (tableId: string, after: string, limit: number): Promise<CommentRow[]> =>
      Promise.resolve(
        db
          .select()
          .from(comments)
          .where(and(eq(comments.tableId, tableId), gt(comments.id, after)))
          .orderBy(asc(comments.id))
          .limit(limit),
      ),

    async countOfRecord(tableId: string, recordId: string): Promise<number> {
      const [row] = await db.select({ n: count() }).from(comments).where(onRecord(tableId, recordId))
      return Number(row?.n ?? 0)
    },

    /** The numbers of comments of records that have any. */
    async counts(tableId: string, recordIds: readonly string[]): Promise<Map<string, number>> {
      if (recordIds.length === 0) return new Map()
      const rows = await db
        .select({ recordId: comments.recordId, n: count() })
        .from(comments)
        .where(and(eq(comments.tableId, tableId), inArray(comments.recordId, [...recordIds])))
        .groupBy(comments.recordId)
      return new Map(rows.map(({ recordId, n }) => [recordId, Number(n)]))
    },

    /** Open threads of a base, newest first. */
    openThreads: (baseId: string, after: ThreadCursor | null, limit: number): Promise<CommentRow[]> =>
      Promise.resolve(
        db
          .select()
          .from(comments)
          .where(
            and(
              eq(comments.baseId, baseId),
              isNull(comments.parentId),
              isNull(comments.resolvedBy),
              isAfter(after),
            ),
          )
          .orderBy(desc(comments.createdAt), desc(comments.id))
          .limit(limit),
      ),

    /** The comments of a base that match, newest first. */
    ofBase: (
      baseId: string,
      { actorId, tableId, recordId, from, to }: CommentFilter,
      after: ThreadCursor | null,
      limit: number,
    ): Promise<CommentRow[]> =>
      Promise.resolve(
        db
          .select()
          .from(comments)
          .where(
            and(
              eq(comments.baseId, baseId),
              actorId === undefined
                ? undefined
                : and(eq(comments.createdBy, actorId), isNull(comments.authorName)),
              tableId === undefined ? undefined : eq(comments.tableId, tableId),
              recordId === undefined ? undefined : eq(comments.recordId, recordId),
              from === undefined ? undefined : gte(comments.createdAt, from),
              to === undefined ? undefined : lte(comments.createdAt, to),
              isAfter(after),
            ),
          )
          .orderBy(desc(comments.createdAt), desc(comments.id))
          .limit(limit),
      ),

    /** The numbers of replies by thread. */
    async replies(threadIds: readonly string[]): Promise<Map<string, number>> {
      if (threadIds.length === 0) return new Map()
      const rows = await db
        .select({ parentId: comments.parentId, n: count() })
        .from(comments)
        .where(inArray(comments.parentId, [...threadIds]))
        .groupBy(comments.parentId)
      return new Map(rows.map(({ parentId, n }) => [parentId ?? '', Number(n)]))
    },

    /** Those of some comments that are there, with the ids of the replies to them. */
    async present(
      ids: readonly string[],
    ): Promise<Map<string, Pick<CommentRow, 'text' | 'parentId'> & { replies: string[] }>> {
      const found = new Map<string, Pick<CommentRow, 'text' | 'parentId'> & { replies: string[] }>()
      for (const batch of inBatches(ids)) {
        const { id, text, parentId } = comments
        const rows = await db.select({ id, text, parentId }).from(comments).where(inArray(id, batch))
        for (const row of rows) found.set(row.id, { text: row.text, parentId: row.parentId, replies: [] })
        const replies = await db.select({ id, parentId }).from(comments).where(inArray(parentId, batch))
        for (const reply of replies) found.get(reply.parentId ?? '')?.replies.push(reply.id)
      }
      return found
    },

    async reactions(commentIds: readonly string[]): Promise<ReactionRow[]> {
      const found: ReactionRow[] = []
      for (const batch of inBatches(commentIds))
        found.push(
          ...(await db
            .select()
            .from(commentReactions)
            .where(inArray(commentReactions.commentId, batch))
            .orderBy(asc(commentReactions.createdAt), asc(commentReactions.userId))),
        )
      return found
    },

    /** The people who wrote in a thread, without those who only imported comments of others. */
    async authorsInThread(threadId: string): Promise<string[]> {
      const rows = await db
        .selectDistinct({ userId: comments.createdBy })
        .from(comments)
        .where(and(inThread(threadId), isNull(comments.authorName)))
      return rows.map(({ userId }) => userId)
    },

    /** A comment with its replies. */
    async idsInThread(id: string): Promise<string[]> {
      return (await db.select({ id: comments.id }).from(comments).where(inThread(id))).map((row) => row.id)
    },

    /** All comments of a base with their reactions, in the metadata of a backup. */
    async allIn(
      from: MetaReader,
      baseId: string,
    ): Promise<{ comments: CommentRow[]; reactions: ReactionRow[] }> {
      const found = await from.select().from(comments).where(eq(comments.baseId, baseId))
      const reactions = await from
        .select({ reaction: commentReactions })
        .from(commentReactions)
        .innerJoin(comments, eq(comments.id, commentReactions.commentId))
        .where(eq(comments.baseId, baseId))
      return { comments: found, reactions: reactions.map(({ reaction }) => reaction) }
    },

    /** A page of a base's comments in the order of their ids, after one of them. */
    page: (baseId: string, after: string, limit: number): Promise<CommentRow[]> =>
      Promise.resolve(
        db
          .select()
          .from(comments)
          .where(and(eq(comments.baseId, baseId), gt(comments.id, after)))
          .orderBy(asc(comments.id))
          .limit(limit),
      ),

    /** Statements that store many comments and reactions. */
    insertAll: (rows: readonly CommentRow[], reactions: readonly ReactionRow[]): MetaStatement[] => [
      ...inBatches(rows).map((batch) => db.insert(comments).values(batch)),
      ...inBatches(reactions).map((batch) => db.insert(commentReactions).values(batch)),
    ],

    /** Stores a comment; one with the same id stays as it is. */
    insert: (row: CommentRow): MetaStatement => db.insert(comments).values(row).onConflictDoNothing(),

    /** Statements that store a reply, unless its thread is gone. */
    insertReply: (row: CommentRow, threadId: string): MetaStatement[] => [
      // Waits for a transaction that removes the thread, or lets it wait for the reply.
      updating(threadId, { id: threadId }),
      db.insert(comments).values(row).onConflictDoNothing(),
      db
        .delete(comments)
        .where(
          and(
            eq(comments.id, row.id),
            sql`not exists (select 1 from comments thread where thread.id = ${threadId})`,
          ),
        ),
    ],

    /** The comments of a table that seem to mention somebody. */
    mentioning: (tableId: string): Promise<CommentRow[]> =>
      Promise.resolve(
        db
          .select()
          .from(comments)
          .where(and(eq(comments.tableId, tableId), like(comments.text, `%${MENTION_START}%`))),
      ),

    /**
     * Statements that give the comments of a table to another one, and copies of them to the former. The database does all by
     * itself: writers wait meanwhile.
     *
     * @param to `ids`: new ids of fields, among others
     */
    moveAll(
      from: { baseId: string; tableId: string },
      to: { baseId: string; tableId: string; ids: ReadonlyMap<string, string> },
    ): MetaStatement[] {
      const isMoved = eq(comments.tableId, to.tableId)
      const suffix = randomText(COPY_SUFFIX_LENGTH)
      const copyId = (column: AnyColumn) => sql`substr(${column}, 1, ${ID_LENGTH}) || ${suffix}`
      return [
        db
          .update(comments)
          .set({ baseId: to.baseId, tableId: to.tableId })
          .where(eq(comments.tableId, from.tableId)),
        db.insert(comments).select(
          db
            .select({
              ...getTableColumns(comments),
              id: copyId(comments.id).as('id'),
              baseId: sql`${from.baseId}`.as('base_id'),
              tableId: sql`${from.tableId}`.as('table_id'),
              parentId: copyId(comments.parentId).as('parent_id'),
            })
            .from(comments)
            .where(isMoved),
        ),
        db.insert(commentReactions).select(
          db
            .select({
              ...getTableColumns(commentReactions),
              commentId: copyId(commentReactions.commentId).as('comment_id'),
            })
            .from(commentReactions)
            .innerJoin(comments, eq(comments.id, commentReactions.commentId))
            .where(isMoved),
        ),
        ...Array.from(idBatches(to.ids), (batch) =>
          db
            .update(comments)
            .set({ fieldId: renamedIds(comments.fieldId, batch) })
            .where(and(isMoved, isNotNull(comments.fieldId))),
        ),
      ]
    },

    /** Statements that remove comments with their reactions, without those that others than these reply to. */
    removeUnanswered(ids: readonly string[]): MetaStatement[] {
      const answered = db
        .select({ id: comments.parentId })
        .from(comments)
        .where(and(inArray(comments.parentId, [...ids]), notInArray(comments.id, [...ids])))
      const unanswered = and(inArray(comments.id, [...ids]), notInArray(comments.id, answered))
      const removed = db.select({ id: comments.id }).from(comments).where(unanswered)
      return [
        // Waits for a reply that is being stored.
        db
          .update(comments)
          .set({ id: sql`${comments.id}` })
          .where(inArray(comments.id, [...ids])),
        db.delete(commentReactions).where(inArray(commentReactions.commentId, removed)),
        db.delete(comments).where(unanswered),
      ]
    },

    /** Statements that remove comments with their reactions, without replies to them. */
    removeAll: (ids: readonly string[]): MetaStatement[] => [
      db.delete(commentReactions).where(inArray(commentReactions.commentId, [...ids])),
      db.delete(comments).where(inArray(comments.id, [...ids])),
    ],

    /** The statement that changes a comment. */
    updating,

    async update(id: string, patch: Partial<CommentRow>): Promise<void> {
      await updating(id, patch)
    },

    /** Statements that remove a comment with its replies and all reactions. */
    removing(id: string): MetaStatement[] {
      const ids = db.select({ id: comments.id }).from(comments).where(inThread(id))
      return [
        db.delete(commentReactions).where(inArray(commentReactions.commentId, ids)),
        // The thread first: replies that are stored meanwhile are there once this statement has waited for them.
        db.delete(comments).where(eq(comments.id, id)),
        db.delete(comments).where(eq(comments.parentId, id)),
      ]
    },

    async react(row: ReactionRow): Promise<void> {
      await db.insert(commentReactions).values(row).onConflictDoNothing()
    },

    /** Statements that store reactions; those that are there stay. */
    reacting: (rows: readonly ReactionRow[]): MetaStatement[] =>
      inBatches(rows).map((batch) => db.insert(commentReactions).values(batch).onConflictDoNothing()),

    /** Gives comments another author, and returns their records. */
    async attribute(
      ids: readonly string[],
      author: Pick<CommentRow, 'createdBy' | 'authorName'>,
    ): Promise<Pick<CommentRow, 'baseId' | 'tableId' | 'recordId'>[]> {
      const records = new Map<string, Pick<CommentRow, 'baseId' | 'tableId' | 'recordId'>>()
      const { baseId, tableId, recordId } = comments
      for (const batch of inBatches(ids)) {
        const rows = await db
          .update(comments)
          .set(author)
          .where(inArray(comments.id, batch))
          .returning({ baseId, tableId, recordId })
        for (const row of rows) records.set(`${row.tableId} ${row.recordId}`, row)
      }
      return [...records.values()]
    },

    async unreact({ commentId, userId, emoji }: Omit<ReactionRow, 'createdAt'>): Promise<void> {
      await db
        .delete(commentReactions)
        .where(
          and(
            eq(commentReactions.commentId, commentId),
            eq(commentReactions.userId, userId),
            eq(commentReactions.emoji, emoji),
          ),
        )
    },

    forRemovedBase(baseId: string): MetaStatement[] {
      const ids = db.select({ id: comments.id }).from(comments).where(eq(comments.baseId, baseId))
      return [
        db.delete(commentReactions).where(inArray(commentReactions.commentId, ids)),
        db.delete(comments).where(eq(comments.baseId, baseId)),
      ]
    },
  }
}

/** Well below every engine's limit of bound parameters. */
const ROWS_PER_STATEMENT = 200

function inBatches<T>(rows: readonly T[]): T[][] {
  const found: T[][] = []
  for (let from = 0; from < rows.length; from += ROWS_PER_STATEMENT)
    found.push(rows.slice(from, from + ROWS_PER_STATEMENT))
  return found
}
