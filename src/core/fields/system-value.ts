import { type CellValue, type Read, readFail } from './field-type.ts'

/** The answer of every type that the server alone fills. */
export const readNothing = (): Read => readFail('This field is filled in automatically')

/**
 * Shared parts of fields that are computed from other fields. Until it is known what comes of one there is nothing to
 * filter by or to sum up.
 */
export const workedOut = {
  group: 'computed' as const,
  filters: 'none' as const,
  summaries: 'none' as const,
  readOnly: true as const,
  read: readNothing,
  parse: (text: string): CellValue => text || null,
  format: (value: CellValue): string => (value === null ? '' : String(value)),
}
