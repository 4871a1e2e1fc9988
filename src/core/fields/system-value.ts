import { m } from '../messages.gen.ts'
import { type CellValue, formatPlain, type Read, readFail } from './field-type.ts'

/** Rejects input for types that only the server writes. */
export const rejectInput = (): Read => readFail(m.value_error_automatic())

/** Shared definition of fields computed from other fields. Without a result type they offer no filters or summaries. */
export const computedValue = {
  group: 'computed' as const,
  filters: 'none' as const,
  summaries: 'none' as const,
  readOnly: true as const,
  read: rejectInput,
  parse: (text: string): CellValue => text || null,
  format: formatPlain,
}
