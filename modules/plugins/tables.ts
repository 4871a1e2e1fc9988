import type { Columns } from '../../src/db/columns.ts'

/** Configured plugins, and the buckets in which files have been stored. */
export function definePluginsTables(c: Columns) {
  const plugins = c.table('plugins', {
    /** The id of a definition, e.g. `smtp`. */
    id: c.text('id').primaryKey(),
    isActive: c.flag('is_active').notNull(),
    /** The sealed configuration as JSON (`PluginConfig`); null: reset. */
    input: c.text('input'),
    updatedBy: c.text('updated_by').notNull(),
    updatedAt: c.text('updated_at').notNull(),
  })
  /** Rows stay when another store is chosen: `attachment_files.store_id` refers to them. */
  const fileBuckets = c.table('file_buckets', {
    /** Derived from endpoint and bucket, so that new credentials apply to files that are already stored. */
    id: c.text('id').primaryKey(),
    /** The sealed `S3Settings` as JSON. */
    settings: c.text('settings').notNull(),
    createdAt: c.text('created_at').notNull(),
  })
  return { plugins, fileBuckets }
}
