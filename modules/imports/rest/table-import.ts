import { Elysia } from 'elysia'
import { z } from 'zod'
import { CSV_DELIMITERS, CSV_ENCODINGS } from '../../../src/core/csv/format.ts'
import { excelFormat } from '../../../src/core/imports/format.ts'
import { plainText } from '../../../src/input.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { describedBy, ok, outputSchema, queryParameters } from '../../../src/wire/openapi.ts'
import { readBody, restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import { escapeSign } from '../input.ts'
import type { ImportsService } from '../service.ts'
import { tableImportAnswer } from './answers.ts'
import { FILE_REFUSED, fileBody, presentJob, requireFile } from './routes.ts'

const isTrue = z.enum(['true', 'false']).transform((text) => text === 'true')

const importQuery = z.object({
  keys: plainText(2000)
    .optional()
    .describe(
      'Titles or ids of the fields that find records, separated by commas; absent: all rows are added',
    ),
  mode: z.enum(['updateAndAdd', 'update', 'add']).default('updateAndAdd'),
  emptyCells: z.enum(['keep', 'clear']).default('keep'),
  preview: isTrue.prefault('false'),
  missing: z
    .enum(['create', 'report'])
    .default('report')
    .describe('What becomes of names in link columns that no record has'),
  table: plainText(255)
    .optional()
    .describe(
      'Name of a sheet of a workbook, or of a list of records in a JSON file; default: the first one',
    ),
  titleRow: z.coerce
    .number()
    .pipe(excelFormat.shape.titleRow)
    .optional()
    .describe('Row of a sheet with the titles, from 1'),
  flatten: isTrue.optional(),
  nested: isTrue
    .prefault('false')
    .describe(
      'Imports lists of objects within the records as well, into the tables of link fields or into new ones',
    ),
  monthFirst: isTrue.optional(),
  yearFirst: isTrue.optional(),
  buddhistYears: isTrue.optional(),
  encoding: z.enum(CSV_ENCODINGS.map(({ name }) => name)).optional(),
  delimiter: z.enum(CSV_DELIMITERS).optional(),
  escape: escapeSign.optional(),
  formulaTexts: isTrue.optional().describe('Whether `="0012"` is the text `0012`'),
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
    {
      parse: 'none',
      detail: {
        summary: 'Import a file into a table',
        tags: ['Imports'],
        ...describedBy(() => ({
          parameters: queryParameters(importQuery),
          requestBody: fileBody,
          responses: { ...ok(outputSchema(tableImportAnswer)), ...FILE_REFUSED },
        })),
      },
    },
  )
