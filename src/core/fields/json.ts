import * as z from 'zod/mini'
import { isTooDeep, MAX_JSON_DEPTH } from '../json-text.ts'
import { m } from '../messages.gen.ts'
import { defineFieldType, describeValue, type Read, readFail } from './field-type.ts'
import { MAX_TEXT_LENGTH, parseText, readText } from './text.ts'

/** Any JSON value. The text is kept as its author wrote it: spaces, order of keys and all digits. */
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
    const text = isPlain(input) ? written(input) : null
    return text === null ? readFail(`Expected JSON, got ${describeValue(input)}`) : readJsonText(text)
  },
  parse: (text) => (jsonProblem(text) === null ? parseText(text, MAX_TEXT_LENGTH) : null),
  format: (value) => (value === null ? '' : String(value)),
  databaseTypes: { sqlite3: 'text', pg: 'json' },
})

function readJsonText(text: string): Read {
  const problem = text.length > MAX_TEXT_LENGTH ? null : jsonProblem(text)
  return problem === null ? readText(text, MAX_TEXT_LENGTH) : readFail(`Invalid JSON: ${problem}`)
}

/** A short reason why a text is not valid JSON; null if it is. */
export function jsonProblem(text: string): string | null {
  if (text.trim() === '') return 'it is empty'
  try {
    if (isTooDeep(text)) return `it is nested more than ${MAX_JSON_DEPTH} levels deep`
    JSON.parse(text)
    return null
  } catch (error) {
    if (error instanceof SyntaxError) return error.message.replace(/^JSON Parse error: /, '').slice(0, 200)
    throw error
  }
}

/** Accepts objects and lists as parsed from a body, and nothing that JSON cannot represent. */
function isPlain(input: unknown): boolean {
  if (typeof input === 'boolean' || Array.isArray(input)) return true
  if (typeof input !== 'object' || input === null) return false
  const prototype: unknown = Object.getPrototypeOf(input)
  return prototype === Object.prototype || prototype === null
}

/** Null where it cannot be written: a function, a loop. */
function written(input: unknown): string | null {
  try {
    return JSON.stringify(input) ?? null
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) return null
    throw error
  }
}
