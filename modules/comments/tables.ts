import type { Columns } from '../../src/db/columns.ts'

/** Comments on records, and the reactions to them. */
export function defineCommentsTables(c: Columns) {
  const comments = c.table(
    'comments',
    {
      id: c.text('id').primaryKey(),
      baseId: c.text('base_id').notNull(),
      tableId: c.text('table_id').notNull(),
      /** The record's id as text, whatever its type. */
      recordId: c.text('record_id').notNull(),
      /** The field of a commented cell; null: the comment is on the record. */
      fieldId: c.text('field_id'),
      /** The first comment of the thread that it replies to; null: it begins a thread. */
      parentId: c.text('parent_id'),
      /** Markdown. */
      text: c.text('text').notNull(),
      createdBy: c.text('created_by').notNull(),
      /** Name of the author where the comment was imported from, if they have no account here; `createdBy` imported it. */
      authorName: c.text('author_name'),
      createdAt: c.text('created_at').notNull(),
      /** When the text was last changed; null: never. */
      updatedAt: c.text('updated_at'),
      /** Who ended the thread, and when; null while it is open. */
      resolvedBy: c.text('resolved_by'),
      resolvedAt: c.text('resolved_at'),
    },
    (table) => [
      c.index('comments_record').on(table.tableId, table.recordId),
      c.index('comments_base').on(table.baseId, table.createdAt),
    ],
  )
  const commentReactions = c.table(
    'comment_reactions',
    {
      commentId: c.text('comment_id').notNull(),
      userId: c.text('user_id').notNull(),
      emoji: c.text('emoji').notNull(),
      createdAt: c.text('created_at').notNull(),
    },
    (table) => [c.primaryKey({ columns: [table.commentId, table.userId, table.emoji] })],
  )
  return { comments, commentReactions }
}
