import type { RecordChange, Values } from '../../../src/core/changes.ts'
import { isPasswordHash, PASSWORD_MASK } from '../../../src/core/fields/password.ts'
import { isSecret } from '../../../src/core/fields/traits.ts'
import type { TableModel } from '../../schema/index.ts'
import { perModel } from './per-model.ts'

/** Ids of the password fields of a table; most have none. */
const passwordFields = perModel((model) => model.fields.filter(isSecret).map(({ id }) => id))

/** Values as people may see them: of a password, that there is one. */
export function maskValues(model: TableModel, values: Values): Values {
  const secret = passwordFields(model).filter((id) => values[id] != null)
  if (secret.length === 0) return values
  return { ...values, ...Object.fromEntries(secret.map((id) => [id, PASSWORD_MASK])) }
}

/** Changes of records as they are told to browsers: the log keeps fingerprints, which are nobody's to see. */
export function maskChanges(
  records: RecordChange[],
  modelOf: (tableId: string) => TableModel | undefined,
): RecordChange[] {
  return records.map((record) => {
    const model = modelOf(record.tableId)
    if (model && passwordFields(model).length === 0) return record
    const { before, after } = record
    const mask = (values: Values) => (model ? maskValues(model, values) : maskHashes(values))
    return { ...record, before: before && mask(before), after: after && mask(after) }
  })
}

/** Of a change that was sent again the log alone is at hand: what looks like a fingerprint is one. */
const maskHashes = (values: Values): Values =>
  Object.fromEntries(
    Object.entries(values).map(([id, value]) => [id, isPasswordHash(value ?? null) ? PASSWORD_MASK : value]),
  )
