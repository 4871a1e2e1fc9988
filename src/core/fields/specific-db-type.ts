import * as z from 'zod/mini'
import { m } from '../messages.gen.ts'
import { defineFieldType, formatPlain } from './field-type.ts'
import { MAX_TEXT_LENGTH, parseText, readText } from './text.ts'

/** Database types that API clients may declare. They describe the text's meaning; it is stored as text. */
export const SPECIFIC_TYPES = [
  'varchar',
  'text',
  'char',
  'blob',
  'bytea',
  'uuid',
  'xml',
  'inet',
  'cidr',
  'macaddr',
  'interval',
  'bit',
  'varbinary',
  'binary',
  'tsvector',
  'hstore',
  'point',
  'line',
  'polygon',
  'circle',
  'int4range',
  'daterange',
] as const

/** A column of a database type without a matching field type, shown as text. */
export const specificDbType = defineFieldType({
  name: 'SpecificDBType',
  label: m.field_type_specific_dbtype,
  group: 'text',
  help: m.field_type_specific_dbtype_help,
  example: '192.168.0.1/24',
  storage: 'longText',
  options: z.object({ databaseType: z._default(z.enum(SPECIFIC_TYPES), 'varchar') }),
  filters: 'text',
  summaries: 'count',
  namesDatabaseType: true,
  formRules: ['text'],
  forPrograms: true,
  read: (input) => readText(input, MAX_TEXT_LENGTH),
  parse: (text) => parseText(text, MAX_TEXT_LENGTH),
  format: formatPlain,
  databaseTypes: { sqlite3: 'varchar', pg: 'character varying' },
})
