import { z } from 'zod'
import { isTimeZone } from './core/dates.ts'
import { m } from './messages.gen.ts'

/** Deepest nesting that is stored. Recursion over deeper values could exhaust the stack. */
const MAX_DEPTH = 100

/** True for text that every engine can store: PostgreSQL rejects null characters and lone surrogates. */
const isPlain = (text: string): boolean => !text.includes('\u0000') && text.isWellFormed()

/** Text of at most `max` characters that every engine can store. */
export const plainText = (max: number) =>
  z
    .string()
    .max(max)
    .refine(isPlain, { error: () => m.schema_error_unstorable_text() })

/** An object with any keys that every engine can store, of at most about `maxLength` characters of JSON. */
export const plainObject = (maxLength: number) =>
  z
    .record(z.string(), z.unknown())
    .refine(
      (value) => isStorable(value, maxLength),
      `must not be longer than ${maxLength} characters or deeper than ${MAX_DEPTH}, nor hold null characters`,
    )

/** Without recursion: see `MAX_DEPTH`. */
function isStorable(value: unknown, maxLength: number): boolean {
  const waiting: [part: unknown, depth: number][] = [[value, 0]]
  let length = 0
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [part, depth] = next
    const isObject = typeof part === 'object' && part !== null
    const texts = typeof part === 'string' ? [part] : isObject ? Object.keys(part) : []
    length += texts.reduce((sum, text) => sum + text.length + 1, 1)
    if (length > maxLength || depth > MAX_DEPTH || !texts.every(isPlain)) return false
    if (isObject) for (const child of Object.values(part)) waiting.push([child, depth + 1])
  }
  return true
}

/** The IANA name of a time zone; absent: UTC. */
export const timeZone = z
  .string()
  .max(64)
  .refine(isTimeZone, { error: () => m.imports_error_time_zone() })
  .optional()
