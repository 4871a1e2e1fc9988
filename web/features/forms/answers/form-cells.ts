import type { FieldTypeName } from '../../../../src/core/fields/index.ts'
import { emailCell, phoneNumberCell, urlCell } from '../../../cells/address.tsx'
import type { Cell } from '../../../cells/cell.ts'
import { dateCell, dateTimeCell } from '../../../cells/date.tsx'
import { durationCell } from '../../../cells/duration.tsx'
import { geoDataCell } from '../../../cells/geo-data.tsx'
import { jsonCell } from '../../../cells/json.tsx'
import { currencyCell, decimalCell, numberTypeCell, percentCell } from '../../../cells/number.tsx'
import { collaboratorCell, userCell } from '../../../cells/people.tsx'
import { multiSelectCell } from '../../../cells/select.tsx'
import {
  geometryCell,
  longTextCell,
  passwordCell,
  singleLineTextCell,
  specificDbTypeCell,
} from '../../../cells/text.tsx'
import { timeCell } from '../../../cells/time.tsx'
import { yearCell } from '../../../cells/year.tsx'

/** Cells of the field types that forms edit with the grid's cell editor. */
export const FORM_CELLS: Partial<Record<FieldTypeName, Cell>> = {
  SingleLineText: singleLineTextCell,
  LongText: longTextCell,
  Number: numberTypeCell,
  Decimal: decimalCell,
  Currency: currencyCell,
  Percent: percentCell,
  Duration: durationCell,
  MultiSelect: multiSelectCell,
  Date: dateCell,
  DateTime: dateTimeCell,
  Year: yearCell,
  Time: timeCell,
  User: userCell,
  Collaborator: collaboratorCell,
  Email: emailCell,
  URL: urlCell,
  PhoneNumber: phoneNumberCell,
  JSON: jsonCell,
  GeoData: geoDataCell,
  Geometry: geometryCell,
  SpecificDBType: specificDbTypeCell,
  Password: passwordCell,
}
