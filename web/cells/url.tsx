import { Link } from 'lucide-react'
import { url } from '../../src/core/fields/checked-text.ts'
import { m } from '../messages.gen.ts'
import { linkCell } from './link-cell.tsx'
import { urlHref } from './links.ts'

/** A web address, which opens in a new tab. */
export const urlCell = linkCell({
  type: url,
  Icon: Link,
  inputMode: 'url',
  toHref: urlHref,
  refusal: () => m.cells_enter_url_such_https_example(),
})
