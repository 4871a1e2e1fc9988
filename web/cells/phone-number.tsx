import { Phone } from 'lucide-react'
import { phoneNumber } from '../../src/core/fields/checked-text.ts'
import { m } from '../messages.gen.ts'
import { linkCell } from './link-cell.tsx'
import { phoneHref } from './links.ts'

/** A telephone number, which a phone dials. */
export const phoneNumberCell = linkCell({
  type: phoneNumber,
  Icon: Phone,
  inputMode: 'tel',
  toHref: phoneHref,
  refusal: () => m.cells_enter_phone_number_such_49(),
})
