import type { FieldTypeName } from '../../src/core/fields/index.ts'
import { emailCell, phoneNumberCell, urlCell } from './address.tsx'
import { attachmentCell } from './attachment.tsx'
import { buttonCell } from './button.tsx'
import { type Cell, registerCells } from './cell.ts'
import { checkboxCell } from './checkbox.tsx'
import { barcodeCell, qrCodeCell } from './code.tsx'
import { countCell, formulaCell, lookupCell, rollupCell } from './computed.tsx'
import { createdTimeCell, dateCell, dateTimeCell, lastModifiedTimeCell } from './date.tsx'
import { durationCell } from './duration.tsx'
import { geoDataCell } from './geo-data.tsx'
import { jsonCell } from './json.tsx'
import { linkedRecordsCell, linkToAnotherRecordCell } from './links.tsx'
import { currencyCell, decimalCell, numberTypeCell, percentCell } from './number.tsx'
import { collaboratorCell, createdByCell, lastModifiedByCell, userCell } from './people.tsx'
import { ratingCell } from './rating.tsx'
import { autoNumberCell, foreignKeyCell, idCell, orderCell } from './record-keys.tsx'
import { multiSelectCell, singleSelectCell } from './select.tsx'
import { geometryCell, longTextCell, passwordCell, singleLineTextCell, specificDbTypeCell } from './text.tsx'
import { timeCell } from './time.tsx'
import { yearCell } from './year.tsx'

export { cellText, shownText } from './cell-text.ts'

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

registerCells(CELLS)
