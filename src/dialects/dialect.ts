import type { SQL } from 'drizzle-orm'
import type { CellValue, StorageKind } from '../core/fields/field-type.ts'
import type { FilterPrimitives } from '../core/filters/primitives.ts'
import type { FormulaWords } from '../core/formula/words.ts'
import type { RecordId } from '../core/model.ts'
import type { SummaryPart } from '../core/summaries.ts'
import type { NotCopiedPart } from '../core/table-copies.ts'
import type { MysqlConnection, PostgresConnection } from '../db/connection.ts'
import type { WriteBatch } from '../db/write-batch.ts'
import type { RecordTable, WrittenPage } from '../record-files/index.ts'
import type { ForeignColumns } from './foreign.ts'
import type { RelatedExpressions } from './related.ts'

/** SQL text of one engine with its bound values, ready to run. */
export interface Statement {
  sql: string
  params: unknown[]
}

/** A column of a base table, for DDL. */
export interface ColumnDefinition {
  name: string
  storage: StorageKind
  required: boolean
  /** Bound into the DDL as a literal of the storage kind. */
  defaultValue: CellValue
  /** The key of another table that it refers to, with the type that both have in the database. Only for new tables. */
  references?: { table: string; column: string; type: string }
}

/** A summary over the rows of a group. */
export interface GroupSummary {
  /** Per-row values, computed first in a select over all rows. */
  rows: SQL[]
  /** The aggregate; `names` are the column names of `rows` in the grouping select. */
  over(names: SQL[]): SQL
}

/**
 * Contract for querying a database engine. Code outside this folder never checks which engine it uses; if it
 * has to, this contract lacks a method. Extends `FilterPrimitives`, which the operators of `core/filters`
 * use. One conformance test checks that all dialects give the same results.
 */
export interface QueryDialect extends FilterPrimitives<SQL> {
  /** Client name in REST: `sqlite3`, `pg`, `mysql2`. */
  client: string
  /** Maximum number of bound values per statement. */
  maxBoundParameters: number
  columnTypes: Record<StorageKind, string>
  /** Quotes an identifier. */
  quote(name: string): string
  render(query: SQL): Statement
  createTable(name: string, columns: ColumnDefinition[]): Statement[]

  /** Text for exact grouping, whatever the column's collation equates. */
  exactText(expression: SQL): SQL
  /** The text, null for the empty one. */
  emptyAsNull(expression: SQL): SQL
  /** `asc`/`desc` with empty values first ascending, last descending (wire reference). */
  orderBy(expression: SQL, direction: 'asc' | 'desc'): SQL
  /**
   * The same value, written so that no index supplies its order. Only for engines that walk such an index although the
   * filter matches few records: SQLite has no statistics of values, and PostgreSQL guesses what a pattern matches.
   */
  unindexed?(expression: SQL): SQL
  /**
   * The same condition, written so that no index finds its records. Only for engines that use such an index whatever the
   * number of records that it finds, and sort these, although the first of them in the wanted order are found sooner.
   */
  unindexedCondition?(condition: SQL): SQL
  /** True if an index over an expression answers a query alone. PostgreSQL then reads the expression's columns as well. */
  readsIndexedExpressions?: boolean
  /** True if writers wait while a large index is dropped: SQLite frees its pages one by one. */
  dropsBlockWriters?: boolean
  /** A random number for each row. */
  random: SQL
  /** Index of an option in its field's list, for sorting by option order. */
  optionOrder(column: SQL, titles: string[]): SQL
  /** A summary of a column, as a scalar expression in a select over the rows of `from` (`"table" where …`). */
  summary(part: SummaryPart, column: SQL, from: SQL): SQL
  /** The same per group, for a select that groups by `keys` (comma-separated names). */
  groupSummary(part: SummaryPart, column: SQL, keys: SQL): GroupSummary
  /** True if the text of the column contains the search text, ignoring case. Not asked of booleans. */
  search(column: SQL, storage: StorageKind, text: string): SQL
  /**
   * The text in which `search` looks (for `files` in that of `fileNames`), for search indexes; null for values without
   * text. Absent where there are none.
   */
  searchedText?(column: SQL, storage: StorageKind | 'files'): SQL | null
  /**
   * Keys of numbered tables in lists that are bound as one text each, which `text` writes. Absent where a bound value for
   * each key costs nothing: PostgreSQL receives and parses each.
   */
  keyList?: {
    /** True for the keys in the list. */
    contains(key: SQL, list: SQL): SQL
    /** A table of the keys of two lists of the same length, in pairs. */
    pairs(left: SQL, right: SQL): SQL
    text(keys: readonly RecordId[]): string
  }
  /** A record's id as the change log stores it, for comparison with `record_id`. */
  logId(id: SQL): SQL
  /** The SQL vocabulary of formulas. */
  formula: FormulaWords<SQL>
  /**
   * The same for expressions that an index can hold: deterministic, and without subqueries and bound values. Words that
   * have no such form throw NotIndexedError. Absent where formulas have no index.
   */
  indexedFormula?: FormulaWords<SQL>
  /** False if one index cannot have all of the expressions, as they are too long. Absent where any fit. */
  fitIndex?(expressions: readonly string[]): boolean
  /** Converts the driver's values of this storage kind; null if they need no conversion. */
  decode(storage: StorageKind): ((value: unknown) => CellValue) | null
  /** Expressions over linked records: links, lookups, rollups and counts. */
  related: RelatedExpressions
  /** Columns of connected tables. */
  foreign: ForeignColumns
  /** Shows how the engine runs a statement, without running it. */
  explain(statement: Statement): Statement
  /** Reads the answer of `explain`. */
  readPlan(rows: Record<string, unknown>[], table: string): QueryPlan
}

