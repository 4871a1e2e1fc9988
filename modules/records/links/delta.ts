import type { CellValue } from '../../../src/core/fields/field-type.ts'
import type { RecordId } from '../../../src/core/model.ts'

/**
 * What a change did to a record's link field, as it stands under the field's id in the change's `after`:
 * `{"linked":[3,4],"unlinked":[]}`. It has no counterpart in `before`, and is never a value of the field:
 * whoever shows the record reads the link anew, whoever shows its history tells of these records.
 */
export const linkDelta = (linked: RecordId[], unlinked: RecordId[]): CellValue =>
  JSON.stringify({ linked, unlinked })
