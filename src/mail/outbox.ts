import { and, asc, eq, gt, lt, lte, or } from 'drizzle-orm'
import { nowMs } from '../clock.ts'
import { createId } from '../core/ids.ts'
import type { Meta, MetaStatement } from '../db/meta.ts'
import { seal, unseal } from '../secrets.ts'
import type { MailContent } from './message.ts'
import { defineOutboxTable } from './outbox-table.ts'

/** A mail to be sent, separately to each recipient. */
export interface NewMail {
  /** Of a mail to one recipient; random if absent. A second mail with the same id is refused. */
  id?: string
  topic: string
  event: string
  recipients: readonly string[]
  content: MailContent
  /** Milliseconds since 1970 after which it is not sent. */
  expiresAt?: number
}

/** A mail leased to this process for sending. */
export interface ClaimedMail {
  id: string
  topic: string
  recipient: string
  /** Including this attempt. */
  attempts: number
  /** Null if sealed with another key. */
  content: MailContent | null
  isExpired: boolean
}

/** Well above the longest attempt: a lease that lasts longer was left by an ended process. */
const LEASE_MS = 10 * 60_000
/** Retention of ended mails. */
const SENT_KEPT_MS = 7 * 86_400_000
const FAILED_KEPT_MS = 30 * 86_400_000
/** Mails per round. */
const ROUND = 50

/** The mails in the metadata database. */
export function createOutbox(meta: Pick<Meta, 'db' | 'tables'>, key: Uint8Array) {
  const { db } = meta
  const mails = meta.tables(defineOutboxTable)
  const isDue = (now: number) => and(eq(mails.status, 'waiting'), lte(mails.dueAt, now))

  return {
    /** Statements that store a mail. */
    add({ id, recipients, content, expiresAt, ...mail }: NewMail): MetaStatement[] {
      const now = nowMs()
      const rows = recipients.map((recipient) => ({
        ...mail,
        id: id ?? createId('mail'),
        recipient,
        content: seal(key, JSON.stringify(content)),
        status: 'waiting' as const,
        attempts: 0,
        dueAt: now,
        createdAt: now,
        expiresAt: expiresAt ?? null,
      }))
      return rows.length > 0 ? [db.insert(mails).values(rows)] : []
    },

    /** The number of a topic's events with mails since a time. */
    async countEvents(topic: string, since: number): Promise<number> {
      const rows = await db
        .selectDistinct({ event: mails.event })
        .from(mails)
        .where(and(eq(mails.topic, topic), gt(mails.createdAt, since)))
      return rows.length
    },

    /** Ids of due mails, the longest due first. */
    async due(now: number): Promise<string[]> {
      const rows = await db
        .select({ id: mails.id })
        .from(mails)
        .where(isDue(now))
        .orderBy(asc(mails.dueAt), asc(mails.id))
        .limit(ROUND)
      return rows.map(({ id }) => id)
    },

    /** Leases a mail to this process; null if another has it. */
    async claim(id: string, now: number): Promise<ClaimedMail | null> {
      const [{ attempts } = { attempts: 0 }] = await db
        .select({ attempts: mails.attempts })
        .from(mails)
        .where(eq(mails.id, id))
      // Optimistic lock: of two processes that read the same attempt, one updates no row.
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

    /** Marks the mail as sent and drops its content. */
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
