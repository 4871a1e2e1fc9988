import { z } from 'zod'

const NUL = '\u0000'

/** Text of at most `max` characters. Null characters are refused: PostgreSQL can store none. */
export const plainText = (max: number) =>
  z
    .string()
    .max(max)
    .refine((text) => !text.includes(NUL), 'must not hold null characters')

/** An object of any keys that is at most `maxLength` characters of JSON, without null characters. */
export const plainObject = (maxLength: number) =>
  z.record(z.string(), z.unknown()).refine((value) => {
    const text = JSON.stringify(value)
    return text.length <= maxLength && !text.includes('\\u0000')
  }, `must not be longer than ${maxLength} characters, or hold null characters`)
