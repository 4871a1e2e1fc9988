import {
  Check,
  Download,
  ExternalLink,
  Link,
  type LucideIcon,
  Mail,
  MapPin,
  MousePointerClick,
  Phone,
  Play,
  Search,
  Send,
  Star,
} from 'lucide-react'
import type { ReactNode } from 'react'
import { button, readButton } from '../../src/core/fields/button.ts'
import type { CellValue, FieldOptions } from '../../src/core/fields/field-type.ts'
import type { Field } from '../../src/core/model.ts'
import { m } from '../messages.gen.ts'
import { toast } from '../ui/toast.ts'
import { urlHref } from './address.tsx'
import styles from './button.module.css'
import { defineCell } from './cell.ts'

/** Icons by the name stored in the field's options. */
export const BUTTON_ICONS: Record<string, LucideIcon> = {
  open: ExternalLink,
  link: Link,
  mail: Mail,
  phone: Phone,
  map: MapPin,
  search: Search,
  download: Download,
  send: Send,
  play: Play,
  check: Check,
  star: Star,
}

/** A button that opens the URL of its formula; Enter presses it. */
export const buttonCell = defineCell(button, {
  Icon: MousePointerClick,
  align: 'start',
  minWidth: 60,
  extraWidth: 40,
  View: ({ value, field, options }) => <ButtonFace value={value} field={field} options={options} />,
  open(value, field) {
    const address = addressOf(value)
    if (address) window.open(address, '_blank', 'noopener,noreferrer')
    else toast.error({ text: whyNot(value, field) })
    return true
  },
  copyText: (value) => readButton(value)?.url ?? '',
})

/** The URL a press opens; null if it is empty or its scheme is not allowed. */
function addressOf(value: CellValue): string | null {
  const url = readButton(value)?.url ?? null
  return url === null ? null : urlHref(url)
}

function whyNot(value: CellValue, { error, options }: Field): string {
  if (error !== null) return error
  if (options.kind !== 'url') return m.cells_webhooks_not_available_yet_button()
  const url = readButton(value)?.url ?? null
  return url === null
    ? m.cells_record_no_url_open()
    : m.cells_address_not_valid_url({ address: url.slice(0, 100) })
}

interface FaceProps {
  value: CellValue
  field: Field
  options: FieldOptions
}

/** The button's look, shared by the cell and the field editor. */
export function ButtonFace({ value, field, options }: FaceProps): ReactNode {
  const Icon = BUTTON_ICONS[String(options.icon)]
  const label = String(options.label || '')
  const address = addressOf(value)
  const look = {
    className: styles.button,
    'data-theme': String(options.theme),
    'data-color': String(options.color),
    'aria-label': label || field.title,
  }
  const content = (
    <>
      {Icon && <Icon size={13} aria-hidden />}
      {(label || !Icon) && (
        <span className={styles.label} dir="auto">
          {label || field.title}
        </span>
      )}
    </>
  )
  if (address === null) {
    const reason = whyNot(value, field)
    return (
      <button type="button" {...look} disabled title={reason} aria-description={reason} tabIndex={-1}>
        {content}
      </button>
    )
  }
  return (
    <a
      {...look}
      href={address}
      target="_blank"
      rel="noopener noreferrer"
      title={address}
      tabIndex={-1}
      draggable={false}
      data-interactive
    >
      {content}
    </a>
  )
}
