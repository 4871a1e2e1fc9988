import type { Columns } from '../../src/db/columns.ts'

/** Uploaded files with the bases that use or used them, whose content the store has, and how far consumers have read the logs. */
export function defineRecordsTables(c: Columns) {
  const attachmentFiles = c.table(
    'attachment_files',
    {
      /** As in cells: `download/…`. */
      path: c.text('path').primaryKey(),
      userId: c.text('user_id'),
      title: c.text('title').notNull(),
      mimetype: c.text('mimetype').notNull(),
      /** Bytes. */
      size: c.bigInteger('size').notNull(),
      width: c.integer('width'),
      height: c.integer('height'),
      /** False until a cell uses it; unused files are deleted after a day. */
      isUsed: c.flag('is_used').notNull(),
      createdAt: c.text('created_at').notNull(),
      /** The store of the content and the thumbnails (`FileStores`); null: that of the environment. */
      storeId: c.text('store_id'),
    },
    (table) => [c.index('attachment_files_unused').on(table.isUsed, table.createdAt)],
  )
  const attachmentUses = c.table(
    'attachment_uses',
    {
      path: c.text('path').notNull(),
      baseId: c.text('base_id').notNull(),
      /** The time when a scan first found no use of the file in the base; null: in use. */
      unusedSince: c.text('unused_since'),
    },
    (table) => [
      c.primaryKey({ columns: [table.path, table.baseId] }),
      c.index('attachment_uses_base').on(table.baseId),
    ],
  )
  const feedPositions = c.table(
    'feed_positions',
    {
      consumer: c.text('consumer').notNull(),
      baseId: c.text('base_id').notNull(),
      /** Id of the last entry in the base's log that the consumer is done with. */
      position: c.bigInteger('position').notNull(),
    },
    (table) => [c.primaryKey({ columns: [table.consumer, table.baseId] })],
  )
  return { attachmentFiles, attachmentUses, feedPositions }
}
