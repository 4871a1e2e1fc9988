import type { FieldTypeName } from '../../src/core/fields/index.ts'
import type { Cell } from './cell.ts'
import { checkboxCell } from './checkbox.tsx'
import { createdByCell } from './created-by.ts'
import { createdTimeCell } from './created-time.ts'
import { currencyCell } from './currency.tsx'
import { dateCell } from './date.tsx'
import { dateTimeCell } from './date-time.tsx'
import { decimalCell } from './decimal.tsx'
import { emailCell } from './email.tsx'
import { idCell } from './id.tsx'
import { lastModifiedByCell } from './last-modified-by.ts'
import { lastModifiedTimeCell } from './last-modified-time.ts'
import { longTextCell } from './long-text.tsx'
import { multiSelectCell } from './multi-select.tsx'
import { numberTypeCell } from './number.tsx'
import { orderCell } from './order.tsx'
import { percentCell } from './percent.tsx'
import { phoneNumberCell } from './phone-number.tsx'
import { ratingCell } from './rating.tsx'
import { singleLineTextCell } from './single-line-text.tsx'
import { singleSelectCell } from './single-select.tsx'
import { urlCell } from './url.tsx'

/** The cell of each field type. A type without one does not compile. */
export const CELLS: Record<FieldTypeName, Cell> = {
  SingleLineText: singleLineTextCell,
  LongText: longTextCell,
  Number: numberTypeCell,
  Decimal: decimalCell,
  Currency: currencyCell,
  Percent: percentCell,
  Rating: ratingCell,
  Checkbox: checkboxCell,
  SingleSelect: singleSelectCell,
  MultiSelect: multiSelectCell,
  Date: dateCell,
  DateTime: dateTimeCell,
  Email: emailCell,
  URL: urlCell,
  PhoneNumber: phoneNumberCell,
  CreatedTime: createdTimeCell,
  LastModifiedTime: lastModifiedTimeCell,
  CreatedBy: createdByCell,
  LastModifiedBy: lastModifiedByCell,
  ID: idCell,
  Order: orderCell,
}
