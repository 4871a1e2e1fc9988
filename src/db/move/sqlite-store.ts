import { Database, type SQLQueryBindings } from 'bun:sqlite'
import { canonicalJson } from '../../core/canonical-json.ts'
import type { StorageKind } from '../../core/fields/field-type.ts'
import { isAutomaticIndex, isUnfinishedTable } from '../../dialects/automatic-index.ts'
import { sqlite } from '../../dialects/sqlite.ts'
import { isOfSearchIndex } from '../../dialects/sqlite-search.ts'
import {
  BATCH_LENGTH,
  BATCH_ROWS,
  COLUMN_KINDS,
  type ColumnKind,
  canonicalReal,
  cellOf,
  keyPositions,
  lengthOf,
  type RowsOnly,
  type StoredColumn,
  type StoredRow,
  type StoredTable,
  sqliteValueOf,
  type TableStore,
} from './store.ts'

const { quote } = sqlite

/** Tables that a file has for itself: what it was written by, and the state of a move. */
const OWN_TABLES = ['migrations', 'releases', 'sheaf_release', 'sheaf_move']

/** Batches between two checkpoints. */
const CHECKPOINT_EVERY = 50

interface Options {
  /** Column kinds of the metadata by table and column, which its declared types do not tell. */
  kinds?: ReadonlyMap<string, ReadonlyMap<string, ColumnKind>>
  /**
   * Ids of the tables whose record ids are texts. The log's column of record ids has no type: it keeps each id as its
   * table has it.
   */
  hasTextIds?: (tableId: string) => boolean
  /** JSON as it is stored instead of its canonical text, which rounds long numbers. */
  isJsonExact?: boolean
}

interface DeclaredColumn {
  name: string
  type: string
  notnull: bigint
  dflt_value: string | null
  pk: bigint
}

