import * as z from 'zod/mini'
import { m } from '../messages.gen.ts'
import { defineFieldType } from './field-type.ts'
import { computedValue } from './system-value.ts'

const codeValue = {
  ...computedValue,
  storage: 'longText' as const,
  summaries: 'count' as const,
  computed: 'code' as const,
  groupable: false as const,
}

/** Another field's value as a QR code. */
export const qrCode = defineFieldType({
  ...codeValue,
  name: 'QrCode',
  label: m.field_type_qr_code,
  help: m.field_type_qr_code_help,
  example: '▚▞',
  options: z.object({
    /** Id of a field in the same table. */
    valueFieldId: z._default(z.string().check(z.maxLength(64)), ''),
  }),
})

/** Barcode symbologies, as named in REST. */
export const BARCODE_FORMATS = [
  'CODE128',
  'EAN13',
  'EAN8',
  'UPC',
  'CODE39',
  'ITF14',
  'MSI',
  'pharmacode',
  'codabar',
] as const

export type BarcodeFormat = (typeof BARCODE_FORMATS)[number]

/** Another field's value as a barcode. */
export const barcode = defineFieldType({
  ...codeValue,
  name: 'Barcode',
  label: m.field_type_barcode,
  help: m.field_type_barcode_help,
  example: '║▌║█',
  options: z.object({
    /** Id of a field in the same table. */
    valueFieldId: z._default(z.string().check(z.maxLength(64)), ''),
    format: z._default(z.enum(BARCODE_FORMATS), 'CODE128'),
  }),
})
