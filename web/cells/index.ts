import type { FieldTypeName } from '../../src/core/fields/index.ts'
import { attachmentCell } from './attachment.tsx'
import { autoNumberCell } from './auto-number.tsx'
import { barcodeCell } from './barcode.tsx'
import { buttonCell } from './button.tsx'
import type { Cell } from './cell.ts'
import { checkboxCell } from './checkbox.tsx'
import { collaboratorCell } from './collaborator.tsx'
import { countCell } from './count.ts'
import { createdByCell } from './created-by.ts'
import { createdTimeCell } from './created-time.ts'
import { currencyCell } from './currency.tsx'
import { dateCell } from './date.tsx'
import { dateTimeCell } from './date-time.tsx'
import { decimalCell } from './decimal.tsx'
import { durationCell } from './duration.tsx'
import { emailCell } from './email.tsx'
import { foreignKeyCell } from './foreign-key.tsx'
import { formulaCell } from './formula.tsx'
import { geoDataCell } from './geo-data.tsx'
import { geometryCell } from './geometry.tsx'
import { idCell } from './id.tsx'
import { jsonCell } from './json.tsx'
import { lastModifiedByCell } from './last-modified-by.ts'
import { lastModifiedTimeCell } from './last-modified-time.ts'
import { linkToAnotherRecordCell } from './link-to-another-record.ts'
import { linkedRecordsCell } from './linked-records.ts'
import { longTextCell } from './long-text.tsx'
import { lookupCell } from './lookup.ts'
import { multiSelectCell } from './multi-select.tsx'
import { numberTypeCell } from './number.tsx'
import { orderCell } from './order.tsx'
import { passwordCell } from './password.tsx'
import { percentCell } from './percent.tsx'
import { phoneNumberCell } from './phone-number.tsx'
import { qrCodeCell } from './qr-code.tsx'
import { ratingCell } from './rating.tsx'
import { rollupCell } from './rollup.ts'
import { singleLineTextCell } from './single-line-text.tsx'
import { singleSelectCell } from './single-select.tsx'
import { specificDbTypeCell } from './specific-db-type.tsx'
import { timeCell } from './time.tsx'
import { urlCell } from './url.tsx'
import { userCell } from './user.tsx'
import { yearCell } from './year.tsx'

/** The cell of each field type. A type without one does not compile. */
export const CELLS: Record<FieldTypeName, Cell> = {
  SingleLineText: singleLineTextCell,
  LongText: longTextCell,
  Number: numberTypeCell,
  Decimal: decimalCell,
  Currency: currencyCell,
  Percent: percentCell,
  Rating: ratingCell,
  Duration: durationCell,
  Checkbox: checkboxCell,
  SingleSelect: singleSelectCell,
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
  Attachment: attachmentCell,
  JSON: jsonCell,
  GeoData: geoDataCell,
  Geometry: geometryCell,
  SpecificDBType: specificDbTypeCell,
  Password: passwordCell,
  Links: linkedRecordsCell,
  LinkToAnotherRecord: linkToAnotherRecordCell,
  Lookup: lookupCell,
  Rollup: rollupCell,
  Count: countCell,
  Formula: formulaCell,
  Button: buttonCell,
  CreatedTime: createdTimeCell,
  LastModifiedTime: lastModifiedTimeCell,
  CreatedBy: createdByCell,
  LastModifiedBy: lastModifiedByCell,
  ID: idCell,
  ForeignKey: foreignKeyCell,
  Order: orderCell,
  AutoNumber: autoNumberCell,
  QrCode: qrCodeCell,
  Barcode: barcodeCell,
}
