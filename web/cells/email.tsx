import { Mail } from 'lucide-react'
import { email } from '../../src/core/fields/checked-text.ts'
import { t } from '../i18n.ts'
import { linkCell } from './link-cell.tsx'
import { emailHref } from './links.ts'

/** An e-mail address, which opens the mail program. */
export const emailCell = linkCell({
  type: email,
  Icon: Mail,
  inputMode: 'email',
  toHref: emailHref,
  refusal: () => t('Enter an email address, such as ann@example.com'),
})
