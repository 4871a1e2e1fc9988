import { FileKey2, X } from 'lucide-react'
import { type ChangeEvent, useRef, useState } from 'react'
import { SSL_MODES, type SslMode } from '../../../src/core/ssl-mode.ts'
import { m } from '../../messages.gen.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { PasswordField, SelectField, TextField } from '../../ui/field.tsx'
import {
  CLIENTS,
  type ConnectionDraft,
  draftFromUrl,
  ENGINES,
  emptyDraft,
  type Source,
} from './connection-draft.ts'
import styles from './sources.module.css'

/** Connection form; an existing `source` keeps its database type. */
export function ConnectionFields({
  draft,
  source,
  schemas,
  onChange,
}: {
  draft: ConnectionDraft
  source: Source | null
  /** Schemas of the database; empty until it has been inspected. */
  schemas: string[]
  onChange: (draft: ConnectionDraft) => void
}) {
  const [address, setAddress] = useState('')
  const [isUrlInvalid, setUrlInvalid] = useState(false)
  const set = (patch: Partial<ConnectionDraft>) => onChange({ ...draft, ...patch })
  const input = (key: 'host' | 'port' | 'user' | 'password' | 'database' | 'file') => ({
    value: draft[key],
    onChange: (event: ChangeEvent<HTMLInputElement>) => set({ [key]: event.target.value }),
  })
  const { client: chosen } = draft
  const engine = ENGINES[chosen]

  function fillIn() {
    const read = draftFromUrl(address)
    setUrlInvalid(read === null)
    if (read) onChange(read)
  }

  return (
    <div className={styles.form}>
      {!source && (
        <div className={styles.engines} role="radiogroup" aria-label={m.sources_database_type()}>
          {CLIENTS.map((client) => (
            <label key={client} className={styles.engine}>
              <input
                type="radio"
                name="engine"
                className={styles.radio}
                checked={chosen === client}
                onChange={() => onChange(emptyDraft(client))}
              />
              {ENGINES[client].label}
            </label>
          ))}
        </div>
      )}
      {engine.isServer ? (
        <>
          {!source && (
            <div className={styles.address}>
              <TextField
                label={m.sources_connection_url_optional()}
                className={styles.grow}
                dir="ltr"
                placeholder="postgres://user:password@host:5432/database"
                value={address}
                error={isUrlInvalid ? m.sources_enter_a_valid_connection_url() : null}
                onChange={(event) => setAddress(event.target.value)}
                onKeyDown={(event) => {
                  if (event.key !== 'Enter' || address === '') return
                  event.preventDefault()
                  fillIn()
                }}
              />
              <Button onClick={fillIn} disabled={address.trim() === ''}>
                {m.sources_fill_in()}
              </Button>
            </div>
          )}
          <div className={styles.row}>
            <TextField
              label={m.sources_host()}
              className={styles.grow}
              dir="ltr"
              data-autofocus={source ? undefined : ''}
              {...input('host')}
            />
            <TextField
              label={m.sources_port()}
              className={styles.port}
              dir="ltr"
              inputMode="numeric"
              {...input('port')}
            />
          </div>
          <div className={styles.row}>
            <TextField
              label={m.sources_user()}
              className={styles.grow}
              dir="ltr"
              autoComplete="off"
              {...input('user')}
            />
            <PasswordField
              label={m.common_password()}
              className={styles.grow}
              autoComplete="new-password"
              placeholder={source?.connection?.hasPassword ? m.sources_unchanged() : undefined}
              {...input('password')}
            />
          </div>
          <div className={styles.row}>
            <TextField
              label={m.sources_database()}
              className={styles.grow}
              dir="ltr"
              {...input('database')}
            />
            {engine.hasSchemas && (
              <SchemaField schemas={schemas} value={draft.schema} onChange={(schema) => set({ schema })} />
            )}
          </div>
          <SslFields draft={draft} source={source} onChange={set} />
        </>
      ) : (
        <TextField
          label={m.sources_file()}
          dir="ltr"
          data-autofocus
          placeholder="shop.db"
          help={m.sources_sqlite_file_hint()}
          {...input('file')}
        />
      )}
    </div>
  )
}

/** Text input until the schemas are known, then a select. */
function SchemaField(props: { schemas: string[]; value: string; onChange: (schema: string) => void }) {
  const { schemas, value, onChange } = props
  if (schemas.length === 0) {
    return (
      <TextField
        label={m.sources_schema()}
        className={styles.grow}
        dir="ltr"
        placeholder="public"
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    )
  }
  const current = value || 'public'
  return (
    <SelectField
      label={m.sources_schema()}
      className={styles.grow}
      value={current}
      onChange={(event) => onChange(event.target.value)}
    >
      {[...new Set([...schemas, current])].map((schema) => (
        <option key={schema} value={schema}>
          {schema}
        </option>
      ))}
    </SelectField>
  )
}

const modeLabels = (): Record<SslMode, string> => ({
  disable: m.sources_no(),
  prefer: m.sources_preferred(),
  require: m.common_required(),
  'verify-ca': m.sources_verify_ca(),
  'verify-full': m.sources_verify_ca_and_host(),
})

/** SSL mode, and certificates and key from files. */
function SslFields({
  draft,
  source,
  onChange,
}: {
  draft: ConnectionDraft
  source: Source | null
  onChange: (patch: Partial<ConnectionDraft>) => void
}) {
  const labels = modeLabels()
  const { hasCa = false, hasCert = false, hasKey = false } = source?.connection ?? {}
  const stored = { ca: hasCa, cert: hasCert, key: hasKey }
  return (
    <>
      <SelectField
        label={m.sources_encryption_ssl()}
        value={draft.sslMode}
        onChange={({ target }) =>
          onChange({ sslMode: SSL_MODES.find((known) => known === target.value) ?? 'disable' })
        }
      >
        {SSL_MODES.map((mode) => (
          <option key={mode} value={mode}>
            {labels[mode]}
          </option>
        ))}
      </SelectField>
      {draft.sslMode !== 'disable' && (
        <div className={styles.pems}>
          {(['ca', 'cert', 'key'] as const).map((file) => (
            <PemField
              key={file}
              label={pemLabel(file)}
              value={draft[file]}
              isStored={stored[file]}
              onChange={(text) => onChange({ [file]: text })}
            />
          ))}
        </div>
      )}
    </>
  )
}

const pemLabel = (file: 'ca' | 'cert' | 'key'): string =>
  ({ ca: m.sources_ca_certificate(), cert: m.sources_certificate(), key: m.sources_key() })[file]

/** A PEM file; its content is sent and never returned. */
function PemField(props: {
  label: string
  value: string | null
  isStored: boolean
  onChange: (text: string) => void
}) {
  const { label, value, isStored, onChange } = props
  const input = useRef<HTMLInputElement>(null)
  const isSet = value === null ? isStored : value !== ''
  return (
    <div className={styles.pem}>
      <span>{label}</span>
      <span className={styles.pemState}>{isSet ? m.sources_chosen() : m.sources_none()}</span>
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
      {isSet && (
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
