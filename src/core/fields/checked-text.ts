import { z } from 'zod'
import { type CellValue, type Read, readFail } from './field-type.ts'
import { MAX_LINE_LENGTH, parseText, readText } from './text-value.ts'

/** Options of e-mail, link and telephone fields. */
export type CheckedTextOptions = {
  /** Refuse what does not have the right shape. */
  validate: boolean
}

/**
 * What e-mail, link and telephone fields have in common: text that is checked where the field asks
 * for it. The refusal reads `Validation failed : isEmail` (spec §5).
 */
export function checkedText(
  checkName: 'isEmail' | 'isURL' | 'isMobilePhone',
  check: (text: string) => boolean,
) {
  return {
    storage: 'text' as const,
    filters: 'text' as const,
    summaries: 'count' as const,
    options: z.object({ validate: z.boolean().default(false) }),
    read(input: unknown, { validate }: CheckedTextOptions): Read {
      const read = readText(input, MAX_LINE_LENGTH)
      if (!read.ok || !validate || read.value === '' || check(String(read.value))) return read
      return readFail(`Validation failed : ${checkName}`, 'check')
    },
    parse(text: string, { validate }: CheckedTextOptions): CellValue {
      if (!validate || check(text)) return parseText(text, MAX_LINE_LENGTH)
      const trimmed = text.trim()
      return check(trimmed) ? trimmed : null
    },
    format: (value: CellValue) => (value === null ? '' : String(value)),
  }
}
