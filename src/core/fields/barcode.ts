import { z } from 'zod'
import { codeValue } from './code-value.ts'
import { defineFieldType } from './field-type.ts'

/** Kinds of bar code, by the names that REST clients know. */
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

/** Another field's value as a bar code. */
export const barcode = defineFieldType({
  ...codeValue,
  name: 'Barcode',
  label: 'Barcode',
  help: 'Shows another field as a barcode',
  example: '║▌║█',
  options: z.object({
    /** The field of the same table whose value is shown. */
    valueFieldId: z.string().max(64).default(''),
    format: z.enum(BARCODE_FORMATS).default('CODE128'),
  }),
})
