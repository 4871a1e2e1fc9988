import { and, asc, eq, gt, lt, lte, or } from 'drizzle-orm'
import { createId } from '../core/ids.ts'
import type { Columns } from '../db/columns.ts'
import type { Meta } from '../db/meta.ts'
import { seal, unseal } from '../secrets.ts'
import type { MailContent } from './message.ts'

/** A mail as it is handed in: each recipient gets one of their own. */
export interface NewMail {
  topic: string
  event: string
  recipients: readonly string[]
  content: MailContent
  /** Milliseconds since 1970: not to be sent later than this. */
  expiresAt?: number
}

/** A mail that this process alone may send, until its lease ends. */
export interface ClaimedMail {
  id: string
  topic: string
  recipient: string
  /** This attempt included. */
  attempts: number
  /** Null where it was sealed with another key. */
  content: MailContent | null
  isExpired: boolean
}

/** Well above the longest attempt: what is still leased then was left by a process that is gone. */
const LEASE_MS = 10 * 60_000
/** How long ended mails can be seen. */
const SENT_KEPT_MS = 7 * 86_400_000
const FAILED_KEPT_MS = 30 * 86_400_000
/** Mails that are looked at in one round. */
const ROUND = 50

/** The mails in the metadata database. */
export function createOutbox(meta: Pick<Meta, 'db' | 'tables'>, key: Uint8Array) {
  const { db } = meta
  const mails = meta.tables(defineOutboxTable)
  const isDue = (now: number) => and(eq(mails.status, 'waiting'), lte(mails.dueAt, now))

  return {
    async add({ recipients, content, expiresAt, ...mail }: NewMail): Promise<void> {
      const now = Date.now()
      const rows = recipients.map((recipient) => ({
        ...mail,
        id: createId('mail'),
        recipient,
        content: seal(key, JSON.stringify(content)),
        status: 'waiting' as const,
        attempts: 0,
        dueAt: now,
        createdAt: now,
        expiresAt: expiresAt ?? null,
      }))
      if (rows.length > 0) await db.insert(mails).values(rows)
    },

    /** Of how many events of a topic mails were handed in since then. */
    async countEvents(topic: string, since: number): Promise<number> {
      const rows = await db
        .selectDistinct({ event: mails.event })
        .from(mails)
        .where(and(eq(mails.topic, topic), gt(mails.createdAt, since)))
      return rows.length
    },

    /** Ids of what is to be tried now, the longest due first. */
    async due(now: number): Promise<string[]> {
      const rows = await db
        .select({ id: mails.id })
        .from(mails)
        .where(isDue(now))
        .orderBy(asc(mails.dueAt), asc(mails.id))
        .limit(ROUND)
      return rows.map(({ id }) => id)
    },

    /** Takes a mail for this process; null where another has. */
    async claim(id: string, now: number): Promise<ClaimedMail | null> {
      const [{ attempts } = { attempts: 0 }] = await db
        .select({ attempts: mails.attempts })
        .from(mails)
        .where(eq(mails.id, id))
      // Of two who have read the same, the later one finds it changed.
      const [row] = await db
        .update(mails)
        .set({ attempts: attempts + 1, dueAt: now + LEASE_MS })
        .where(and(eq(mails.id, id), isDue(now), eq(mails.attempts, attempts)))
        .returning()
      if (!row) return null
      const text = row.content === null ? null : unseal(key, row.content)
      return {
        id,
        topic: row.topic,
        recipient: row.recipient,
        attempts: row.attempts,
        content: text === null ? null : (JSON.parse(text) as MailContent),
        isExpired: row.expiresAt !== null && row.expiresAt <= now,
      }
    },

    /** Keeps the fact that the mail was sent and drops its content. */
    async sent(id: string): Promise<void> {
      await db.update(mails).set({ status: 'sent', content: null, error: null }).where(eq(mails.id, id))
    },

    async postpone(id: string, dueAt: number, error: string): Promise<void> {
      await db.update(mails).set({ dueAt, error }).where(eq(mails.id, id))
    },

    async giveUp(id: string, error: string): Promise<void> {
      await db.update(mails).set({ status: 'failed', error }).where(eq(mails.id, id))
    },

    async forgetOld(now: number): Promise<void> {
      const isOld = or(
        and(eq(mails.status, 'sent'), lt(mails.createdAt, now - SENT_KEPT_MS)),
        and(eq(mails.status, 'failed'), lt(mails.createdAt, now - FAILED_KEPT_MS)),
      )
      await db.delete(mails).where(isOld)
    },
  }
}

/** Mails that wait for the mail server, and for a while those that went out or were given up. */
function defineOutboxTable(c: Columns) {
  return c.table(
    'mails',
    {
      id: c.text('id').primaryKey(),
      /** Key for rate limits: `form <viewId>`, `reset <userId>`. */
      topic: c.text('topic').notNull(),
      /** Event id, shared by the mails to all its recipients. */
      event: c.text('event').notNull(),
      /** A single address. */
      recipient: c.text('recipient').notNull(),
      /** The `MailContent`, sealed: it may hold a link that lets in. Null once it is sent. */
      content: c.text('content'),
      status: c.text('status').$type<'waiting' | 'sent' | 'failed'>().notNull(),
      /** How often it was tried, or is being tried. */
      attempts: c.integer('attempts').notNull(),
      /** Milliseconds since 1970: when it is tried next. While it is being tried, when another process may. */
      dueAt: c.bigInteger('due_at').notNull(),
      /** Milliseconds since 1970: it is of no use any more. Null: it keeps its use. */
      expiresAt: c.bigInteger('expires_at'),
      /** Last error of the mail server. */
      error: c.text('error'),
      /** Milliseconds since 1970. */
      createdAt: c.bigInteger('created_at').notNull(),
    },
    (t) => [c.index('mails_due').on(t.status, t.dueAt), c.index('mails_topic').on(t.topic, t.createdAt)],
  )
}
