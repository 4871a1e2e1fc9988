import type { SQL } from 'drizzle-orm'
import type { StorageKind } from '../core/fields/field-type.ts'
import type { RollupFunction } from '../core/fields/rollup.ts'

/** Linked records, as a subquery reads them from the outer record. */
export interface RelatedRows {
  /** `"books" as "~1" join … where "~1"."author_id" = "authors"."id"`. */
  from: SQL
  /** The linked tables' own order. */
  orderBy: SQL
}

/** A value of a related record with its storage kind. */
export interface RelatedValue {
  value: SQL
  storage: StorageKind
}

/**
 * Expressions over linked records. Each computed field is a scalar subquery, so that a page needs one
 * statement for any number of them. Values inside JSON are `CellValue`s.
 */
export interface RelatedExpressions {
  /**
   * The cell of a link to many, in the format of `writeLinks`: `[3,[[1,"Hobbit"],…]]` with up to `limit`
   * names; NULL without linked records.
   *
   * @param counted the same records for counting only: an mm link omits the related table
   */
  links(rows: RelatedRows, id: RelatedValue, title: RelatedValue, limit: number, counted: SQL): SQL
  /** The cell of a link to one: `[1,[[7,"Tolkien"]]]`, or NULL. */
  link(rows: RelatedRows, id: RelatedValue, title: RelatedValue): SQL
  /** True for values that lists include: neither NULL nor ''. */
  hasValue(value: RelatedValue): SQL
  /** The first `limit` values for which `hasValue` is true, as JSON text; NULL without values. */
  list(rows: RelatedRows, value: RelatedValue, limit: number): SQL
  /** The same values as text, joined by `, `. */
  joined(rows: RelatedRows, value: RelatedValue, limit: number): SQL
  /** Number of records. */
  count(from: SQL): SQL
  /** A rollup over the values. Without values, count, sum and avg are 0, min and max NULL. */
  rollup(rows: RelatedRows, name: RollupFunction, value: RelatedValue): SQL
  /** A value as text; numbers and dates as stored in cells. */
  text(value: RelatedValue): SQL
  /** NULL of the type for this storage kind. */
  nothing(storage: StorageKind): SQL
}

/** True for storage kinds whose values are text in JSON and need no formatting. */
export const isTextStorage = (storage: StorageKind): boolean =>
  storage === 'text' || storage === 'longText' || storage === 'json'
