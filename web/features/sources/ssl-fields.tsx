import { FileKey2, X } from 'lucide-react'
import { useRef } from 'react'
import { t } from '../../i18n.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { type ConnectionDraft, type Source, SSL_MODES, type SslMode } from './connection-draft.ts'
import { SelectField } from './select-field.tsx'
import styles from './sources.module.css'

const modeLabels = (): Record<SslMode, string> => ({
  disable: t('No'),
  prefer: t('Preferred'),
  require: t('Required'),
  'verify-ca': t('Verify CA'),
  'verify-full': t('Verify CA and host'),
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
        label={t('Encryption (SSL)')}
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
            label={t('CA certificate')}
            value={draft.ca}
            isKept={kept?.hasCa ?? false}
            onChange={(ca) => onChange({ ca })}
          />
          <PemField
            label={t('Certificate')}
            value={draft.cert}
            isKept={kept?.hasCert ?? false}
            onChange={(cert) => onChange({ cert })}
          />
          <PemField
            label={t('Key')}
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
      <span className={styles.pemState}>{isThere ? t('chosen') : t('none')}</span>
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
        {t('Choose file')}
      </Button>
      {isThere && (
        <IconButton
          icon={X}
          size="small"
          label={t('Remove {name}', { name: label })}
          onClick={() => onChange('')}
        />
      )}
    </div>
  )
}
