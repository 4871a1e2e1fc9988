import { fieldType } from './fields/index.ts'
import type { Field, RecordId } from './model.ts'

/**
 * A record's id as a table with these key fields has it. Keys of one whole number are numbers, `7` for `"7"`, as far as
 * JavaScript can say them; all others are text.
 */
export function idAsStored(keys: readonly Pick<Field, 'type'>[], id: RecordId): RecordId {
  const [key, ...others] = keys
  const isNumbered =
    key !== undefined && others.length === 0 && ['id', 'integer'].includes(fieldType(key.type).storage)
  return isNumbered && typeof id === 'string' && /^-?\d{1,15}$/.test(id) ? Number(id) : id
}
