import type { SQL } from 'drizzle-orm'
import type { StorageKind } from '../core/fields/field-type.ts'
import type { RollupFunction } from '../core/fields/rollup.ts'

/** Records of other tables, as a subquery meets them from the record outside. */
export interface RelatedRows {
  /** `"books" as "~1" join … where "~1"."author_id" = "authors"."id"`. */
  from: SQL
  /** The order of the tables themselves. */
  orderBy: SQL
}

/** A value of a related record, and how it is kept. */
export interface RelatedValue {
  value: SQL
  storage: StorageKind
}

/**
 * How an engine is asked about the records that are linked to another: scalar subqueries, one for each
 * computed field, so that a page with any number of them stays one statement. Values inside JSON are
 * those of `CellValue`.
 */
export interface RelatedWords {
  /**
   * The cell of a link to many, as `writeLinks` has it: `[3,[[1,"Hobbit"],…]]`, `limit` of them named;
   * NULL where there is none.
   *
   * @param counted the same records where only their number is asked for: an mm link leaves the related table out
   */
  links(rows: RelatedRows, id: RelatedValue, title: RelatedValue, limit: number, counted: SQL): SQL
  /** The cell of a link to one: `[1,[[7,"Tolkien"]]]`, or NULL. */
  link(rows: RelatedRows, id: RelatedValue, title: RelatedValue): SQL
  /** True for what belongs into a list: neither NULL nor an empty text. */
  isThere(value: RelatedValue): SQL
  /** The first `limit` values that are there, as JSON text; NULL for none. */
  list(rows: RelatedRows, value: RelatedValue, limit: number): SQL
  /** The same values as text, with `, ` between. */
  joined(rows: RelatedRows, value: RelatedValue, limit: number): SQL
  /** How many records. */
  count(from: SQL): SQL
  /** A rollup over the values: count, sum and avg of nothing are 0, min and max NULL. */
  rollup(rows: RelatedRows, name: RollupFunction, value: RelatedValue): SQL
  /** A value as it prints: text as it is, numbers and dates as they are in a cell. */
  text(value: RelatedValue): SQL
  /** NULL, of the type that such values have. */
  nothing(storage: StorageKind): SQL
}

/** Storage kinds whose values are text in JSON and print as they are. */
export const isTextStorage = (storage: StorageKind): boolean =>
  storage === 'text' || storage === 'longText' || storage === 'json'
