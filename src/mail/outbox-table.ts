import type { Columns } from '../db/columns.ts'

/** Mails that wait for the mail server, and for a while those that went out or were given up. */
export function defineOutboxTable(c: Columns) {
  return c.table(
    'mails',
    {
      id: c.text('id').primaryKey(),
      /** What mails are counted by: `form <viewId>`, `reset <userId>`. */
      topic: c.text('topic').notNull(),
      /** What happened; the mails to several people about the same have the same. */
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
      /** What the mail server said last. */
      error: c.text('error'),
      /** Milliseconds since 1970. */
      createdAt: c.bigInteger('created_at').notNull(),
    },
    (t) => [c.index('mails_due').on(t.status, t.dueAt), c.index('mails_topic').on(t.topic, t.createdAt)],
  )
}
