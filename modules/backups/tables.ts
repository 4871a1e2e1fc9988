import type { Columns } from '../../src/db/columns.ts'

/** The settings of scheduled backups: one row. */
export function defineBackupsTables(c: Columns) {
  const backupSettings = c.table('backup_settings', {
    id: c.text('id').primaryKey(),
    /** Sealed JSON (`StoredSettings`). */
    content: c.text('content').notNull(),
    updatedBy: c.text('updated_by').notNull(),
    updatedAt: c.text('updated_at').notNull(),
    /** The scheduled time of the latest scheduled backup, ISO 8601: of several servers the one that sets it makes the backup. */
    lastSlot: c.text('last_slot'),
  })
  return { backupSettings }
}
