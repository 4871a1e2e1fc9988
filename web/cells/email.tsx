import { Mail } from 'lucide-react'
import { email } from '../../src/core/fields/checked-text.ts'
import { m } from '../messages.gen.ts'
import { linkCell } from './link-cell.tsx'
import { emailHref } from './links.ts'

/** An e-mail address, which opens the mail program. */
export const emailCell = linkCell({
  type: email,
  Icon: Mail,
  inputMode: 'email',
  toHref: emailHref,
  refusal: () => m.cells_enter_email_address_such_ann(),
})
