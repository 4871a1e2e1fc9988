import type { CellValue } from '../../../src/core/fields/field-type.ts'
import type { RecordId } from '../../../src/core/model.ts'

/** What a change of type would do to a field's values. */
export interface ConversionPreview {
  /** Records that are not empty in the field. */
  total: number
  /** Those that say the same in the new type. */
  converted: number
  /** Those of which something would be gone: all of it, or a part such as the time of a moment that becomes a day. */
  lost: number
  /** Some of all, those that would be lost first. */
  samples: { recordId: RecordId; from: CellValue; to: CellValue }[]
}
