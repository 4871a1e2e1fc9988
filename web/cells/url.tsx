import { Link } from 'lucide-react'
import { url } from '../../src/core/fields/checked-text.ts'
import { t } from '../i18n.ts'
import { linkCell } from './link-cell.tsx'
import { urlHref } from './links.ts'

/** A web address, which opens in a new tab. */
export const urlCell = linkCell({
  type: url,
  Icon: Link,
  inputMode: 'url',
  toHref: urlHref,
  refusal: () => t('Enter a URL, such as https://example.com'),
})
