import * as z from 'zod/mini'
import { m } from '../messages.gen.ts'
import { defineFieldType, formatPlain, type Read } from './field-type.ts'
import { readInteger } from './number.ts'
import { parseShare } from './number-text.ts'
import { readText } from './text.ts'

const MAX_KEY_LENGTH = 255

/** The key of a record of another table. Created with a link, which stores its relation in it. */
export const foreignKey = defineFieldType({
  name: 'ForeignKey',
  label: m.field_type_foreign_key,
  group: 'system',
  help: m.field_type_foreign_key_help,
  example: '17',
  storage: 'integer',
  /** `isText`: the parent table has text keys. */
  options: z.object({ isText: z._default(z.boolean(), false) }),
  filters: 'number',
  summaries: 'count',
  isForeignKey: true,
  excel: 'text',
  internal: true,
  read: (input, { isText }): Read => (isText ? readText(input, MAX_KEY_LENGTH) : readInteger(input)),
  parse(text, { isText }) {
    if (isText) return text.trim().slice(0, MAX_KEY_LENGTH) || null
    const value = text.length > 40 ? null : parseShare(text)
    return Number.isSafeInteger(value) ? value : null
  },
  format: formatPlain,
  databaseTypes: { sqlite3: 'integer', pg: 'int4' },
})
