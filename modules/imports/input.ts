import { z } from 'zod'
import { isTimeZone } from '../../src/core/dates.ts'
import { DATE_FORMATS } from '../../src/core/fields/date-text.ts'
import { FIELD_TYPE_NAMES } from '../../src/core/fields/index.ts'
import { MONTH_LANGUAGES } from '../../src/core/fields/month-names.ts'
import { chosenFormat, importFormat } from '../../src/core/imports/format.ts'
import { MAX_MATCHED, MAX_MATCHED_VALUES } from '../../src/core/imports/propose-links.ts'
import { plainText, timeZone } from '../../src/input.ts'
import { m } from '../../src/messages.gen.ts'

const id = z.string().min(1).max(64)

/** `backslash`: quotes are escaped by backslashes; `none`: they are not, whatever the file looks like. */
export const escapeSign = z
  .enum(['backslash', 'none'])
  .transform((name) => (name === 'backslash' ? ('\\' as const) : ('' as const)))

/** Limit of a file's columns, including those that are not imported. */
export const MAX_COLUMNS = 2000
/** Limit of imported columns; creating the table checks its own limit. */
const MAX_IMPORTED = 1000

/** Limit of key fields. */
const MAX_KEYS = 10

/** Tables imported at a time, all of the same base. */
export const MAX_STARTED = 200

const newField = z.strictObject({
  title: z.string().max(1000),
  type: z.enum(FIELD_TYPE_NAMES),
  options: z.record(z.string(), z.unknown()).optional(),
  /** The display field; default: the first one. */
  isDisplay: z.boolean().optional(),
})

/**
 * A column of a new table that becomes a link when the tables that are imported together are there, or a column for a link field of
 * an existing table, which has rows of another table of the file instead of names.
 */
const columnLink = z.strictObject({
  /** An existing table, or the position of another table in the same call. */
  to: z.union([z.strictObject({ tableId: id }), z.strictObject({ table: z.int().min(0).max(MAX_STARTED) })]),
  /** `row`: the values are numbers of rows of the other table in its file, as in lists of objects in JSON. */
  by: z.enum(['name', 'row']).default('name'),
  /** Whether names without a record create one, or are only reported. */
  missing: z.enum(['create', 'report']).default('report'),
})