/** The tables of an SQLite file. @param file opened with `safeIntegers`, closed with the store */
export function openSqliteStore(
  file: Database,
  name: string,
  { kinds, hasTextIds = () => false, isJsonExact = false }: Options = {},
): TableStore {
  const declared = new Map<string, DeclaredColumn[]>()
  const columnsOf = (table: string): DeclaredColumn[] => {
    const known = declared.get(table)
    if (known) return known
    const columns = file
      .query<DeclaredColumn, [string]>(
        'select name, type, "notnull", dflt_value, pk from pragma_table_info(?)',
      )
      .all(table)
    if (columns.length > 0) declared.set(table, columns)
    return columns
  }
  const isUntyped = (table: string, column: string) =>
    columnsOf(table).find((each) => each.name === column)?.type === ''
  let written = 0

  function kindOf(table: string, column: DeclaredColumn): ColumnKind {
    const kind = kinds?.get(table)?.get(column.name) ?? (column.type.toLowerCase() || 'text')
    if (!isKind(kind))
      throw new Error(`${name}: column ${table}.${column.name} has the unknown type ${column.type}`)
    return kind
  }

  function describe(table: string, definition: string): StoredTable {
    const columns = columnsOf(table)
    const key = columns.filter(({ pk }) => pk > 0n).sort((a, b) => Number(a.pk - b.pk))
    const isNumbered = /\bautoincrement\b/i.test(definition)
    const [only] = key
    const lastId = isNumbered
      ? file.query<{ seq: bigint }, [string]>('select seq from sqlite_sequence where name = ?').get(table)
          ?.seq
      : key.length === 1 && only?.type.toLowerCase() === 'integer'
        ? file
            .query<{ last: bigint | null }, []>(
              `select max(${quote(only.name)}) as last from ${quote(table)}`,
            )
            .get()?.last
        : null
    return {
      name: table,
      columns: columns.map((column): StoredColumn => {
        const kind = kindOf(table, column)
        const isIdentity = isNumbered && column.pk > 0n
        return {
          name: column.name,
          kind,
          isIdentity,
          isRequired: column.notnull > 0n && !isIdentity,
          defaultText: column.dflt_value === null ? null : evaluate(column.dflt_value, kind),
        }
      }),
      key: key.map((column) => column.name),
      indexes: indexesOf(table),
      lastId: lastId === null || lastId === undefined ? null : String(lastId),
    }
  }

  function evaluate(expression: string, kind: ColumnKind): string | null {
    const [value] = file.query<never, []>(`select ${expression}`).values()[0] ?? []
    return canonical(value, kind)
  }

  const indexesOf = (table: string): StoredTable['indexes'] =>
    file
      .query<{ name: string; unique: bigint }, [string]>(
        `select name, "unique" from pragma_index_list(?) where origin = 'c' order by name`,
      )
      .all(table)
      // The target builds its own automatic indexes, from what the metadata say.
      .filter((index) => !isAutomaticIndex(index.name))
      .map((index) => ({
        isUnique: index.unique > 0n,
        columns: file
          .query<{ name: string }, [string]>('select name from pragma_index_info(?) order by seqno')
          .all(index.name)
          .map((column) => column.name),
      }))

  /** The column as it is ordered: record ids of any type by their text. */
  const ordered = (table: string, column: string) =>
    isUntyped(table, column) ? `cast(${quote(column)} as text)` : quote(column)

  const order = ({ name: table, key }: StoredTable, direction: 'asc' | 'desc') =>
    key.map((column) => `${ordered(table, column)} ${direction}`).join(', ')

  const typedKey = (table: StoredTable, key: StoredRow): SQLQueryBindings[] =>
    keyPositions(table).map((position, index) => {
      const kind = table.columns[position]?.kind
      const text = key[index] ?? ''
      return kind === 'integer' && !isUntyped(table.name, table.key[index] ?? '') ? BigInt(text) : text
    })

  const read = (table: StoredTable, values: readonly unknown[]): StoredRow =>
    table.columns.map(({ name: column, kind }, index) => {
      try {
        const isText = isUntyped(table.name, column) || (isJsonExact && kind === 'json')
        return canonical(values[index], isText ? 'text' : kind)
      } catch {
        throw new Error(
          `${name}: ${table.name}.${column} is ${JSON.stringify(String(values[index]))}, which is no ${kind}`,
        )
      }
    })

  const list = (table: StoredTable) => table.columns.map((column) => quote(column.name)).join(', ')

  return {
    name,
    async tables() {
      const found = file
        .query<{ name: string; sql: string }, []>(
          `select name, sql from sqlite_schema where type = 'table' and name not like 'sqlite\\_%' escape '\\' order by name`,
        )
        .all()
      return found
        .filter(
          ({ name }) => !OWN_TABLES.includes(name) && !isOfSearchIndex(name) && !isUnfinishedTable(name),
        )
        .map((table) => describe(table.name, table.sql))
    },
    async *rows(table, after = null, ...only) {
      const columns = table.key.map((column) => ordered(table.name, column)).join(', ')
      const placeholders = table.key.map(() => '?').join(', ')
      // The first comparison uses the index of the key, which the expression of a record id does not.
      const first = quote(table.key[0] ?? '')
      const key = after === null ? [] : typedKey(table, after)
      const conditions = [
        ...(after === null ? [] : [`${first} >= ? and (${columns}) > (${placeholders})`]),
        ...selected(only),
      ]
      const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`
      const bound = [...key.slice(0, 1), ...key, ...only.flatMap(({ texts }) => texts)]
      const rows = file
        .prepare<Record<string, unknown>, SQLQueryBindings[]>(
          `select ${list(table)} from ${quote(table.name)} ${where} order by ${order(table, 'asc')}`,
        )
        .iterate(...bound)
      let batch: StoredRow[] = []
      let length = 0
      for (const row of rows) {
        const texts = read(
          table,
          table.columns.map((column) => row[column.name]),
        )
        batch.push(texts)
        length += lengthOf(texts)
        if (batch.length < BATCH_ROWS && length < BATCH_LENGTH) continue
        yield batch
        batch = []
        length = 0
      }
      if (batch.length > 0) yield batch
    },
    async lastKey(table) {
      const row = file
        .query<Record<string, unknown>, []>(
          `select ${list(table)} from ${quote(table.name)} order by ${order(table, 'desc')} limit 1`,
        )
        .get()
      if (row === null) return null
      const texts = read(
        table,
        table.columns.map((column) => row[column.name]),
      )
      return keyPositions(table).map((position) => texts[position] ?? null)
    },
    async create(table) {
      if (columnsOf(table.name).length > 0) return
      const columns = table.columns.map((column) => ({
        name: column.name,
        storage: column.isIdentity ? ('id' as const) : storageOf(column.kind),
        required: column.isRequired,
        defaultValue: cellOf(column.defaultText, column.kind),
      }))
      for (const statement of sqlite.createTable(table.name, columns)) file.run(statement.sql)
    },
    async insert(table, rows) {
      const tableIdAt = table.columns.findIndex((column) => column.name === 'table_id')
      const placeholders = table.columns.map(() => '?').join(', ')
      const insert = file.prepare(
        `insert into ${quote(table.name)} (${list(table)}) values (${placeholders})`,
      )
      // A transaction that reads first does not wait for the lock, which a checkpoint of the server may hold.
      file
        .transaction(() => {
          for (const row of rows) {
            const values = table.columns.map(({ name: column, kind }, index) => {
              const text = row[index] ?? null
              if (!isUntyped(table.name, column)) return sqliteValueOf(text, kind)
              return hasTextIds(row[tableIdAt] ?? '') ? text : recordId(text)
            })
            insert.run(...values)
          }
        })
        .immediate()
      written++
      if (written % CHECKPOINT_EVERY === 0) file.run('pragma wal_checkpoint(passive)')
    },
    async remove(table, ...only) {
      const texts = only.flatMap((each) => each.texts)
      return file.run(`delete from ${quote(table.name)} where ${selected(only).join(' and ')}`, texts).changes
    },
    async clear(table) {
      file.run(`delete from ${quote(table)}`)
    },
    async buildIndexes(_, indexes, turn) {
      for (const { sql } of indexes)
        await turn(async () => {
          file.transaction(() => file.run(sql)).immediate()
        })
    },
    async complete(table) {
      const known = new Set(indexesOf(table.name).map(({ columns }) => columns.join('\n')))
      for (const { columns, isUnique } of table.indexes) {
        if (known.has(columns.join('\n'))) continue
        const statements = isUnique
          ? sqlite.createUniqueIndex(table.name, columns)
          : sqlite.createIndex(table.name, columns)
        for (const statement of statements) file.run(statement.sql)
      }
      await continueIds(table)
    },
    continueIds,
    async close() {
      file.run('pragma wal_checkpoint(truncate)')
      file.close()
    },
  }

  async function continueIds(table: StoredTable): Promise<void> {
    const isNumbered = table.columns.some((column) => column.isIdentity && columnIsNumbered(table.name))
    if (table.lastId === null || !isNumbered) return
    file
      .transaction(() => {
        file.run('delete from sqlite_sequence where name = ?', [table.name])
        file.run('insert into sqlite_sequence (name, seq) values (?, ?)', [
          table.name,
          BigInt(table.lastId ?? 0),
        ])
      })
      .immediate()
  }

  function columnIsNumbered(table: string): boolean {
    const definition = file
      .query<{ sql: string }, [string]>('select sql from sqlite_schema where name = ?')
      .get(table)
    return /\bautoincrement\b/i.test(definition?.sql ?? '')
  }
}

/** Opens an existing file for a store, with the settings of the server. */
export function openStoreFile(path: string): Database {
  const file = new Database(path, { readwrite: true, create: false, strict: true, safeIntegers: true })
  // First: the others may have to wait for a connection that is closing.
  file.run('pragma busy_timeout = 5000')
  file.run('pragma journal_mode = wal')
  file.run('pragma synchronous = full')
  return file
}

const isKind = (text: string): text is ColumnKind => (COLUMN_KINDS as readonly string[]).includes(text)

/** @throws Error if the value is not of the kind */
function canonical(value: unknown, kind: ColumnKind): string | null {
  if (value === null || value === undefined) return null
  switch (kind) {
    case 'integer':
      if (typeof value === 'bigint') return String(value)
      if (typeof value === 'number' && Number.isInteger(value)) return String(BigInt(value))
      throw new Error('Not an integer')
    case 'real':
      if (typeof value === 'bigint' || typeof value === 'number') return canonicalReal(Number(value))
      throw new Error('Not a number')
    case 'boolean':
      if (value === 0n || value === 1n) return String(value === 1n)
      throw new Error('Not a boolean')
    case 'json':
      return canonicalJson(JSON.parse(String(value)))
    default:
      if (value instanceof Uint8Array) throw new Error('Not a text')
      return String(value)
  }
}

/** Conditions with the texts as their parameters. */
const selected = (only: readonly RowsOnly[]): string[] =>
  only.map(({ column, texts }) => `${quote(column)} in (${texts.map(() => '?').join(', ')})`)

const recordId = (text: string | null): SQLQueryBindings =>
  text !== null && /^-?[1-9]\d{0,15}$|^0$/.test(text) && Number.isSafeInteger(Number(text))
    ? BigInt(text)
    : text

const storageOf = (kind: ColumnKind): StorageKind => kind