/** How an engine runs a statement. */
export interface QueryPlan {
  /** True if all records of the table are read, in the table or in an index. */
  readsAll: boolean
  /** True if the matching records are sorted before the first is returned. */
  sorts: boolean
  /** Names of the indexes that it uses. */
  indexes: string[]
}

/** An index to build. */
export interface IndexDefinition {
  name: string
  table: string
  /** SQL of each term with its direction: `"price" desc`. */
  terms: string[]
}

/** Selected rows to insert into a table. */
export interface SelectedRows {
  into: SQL
  columns: SQL[]
  /** Constant values, for the first columns. */
  constants: SQL[]
  /** Expressions over a row of the source, for the remaining columns. */
  values: SQL[]
  /** `from … where …` */
  source: SQL
}

/** The table that a search index belongs to. */
export interface IndexedTable {
  /** Name of the table. */
  name: string
  /** Name of its integer key. */
  key: string
}

/** A version of a table's search index. A new one is built next to the one in use. */
export interface SearchIndexVersion {
  generation: number
  /** SQL expressions over a row of the table, whose texts are indexed. */
  columns: readonly string[]
  isComplete: boolean
  /** False if the index knows the letters A to Z and digits only. */
  knowsAllLetters: boolean
  /** False if the index finds no text without a trigram: those of earlier builds. */
  knowsShortTexts: boolean
}

export type SearchIndexAbilities = Pick<SearchIndexVersion, 'knowsAllLetters' | 'knowsShortTexts'>

/** A condition on the texts of a record, all of several, or one of several. */
export type Joined<T> = T | { join: 'and' | 'or'; of: readonly Joined<T>[] }

/** What a record contains: a text, all of several, or one of several. */
export type SearchTexts = Joined<string>

/** What an index is asked for one text, as its dialect reads it. */
export interface TextMatch {
  /** `short` for texts without a trigram that the index knows. */
  by: 'trigrams' | 'short'
  texts: readonly string[]
}

export type SearchMatch = Joined<TextMatch>

/**
 * Trigram indexes that narrow a search to candidates. Their condition must be checked again: a candidate may not match,
 * but every match is a candidate, also if it was written a moment ago. Everything can be derived from the table, so an
 * index may be missing at any time.
 */
