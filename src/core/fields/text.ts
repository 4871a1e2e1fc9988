import * as z from 'zod/mini'
import { m } from '../messages.gen.ts'
import { defineFieldType, describeValue, formatPlain, type Read, readFail, readOk } from './field-type.ts'

/** Longest text of a single-line field: four-byte characters still fit MySQL's 64 KB TEXT. */
export const MAX_LINE_LENGTH = 16_000
export const MAX_TEXT_LENGTH = 1_000_000

/** Validates text from an API client. Numbers and booleans become text; objects and lists are rejected. */
export function readText(input: unknown, maxLength: number): Read {
  if (typeof input === 'number' && Number.isFinite(input)) return readOk(String(input))
  if (typeof input === 'boolean') return readOk(String(input))
  if (typeof input !== 'string') return readFail(m.value_error_text({ value: describeValue(input) }))
  const problem = textProblem(input, maxLength)
  return problem === null ? readOk(input) : readFail(problem)
}

/** A user's text, unchanged; null if it is empty or cannot be stored. */
export const parseText = (text: string, maxLength: number): string | null =>
  text === '' || textProblem(text, maxLength) !== null ? null : text

function textProblem(text: string, maxLength: number): string | null {
  if (text.length > maxLength) return m.value_error_text_length({ max: maxLength })
  // PostgreSQL cannot store U+0000, and drivers replace unpaired surrogates with question marks.
  if (text.includes('\u0000')) return m.value_error_null_character()
  return text.isWellFormed() ? null : m.value_error_incomplete_character()
}

/** Text displayed on one line. */
export const singleLineText = defineFieldType({
  name: 'SingleLineText',
  label: m.field_type_single_line_text,
  group: 'text',
  help: m.field_type_single_line_text_help,
  example: 'Ship the first version',
  storage: 'text',
  options: z.object({}),
  filters: 'text',
  summaries: 'count',
  family: 'text',
  naming: 'likely',
  fill: 'text',
  scannable: true,
  formRules: ['text', 'email', 'url', 'phone'],
  read: (input) => readText(input, MAX_LINE_LENGTH),
  parse: (text) => parseText(text, MAX_LINE_LENGTH),
  format: formatPlain,
  databaseTypes: { sqlite3: 'varchar', pg: 'text' },
})

/** Multi-line text; `rich` renders it as Markdown. */
export const longText = defineFieldType({
  name: 'LongText',
  label: m.field_type_long_text,
  group: 'text',
  help: m.field_type_long_text_help,
  example: 'Agreed with Ann:\n- two colours\n- ready in May',
  storage: 'longText',
  mergesEdits: true,
  options: z.object({ rich: z._default(z.boolean(), false) }),
  filters: 'text',
  summaries: 'count',
  family: 'text',
  naming: 'likely',
  fill: 'text',
  scannable: true,
  formRules: ['text'],
  read: (input) => readText(input, MAX_TEXT_LENGTH),
  parse: (text) => parseText(text, MAX_TEXT_LENGTH),
  format: formatPlain,
  databaseTypes: { sqlite3: 'text', pg: 'text' },
})
