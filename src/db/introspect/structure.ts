import type { FieldOptions } from '../../core/fields/field-type.ts'
import type { Statement } from '../../dialects/dialect.ts'

/** Schema of a database from its own catalogue: plain data, the same shape for every engine. */
export interface DatabaseStructure {
  tables: TableStructure[]
}

/** A table or view of the database. */
export interface TableStructure {
  name: string
  kind: 'table' | 'view'
  comment: string | null
  /** About how many rows it has; null where the engine keeps no count. */
  rowEstimate: number | null
  /** In the database's own order. */
  columns: ColumnStructure[]
  /** Columns of the primary key in its order; empty where there is none. */
  primaryKey: string[]
  /** Sets of columns that are unique, the primary key left out. */
  uniqueKeys: string[][]
  foreignKeys: ForeignKeyStructure[]
}

/** A column of a table. */
export interface ColumnStructure {
  name: string
  /** The type in full, e.g. `numeric(10,2)`, `int(10) unsigned`, `enum('a','b')`. */
  type: string
  /** The type alone, in lower case and with its domain resolved: `numeric`, `int`, `enum`. */
  baseType: string
  /** Numbers in the type's parentheses: `[10, 2]`, `[45]`. */
  sizes: number[]
  isArray: boolean
  isUnsigned: boolean
  isNullable: boolean
  /** The default as the engine writes it, or null. */
  defaultExpression: string | null
  /** Computed by the database from other columns. */
  isGenerated: boolean
  /** Numbered by the database: serial, identity, auto_increment, a rowid. */
  isAutoIncrement: boolean
  /** The values of an enum or set, in their order; else null. */
  values: string[] | null
  comment: string | null
}

/** A reference to another table of the same schema. */
export interface ForeignKeyStructure {
  /** Its name in the database; in SQLite made up from its number. */
  name: string
  columns: string[]
  relatedTable: string
  relatedColumns: string[]
}

/** Runs a statement and gives its rows as objects; an `Engine` of any kind can. */
export interface StructureReader {
  all<T>(statement: Statement): Promise<T[]>
}

/** How a column of an engine is shown: the field type, with what the type needs to know. */
export interface ColumnShape {
  /** Name of the field type, e.g. `Decimal`. */
  type: ShapeType
  /** Raw options of the type; choices of selects as `{ title }`. */
  options: FieldOptions
  /** Why its values are read-only; null if they can be edited. */
  readOnlyReason: string | null
}

/** The field types that columns of other databases become. */
export type ShapeType =
  | 'SingleLineText'
  | 'LongText'
  | 'Number'
  | 'Decimal'
  | 'Checkbox'
  | 'SingleSelect'
  | 'MultiSelect'
  | 'Date'
  | 'DateTime'
  | 'Time'
  | 'Year'
  | 'JSON'
  | 'SpecificDBType'

/** One engine's way of telling its structure, and what its types mean to people. */
export interface Introspector {
  /** The client that REST knows: `pg`, `mysql2`, `sqlite3`. */
  client: string
  /** Reads everything of one schema (PostgreSQL: its `searchPath`; others ignore it). */
  read(reader: StructureReader, schema: string): Promise<DatabaseStructure>
  /** Available schemas; one unnamed entry for engines without schemas. */
  schemas(reader: StructureReader): Promise<string[]>
  /** Identity of the database; null for engines in which this server keeps no data. */
  identity(reader: StructureReader): Promise<string | null>
  /** How a column is shown. */
  shape(column: ColumnStructure): ColumnShape
  /** The value that a default means, where it is a plain one; null where the database works it out. */
  defaultValue(column: ColumnStructure): string | null
}