export interface SearchIndexes {
  /**
   * What the index is asked for a text; null if its letters compare differently in the index, or the index knows no texts
   * that are so short. The other methods take several of these, joined like the texts.
   */
  match(text: string, version: SearchIndexAbilities): TextMatch | null
  /** True for the candidates, by the key of a row. */
  isCandidate(key: SQL, table: IndexedTable, version: SearchIndexVersion, match: SearchMatch): SQL
  /** The same where few records are candidates, so that the engine looks these up whatever it expects. */
  isOneOfFew?(key: SQL, table: IndexedTable, version: SearchIndexVersion, match: SearchMatch): SQL
  /**
   * Counts the candidates of the index up to `most`, without records that were just changed, as `n`. Absent where an
   * index collects all of them before it returns the first (`estimates`).
   */
  countCandidates?(
    table: IndexedTable,
    version: SearchIndexVersion,
    match: SearchMatch,
    most: number,
  ): Statement
  estimates?: CandidateEstimates
  /** Selects the versions: rows with `generation`, `columns` (JSON), `isComplete`, `knowsAllLetters` and `knowsShortTexts` (0 or 1). */
  list(table: IndexedTable): Statement
  /** Selects as `bytes` the space that the indexes of all tables of a base take. */
  size: Statement
  /** Selects as `n` whether `list` can be asked; absent where it always can. */
  hasList?: Statement
  /** True if candidates are selected by `columns`, so that none of these may be missing in the table. */
  readsColumns: boolean
  /** Statements that build and refresh an index. Absent where `Engine.buildSearchIndex` builds it for good. */
  batches?: SearchIndexBatches
  /** The name of an index for `Engine.dropIndex`, where there are no batches. */
  indexName(table: IndexedTable, generation: number): string
}

/** Statements that tell how many candidates a search has, without the index. */
export interface CandidateEstimates {
  /**
   * Counts the records of a random sample (`records`), and the candidates among them (`n`).
   *
   * @param share of the table, from 0 to 1
   */
  sample(table: IndexedTable, version: SearchIndexVersion, match: SearchMatch, share: number): Statement
  /** Counts the candidates up to `most` among the `first` records in an order (SQL), as `n`. */
  among(
    table: IndexedTable,
    version: SearchIndexVersion,
    match: SearchMatch,
    range: { order: string; first: number; most: number },
  ): Statement
}

/**
 * Builds an index in short transactions. Triggers remember the records that are inserted or updated, in the transaction
 * of the write, and these are candidates until `refresh` indexes them.
 */
export interface SearchIndexBatches {
  /** Creates the list. */
  prepare: Statement
  create(table: IndexedTable, version: SearchIndexVersion): Statement[]
  drop(table: IndexedTable, generation: number): Statement[]
  /** Indexes the records with keys above `after`, up to `last`. */
  fill(table: IndexedTable, version: SearchIndexVersion, after: number, last: number): Statement
  /**
   * One short step of the work that inserts leave behind. The first and the last statement select a number as `n`, which
   * grows by less than two once no work is left.
   */
  merge(table: IndexedTable, generation: number): Statement[]
  complete(table: IndexedTable, generation: number): Statement
  /** Selects the number of records that are waiting for `refresh`, up to `most`, as `waiting`. */
  countChanged(table: IndexedTable, generation: number, most: number): Statement
  /** Indexes up to `most` changed records. */
  refresh(table: IndexedTable, version: SearchIndexVersion, most: number): Statement[]
  /** Selects `name` and `generation` of all versions, and as `isLost` (0 or 1) whether their table is gone. */
  listAll: Statement
}

/** A dialect that can also alter and write tables. */
export interface Dialect extends QueryDialect {
  /** Absent where searches have no index. */
  searchIndexes?: SearchIndexes
  addColumn(table: string, column: ColumnDefinition): Statement[]
  renameColumn(table: string, from: string, to: string): Statement[]
  dropColumn(table: string, column: string): Statement[]
  renameTable(from: string, to: string): Statement[]
  dropTable(table: string): Statement[]
  /** @param namedAfter the future name of a table that will be renamed, after which its index is named */
  createIndex(table: string, columns: string[], namedAfter?: string): Statement[]
  /** As `createIndex`, for a unique index. */
  createUniqueIndex(table: string, columns: string[], namedAfter?: string): Statement[]
  dropUniqueIndex(table: string, column: string): Statement[]
  /** Drops the column's own indexes: an indexed column cannot be dropped. */
  dropIndexesOf(table: string, column: string): Statement[]

