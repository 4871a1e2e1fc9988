import type { MetaStatement } from './db/meta.ts'

/** Tables that are moved or copied from one base to another, where they get new ids. */
export interface TableMove {
  fromBaseId: string
  toBaseId: string
  /** New ids by the old ones. Fields and views that do not move are missing. */
  tables: ReadonlyMap<string, string>
  fields: ReadonlyMap<string, string>
  views: ReadonlyMap<string, string>
  /** The columns of fields that stay as they are, by the ids of the originals. Copies of connected tables have columns of their own. */
  columns: ReadonlyMap<string, { from: string; to: string }>
}

/** A module's part in a move. */
export interface MoveTables {
  /** True for what copies of tables have as well. */
  isCopied?: true
  /** Joins the transaction of the metadata in which the tables appear in their new base. */
  statements(move: TableMove): Promise<MetaStatement[]>
  /** Called after it. */
  moved?(move: TableMove): void
}
