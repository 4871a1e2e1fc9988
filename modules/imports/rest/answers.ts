import { z } from 'zod'
import type { ImportResult } from '../../../src/core/csv/import-result.ts'
import { FIELD_TYPE_NAMES } from '../../../src/core/fields/index.ts'
import type { JobProgress, JobStatus } from '../../../src/jobs.ts'
import type { ProposedTable } from '../new-tables.ts'
import type { Upload } from '../uploads.ts'

/** The answers of imports, for the OpenAPI document. Each has the type of the value that its route answers. */

export const uploadAnswer: z.ZodType<Upload> = z.object({
  uploadId: z.string(),
  fileName: z.string(),
  size: z.int().describe('In bytes'),
})

const count = z.int()
const problem = z.object({
  row: count.describe('Number of the record in the file, from 1, with the header'),
  column: z.string().describe('Title of the field; empty if the whole row is affected'),
  value: z.string(),
  reason: z.string(),
})

const importResult: z.ZodType<ImportResult> = z.object({
  tableId: z.string(),
  title: z.string(),
  isNewTable: z.boolean(),
  fileName: z.string(),
  rows: count.describe('Rows added to the table'),
  rowsRefused: count,
  cellsRefused: count,
  problems: count.describe('Number of lines of the report; 0: there is none'),
  samples: z.array(problem).describe('The first problems'),
  encoding: z.string(),
  seconds: z.number(),
  changeId: count.nullable().describe('Entry of the history that undoes the import'),
  update: z
    .object({
      isPreview: z.boolean(),
      added: count,
      changed: count,
      unchanged: count,
      skipped: count,
      withoutKey: count,
      repeated: count,
      ambiguous: count,
      unknown: count,
      changes: z.array(
        z.object({
          row: count,
          key: z.string(),
          cells: z.array(z.object({ field: z.string(), before: z.string().nullable(), after: z.string() })),
        }),
      ),
    })
    .optional(),
  created: z.array(z.object({ tableId: z.string(), table: z.string(), count })).optional(),
  links: z.array(z.object({ field: z.string(), related: z.string(), count })).optional(),
  stopped: z.object({ row: count.nullable(), rows: count, reason: z.string().nullable() }).optional(),
})

const jobStatus: z.ZodType<JobStatus> = z.enum(['waiting', 'active', 'completed', 'failed', 'cancelled'])

/** A job as lists and starts answer it. */
export const jobAnswer = z.object({
  id: z.string(),
  job: z.string().describe('The kind of the job'),
  status: jobStatus,
  result: z
    .union([importResult, z.unknown()])
    .describe('Null before the end; of an import into a table as described, of other jobs as they have it'),
  fk_user_id: z.string(),
  fk_workspace_id: z.null(),
  base_id: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
})

const jobProgress: z.ZodType<JobProgress> = z.object({
  done: z.number(),
  total: z.number().nullable().describe('Null while it is not known'),
  unit: z.enum(['rows', 'bytes', 'tables']),
  link: z
    .object({ table: z.string(), related: z.string() })
    .optional()
    .describe('The tables that are being linked'),
  restarts: count.optional().describe('How often the job went on after its server had stopped'),
  furthest: z.number().optional().describe('How far it had come at most when a run was interrupted'),
  fruitless: count.optional().describe('Interrupted runs in a row that have not come further than that'),
})

/** The state of a job. */
export const jobStateAnswer = jobAnswer.extend({
  group: z.string().nullable().describe('Shared by the jobs of one start; null for a job of its own'),
  progress: jobProgress,
  error: z.string().nullable().describe('Why it has failed'),
})

/** The job of an import into a table; all its jobs for `nested`. */
export const tableImportAnswer = jobAnswer.extend({ jobs: z.array(jobAnswer).optional() })

export const newTablesAnswer = z.object({
  tables: z.array(z.object({ position: count, name: z.string(), title: z.string(), jobId: z.string() })),
  jobs: z.array(jobAnswer),
})

const proposedTable: z.ZodType<ProposedTable> = z.object({
  position: count.describe('Position in the file'),
  name: z.string().describe('Name in the file; empty if the file is the table'),
  title: z.string(),
  import: z.boolean(),
  isHidden: z.boolean(),
  parent: z
    .object({ table: count, column: count })
    .nullable()
    .describe('The table and column with the lists that this table holds'),
  rows: count.nullable().describe('Null for a table that cannot be imported'),
  isExact: z.boolean().describe('False if `rows` is estimated'),
  isComplete: z.boolean().describe('True if the types fit every row, not only samples'),
  problem: z.string().nullable().describe('Why it cannot be imported'),
  notes: z.array(z.string()),
  encodings: z.array(z.string()).describe('Encodings of which one has to be chosen'),
  columns: z.array(
    z.object({
      index: count.describe('Position in the file'),
      name: z.string().describe('Title in the file'),
      title: z.string(),
      import: z.boolean(),
      type: z.enum(FIELD_TYPE_NAMES),
      options: z.record(z.string(), z.unknown()),
      isDisplay: z.boolean(),
      decimal: z.enum(['.', ',']).nullable(),
      dateOrder: z.enum(['day', 'month', 'year']).nullable(),
      isAmbiguous: z.boolean(),
      samples: z.array(z.string()),
      misfits: count.describe('Cells of the sample that do not fit the type'),
      link: z
        .object({
          table: count.optional(),
          tableId: z.string().optional(),
          title: z.string(),
          by: z.enum(['name', 'row']),
          missing: z.enum(['create', 'report']),
          found: z.object({ count, of: count }).nullable(),
        })
        .nullable(),
    }),
  ),
})

export const analysisAnswer = z.object({
  uploadId: z.string(),
  fileName: z.string(),
  tables: z.array(proposedTable),
})

export const reportAnswer = z.object({
  lines: z.array(problem),
  isLast: z.boolean().describe('True if there are no more lines'),
})
