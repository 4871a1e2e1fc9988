import type { FieldTypeName } from '../../../../src/core/fields/index.ts'
import { emailCell, phoneNumberCell, urlCell } from '../../../cells/address.tsx'
import type { Cell } from '../../../cells/cell.ts'
import { dateCell, dateTimeCell } from '../../../cells/date.tsx'
import { currencyCell, decimalCell, numberTypeCell, percentCell } from '../../../cells/number.tsx'
import {
  geometryCell,
  longTextCell,
  passwordCell,
  singleLineTextCell,
  specificDbTypeCell,
} from '../../../cells/text.tsx'

/** Cells of the field types of most forms, which follow the first paint, and of types that share their files. */
export const COMMON_CELLS: Partial<Record<FieldTypeName, Cell>> = {
  SingleLineText: singleLineTextCell,
  LongText: longTextCell,
  Number: numberTypeCell,
  Decimal: decimalCell,
  Currency: currencyCell,
  Percent: percentCell,
  Date: dateCell,
  DateTime: dateTimeCell,
  Email: emailCell,
  URL: urlCell,
  PhoneNumber: phoneNumberCell,
  Geometry: geometryCell,
  SpecificDBType: specificDbTypeCell,
  Password: passwordCell,
}
