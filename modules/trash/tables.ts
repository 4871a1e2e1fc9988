import type { AttachmentItem } from '../../src/core/fields/attachment-item.ts'
import type { Columns } from '../../src/db/columns.ts'

/** Files in the trash. Other deleted items are kept where they were. */
export function defineTrashTables(c: Columns) {
  /** Files that were removed from cells of live records and can be put back. */
  const detachedFiles = c.table(
    'detached_files',
    {
      id: c.serial('id'),
      baseId: c.text('base_id').notNull(),
      tableId: c.text('table_id').notNull(),
      fieldId: c.text('field_id').notNull(),
      /** The record's id as text, whatever its type. */
      recordId: c.text('record_id').notNull(),
      path: c.text('path').notNull(),
      /** As it was in the cell. */
      item: c.json('item').$type<AttachmentItem>().notNull(),
      detachedAt: c.text('detached_at').notNull(),
      detachedBy: c.text('detached_by'),
    },
    (table) => [
      c.uniqueIndex('detached_files_cell').on(table.tableId, table.recordId, table.fieldId, table.path),
      c.index('detached_files_base').on(table.baseId, table.detachedAt, table.id),
    ],
  )
  return { detachedFiles }
}
