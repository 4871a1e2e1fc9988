import * as z from 'zod/mini'
import { m } from '../messages.gen.ts'
import { type CellValue, defineFieldType, formatPlain } from './field-type.ts'
import { parseText, readText } from './text.ts'

const MAX_PASSWORD_LENGTH = 1000

/** Mask shown instead of a password; it does not reveal the length. */
export const PASSWORD_MASK = '••••••••'

/** True for a stored password, an argon2id hash. */
export const isPasswordHash = (value: CellValue): boolean =>
  typeof value === 'string' && value.startsWith('$argon2id$')

/**
 * A write-only password, stored as a hash and displayed as a mask. `read` and `parse` take the password
 * itself; the write door hashes it.
 */
export const password = defineFieldType({
  name: 'Password',
  label: m.field_type_password,
  group: 'text',
  help: m.field_type_password_help,
  example: PASSWORD_MASK,
  storage: 'text',
  options: z.object({}),
  filters: 'presence',
  summaries: 'count',
  isSecret: true,
  groupable: false,
  formRules: ['text'],
  noDefault: true,
  read: (input) => readText(input, MAX_PASSWORD_LENGTH),
  parse: (text) => parseText(text, MAX_PASSWORD_LENGTH),
  format: formatPlain,
  databaseTypes: { sqlite3: 'varchar', pg: 'character varying' },
})
