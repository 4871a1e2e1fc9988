import type { Columns } from '../db/columns.ts'

/** Waiting mails, and for a while those sent or given up. */
export function defineOutboxTable(c: Columns) {
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
      /** The sealed `MailContent`, which may hold a sign-in link. Null once sent. */
      content: c.text('content'),
      status: c.text('status').$type<'waiting' | 'sent' | 'failed'>().notNull(),
      /** Number of attempts, including a running one. */
      attempts: c.integer('attempts').notNull(),
      /** Milliseconds since 1970: time of the next attempt, or end of the current lease. */
      dueAt: c.bigInteger('due_at').notNull(),
      /** Milliseconds since 1970 after which it is not sent; null: no limit. */
      expiresAt: c.bigInteger('expires_at'),
      /** Last error of the mail server. */
      error: c.text('error'),
      /** Milliseconds since 1970. */
      createdAt: c.bigInteger('created_at').notNull(),
    },
    (t) => [c.index('mails_due').on(t.status, t.dueAt), c.index('mails_topic').on(t.topic, t.createdAt)],
  )
}
