import { Phone } from 'lucide-react'
import { phoneNumber } from '../../src/core/fields/checked-text.ts'
import { t } from '../i18n.ts'
import { linkCell } from './link-cell.tsx'
import { phoneHref } from './links.ts'

/** A telephone number, which a phone dials. */
export const phoneNumberCell = linkCell({
  type: phoneNumber,
  Icon: Phone,
  inputMode: 'tel',
  toHref: phoneHref,
  refusal: () => t('Enter a phone number, such as +49 30 123456'),
})
