import * as z from 'zod/mini'
import { isTooDeep, MAX_JSON_DEPTH } from '../json-text.ts'
import { m } from '../messages.gen.ts'
import { defineFieldType, describeValue, formatPlain, type Read, readFail } from './field-type.ts'
import { MAX_TEXT_LENGTH, parseText, readText } from './text.ts'

/** Any JSON value, stored as entered: with whitespace, key order and all digits. */
export const json = defineFieldType({
  name: 'JSON',
  label: m.field_type_json,
  group: 'text',
  help: m.field_type_json_help,
  example: '{"size": "M"}',
  storage: 'json',
  options: z.object({}),
  filters: 'text',
  summaries: 'count',
  groupable: false,
  noDefault: true,
  read(input) {
    if (typeof input === 'string') return readJsonText(input)
    const text = isPlain(input) ? serialized(input) : null
    return text === null ? readFail(m.value_error_json({ value: describeValue(input) })) : readJsonText(text)
  },
  parse: (text) => (jsonProblem(text) === null ? parseText(text, MAX_TEXT_LENGTH) : null),
  format: formatPlain,
  databaseTypes: { sqlite3: 'text', pg: 'json' },
})

function readJsonText(text: string): Read {
  const problem = text.length > MAX_TEXT_LENGTH ? null : jsonProblem(text)
  return problem === null
    ? readText(text, MAX_TEXT_LENGTH)
    : readFail(m.value_error_invalid_json({ problem }))
}

/** Why a text is not valid JSON, in a few words; null if it is valid. */
export function jsonProblem(text: string): string | null {
  if (text.trim() === '') return m.value_error_json_empty()
  try {
    if (isTooDeep(text)) return m.value_error_json_depth({ max: MAX_JSON_DEPTH })
    JSON.parse(text)
    return null
  } catch (error) {
    if (error instanceof SyntaxError) return error.message.replace(/^JSON Parse error: /, '').slice(0, 200)
    throw error
  }
}

/** True for booleans, lists and plain objects, as parsed from a request body. */
function isPlain(input: unknown): boolean {
  if (typeof input === 'boolean' || Array.isArray(input)) return true
  if (typeof input !== 'object' || input === null) return false
  const prototype: unknown = Object.getPrototypeOf(input)
  return prototype === Object.prototype || prototype === null
}

/** Null for values that JSON cannot represent, such as functions and cycles. */
function serialized(input: unknown): string | null {
  try {
    return JSON.stringify(input) ?? null
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) return null
    throw error
  }
}
