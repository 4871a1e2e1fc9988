import type { Columns } from '../../src/db/columns.ts'

/** Icon, colours and other keys of clients. */
export interface BaseMeta {
  [key: string]: unknown
  iconColor?: string
  icon?: string
  theme?: unknown
}

/** Clients of sources, by their names on the wire. */
export type SourceClient = 'sqlite3' | 'pg' | 'mysql2'

export function defineBasesTables(c: Columns) {
  const bases = c.table('bases', {
    id: c.text('id').primaryKey(),
    title: c.text('title').notNull(),
    description: c.text('description'),
    meta: c.json('meta').$type<BaseMeta>().notNull(),
    /** Order in lists; fractions allow moves between two others. */
    order: c.real('order').notNull(),
    createdBy: c.text('created_by').notNull(),
    createdAt: c.text('created_at').notNull(),
    updatedAt: c.text('updated_at').notNull(),
    /** Set while the base is in the trash. */
    deletedAt: c.text('deleted_at'),
    /** The user who moved it there; null if unknown. */
    deletedBy: c.text('deleted_by'),
    /** Days that the change log is kept, 0: forever; null: the server's default. */
    historyDays: c.integer('history_days'),
    /** Days that deleted items are kept, 0: as long as the change log; null: the server's default. */
    trashDays: c.integer('trash_days'),
    /** Older entries of the change log have been removed; null: complete. */
    historySince: c.text('history_since'),
  })
  /** Databases of a base; the first is its own. */
  const sources = c.table(
    'sources',
    {
      id: c.text('id').primaryKey(),
      baseId: c
        .text('base_id')
        .notNull()
        .references(() => bases.id, { onDelete: 'cascade' }),
      alias: c.text('alias'),
      client: c.text('client').$type<SourceClient>().notNull(),
      /** True for the base's own database. */
      isOwn: c.flag('is_own').notNull(),
      /** Encrypted JSON of the connection; null for the base's own. Never sent to browsers. */
      config: c.text('config'),
      /** Tables that were not chosen when the source was created. */
      leftOut: c.json('left_out').$type<string[]>(),
      isSchemaReadonly: c.flag('is_schema_readonly').notNull().default(false),
      isDataReadonly: c.flag('is_data_readonly').notNull().default(false),
      /** False: the source's tables and records are out of reach. */
      isEnabled: c.flag('is_enabled').notNull().default(true),
      order: c.real('order').notNull(),
      createdAt: c.text('created_at').notNull(),
      updatedAt: c.text('updated_at').notNull(),
    },
    (t) => [c.index('sources_base').on(t.baseId)],
  )
  /** Flags and order of bases in one person's list. */
  const basePreferences = c.table(
    'base_preferences',
    {
      baseId: c
        .text('base_id')
        .notNull()
        .references(() => bases.id, { onDelete: 'cascade' }),
      userId: c.text('user_id').notNull(),
      starred: c.flag('starred'),
      hidden: c.flag('hidden'),
      /** Null: after all with an order. */
      order: c.real('order'),
    },
    (t) => [c.primaryKey({ columns: [t.userId, t.baseId] })],
  )
  return { bases, sources, basePreferences }
}
