import type { Columns } from '../../src/db/columns.ts'

/** Icon and colours, and what else clients keep with a base. */
export interface BaseMeta {
  [key: string]: unknown
  iconColor?: string
  icon?: string
  theme?: unknown
}

/** The databases that a source may be, by the names that REST clients know. */
export type SourceClient = 'sqlite3' | 'pg' | 'mysql2'

export function defineBasesTables(c: Columns) {
  const bases = c.table('bases', {
    id: c.text('id').primaryKey(),
    title: c.text('title').notNull(),
    description: c.text('description'),
    meta: c.json('meta').$type<BaseMeta>().notNull(),
    /** Place in the list of bases; a new place between two others is a number between theirs. */
    order: c.real('order').notNull(),
    createdBy: c.text('created_by').notNull(),
    createdAt: c.text('created_at').notNull(),
    updatedAt: c.text('updated_at').notNull(),
    /** Set while the base is in the trash. */
    deletedAt: c.text('deleted_at'),
    /** For how many days deleted things and the change log are kept, 0 for ever; null: as the server does. */
    historyDays: c.integer('history_days'),
    /** What is older has been removed from the change log; null: it is complete. */
    historySince: c.text('history_since'),
  })
  /** The databases a base reads; the first is its own. */
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
      /** True for the database that the product made for the base. */
      isOwn: c.flag('is_own').notNull(),
      /** How to reach a database that is not ours: JSON, encrypted. Never sent to a browser. */
      config: c.text('config'),
      /** Names of tables that were not chosen: they are added only when someone asks for them. */
      leftOut: c.json('left_out').$type<string[]>(),
      isSchemaReadonly: c.flag('is_schema_readonly').notNull().default(false),
      isDataReadonly: c.flag('is_data_readonly').notNull().default(false),
      /** Hidden from the tree of tables while false. */
      isEnabled: c.flag('is_enabled').notNull().default(true),
      order: c.real('order').notNull(),
      createdAt: c.text('created_at').notNull(),
      updatedAt: c.text('updated_at').notNull(),
    },
    (t) => [c.index('sources_base').on(t.baseId)],
  )
  /** How one person has arranged their list of bases. */
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
      /** Place in their list. Bases without one follow, in their common order. */
      order: c.real('order'),
    },
    (t) => [c.primaryKey({ columns: [t.userId, t.baseId] })],
  )
  return { bases, sources, basePreferences }
}
