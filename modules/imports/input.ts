import { z } from 'zod'
import { csvFormat } from '../../src/core/csv/format.ts'
import { isTimeZone } from '../../src/core/dates.ts'
import { FIELD_TYPE_NAMES } from '../../src/core/fields/index.ts'
import { plainText } from '../../src/input.ts'

const id = z.string().min(1).max(64)

/** Most columns that a file may have; those that are not imported count too. */
const MAX_COLUMNS = 2000
/** Most that are imported: a table's own limit is checked where the table is made. */
const MAX_IMPORTED = 1000

const newField = z.strictObject({
  title: z.string().max(1000),
  type: z.enum(FIELD_TYPE_NAMES),
  options: z.record(z.string(), z.unknown()).optional(),
  /** True for the field that names the records; the first one where none is marked. */
  isDisplay: z.boolean().optional(),
})

/** What an import is told: the file, how to read it, and where its columns go. */
export const startInput = z
  .strictObject({
    baseId: id,
    /** A table that exists, or `table` for a new one. */
    tableId: id.optional(),
    table: z
      .strictObject({ title: z.string().max(1000), fields: z.array(newField).min(1).max(MAX_IMPORTED) })
      .optional(),
    uploadId: id,
    format: csvFormat,
    /** Columns of the file in all: cells beyond them are reported. */
    width: z.int().min(1).max(MAX_COLUMNS),
    /** The columns that are imported; the n-th goes to the n-th field of a new table. */
    columns: z
      .array(
        z.strictObject({
          index: z
            .int()
            .min(0)
            .max(MAX_COLUMNS - 1),
          fieldId: id.optional(),
        }),
      )
      .min(1)
      .max(MAX_IMPORTED),
    /** Zone of times without an offset, in fields that show everyone their own. */
    timeZone: z.string().max(64).refine(isTimeZone, { error: 'Unknown time zone' }).default('UTC'),
  })
  .superRefine(({ tableId, table, columns }, context) => {
    const refuse = (message: string) => context.addIssue({ code: 'custom', message })
    if ((tableId === undefined) === (table === undefined)) refuse('Choose a table or describe a new one')
    if (table && table.fields.length !== columns.length) refuse('A new table needs a field for each column')
    if (tableId && columns.some(({ fieldId }) => fieldId === undefined)) refuse('Each column needs a field')
    if (new Set(columns.map(({ index }) => index)).size < columns.length)
      refuse('A column can only be imported once')
    const fieldIds = columns.flatMap(({ fieldId }) => fieldId ?? [])
    if (new Set(fieldIds).size < fieldIds.length) refuse('Two columns can’t be mapped to the same field')
  })

export type StartInput = z.output<typeof startInput>

/** An address to fetch a file from. */
export const fetchUrlInput = z.strictObject({ url: z.string().trim().min(1).max(2083) })

/** Most cells that are looked at ahead of an import, and their length in all. */
const MAX_TEXTS = 1000
const MAX_TEXTS_LENGTH = 200_000

/** Cells of a column that would go to a link. */
export const missingNamesInput = z.strictObject({
  baseId: id,
  tableId: id,
  fieldId: id,
  texts: z
    .array(plainText(MAX_TEXTS_LENGTH))
    .max(MAX_TEXTS)
    .refine((texts) => texts.reduce((sum, { length }) => sum + length, 0) <= MAX_TEXTS_LENGTH, {
      error: `At most ${MAX_TEXTS_LENGTH} characters are looked at`,
    }),
})

export type MissingNamesInput = z.output<typeof missingNamesInput>

/** The time since the page was opened that asks: by its own clock, since people's are often wrong. */
export const unfinishedInput = z.strictObject({ pageAgeMs: z.number().min(0).max(1e12) }).optional()
