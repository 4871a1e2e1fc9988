// biome-ignore-all lint/correctness/noComponentHookFactories: made once per type, when the module loads
import { ExternalLink, Link, type LucideIcon, Mail, Phone } from 'lucide-react'
import type { ReactNode } from 'react'
import { email, phoneNumber, url } from '../../src/core/fields/checked-text.ts'
import type { CellValue, FieldType } from '../../src/core/fields/field-type.ts'
import { m } from '../messages.gen.ts'
import { type Cell, defineCell, lazyEditor } from './cell.ts'
import styles from './view.module.css'

const PlainEditor = lazyEditor(() => import('./plain-editor.tsx'), 'PlainEditor')

const SCHEME = /^([a-z][a-z0-9+.-]*):/i
const ALLOWED = new Set(['http', 'https', 'mailto', 'tel'])

/** URL to open for a URL cell; `example.com/a` becomes https. Null: no URL, or a scheme that is not allowed. */
export function urlHref(text: string): string | null {
  const trimmed = text.trim()
  if (trimmed === '' || /\s/.test(trimmed)) return null
  const scheme = SCHEME.exec(trimmed)?.[1]?.toLowerCase()
  // `localhost:8080` and `example.com:443/a` begin with a host, not with a scheme.
  if (scheme && /^[^:]+:\d+(?:[/?#]|$)/.test(trimmed) && !ALLOWED.has(scheme))
    return checked(`https://${trimmed}`)
  if (scheme) return ALLOWED.has(scheme) ? checked(trimmed) : null
  return checked(`https://${trimmed}`)
}

/** `mailto:` URL of an address, without header parameters. */
export function emailHref(text: string): string | null {
  const trimmed = text.trim()
  return /^[^\s@?&]+@[^\s@?&]+$/.test(trimmed) ? `mailto:${encodeURI(trimmed)}` : null
}

/** `tel:` URL from the digits and a leading plus. */
export function phoneHref(text: string): string | null {
  const digits = text.replace(/[^\d+]/g, '').replace(/(?!^)\+/g, '')
  return digits.length >= 3 ? `tel:${digits}` : null
}

const checked = (address: string): string | null => (URL.canParse(address) ? address : null)

const OPEN = <ExternalLink size={13} aria-hidden />

interface LinkCell<O extends object> {
  type: FieldType<O>
  Icon: LucideIcon
  inputMode: 'email' | 'url' | 'tel'
  toHref: (text: string) => string | null
  /** Message for a text that the field rejects. */
  refusal: () => string
}

/** Cell of a URL, e-mail or phone field: text that opens with Ctrl+click or its icon. */
function linkCell<O extends object>({ type, Icon, inputMode, toHref, refusal }: LinkCell<O>): Cell<O> {
  const href = (value: CellValue) => (typeof value === 'string' ? toHref(value) : null)
  return defineCell<O>(type, {
    Icon,
    align: 'start',
    minWidth: 80,
    extraWidth: 20,
    href,
    View: ({ value }) => <LinkText value={value} address={href(value)} />,
    Editor: (props) => <PlainEditor {...props} type={type} inputMode={inputMode} refusal={refusal()} />,
  })
}

/** The text, as a link if it has a URL. */
export function LinkText({ value, address }: { value: CellValue; address: string | null }): ReactNode {
  if (value === null || value === '') return null
  if (!address) {
    return (
      <span className={styles.line} dir="auto">
        {String(value)}
      </span>
    )
  }
  return (
    <>
      <a
        className={styles.link}
        href={address}
        target="_blank"
        rel="noopener noreferrer"
        tabIndex={-1}
        dir="auto"
        draggable={false}
        // A plain click selects the cell; Ctrl+click or Cmd+click opens the link.
        onClick={(event) => {
          if (!event.ctrlKey && !event.metaKey) event.preventDefault()
        }}
      >
        {String(value)}
      </a>
      <a
        className={styles.openLink}
        href={address}
        target="_blank"
        rel="noopener noreferrer"
        tabIndex={-1}
        data-interactive
        aria-label={m.cells_open_link({ link: String(value) })}
        title={m.cells_open_ctrl_click()}
      >
        {OPEN}
      </a>
    </>
  )
}

/** An e-mail address, which opens the mail program. */
export const emailCell = linkCell({
  type: email,
  Icon: Mail,
  inputMode: 'email',
  toHref: emailHref,
  refusal: () => m.cells_enter_email_address_such_ann(),
})

/** A telephone number, which a phone dials. */
export const phoneNumberCell = linkCell({
  type: phoneNumber,
  Icon: Phone,
  inputMode: 'tel',
  toHref: phoneHref,
  refusal: () => m.cells_enter_phone_number_such_49(),
})

/** A web address, which opens in a new tab. */
export const urlCell = linkCell({
  type: url,
  Icon: Link,
  inputMode: 'url',
  toHref: urlHref,
  refusal: () => m.cells_enter_url_such_https_example(),
})
