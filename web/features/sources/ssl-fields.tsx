import { FileKey2, X } from 'lucide-react'
import { useRef } from 'react'
import { m } from '../../messages.gen.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { type ConnectionDraft, type Source, SSL_MODES, type SslMode } from './connection-draft.ts'
import { SelectField } from './select-field.tsx'
import styles from './sources.module.css'

const modeLabels = (): Record<SslMode, string> => ({
  disable: m.sources_no(),
  prefer: m.sources_preferred(),
  require: m.common_required(),
  'verify-ca': m.sources_verify_ca(),
  'verify-full': m.sources_verify_ca_and_host(),
})

/** How the connection is encrypted, with certificates and key from files. */
export function SslFields({
  draft,
  source,
  onChange,
}: {
  draft: ConnectionDraft
  source: Source | null
  onChange: (patch: Partial<ConnectionDraft>) => void
}) {
  const labels = modeLabels()
  const kept = source?.connection
  return (
    <>
      <SelectField
        label={m.sources_encryption_ssl()}
        value={draft.sslMode}
        onChange={(mode) => onChange({ sslMode: SSL_MODES.find((known) => known === mode) ?? 'disable' })}
      >
        {SSL_MODES.map((mode) => (
          <option key={mode} value={mode}>
            {labels[mode]}
          </option>
        ))}
      </SelectField>
      {draft.sslMode !== 'disable' && (
        <div className={styles.pems}>
          <PemField
            label={m.sources_ca_certificate()}
            value={draft.ca}
            isKept={kept?.hasCa ?? false}
            onChange={(ca) => onChange({ ca })}
          />
          <PemField
            label={m.sources_certificate()}
            value={draft.cert}
            isKept={kept?.hasCert ?? false}
            onChange={(cert) => onChange({ cert })}
          />
          <PemField
            label={m.sources_key()}
            value={draft.key}
            isKept={kept?.hasKey ?? false}
            onChange={(key) => onChange({ key })}
          />
        </div>
      )}
    </>
  )
}

/** One PEM file: its text is sent, and never comes back. */
function PemField(props: {
  label: string
  value: string | null
  isKept: boolean
  onChange: (text: string) => void
}) {
  const { label, value, isKept, onChange } = props
  const input = useRef<HTMLInputElement>(null)
  const isThere = value === null ? isKept : value !== ''
  return (
    <div className={styles.pem}>
      <span>{label}</span>
      <span className={styles.pemState}>{isThere ? m.sources_chosen() : m.sources_none()}</span>
      <input
        ref={input}
        type="file"
        accept=".pem,.crt,.cer,.key"
        className="visually-hidden"
        tabIndex={-1}
        aria-label={label}
        onChange={async (event) => {
          const [file] = event.target.files ?? []
          event.target.value = ''
          if (file) onChange(await file.text())
        }}
      />
      <Button size="small" icon={FileKey2} onClick={() => input.current?.click()}>
        {m.sources_choose_file()}
      </Button>
      {isThere && (
        <IconButton
          icon={X}
          size="small"
          label={m.common_remove_name({ name: label })}
          onClick={() => onChange('')}
        />
      )}
    </div>
  )
}
