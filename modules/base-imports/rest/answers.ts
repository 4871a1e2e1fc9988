import { z } from 'zod'
import {
  BASE_SOURCES,
  type BaseImport,
  IMPORT_STEPS,
  type ImportedPerson,
  type ImportProblem,
  importChoices,
} from '../../../src/core/base-imports.ts'
import type { Person } from '../../../src/core/fields/people.ts'

/** The answers of imports of bases, for the OpenAPI document. Each has the type of the value that its route answers. */

const count = z.int()

export const importAnswer: z.ZodType<BaseImport> = z.object({
  id: z.string(),
  source: z.enum(BASE_SOURCES),
  sourceBaseId: z.string(),
  title: z.string(),
  baseId: z.string().nullable(),
  createsBase: z.boolean(),
  choices: importChoices,
  status: z.enum(['running', 'paused', 'completed', 'failed', 'cancelled']),
  error: z.string().nullable(),
  run: count.describe('1 for the first run'),
  step: z.enum(IMPORT_STEPS),
  tables: z.array(
    z.object({
      sourceId: z.string(),
      title: z.string(),
      tableId: z.string().nullable().describe('Null before the table is created'),
      read: count,
      added: count,
      changed: count,
      removed: count,
      isDone: z.boolean(),
    }),
  ),
  counts: z.object({ files: count, comments: count, views: count, verified: count }),
  problems: count.describe('Lines of the report of the last run'),
  hasCredentials: z.boolean().describe('True if it can be imported again without new credentials'),
  createdAt: z.string(),
  updatedAt: z.string(),
})

export const importsAnswer = z.object({ list: z.array(importAnswer) })

export const basesAnswer = z.object({ bases: z.array(z.object({ id: z.string(), title: z.string() })) })

export const tablesAnswer = z.object({
  title: z.string(),
  tables: z.array(
    z.object({
      title: z.string(),
      fields: count,
      views: count,
      computed: count.describe('Fields that are computed'),
    }),
  ),
})

export const personAnswer: z.ZodType<ImportedPerson> = z.object({
  key: z.string().describe('Identifies the person within the import'),
  sourceId: z.string().nullable().describe('The id there; null if the source does not tell it'),
  email: z.string().nullable(),
  name: z.string().nullable(),
  cells: count,
  records: count,
  comments: count,
  memberId: z.string().nullable().describe('Null: nobody stands for the person'),
  isChosen: z.boolean(),
  isBehind: z.boolean().describe('True if cells or comments have another member, which the next run changes'),
})

const member: z.ZodType<Person> = z.object({
  id: z.string(),
  email: z.string(),
  displayName: z.string().nullable(),
})

export const peopleAnswer = z.object({
  people: z.array(personAnswer),
  total: count,
  members: z.array(member),
})

const problem: z.ZodType<ImportProblem> = z.object({
  kind: z.enum(['skipped', 'changed', 'note']),
  tableTitle: z.string().nullable(),
  fieldTitle: z.string().nullable(),
  viewTitle: z.string().nullable(),
  recordId: z.string().nullable().describe('Id of the record in the source'),
  reason: z.string(),
  value: z.string().nullable(),
})

export const reportAnswer = z.object({
  lines: z.array(problem),
  isLast: z.boolean().describe('True if there are no more lines'),
})
