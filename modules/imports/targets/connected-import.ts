import { AppError, badRequest } from '../../../src/core/errors.ts'
import { withPeople } from '../../../src/core/fields/traits.ts'
import type { Field, Person } from '../../../src/core/model.ts'
import { type NamedTable, namesInZone, requireStoredNames } from '../../../src/db/names-of-records.ts'
import type { Engine } from '../../../src/dialects/dialect.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import type { RecordsService } from '../../records/index.ts'
import type { SchemaService, TableModel } from '../../schema/index.ts'
import type { ImportInput, UpdateOfRecords } from '../job-input.ts'
import type { Report } from '../worker/report.ts'
import type { TargetRun } from './target.ts'

export interface ConnectedDeps {
  kernel: Pick<Kernel, 'sources' | 'log'>
  schema: Pick<SchemaService, 'load' | 'engineOf' | 'writeRefusal' | 'hasTable' | 'createConnectedTable'>
  records: Pick<
    RecordsService,
    'openLink' | 'people' | 'apply' | 'open' | 'page' | 'findByValues' | 'readStored'
  >
}

/** The second half of an import into a connected database. */
export interface ConnectedImport extends TargetRun {
  input: ImportInput
  update: UpdateOfRecords | undefined
  /** True for a table that the import has created. */
  isNewTable: boolean
  model: TableModel
  /** The connected database. */
  engine: Engine
  report: Report
  /** @throws CONFLICT if a field that is being filled was changed */
  verify(): Promise<void>
}

/** Error codes for values and records that the database, or a rule of the table, refuses. */
const FAULTS: ReadonlySet<string> = new Set([
  'DATABASE_ERROR',
  'INVALID_VALUE_FOR_FIELD',
  'REQUIRED_FIELD_MISSING',
  'RECORD_NOT_FOUND',
  'BAD_REQUEST',
])

/** False if no row could be written, whatever its values. */
export const isFaultOfRows = ({ code, details }: AppError): boolean =>
  FAULTS.has(code) && (details?.failure === undefined || details.failure === 'value')

/** Rows, or names of linked records, that the database may refuse: each takes some attempts to find, and so many have one cause. */
export const MAX_REFUSED = 1_000

/** The error that ends an import after so many. */
export const tooManyRefused = ({ message }: AppError): AppError =>
  new AppError('DATABASE_ERROR', m.imports_error_too_many_refused({ max: MAX_REFUSED, reason: message }))

type OpenLink = Awaited<ReturnType<RecordsService['openLink']>>

/**
 * The records that a link field's cells name.
 * @param timeZone of names that are a date and time; by default UTC
 * @throws BAD_REQUEST if they cannot be found by name
 */
export function toNamedRecords({ related, field }: OpenLink, people: Person[], timeZone = 'UTC'): NamedTable {
  requireStoredNames(related)
  const { table, primaryKey, displayField, keyFields } = related
  if (keyFields.length !== 1)
    throw badRequest(m.imports_error_link_composite({ field: field.title, table: table.title }))
  const options = withPeople(displayField.type, displayField.options, people) as Field['options']
  return namesInZone({ table, primaryKey, displayField: { ...displayField, options } }, timeZone)
}