  /** An insert of one row with default values only. */
  insertDefaults(table: string): string
  /**
   * Inserts selected rows, with their ids: Citus would number them on a worker, in a range of its own. Every
   * `insert … select` into a base's tables uses this.
   */
  insertSelected(rows: SelectedRows): SQL
  /**
   * The `where …` of an update of records by any condition.
   *
   * @param where `where …`, or empty for all
   * @param key the table’s key
   */
  whereSelected(selected: { table: SQL; key: SQL; where: SQL }): SQL
  /**
   * The `select` of a subquery whose values are computed once for each of its rows; absent where a value that is named several times
   * costs little more.
   */
  computedOnce?(select: SQL): SQL
  /** A JSON text from which `jsonValue` takes several values, inside `computedOnce`; absent where the text itself will do. */
  parsedJson?(json: SQL): SQL
  /** Converts values of this storage kind to what the driver binds; null if they are bound unchanged. */
  encode(storage: StorageKind): ((value: CellValue) => CellValue) | null
  /** True if equal or both NULL; never NULL. */
  isSame(left: SQL, right: SQL): SQL
  /** Placeholder of the parameter at an index from 0 in hand-written SQL: `?`, `$1`. */
  placeholder(index: number): string
  /** Lists the columns of a table: rows with `name` and database `type`; none if there is no such table. */
  listColumns(table: string): Statement
  /**
   * Lists the indexes of a table, also those under construction: rows with `name` and `bytes` (null if the engine does not
   * tell). In SQLite, `isUnfinished` is 1 for one whose build can go on.
   */
  listIndexes(table: string): Statement
  /** Drops an automatic index of a base, also one under construction. */
  dropAutomaticIndex(name: string): Statement[]
  /** Lists the tables with an index whose name begins with a text: rows with `name`. */
  listTablesIndexedAs(prefix: string): Statement
  /**
   * Lists the foreign keys that reference a table: a row per column pair with `name`, `child_schema` (null: the table's
   * own), `child`, `child_column`, `parent_column` and `rule` (action on deletion, in upper case).
   */
  listReferences(table: string): Statement
  /**
   * An object of `{ key: column }` as JSON text, for logging rows as a set. Values of a given storage kind are encoded
   * as `CellValue`.
   */
  jsonObject(columns: { key: string; column: SQL; storage: StorageKind | null }[]): SQL
  /** The value of a key of such an object, converted for a column of this storage kind or database type. */
  jsonValue(json: SQL, key: string, as: StorageKind | { databaseType: string }): SQL
  /**
   * A value of `jsonValue` that compares and divides as one of a column of this storage kind. Only for engines where an
   * expression has no type of its own: in SQLite a JSON number without a fraction would divide as an integer.
   */
  asColumn?(value: SQL, storage: StorageKind): SQL
  /** Which value `jsonValue` returns for a key that an object has twice. Absent where no change log is stored. */
  repeatedKey?: 'first' | 'last'
  /** Allocates `count` new record ids, ascending and without gaps. Only inside a transaction. */
  allocateIds(tx: Transaction, table: string, count: number): Promise<number[]>
  /** Continues the ids of a copied table where the original's end. */
  continueIds(table: string, from: string): Statement[]
  /** Copies tables of connected databases within their database, with all that other programs expect of them. */
  tableCopy: {
    /** Reads `TableCopyColumn`s, those that take values. */
    read(table: string): Statement
    /** Creates the copy, and fills it. Null for a table that the engine cannot copy. */
    write(
      from: string,
      to: string,
      columns: readonly TableCopyColumn[],
      withRows: boolean,
    ): Statement[] | null
    /** Reads `TableCopyAddition`s: what the copy gets once it is filled. */
    readAdditions(from: string, to: string): Statement
    /** Adds one to the copy. Null for one that cannot be copied. */
    add(addition: TableCopyAddition, to: string): Statement | null
    /** Reads `NotCopiedPart`s: what other programs have attached to a table, and copies do not have. */
    readLeftOut(table: string): Statement
  }
  /** Makes a table number its new records after this id, which it has. */
  numberAfter(table: string, lastId: number): Statement[]

