import { Elysia } from 'elysia'
import { z } from 'zod'
import { CSV_DELIMITERS, CSV_ENCODINGS } from '../../../src/core/csv/format.ts'
import { excelFormat } from '../../../src/core/imports/format.ts'
import { plainText } from '../../../src/input.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { readBody, restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import { escapeSign } from '../input.ts'
import type { ImportsService } from '../service.ts'
import { presentJob, requireFile } from './routes.ts'

const isTrue = z.enum(['true', 'false']).transform((text) => text === 'true')

const importQuery = z.object({
  /** Titles or ids of the fields that find records, separated by commas; absent: all rows are added. */
  keys: plainText(2000).optional(),
  mode: z.enum(['updateAndAdd', 'update', 'add']).default('updateAndAdd'),
  emptyCells: z.enum(['keep', 'clear']).default('keep'),
  preview: isTrue.default(false),
  /** What becomes of names in link columns that no record has. */
  missing: z.enum(['create', 'report']).default('report'),
  /** Name of a sheet of a workbook, or of a list of records in a JSON file; default: the first one. */
  table: plainText(255).optional(),
  /** Row of a sheet with the titles, from 1. */
  titleRow: z.coerce.number().pipe(excelFormat.shape.titleRow).optional(),
  flatten: isTrue.optional(),
  /** Imports lists of objects within the records as well, into the tables of link fields or into new ones. */
  nested: isTrue.default(false),
  monthFirst: isTrue.optional(),
  yearFirst: isTrue.optional(),
  buddhistYears: isTrue.optional(),
  encoding: z.enum(CSV_ENCODINGS.map(({ name }) => name)).optional(),
  delimiter: z.enum(CSV_DELIMITERS).optional(),
  escape: escapeSign.optional(),
  /** Whether `="0012"` is the text `0012`. */
  formulaTexts: isTrue.optional(),
  decimal: z.enum(['.', ',']).optional(),
  timeZone: plainText(64).optional(),
  name: plainText(255).default('import.csv'),
})

/** Imports a file, which is the body, into a table: its columns fill the fields of the same titles. */
export const tableImportRest = (
  kernel: Kernel,
  { imports, auth }: { imports: ImportsService; auth: Pick<AuthService, 'authenticate'> },
) =>
  new Elysia().use(restBase(kernel, auth)).post(
    '/api/v2/tables/:tableId/import',
    async ({ actor, params, query, request }) => {
      const { keys, mode, emptyCells, name, preview, missing, timeZone, table, nested, ...others } = readBody(
        importQuery,
        query,
      )
      const { monthFirst, yearFirst, buddhistYears, ...chosen } = others
      const update = keys === undefined ? undefined : { keys: keys.split(','), mode, emptyCells }
      const { tableId } = params
      const days = { monthFirst, yearFirst, buddhistYears }
      const input = { tableId, chosen, table, nested, ...days, update, preview, missing, timeZone }
      const started = await imports.importFile(actor, input, name, () => requireFile(kernel, request))
      const jobs = started.map(presentJob)
      return nested ? { ...jobs[0], jobs } : jobs[0]
    },
    { parse: 'none' },
  )
