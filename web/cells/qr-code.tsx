import { QrCode } from 'lucide-react'
import { qrCode } from '../../src/core/fields/codes.ts'
import { codeCell } from './code-cell.tsx'

/** Another field as a QR code. */
export const qrCodeCell = codeCell(qrCode, QrCode, () => 'qr')