  /** Recognises a unique or not-null violation, with its column; else null. */
  violation(error: unknown): { kind: 'unique' | 'required'; columns: string[] } | null
  /** Recognises the error for exceeding the maximum number of columns. */
  isFullTable(error: unknown): boolean
}

/** A foreign key or index of a table to be copied. */
export interface TableCopyAddition extends NotCopiedPart {
  /** The statement that adds it, which `add` may adapt. */
  definition: string
}

/** A column of a table to be copied. */
export interface TableCopyColumn {
  name: string
  /** True if the database numbers the rows in it, and a copy has to be told where it goes on. */
  isNumbered: boolean | number
  /** The statement that creates the table, where a copy is created by a changed one; else null. */
  definition: string | null
}

/** Result of one statement of a script. */
export interface StatementResult {
  /** Number of written rows; 0 for a read. */
  changes: number
  /** Rows that it returned. */
  rows: Record<string, unknown>[]
}

/** Progress and cancellation of a running script. */
export interface ScriptWatch {
  /** Cancels the script, in the middle of a statement if the engine can, and rolls it back. */
  signal?: AbortSignal
  /** Called regularly with the number of rows written so far. */
  progress?(rows: number): void
  /** Called just before the commit, which the signal can no longer stop. @throws if it was stopped */
  commit?(): void
  /**
   * Adds a check that runs before the signal is given, for scripts that decide on their commit in another thread.
   *
   * @param stop stops the script; false if it already commits, and then the signal is not aborted
   * @returns removes the check
   */
  guard?(stop: () => boolean): () => void
}

interface ScriptOptions extends ScriptWatch {
  /** Its statements join sets of many records, which the statistics of the database do not know yet. */
  joinsSets?: boolean
  /** As in `Engine.write`: runs before the next writer may begin. */
  afterCommit?(): Promise<void>
}

/** Statements inside one transaction. */
export interface Transaction {
  /** Shared by the writes that run at the same time in this transaction; undefined for one that runs alone. */
  readonly batch?: WriteBatch
  run(statement: Statement): Promise<{ changes: number }>
  /** Runs one statement for each list of values, or inserts several of them with one. */
  runMany(sql: string, params: unknown[][]): Promise<void>
  all<T>(statement: Statement): Promise<T[]>
  /** Inserts one row and returns the value that the database generated for the column `key`. */
  insertOne(statement: Statement, key: string): Promise<unknown>
  /**
   * Inserts the rows of one statement and returns the values that the database generated for the column `key`, in their
   * order. Fewer where a trigger leaves rows out.
   *
   * @param count the number of rows
   */
  insertMany(statement: Statement, key: string, count: number): Promise<unknown[]>
}

/** Location of a database that can hold a base. */
export type EngineLocation =
  | { client: 'sqlite3'; file: string }
  | { client: 'pg'; connection: PostgresConnection; schema: string }
  | { client: 'mysql2'; connection: MysqlConnection }

/** Disk space of a base's home. */
export interface EngineStorage {
  /** `bytes` in total; `freeBytes` of them are reclaimable, null if unknown. */
  measure(): Promise<{ bytes: number; freeBytes: number | null }>
  /**
   * Returns unused space to the system, off the main thread; writers wait meanwhile.
   * @param whole rewrites the home if that frees more, which temporarily needs the same space again
   */
  compact(whole: boolean): Promise<void>
}

/** How a write waits for its turn, see `Engine.write`. */
interface WriteOptions {
  isFollowUp?: boolean
}

/** Records of a statement whose columns are the fields of the table and the record's id, to be written to a file. */
export interface FilePage {
  table: RecordTable
  /** The order of the records. Those that the statement does not return are omitted. */
  recordIds: readonly RecordId[]
  /** The number of records in the file before the page. */
  first: number
  /** True if the cells of the page may read many linked records, which takes long. */
  isWide: boolean
}

