import type { Columns } from '../../src/db/columns.ts'

/** Uploads that wait for their import; the files are in the data folder. */
export function defineImportsTables(c: Columns) {
  const uploads = c.table('uploads', {
    id: c.text('id').primaryKey(),
    userId: c.text('user_id').notNull(),
    fileName: c.text('file_name').notNull(),
    /** Bytes. */
    size: c.bigInteger('size').notNull(),
    createdAt: c.text('created_at').notNull(),
  })
  return { uploads }
}
