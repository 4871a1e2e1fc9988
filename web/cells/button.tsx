import {
  Check,
  Download,
  ExternalLink,
  Link,
  LoaderCircle,
  type LucideIcon,
  Mail,
  MapPin,
  MousePointerClick,
  Phone,
  Play,
  Search,
  Send,
  Star,
  TriangleAlert,
} from 'lucide-react'
import type { ReactNode } from 'react'
import { button, readButton } from '../../src/core/fields/button.ts'
import type { CellValue, FieldOptions } from '../../src/core/fields/field-type.ts'
import type { Field, RecordId } from '../../src/core/model.ts'
import { m } from '../messages.gen.ts'
import { toast } from '../ui/toast.ts'
import { urlHref } from './address.tsx'
import styles from './button.module.css'
import { isConfirmed, type PressState, pressButton, usePress } from './button-press.ts'
import { defineCell } from './cell.ts'
import { usePressedRecord } from './pressed-record.ts'

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

/** A button that opens a URL, calls a webhook or changes the record; Enter presses it. */
export const buttonCell = defineCell(button, {
  Icon: MousePointerClick,
  align: 'start',
  minWidth: 60,
  extraWidth: 40,
  View: ({ value, field, options }) => <ButtonFace value={value} field={field} options={options} />,
  open(value, field, recordId) {
    void press(value, field, recordId)
    return true
  },
  copyText: (value) => readButton(value)?.url ?? '',
})

/** The URL a press opens; null if it is empty or its scheme is not allowed. */
function addressOf(value: CellValue): string | null {
  const url = readButton(value)?.url ?? null
  return url === null ? null : urlHref(url)
}

async function press(value: CellValue, field: Field, recordId: RecordId | null): Promise<void> {
  const address = addressOf(value)
  if (field.error !== null) toast.error({ text: field.error })
  else if (actsOnServer(field.options)) await pressButton(field, recordId)
  else if (address === null) toast.error({ text: whyNot(value, field) })
  else if (await isConfirmed(field)) window.open(address, '_blank', 'noopener,noreferrer')
}

/** Fields of earlier versions have no kind. */
const actsOnServer = ({ kind }: FieldOptions): boolean => kind === 'webhook' || kind === 'update'

function whyNot(value: CellValue, { error }: Field): string {
  if (error !== null) return error
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
  const recordId = usePressedRecord()
  const state = usePress(field.id, recordId)
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
      {state ? <PressMark state={state} /> : Icon && <Icon size={13} aria-hidden />}
      {(label || !Icon) && (
        <span className={styles.label} dir="auto">
          {label || field.title}
        </span>
      )}
    </>
  )
  if (actsOnServer(options)) {
    const reason = field.error ?? (recordId === null ? m.cells_button_not_allowed() : null)
    return (
      <button
        type="button"
        {...look}
        disabled={reason !== null}
        title={reason ?? undefined}
        aria-busy={state === 'running' || undefined}
        tabIndex={-1}
        data-interactive
        data-press={state}
        onClick={() => void press(value, field, recordId)}
      >
        {content}
      </button>
    )
  }
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
      onClick={(event) => {
        if (!options.confirmation) return
        event.preventDefault()
        void press(value, field, recordId)
      }}
    >
      {content}
    </a>
  )
}

function PressMark({ state }: { state: PressState }): ReactNode {
  if (state === 'running') return <LoaderCircle size={13} className={styles.wheel} aria-hidden />
  return state === 'done' ? (
    <Check size={13} aria-label={m.cells_button_done()} />
  ) : (
    <TriangleAlert size={13} aria-label={m.cells_button_failed()} />
  )
}
