import type { SQL } from 'drizzle-orm'
import type { CellValue, StorageKind } from '../core/fields/field-type.ts'
import type { FilterWords } from '../core/filters/dialect-words.ts'
import type { FormulaWords } from '../core/formula/words.ts'
import type { SummaryPart } from '../core/summaries.ts'
import type { MysqlConnection, PostgresConnection } from '../db/connection.ts'
import type { ForeignWords } from './foreign.ts'
import type { RelatedWords } from './related.ts'

/** SQL text of one engine with its bound values, ready to run. */
export interface Statement {
  sql: string
  params: unknown[]
}

/** A column of a table of ours, as DDL needs it. */
export interface ColumnDefinition {
  name: string
  storage: StorageKind
  required: boolean
  /** Bound into the DDL as a literal of the storage kind. */
  defaultValue: CellValue
}

/** A summary over the rows of a group. */
export interface GroupSummary {
  /** Values needed per row first, computed in a select over all rows. */
  rows: SQL[]
  /** The aggregate; `names` are those of `rows` in the select that groups. */
  over(names: SQL[]): SQL
}

/**
 * How one database engine is asked. Nothing outside this folder asks which engine it talks to: where
 * it would have to, a word is missing here. Beside these words each dialect speaks `FilterWords`,
 * from which the operators of `core/filters` render. One conformance test holds all dialects to the
 * same answers.
 */
export interface QueryDialect extends FilterWords<SQL> {
  /** The name REST clients know: `sqlite3`, `pg`, `mysql2`. */
  client: string
  /** Most values that one statement may bind. */
  maxBoundParameters: number
  columnTypes: Record<StorageKind, string>
  /** A name in quotes, its own quotes doubled. */
  quote(name: string): string
  render(query: SQL): Statement
  createTable(name: string, columns: ColumnDefinition[]): Statement[]

  /** Text to be grouped by, told apart letter by letter, whatever the collation of its column takes as equal. */
  exactText(expression: SQL): SQL
  /** `asc`/`desc` with empty values first ascending, last descending (wire reference). */
  orderBy(expression: SQL, direction: 'asc' | 'desc'): SQL
  /** Place of an option in its field's list, for sorting a choice field as its options stand. */
  optionOrder(column: SQL, titles: string[]): SQL
  /**
   * A summary of a column: a scalar expression for a select over the rows of `from`
   * (`"table" where …`).
   */
  summary(part: SummaryPart, column: SQL, from: SQL): SQL
  /** The same over the rows of each group, for a select that groups by `keys` (names with commas between). */
  groupSummary(part: SummaryPart, column: SQL, keys: SQL): GroupSummary
  /** True if the text of the column contains the search text, ignoring case. */
  search(column: SQL, storage: StorageKind, text: string): SQL
  /** A record's id as the change log keeps it, to be compared with its `record_id`. */
  logId(id: SQL): SQL
  /** The SQL vocabulary of formulas. */
  formula: FormulaWords<SQL>
  /** Reads what the driver gives for a column of this kind, where that is not the value itself. */
  decode(storage: StorageKind): ((value: unknown) => CellValue) | null
  /** Expressions over linked records: links, lookups, rollups and counts. */
  related: RelatedWords
  /** Columns of connected tables. */
  foreign: ForeignWords
}

/** Rows that a statement selects, to be written into a table. */
export interface SelectedRows {
  into: SQL
  columns: SQL[]
  /** Values that are the same in all rows, for the first of the columns. */
  constants: SQL[]
  /** Expressions over a row of the source, for the columns behind them. */
  values: SQL[]
  /** `from … where …` */
  source: SQL
}

/** A dialect whose database holds a base's own tables: it can also alter them and write to them. */
export interface Dialect extends QueryDialect {
  addColumn(table: string, column: ColumnDefinition): Statement[]
  renameColumn(table: string, from: string, to: string): Statement[]
  dropColumn(table: string, column: string): Statement[]
  renameTable(from: string, to: string): Statement[]
  dropTable(table: string): Statement[]
  createIndex(table: string, columns: string[]): Statement[]
  /** Of several columns: no two rows have the same values in all of them. */
  createUniqueIndex(table: string, ...columns: string[]): Statement[]
  dropUniqueIndex(table: string, column: string): Statement[]
  /** Drops the indexes that were made for this column alone, where there are any: one that is indexed may not be dropped. */
  dropIndexesOf(table: string, column: string): Statement[]

  /** An insert of one row that brings no value at all. */
  insertDefaults(table: string): string
  /** Writes rows that are selected. Every `insert … select` into a base's own tables is made by this word. */
  insertSelected(rows: SelectedRows): SQL
  /** Converts values of this storage kind to what the driver binds; null if they are bound unchanged. */
  encode(storage: StorageKind): ((value: CellValue) => CellValue) | null
  /** Equal, or both NULL: never NULL itself. */
  isSame(left: SQL, right: SQL): SQL
  /** Placeholder of the parameter at an index from 0 in hand-written SQL: `?`, `$1`. */
  placeholder(index: number): string
  /** The columns of a table as they lie in the database: rows with a `name` and the `type` it has there. */
  listColumns(table: string): Statement
  /**
   * The foreign keys that refer to a table: a row for each pair of columns with the `name` of the key, `child_schema`
   * (null: the table's own), `child`, `child_column`, `parent_column` and `rule`, the action on deletion in
   * upper case as the SQL standard writes it.
   */
  listReferences(table: string): Statement
  /**
   * An object of `{ key: column }` as JSON text, computed by the engine, for logging rows as a set. Where
   * the storage is named the values are those of `CellValue`.
   */
  jsonObject(columns: { key: string; column: SQL; storage: StorageKind | null }[]): SQL
  /** The value of a key of such an object, as a column of this kind, or of this type of the database, takes it. */
  jsonValue(json: SQL, key: string, as: StorageKind | { databaseType: string }): SQL
  /** Makes `count` fresh ids of a table, ascending and without a gap. Only inside a transaction. */
  allocateIds(tx: Transaction, table: string, count: number): Promise<number[]>
  /** Lets the ids of a table that was filled with records of another go on where the other's stand. */
  continueIds(table: string, from: string): Statement[]

