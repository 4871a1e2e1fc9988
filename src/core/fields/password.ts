import * as z from 'zod/mini'
import { m } from '../messages.gen.ts'
import { type CellValue, defineFieldType } from './field-type.ts'
import { parseText, readText } from './text.ts'

const MAX_PASSWORD_LENGTH = 1000

/** Mask shown instead of a password; it does not reveal the length. */
export const PASSWORD_MASK = '••••••••'

/** A stored password: the fingerprint that argon2id makes of it. */
export const isPasswordHash = (value: CellValue): boolean =>
  typeof value === 'string' && value.startsWith('$argon2id$')

/**
 * A password that can be set and never read: what is stored is its fingerprint, and everyone sees dots.
 * `read` and `parse` take the password itself; the write door makes the fingerprint.
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
  format: (value) => (value === null ? '' : String(value)),
  databaseTypes: { sqlite3: 'varchar', pg: 'character varying' },
})
