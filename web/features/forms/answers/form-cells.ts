import type { FieldTypeName } from '../../../../src/core/fields/index.ts'
import type { Cell } from '../../../cells/cell.ts'
import { durationCell } from '../../../cells/duration.tsx'
import { geoDataCell } from '../../../cells/geo-data.tsx'
import { jsonCell } from '../../../cells/json.tsx'
import { collaboratorCell, userCell } from '../../../cells/people.tsx'
import { multiSelectCell } from '../../../cells/select.tsx'
import { timeCell } from '../../../cells/time.tsx'
import { yearCell } from '../../../cells/year.tsx'

/** Cells of the other field types that forms edit with the grid's cell editor. */
export const FORM_CELLS: Partial<Record<FieldTypeName, Cell>> = {
  Duration: durationCell,
  MultiSelect: multiSelectCell,
  Year: yearCell,
  Time: timeCell,
  User: userCell,
  Collaborator: collaboratorCell,
  JSON: jsonCell,
  GeoData: geoDataCell,
}
