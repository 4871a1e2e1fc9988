import * as z from 'zod/mini'
import { csvFormat } from '../csv/format.ts'

const decimal = z._default(z.enum(['.', ',']), '.')

const sheetRow = z.int().check(z.minimum(1), z.maximum(1_048_576))
const sheetColumn = z.int().check(z.minimum(0), z.maximum(16_383))

/** A part of a sheet, ends included: rows from 1, columns from 0. Without an end, to that of the sheet. */
const sheetRange = z.object({
  firstRow: sheetRow,
  lastRow: z.optional(sheetRow),
  firstColumn: sheetColumn,
  lastColumn: z.optional(sheetColumn),
})

export type SheetRange = z.output<typeof sheetRange>

/** A sheet of a workbook. */
export const excelFormat = z.object({
  kind: z.literal('excel'),
  /** Position of the sheet in the workbook, from 0. */
  sheet: z.int().check(z.minimum(0), z.maximum(9_999)),
  /** The part of the sheet with the table, if it has several. */
  range: z.optional(sheetRange),
  /** Row with the titles, from 1; the rows above are skipped. 0: the sheet has no titles. */
  titleRow: z.int().check(z.minimum(0), z.maximum(1_048_576)),
  /** First row with data if there are no titles, from 1. */
  firstRow: z.int().check(z.minimum(1), z.maximum(1_048_576)),
  /** First column with cells, from 0; those before are empty. */
  firstColumn: z.int().check(z.minimum(0), z.maximum(16_383)),
  /** Positions of columns with amounts of several currencies: their cells have it as text, `5 €`. */
  amounts: z.optional(z.array(z.int().check(z.minimum(0), z.maximum(16_383))).check(z.maxLength(16_384))),
  /** Positions of columns whose cells give the addresses of their links. */
  addresses: z.optional(z.array(z.int().check(z.minimum(0), z.maximum(16_383))).check(z.maxLength(16_384))),
  /** Decimal mark of numbers that the sheet stores as text. */
  decimal,
})

/** Longest key in a JSON file, in characters. */
export const MAX_JSON_KEY = 1000

/** Deepest nesting of a JSON file. */
export const MAX_JSON_NESTING = 100

/** Keys that lead to a value, from the outermost object. */
const jsonPath = z.array(z.string().check(z.maxLength(MAX_JSON_KEY))).check(z.maxLength(MAX_JSON_NESTING))

/** Columns of a table in a JSON file. */
export const MAX_JSON_COLUMNS = 2000

/** Levels of lists of objects within records that may be tables of their own. */
export const MAX_JSON_LEVELS = 5

/** A table of a JSON file, or of one with a value per line (NDJSON). */
export const jsonFormat = z.object({
  kind: z.literal('json'),
  /** Keys that lead to the list of records; empty for the file itself. */
  table: jsonPath,
  /**
   * For a list of objects within these records: the keys that lead from a record to the list, for each level. The table's
   * first column has the number of the record's row then, and `columns` are the others.
   */
  nested: z.optional(z.array(jsonPath).check(z.maxLength(MAX_JSON_LEVELS))),
  /** Keys that lead to objects whose values are records, such as `{"-Na1": {…}, "-Na2": {…}}`. The first column has the keys. */
  maps: z.optional(z.array(jsonPath).check(z.maxLength(200))),
  /** True if `table` leads to an object with the columns: lists, or values by the numbers of rows. */
  byColumn: z.optional(z.boolean()),
  /** Titles of the columns if the records are lists, of which the first one has them unless `header` is false. */
  titles: z.optional(
    z.array(z.string().check(z.maxLength(MAX_JSON_KEY))).check(z.maxLength(MAX_JSON_COLUMNS)),
  ),
  /** False if the first of records that are lists has no titles. */
  header: z.optional(z.boolean()),
  /** Spec §5, `normalizeNested`: true if objects in records become columns of their own, not JSON text. */
  flatten: z.boolean(),
  /** Keys that lead to the columns, in order; positions for records that are lists, none for plain values. */
  columns: z.array(jsonPath).check(z.maxLength(MAX_JSON_COLUMNS)),
  /**
   * Positions of columns whose cells are JSON as the file has it, because they fill JSON fields; set when an import
   * starts.
   */
  written: z.optional(z.array(z.int().check(z.minimum(0))).check(z.maxLength(MAX_JSON_COLUMNS + 1))),
  /** Positions of columns that hold objects or lists, so that a string in them is no JSON text. */
  structured: z.optional(z.array(z.int().check(z.minimum(0))).check(z.maxLength(MAX_JSON_COLUMNS))),
  /** Decimal mark of numbers in texts. */
  decimal,
})

/** Settings that a person has changed before an analysis, which detects the others. */
export const chosenFormat = z.object({
  sheet: z.optional(excelFormat.shape.sheet),
  titleRow: z.optional(excelFormat.shape.titleRow),
  /** Null: the whole sheet, even if it seems to have several tables. */
  range: z.optional(z.nullable(sheetRange)),
  table: z.optional(jsonPath),
  nested: jsonFormat.shape.nested,
  flatten: z.optional(z.boolean()),
  encoding: z.optional(csvFormat.shape.encoding),
  delimiter: z.optional(csvFormat.shape.delimiter),
  header: z.optional(z.boolean()),
  guarded: z.optional(z.boolean()),
  escape: csvFormat.shape.escape,
  formulaTexts: csvFormat.shape.formulaTexts,
  decimal: z.optional(z.enum(['.', ','])),
})

export type ChosenFormat = z.output<typeof chosenFormat>

/** How a table is read from a file, by the kind of the file. */
export const importFormat = z.union([excelFormat, jsonFormat, csvFormat])

export type ExcelFormat = z.output<typeof excelFormat>
export type JsonFormat = z.output<typeof jsonFormat>
export type ImportFormat = z.output<typeof importFormat>
export type FileKind = ImportFormat['kind']
