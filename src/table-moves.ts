import type { MetaStatement } from './db/meta.ts'

/** Tables that move from one base to another, where they get new ids. */
export interface TableMove {
  fromBaseId: string
  toBaseId: string
  /** New ids by the old ones. Fields and views that do not move are missing. */
  tables: ReadonlyMap<string, string>
  fields: ReadonlyMap<string, string>
  views: ReadonlyMap<string, string>
}

/** A module's part in a move. */
export interface MoveTables {
  /** Joins the transaction of the metadata in which the tables appear in their new base. */
  statements(move: TableMove): Promise<MetaStatement[]>
  /** Called after it. */
  moved?(move: TableMove): void
}
