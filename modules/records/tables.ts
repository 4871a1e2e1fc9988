import type { Columns } from '../../src/db/columns.ts'

/** Files that were uploaded, and the bases in whose cells they stand or stood. The bytes lie in the store. */
export function defineRecordsTables(c: Columns) {
  const attachmentFiles = c.table(
    'attachment_files',
    {
      /** As cells name it: `download/…`. */
      path: c.text('path').primaryKey(),
      userId: c.text('user_id'),
      title: c.text('title').notNull(),
      mimetype: c.text('mimetype').notNull(),
      /** Bytes. */
      size: c.bigInteger('size').notNull(),
      width: c.integer('width'),
      height: c.integer('height'),
      /** False until a cell names it; what is not used within a day is removed. */
      isUsed: c.flag('is_used').notNull(),
      createdAt: c.text('created_at').notNull(),
    },
    (table) => [c.index('attachment_files_unused').on(table.isUsed, table.createdAt)],
  )
  const attachmentUses = c.table(
    'attachment_uses',
    {
      path: c.text('path').notNull(),
      baseId: c.text('base_id').notNull(),
      /** Since when nothing in the base names the file any more, as far as the last look found; null: something does. */
      unusedSince: c.text('unused_since'),
    },
    (table) => [
      c.primaryKey({ columns: [table.path, table.baseId] }),
      c.index('attachment_uses_base').on(table.baseId),
    ],
  )
  return { attachmentFiles, attachmentUses }
}
