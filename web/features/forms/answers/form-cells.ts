import type { FieldTypeName } from '../../../../src/core/fields/index.ts'
import type { Cell } from '../../../cells/cell.ts'
import { collaboratorCell } from '../../../cells/collaborator.tsx'
import { currencyCell } from '../../../cells/currency.tsx'
import { dateCell } from '../../../cells/date.tsx'
import { dateTimeCell } from '../../../cells/date-time.tsx'
import { decimalCell } from '../../../cells/decimal.tsx'
import { durationCell } from '../../../cells/duration.tsx'
import { emailCell } from '../../../cells/email.tsx'
import { geoDataCell } from '../../../cells/geo-data.tsx'
import { geometryCell } from '../../../cells/geometry.tsx'
import { jsonCell } from '../../../cells/json.tsx'
import { longTextCell } from '../../../cells/long-text.tsx'
import { multiSelectCell } from '../../../cells/multi-select.tsx'
import { numberTypeCell } from '../../../cells/number.tsx'
import { passwordCell } from '../../../cells/password.tsx'
import { percentCell } from '../../../cells/percent.tsx'
import { phoneNumberCell } from '../../../cells/phone-number.tsx'
import { singleLineTextCell } from '../../../cells/single-line-text.tsx'
import { specificDbTypeCell } from '../../../cells/specific-db-type.tsx'
import { timeCell } from '../../../cells/time.tsx'
import { urlCell } from '../../../cells/url.tsx'
import { userCell } from '../../../cells/user.tsx'
import { yearCell } from '../../../cells/year.tsx'

/** The cells whose editors forms use. */
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