  /** Recognises a unique or not-null violation of the driver, with the column at fault; else null. */
  violation(error: unknown): { kind: 'unique' | 'required'; columns: string[] } | null
  /** Recognises the driver's refusal of one more column than a table can have. */
  isFullTable(error: unknown): boolean
}

/** Result of one statement of a script. */
export interface StatementResult {
  /** Rows that it wrote; 0 where it only read. */
  changes: number
  /** Rows that it gave. */
  rows: Record<string, unknown>[]
}

/** How a script may be followed, and stopped, while it runs. */
export interface ScriptWatch {
  /** Ends the script, in the middle of a statement where the engine can, and rolls it back. */
  signal?: AbortSignal
  /** Told now and then how many rows have been written so far. */
  progress?(rows: number): void
  /** Called just before the commit, which the signal does not stop any more. @throws where it has been stopped */
  commit?(): void
  /**
   * Adds a check that runs before the signal is given, for scripts that decide on their commit in another thread.
   *
   * @param stop stops the script; false where it commits already, and then the signal is not given
   * @returns removes the check
   */
  guard?(stop: () => boolean): () => void
}

interface ScriptOptions extends ScriptWatch {
  /** As in `Engine.write`: runs before the next writer may begin. */
  afterCommit?(): Promise<void>
}

/** Statements inside one transaction. */
export interface Transaction {
  run(statement: Statement): Promise<{ changes: number }>
  /** Runs one statement for each list of values. */
  runMany(sql: string, params: unknown[][]): Promise<void>
  all<T>(statement: Statement): Promise<T[]>
  /** Runs an insert of one row that leaves the column `key` to the database, and gives what it put there. */
  insertOne(statement: Statement, key: string): Promise<unknown>
}

/** Where a database that can hold a base of its own is. */
export type EngineLocation =
  | { client: 'sqlite3'; file: string }
  | { client: 'pg'; connection: PostgresConnection; schema: string }
  | { client: 'mysql2'; connection: MysqlConnection }

/** The room that a base's home takes. */
export interface EngineStorage {
  /** `bytes` in all; `freeBytes` of them are unused and can be given back, null where the engine does not tell. */
  measure(): Promise<{ bytes: number; freeBytes: number | null }>
  /**
   * Gives unused room back to the system, off the main thread; writers wait meanwhile.
   * @param whole rewrites the home where that frees more, which needs as much room again for a moment
   */
  compact(whole: boolean): Promise<void>
}

/** How a write waits for its turn, see `Engine.write`. */
interface WriteOptions {
  isFollowUp?: boolean
}

/** A database that holds the tables of a base. */
export interface Engine {
  readonly dialect: Dialect
  /** Waits until the server's version is known, as far as it can be reached: the dialect may depend on it. */
  ready?(): Promise<void>
  /** Rows as objects. `scan` marks work that grows with the table: it runs off the main thread. */
  all<T>(statement: Statement, options?: { scan?: boolean }): Promise<T[]>
  /** Rows as arrays, in the order of the selected columns. */
  values(statement: Statement, options?: { scan?: boolean }): Promise<unknown[][]>
  /**
   * Runs `work` in one transaction; what it throws takes all of it back. Writers queue: a base has
   * one at a time. `afterCommit` runs before the next writer may begin: a schema change switches the
   * metadata over there, so that no write falls between the two. Within a followed write (`works.ts`)
   * it reports its rows, and ends when that is stopped.
   *
   * @param options `isFollowUp`: it completes something that has happened already, so it waits for its turn however
   *   long that takes
   * @throws BASE_BUSY where the turn does not come in time: nothing has run then
   */
  write<T>(
    work: (tx: Transaction) => Promise<T>,
    afterCommit?: (result: T) => Promise<void>,
    options?: WriteOptions,
  ): Promise<T>
  /**
   * As `write`, for short writes: those that wait at the same time are committed as one, and one that
   * throws takes back itself alone. `work` reads through `tx` only: what others of its group have
   * written is not committed yet. `onCommit` runs in the same breath as the commit.
   */
  writeTogether<T>(work: (tx: Transaction) => Promise<T>, onCommit?: (result: T) => void): Promise<T>
  /**
   * Runs the statements in one transaction off the main thread: for writes that grow with a table. A
   * function is called once no other writer can come in between. Gives what each did. Without a watch of
   * its own it is part of the followed write that it is called in.
   *
   * @throws the reason of a signal that has stopped it
   */
  writeScript(
    statements: Statement[] | (() => Promise<Statement[]>),
    options?: ScriptOptions,
  ): Promise<StatementResult[]>
  /**
   * Keeps other writers out while `work` runs, without a transaction: for worker threads, which
   * write through a connection of their own, a chunk at a time.
   */
  exclusively<T>(work: () => Promise<T>): Promise<T>
  /** How much room a base's own home takes; absent for databases that are not ours. */
  readonly storage?: EngineStorage
  /** Where worker threads find the database: plain data, with what it takes to get in. */
  readonly location: EngineLocation
  close(): Promise<void>
}
