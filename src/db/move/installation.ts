import type { ColumnKind, TableStore } from './store.ts'

/** Column kinds of the metadata by table and column. */
export type MetadataKinds = ReadonlyMap<string, ReadonlyMap<string, ColumnKind>>

/** The part of an installation in a move, stored in its metadata database. */
export interface MoveState {
  /** Identifies the move on both sides. */
  id: string
  role: 'source' | 'target'
  /** `moved`: the target has everything, and only it may be used. */
  state: 'moving' | 'moved'
  /** The other side, in words. */
  peer: string
  /** When the state was reached, ISO. */
  at: string
}

/** Created on the first move; not a migration, so that an installation without moves does not have it. */
const CREATE_STATE = `create table if not exists sheaf_move
  (id text not null, role text not null, state text not null, peer text not null, at text not null)`

/** The statements that store the state of a move, or remove it. @param mark the n-th placeholder, from 1 */
export function storeStateStatements(
  state: MoveState | null,
  mark: (at: number) => string,
): { sql: string; params: string[] }[] {
  const removal = [CREATE_STATE, 'delete from sheaf_move'].map((sql) => ({ sql, params: [] }))
  if (state === null) return removal
  const { id, role, state: phase, peer, at } = state
  const params = [id, role, phase, peer, at]
  const marks = params.map((_, index) => mark(index + 1))
  return [
    ...removal,
    { sql: `insert into sheaf_move (id, role, state, peer, at) values (${marks.join()})`, params },
  ]
}

/** The data of an installation on one engine: its metadata, and a home per base. */
export interface Installation {
  /** As `sources.client` names it. */
  readonly client: 'sqlite3' | 'pg'
  /** In words: `the data folder /data`, `PostgreSQL db.example.com:5432/sheaf`. */
  readonly label: string
  /** How to start a server on it: `with DATABASE_URL`. */
  readonly start: string
  /** Null if it is not part of a move, also if it does not exist. */
  state(): Promise<MoveState | null>
  /** Creates the metadata database if needed. Null: no longer part of a move. */
  setState(state: MoveState | null): Promise<void>
  /** True without accounts and homes. */
  isEmpty(): Promise<boolean>
  /** The kinds of all columns of the metadata; null if the engine does not tell. */
  kinds(): Promise<MetadataKinds | null>
  /** The metadata, to be read. */
  metadata(kinds: MetadataKinds | null): Promise<TableStore>
  /** Runs `work` over the metadata in one transaction, and sets the state in it. */
  writeMetadata(
    kinds: MetadataKinds | null,
    state: MoveState,
    work: (store: TableStore) => Promise<void>,
  ): Promise<void>
  /** A base's home; null if there is none. @param hasTextIds as in `openSqliteStore` */
  home(baseId: string, hasTextIds: (tableId: string) => boolean): Promise<TableStore | null>
  /** Creates an empty home if there is none. */
  createHome(baseId: string): Promise<void>
  /** Permanently removes the homes of these bases and the metadata. */
  remove(baseIds: readonly string[]): Promise<void>
  /** Releases the lock that keeps servers and other moves away. */
  close(): Promise<void>
}

/**
 * Refuses to start a server on an installation that is the source of a move, or an incomplete target.
 *
 * @param label as `Installation.label`, capitalized
 * @throws Error that says what to do
 */
export function refuseMoved(label: string, move: MoveState | null): void {
  if (move === null || (move.role === 'target' && move.state === 'moved')) return
  if (move.state === 'moved') {
    throw new Error(
      `${label} is out of date: its data was moved to ${move.peer} (${move.at}). Start the server on that, ` +
        'or move back with “sheaf move”',
    )
  }
  const what =
    move.role === 'source'
      ? `is being moved to ${move.peer}`
      : `is the target of an unfinished move from ${move.peer}`
  throw new Error(
    `${label} ${what} (since ${move.at}): run “sheaf move” again to finish, or “sheaf move --cancel” to go on with the source`,
  )
}
