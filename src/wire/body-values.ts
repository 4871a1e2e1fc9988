import { z } from 'zod'
import { parseJsonText } from '../core/json-text.ts'

/** A boolean; some clients send 0 and 1 (wire §1.4). */
export const wireFlag = z.union([z.boolean(), z.literal(0), z.literal(1)]).transform(Boolean)

/** Parses JSON text; null if it is invalid. */
export function parseJsonOrNull(text: string): unknown {
  try {
    return parseJsonText(text)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}
