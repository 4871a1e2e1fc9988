import type { HomeClient } from '../sources.ts'
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

/**
 * A base that moves to a home of the other engine, or has moved while its former home is kept. Stored beside the
 * metadata in PostgreSQL, which are the only ones that have bases of both engines.
 */
export interface BaseMove {
  baseId: string
  to: HomeClient
  /** `moved`: the base uses its new home. */
  state: 'moving' | 'moved'
  /** When the state was reached, ISO. */
  at: string
}

/** The moves of single bases. */
export interface BaseMoves {
  list(): Promise<BaseMove[]>
  /** Marks bases as moving: servers refuse to start from then on. @throws Error if one is running */
  begin(baseIds: readonly string[], to: HomeClient): Promise<void>
  /** Lets a base use its new home, and marks it as moved, in one transaction. */
  finish(baseId: string, to: HomeClient): Promise<void>
  /** Removes the marks of bases. */
  forget(baseIds: readonly string[]): Promise<void>
}

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
  readonly client: HomeClient
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
  /** Moves of single bases; null where all bases have homes of this engine. */
  readonly baseMoves: BaseMoves | null
  /** For messages: where the home of a base is, whether it exists or not. */
  homeName(baseId: string): string
  /** True if a base has a home here. */
  hasHome(baseId: string): Promise<boolean>
  /** A base's home; null if there is none. @param hasTextIds as in `openSqliteStore` */
  home(baseId: string, hasTextIds: (tableId: string) => boolean): Promise<TableStore | null>
  /** Creates an empty home if there is none. */
  createHome(baseId: string): Promise<void>
  /** Permanently removes a base's home, if there is one. */
  removeHome(baseId: string): Promise<void>
  /** Permanently removes the homes of these bases and the metadata. */
  remove(baseIds: readonly string[]): Promise<void>
  /**
   * Each write of the state makes sure of this as well.
   *
   * @throws Error if the lock was lost with its connection: another move may have taken over since
   */
  requireLock(): Promise<void>
  /** Releases the lock that keeps servers and other moves away. */
  close(): Promise<void>
}

/** The bases that are being moved, which all go to the same engine; null if there are none. */
export function unfinishedBaseMove(
  moves: readonly BaseMove[],
): { baseIds: string[]; to: HomeClient; at: string } | null {
  const moving = moves.filter(({ state }) => state === 'moving')
  const [first] = moving
  return first ? { baseIds: moving.map(({ baseId }) => baseId), to: first.to, at: first.at } : null
}

/** The two kinds of homes: how `--to` and messages name them, and where a base moves from to get there. */
export const HOMES: Record<HomeClient, { option: string; label: string; from: HomeClient }> = {
  sqlite3: { option: 'sqlite', label: 'SQLite files', from: 'pg' },
  pg: { option: 'postgres', label: 'PostgreSQL', from: 'sqlite3' },
}

export const isHomeClient = (text: string | null | undefined): text is HomeClient =>
  Object.hasOwn(HOMES, text ?? '')

/** The command that moves these bases. */
export const moveCommandOf = (baseIds: readonly string[], to: HomeClient, ...options: string[]): string =>
  `“${['sheaf move --to', HOMES[to].option, ...baseIds.map((id) => `--base ${id}`), ...options].join(' ')}”`

/**
 * Refuses to start a server on an installation that is the source of a move, an incomplete target, or has bases that
 * are being moved.
 *
 * @param label as `Installation.label`, capitalized
 * @throws Error that says what to do
 */
export function refuseMoved(
  label: string,
  move: MoveState | null,
  baseMoves: readonly BaseMove[] = [],
): void {
  const unfinished = unfinishedBaseMove(baseMoves)
  if (unfinished) {
    const { baseIds, to, at } = unfinished
    throw new Error(
      `${label} has bases that are being moved to ${HOMES[to].label} (since ${at}): run ` +
        `${moveCommandOf(baseIds, to)} again to finish, or with --cancel to leave them where they are`,
    )
  }
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

/** A label at the beginning of a sentence. */
export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