/** A database that holds the tables of a base. */
export interface Engine {
  readonly dialect: Dialect
  /** Resolves when the server's version is known, which the dialect may depend on, or the server is unreachable. */
  ready?(): Promise<void>
  /** Rows as objects. `scan` marks work that grows with the table: it runs off the main thread. */
  all<T>(statement: Statement, options?: { scan?: boolean }): Promise<T[]>
  /** Rows as arrays, in the order of the selected columns. */
  values(statement: Statement, options?: { scan?: boolean }): Promise<unknown[][]>
  /** The first column of a scan, such as the ids of a whole table: smaller than an array for each row. */
  column(statement: Statement): Promise<unknown[]>
  /** Reads records as they stand in a file, off the main thread. Undefined where reads have no thread of their own. */
  writePage?(statement: Statement, page: FilePage): Promise<WrittenPage>
  /**
   * Runs `work` in one transaction, rolled back if it throws. Writers of a base queue. `afterCommit` runs before the
   * next writer begins: a schema change updates the metadata there, so that no write falls in between. Within a
   * followed write (`works.ts`) it reports its rows and ends when that is cancelled.
   *
   * @param options `isFollowUp`: it completes a committed change, so it waits for its turn without limit
   * @throws BASE_BUSY if the turn does not come in time; nothing has run then
   */
  write<T>(
    work: (tx: Transaction) => Promise<T>,
    afterCommit?: (result: T) => Promise<void>,
    options?: WriteOptions,
  ): Promise<T>
  /**
   * As `write`, for short writes: those that wait at the same time are committed together, and one that throws is
   * rolled back alone. `work` reads through `tx` only, because writes of its group are not committed yet. `onCommit`
   * runs synchronously after the commit.
   *
   * @param touches names of everything that the write reads or changes in the base and that others may change; empty for
   *   a new record. Writes that touch different things may run at the same time and more than once, until one attempt
   *   succeeds. By default a write runs alone.
   */
  writeTogether<T>(
    work: (tx: Transaction) => Promise<T>,
    onCommit?: (result: T) => void,
    touches?: readonly string[] | null,
  ): Promise<T>
  /**
   * Runs the statements in one transaction off the main thread, for writes whose cost grows with a table. A function is
   * called once the write lease is held. Returns the result of each statement. Without a watch it is part of the
   * current followed write.
   *
   * @throws the signal's reason if it was stopped
   */
  writeScript(
    statements: Statement[] | (() => Promise<Statement[]>),
    options?: ScriptOptions,
  ): Promise<StatementResult[]>
  /**
   * Holds the write lease while `work` runs, without a transaction: for worker threads, which write in chunks through
   * their own connection.
   */
  exclusively<T>(work: () => Promise<T>): Promise<T>
  /** How the engine runs a statement over a table, without running it. */
  explain(statement: Statement, table: string): Promise<QueryPlan>
  /**
   * Builds an index, off the main thread; does nothing if one of that name exists. Writers of bases do not wait for long; those
   * of connected databases may. A failure leaves nothing behind.
   *
   * @param signal ends a build in steps
   * @returns faults that the table had before, if any were met
   * @throws the signal's reason
   */
  buildIndex(index: IndexDefinition, signal?: AbortSignal): Promise<string[]>
  dropIndex(table: string, name: string): Promise<void>
  /**
   * Builds a search index without blocking writers, for dialects without `SearchIndexes.batches`. A failure leaves
   * nothing behind.
   *
   * @returns `unavailable` if the database has no trigrams and its account may not add them
   */
  buildSearchIndex?(table: IndexedTable, version: SearchIndexVersion): Promise<'built' | 'unavailable'>
  /** The part of the search index of a table that is built, from 0 to 1; null if none is being built. */
  searchIndexProgress?(table: IndexedTable): Promise<number | null>
  /** Disk space of a base's home; undefined for external databases. */
  readonly storage?: EngineStorage
  /** Location and credentials for worker threads, as plain data. */
  readonly location: EngineLocation
  close(): Promise<void>
}