export const startInput = z
  .strictObject({
    baseId: id,
    /** An existing table; `table` describes a new one. */
    tableId: id.optional(),
    table: z
      .strictObject({ title: z.string().max(1000), fields: z.array(newField).min(1).max(MAX_IMPORTED) })
      .optional(),
    /** Connected database in which the new table is created; absent: the base's own. */
    sourceId: id.optional(),
    uploadId: id,
    format: importFormat,
    /** Columns of the file; cells beyond them are reported. */
    width: z.int().min(1).max(MAX_COLUMNS),
    /** Imported columns; the n-th fills the n-th field of a new table. */
    columns: z
      .array(
        z.strictObject({
          index: z
            .int()
            .min(0)
            .max(MAX_COLUMNS - 1),
          fieldId: id.optional(),
          /** Decimal mark of its numbers where it is not that of the file. */
          decimal: z.enum(['.', ',']).optional(),
          /** Notation of its dates where it is not the format of the field. */
          dateFormat: z.enum(DATE_FORMATS).optional(),
          /** Reads the years of its dates as those of the Thai Buddhist era. */
          isBuddhist: z.boolean().optional(),
          /** Reads `24/3/13` as 13 March 2024. */
          yearFirst: z.boolean().optional(),
          /** Language of the names of months in its dates. */
          monthLanguage: z.enum(MONTH_LANGUAGES).optional(),
          /** Reads years of two digits as past ones. */
          isPast: z.boolean().optional(),
          link: columnLink.optional(),
          /** For a link field of an existing table: whether names without a record create one, or are only reported. */
          missing: z.enum(['create', 'report']).optional(),
        }),
      )
      .min(1)
      .max(MAX_IMPORTED),
    /** Updates existing records of `tableId`; without it, all rows are added. */
    update: z
      .strictObject({
        /** Mapped fields whose values find the record. */
        keys: z.array(id).min(1).max(MAX_KEYS),
        mode: z.enum(['updateAndAdd', 'update', 'add']).default('updateAndAdd'),
        emptyCells: z.enum(['keep', 'clear']).default('keep'),
      })
      .optional(),
    /** Only counts what an import into an existing table would do; the upload stays for the import. */
    preview: z.boolean().default(false),
    /** Time zone of times without an offset. */
    timeZone: z
      .string()
      .max(64)
      .refine(isTimeZone, { error: () => m.imports_error_time_zone() })
      .default('UTC'),
  })
  .superRefine(({ tableId, table, sourceId, columns, update, preview }, context) => {
    const refuse = (message: string) => context.addIssue({ code: 'custom', message })
    if ((tableId === undefined) === (table === undefined)) refuse(m.imports_error_no_table())
    if (sourceId !== undefined && table === undefined) refuse(m.imports_error_source_without_table())
    if (table && table.fields.length !== columns.length) refuse(m.imports_error_field_count())
    if (!table && columns.some(({ link }) => link?.by === 'name'))
      refuse(m.imports_error_link_existing_table())
    if (columns.filter(({ link }) => link?.by === 'row').length > 1) refuse(m.imports_error_link_target())
    if (sourceId !== undefined && columns.some(({ link }) => link?.by === 'name'))
      refuse(m.imports_error_link_connected())
    if (tableId && columns.some(({ fieldId }) => fieldId === undefined))
      refuse(m.imports_error_column_unmapped())
    if (new Set(columns.map(({ index }) => index)).size < columns.length)
      refuse(m.imports_error_column_twice())
    const fieldIds = columns.flatMap(({ fieldId }) => fieldId ?? [])
    if (new Set(fieldIds).size < fieldIds.length) refuse(m.imports_error_field_twice())
    if (update && tableId === undefined) refuse(m.imports_error_update_new_table())
    if (update?.keys.some((key) => !fieldIds.includes(key))) refuse(m.imports_error_key_unmapped())
    const creates = columns.some(({ missing }) => missing === 'create')
    if (creates && tableId === undefined) refuse(m.imports_error_create_new_table())
    if (preview && tableId === undefined) refuse(m.imports_error_preview_new_table())
  })

export type StartInput = z.output<typeof startInput>

export const startAllInput = z
  .array(startInput)
  .min(1)
  .max(MAX_STARTED, { error: () => m.imports_error_tables_many({ max: MAX_STARTED }) })

/** What to look for in an uploaded file. */
export const analysisInput = z.strictObject({
  chosen: z.prefault(chosenFormat, {}),
  /** Checks the types against every row; by default where that takes a few seconds at most. */
  readAll: z.boolean().optional(),
})

export type AnalysisInput = z.output<typeof analysisInput>

/** Told by an analysis; ignored when it is sent back. */
const told = z.unknown().optional()

/** What becomes of a column of a file. One that is not named is imported as it was detected. */
const columnChoice = z.strictObject({
  index: z.int().min(0).optional().describe('Position in the file'),
  name: z.string().max(1000).optional().describe('Title in the file, where `index` is not given'),
  title: plainText(255).optional(),
  import: z.boolean().optional(),
  type: z.enum(FIELD_TYPE_NAMES).optional(),
  options: z.record(z.string(), z.unknown()).optional(),
  isDisplay: z.boolean().optional(),
  decimal: z.enum(['.', ',']).nullish(),
  dateOrder: z.enum(['day', 'month', 'year']).nullish(),
  isBuddhist: z.boolean().optional(),
  link: z
    .strictObject({
      table: z.int().min(0).optional().describe('Position of another table in the file; or else `tableId`'),
      tableId: id.optional().describe('An existing table; or else `table`'),
      by: z.enum(['name', 'row']).default('name'),
      missing: z.enum(['create', 'report']).default('create'),
      title: told,
      found: told,
    })
    .refine(({ table, tableId }) => (table === undefined) !== (tableId === undefined), {
      error: () => m.imports_error_link_target(),
    })
    .nullish()
    .describe('Null: values stay values'),
  isAmbiguous: told,
  samples: told,
  misfits: told,
})

