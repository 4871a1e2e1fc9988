import { and, asc, count, desc, eq, inArray, isNotNull, lt, lte, not, or, type SQL, sql } from 'drizzle-orm'
import type { MetaStatement } from '../../src/db/meta.ts'
import { idBatches, renamedIds } from '../../src/db/renamed-ids.ts'
import type { Kernel } from '../../src/kernel.ts'
import type { TableMove } from '../../src/table-moves.ts'
import { defineNotificationTables } from './tables.ts'

type Tables = ReturnType<typeof defineNotificationTables>
export type NotificationRow = Tables['notifications']['$inferSelect']

/** Where a page begins: after a notification in the order of the list. */
export interface ListCursor {
  at: string
  id: string
}

/** Rows per statement. */
const INSERTED_AT_ONCE = 50
const NAMED_AT_ONCE = 500

/** The rows of notifications. */
export function createNotificationStore({ meta }: Pick<Kernel, 'meta'>) {
  const { notifications } = meta.tables(defineNotificationTables)
  const { db } = meta
  const ofUser = (userId: string, condition?: SQL) => and(eq(notifications.userId, userId), condition)
  const unread = eq(notifications.isRead, false)
  /** Read notifications are in no mail. */
  const read = { isRead: true, mailDueAt: null }

  return {
    /** A page of a user's notifications, newest first. */
    async list(
      userId: string,
      { unreadOnly, after, limit }: { unreadOnly: boolean; after: ListCursor | null; limit: number },
    ): Promise<NotificationRow[]> {
      const isAfter =
        after === null
          ? undefined
          : or(
              lt(notifications.at, after.at),
              and(eq(notifications.at, after.at), lt(notifications.id, after.id)),
            )
      return db
        .select()
        .from(notifications)
        .where(ofUser(userId, and(unreadOnly ? unread : undefined, isAfter)))
        .orderBy(desc(notifications.at), desc(notifications.id))
        .limit(limit)
    },

    /** A page by offset, as REST asks for it; `isRead`: only those. */
    async page(
      userId: string,
      { isRead, limit, offset }: { isRead: boolean | null; limit: number; offset: number },
    ): Promise<{ rows: NotificationRow[]; total: number }> {
      const where = ofUser(userId, isRead === null ? undefined : eq(notifications.isRead, isRead))
      const [rows, [counted]] = await Promise.all([
        db
          .select()
          .from(notifications)
          .where(where)
          .orderBy(desc(notifications.at), desc(notifications.id))
          .limit(limit)
          .offset(offset),
        db.select({ n: count() }).from(notifications).where(where),
      ])
      return { rows, total: Number(counted?.n ?? 0) }
    },

    async countUnread(userId: string): Promise<number> {
      const [row] = await db.select({ n: count() }).from(notifications).where(ofUser(userId, unread))
      return Number(row?.n ?? 0)
    },

    /** Marks notifications of a user; those of others are left alone. */
    async mark(userId: string, ids: readonly string[], isRead: boolean): Promise<void> {
      await db
        .update(notifications)
        .set(isRead ? read : { isRead })
        .where(ofUser(userId, inArray(notifications.id, [...ids])))
    },

    async markAllRead(userId: string): Promise<void> {
      await db.update(notifications).set(read).where(ofUser(userId, unread))
    },

    async remove(userId: string, id: string): Promise<void> {
      await db.delete(notifications).where(ofUser(userId, eq(notifications.id, id)))
    },

    /** Statements that store new rows. With `accumulates`, a row with the key of an earlier one adds to it. */
    insert(rows: readonly NotificationRow[], accumulates: boolean): MetaStatement[] {
      const statements: MetaStatement[] = []
      for (let start = 0; start < rows.length; start += INSERTED_AT_ONCE) {
        const insert = db.insert(notifications).values(rows.slice(start, start + INSERTED_AT_ONCE))
        const target = [notifications.userId, notifications.key]
        statements.push(
          accumulates
            ? insert.onConflictDoUpdate({
                target,
                set: {
                  count: sql`${notifications.count} + excluded.count`,
                  // Several records have none to open.
                  recordId: sql`case when ${notifications.recordId} = excluded.record_id then excluded.record_id end`,
                  actorId: sql`excluded.actor_id`,
                  detail: sql`excluded.detail`,
                  isRead: false,
                  mailDueAt: sql`coalesce(${notifications.mailDueAt}, excluded.mail_due_at)`,
                  at: sql`excluded.at`,
                },
              })
            : insert.onConflictDoNothing({ target }),
        )
      }
      return statements
    },

    /** Removes new notifications of an event that has not happened. */
    removeUnless: (ids: readonly string[], isDone: SQL): MetaStatement[] =>
      ids.length === 0
        ? []
        : [db.delete(notifications).where(and(inArray(notifications.id, [...ids]), not(isDone)))],

    withdraw: (refs: readonly string[]): MetaStatement[] =>
      refs.length === 0 ? [] : [db.delete(notifications).where(inArray(notifications.ref, [...refs]))],

    /** The recipients of notifications with these references. */
    async recipientsOf(refs: readonly string[]): Promise<string[]> {
      if (refs.length === 0) return []
      const rows = await db
        .selectDistinct({ userId: notifications.userId })
        .from(notifications)
        .where(inArray(notifications.ref, [...refs]))
      return rows.map(({ userId }) => userId)
    },

    /** Replaces the text of a comment in the notifications of it. */
    revise: (ref: string, text: string): MetaStatement =>
      db.update(notifications).set({ detail: { text } }).where(eq(notifications.ref, ref)),

    /** Unread notifications of some kinds in a base, to which new events are added. */
    async unreadInBase(
      baseId: string,
      kinds: readonly NotificationRow['kind'][],
      userIds: readonly string[],
    ): Promise<NotificationRow[]> {
      const rows: NotificationRow[] = []
      for (let start = 0; start < userIds.length; start += NAMED_AT_ONCE) {
        const some = inArray(notifications.userId, userIds.slice(start, start + NAMED_AT_ONCE))
        rows.push(
          ...(await db
            .select()
            .from(notifications)
            .where(
              and(some, unread, eq(notifications.baseId, baseId), inArray(notifications.kind, [...kinds])),
            )),
        )
      }
      return rows
    },

    removeIds: (ids: readonly string[]): MetaStatement[] =>
      ids.length === 0 ? [] : [db.delete(notifications).where(inArray(notifications.id, [...ids]))],

    /** The people who are due a mail at a time, the longest due first. */
    async peopleDue(now: number, limit: number): Promise<string[]> {
      const rows = await db
        .select({ userId: notifications.userId, at: sql<number>`min(${notifications.mailDueAt})`.as('due') })
        .from(notifications)
        .where(and(isNotNull(notifications.mailDueAt), lte(notifications.mailDueAt, now)))
        .groupBy(notifications.userId)
        .orderBy(asc(sql`min(${notifications.mailDueAt})`))
        .limit(limit)
      return rows.map(({ userId }) => userId)
    },

    /** The unread notifications that are due in a mail to a person, oldest first. */
    due: async (userId: string, now: number, limit: number): Promise<NotificationRow[]> =>
      db
        .select()
        .from(notifications)
        .where(ofUser(userId, and(unread, lte(notifications.mailDueAt, now))))
        .orderBy(asc(notifications.at), asc(notifications.id))
        .limit(limit),

    /** Marks all that was due in a mail to a person as sent, and what is in the mail, also if its time has changed since. */
    mailed: (userId: string, now: number, ids: readonly string[]): MetaStatement =>
      db
        .update(notifications)
        .set({ mailDueAt: null })
        .where(ofUser(userId, or(lte(notifications.mailDueAt, now), inArray(notifications.id, [...ids])))),

    /** Lets all that is due in a mail to a person wait. */
    postpone: (userId: string, now: number, until: number): MetaStatement =>
      db
        .update(notifications)
        .set({ mailDueAt: until })
        .where(ofUser(userId, lte(notifications.mailDueAt, now))),

    /** The notifications of a person that wait for a mail. */
    async awaitingMail(userId: string): Promise<Pick<NotificationRow, 'id' | 'baseId' | 'kind'>[]> {
      return db
        .select({ id: notifications.id, baseId: notifications.baseId, kind: notifications.kind })
        .from(notifications)
        .where(ofUser(userId, isNotNull(notifications.mailDueAt)))
    },

    /** Sets when notifications that wait for a mail are due in one; null: in none. */
    setMailTime(ids: readonly string[], mailDueAt: number | null): MetaStatement[] {
      const statements: MetaStatement[] = []
      for (let start = 0; start < ids.length; start += NAMED_AT_ONCE) {
        const some = inArray(notifications.id, ids.slice(start, start + NAMED_AT_ONCE))
        // Others may have been mailed meanwhile.
        const waiting = and(some, isNotNull(notifications.mailDueAt))
        statements.push(db.update(notifications).set({ mailDueAt }).where(waiting))
      }
      return statements
    },

    /** Removes notifications from before a time, and all but the newest `max` of each user. */
    async forget(before: string, max: number): Promise<void> {
      await db.delete(notifications).where(lt(notifications.at, before))
      const full = await db
        .select({ userId: notifications.userId })
        .from(notifications)
        .groupBy(notifications.userId)
        .having(sql`count(*) > ${max}`)
      for (const { userId } of full) {
        const [oldest] = await db
          .select({ at: notifications.at })
          .from(notifications)
          .where(ofUser(userId))
          .orderBy(desc(notifications.at))
          .limit(1)
          .offset(max)
        if (oldest) await db.delete(notifications).where(ofUser(userId, lte(notifications.at, oldest.at)))
      }
    },

    /** Notifications of tables that move to another base lead there. */
    forMovedTables: ({ fromBaseId, toBaseId, tables, fields, views }: TableMove): MetaStatement[] => {
      const ofTables = (batch: [string, string][]) =>
        and(
          eq(notifications.baseId, fromBaseId),
          inArray(
            notifications.tableId,
            batch.map(([id]) => id),
          ),
        )
      return Array.from(idBatches(tables), (batch) => [
        ...Array.from(idBatches(fields), (ids) =>
          db
            .update(notifications)
            .set({ fieldId: renamedIds(notifications.fieldId, ids) })
            .where(and(ofTables(batch), isNotNull(notifications.fieldId))),
        ),
        ...Array.from(idBatches(views), (ids) =>
          db
            .update(notifications)
            .set({ viewId: renamedIds(notifications.viewId, ids) })
            .where(and(ofTables(batch), isNotNull(notifications.viewId))),
        ),
        db
          .update(notifications)
          .set({ baseId: toBaseId, tableId: renamedIds(notifications.tableId, batch) })
          .where(ofTables(batch)),
      ]).flat()
    },
    forRemovedBase: (baseId: string): MetaStatement[] => [
      db.delete(notifications).where(eq(notifications.baseId, baseId)),
    ],
  }
}

export type NotificationStore = ReturnType<typeof createNotificationStore>
