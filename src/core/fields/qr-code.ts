import { z } from 'zod'
import { codeValue } from './code-value.ts'
import { defineFieldType } from './field-type.ts'

/** Another field's value as a QR code. */
export const qrCode = defineFieldType({
  ...codeValue,
  name: 'QrCode',
  label: 'QR code',
  help: 'Shows another field as a QR code',
  example: '▚▞',
  options: z.object({
    /** The field of the same table whose value is shown. */
    valueFieldId: z.string().max(64).default(''),
  }),
})