export type ColumnChoice = z.output<typeof columnChoice>

/** A table of a file that is imported. */
const tableChoice = z.strictObject({
  position: z.int().min(0).optional().describe('Position in the file'),
  name: z.string().max(1000).optional().describe('Name in the file, where `position` is not given'),
  title: plainText(255).pipe(z.string().trim().min(1)).optional(),
  import: z.boolean().optional(),
  columns: z.array(columnChoice).max(MAX_COLUMNS).optional(),
  isHidden: told,
  parent: told,
  rows: told,
  isExact: told,
  isComplete: told,
  problem: told,
  notes: told,
  encodings: told,
})

export type TableChoice = z.output<typeof tableChoice>

/** How a file becomes new tables; what is absent is detected or proposed. */
export const newTablesInput = z.strictObject({
  encoding: chosenFormat.shape.encoding,
  delimiter: chosenFormat.shape.delimiter,
  escape: escapeSign.optional(),
  formulaTexts: z.boolean().optional(),
  header: z.boolean().optional(),
  titleRow: chosenFormat.shape.titleRow,
  flatten: z.boolean().optional(),
  decimal: z.enum(['.', ',']).optional(),
  wholeSheets: z
    .boolean()
    .default(false)
    .describe('Reads a sheet as one table, even if it seems to have several'),
  readAll: z.boolean().optional(),
  nested: z
    .boolean()
    .default(false)
    .describe('Imports lists of objects within records as linked tables of their own'),
  links: z.boolean().default(true).describe('Proposes links by the names of records'),
  sourceId: id
    .optional()
    .describe('Connected database in which the tables are created; absent: the base’s own'),
  timeZone: timeZone.default('UTC'),
  tables: z
    .array(z.union([z.string().max(1000), tableChoice]))
    .min(1)
    .max(MAX_STARTED)
    .optional()
    .describe('The tables to import, by name or with choices; absent: those that the dialog ticks'),
})

export type NewTablesInput = z.output<typeof newTablesInput>

export const fetchUrlInput = z.strictObject({
  url: z.string().trim().min(1).max(2083).describe('Address of the file, which the server downloads'),
})

export const uploadInput = z.strictObject({
  uploadId: id.describe('Of an analysis or an earlier upload'),
})

/** Limits of cells checked before an import, and of their characters. */
const MAX_TEXTS = 1000
const MAX_TEXTS_LENGTH = 200_000

/** Cells of a column for a link field. */
export const missingNamesInput = z.strictObject({
  baseId: id,
  tableId: id,
  fieldId: id,
  timeZone,
  texts: z
    .array(plainText(MAX_TEXTS_LENGTH))
    .max(MAX_TEXTS)
    .refine((texts) => texts.reduce((sum, { length }) => sum + length, 0) <= MAX_TEXTS_LENGTH, {
      error: () => m.imports_error_texts_too_long({ max: MAX_TEXTS_LENGTH }),
    }),
})

export type MissingNamesInput = z.output<typeof missingNamesInput>

/** Columns of a file that may become links to existing tables, with some of their values. */
export const matchTablesInput = z.strictObject({
  baseId: id,
  timeZone,
  columns: z
    .array(
      z.strictObject({
        title: z.string().max(1000),
        values: z.array(plainText(1000)).max(MAX_MATCHED_VALUES),
      }),
    )
    .max(MAX_MATCHED),
})

export type MatchTablesInput = z.output<typeof matchTablesInput>

/** Time since the page was opened, in milliseconds: the browser's clock may be wrong. */
export const unfinishedInput = z.strictObject({ pageAgeMs: z.number().min(0).max(1e12) }).optional()
