import { Barcode } from 'lucide-react'
import { barcode } from '../../src/core/fields/codes.ts'
import { codeCell } from './code-cell.tsx'

/** Another field as a bar code. */
export const barcodeCell = codeCell(barcode, Barcode, ({ format }) => format)
