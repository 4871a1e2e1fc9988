import { useState } from 'react'
import { m } from '../../messages.gen.ts'
import { Button } from '../../ui/button.tsx'
import { PasswordField, TextField } from '../../ui/field.tsx'
import {
  CLIENTS,
  type ConnectionDraft,
  draftFromUrl,
  ENGINES,
  emptyDraft,
  type Source,
} from './connection-draft.ts'
import { SelectField } from './select-field.tsx'
import styles from './sources.module.css'
import { SslFields } from './ssl-fields.tsx'

/** Which database, and how it is reached. `source`: the one that is edited; its kind stays. */
export function ConnectionFields({
  draft,
  source,
  schemas,
  onChange,
}: {
  draft: ConnectionDraft
  source: Source | null
  /** Those that the database was found to have; empty until then. */
  schemas: string[]
  onChange: (draft: ConnectionDraft) => void
}) {
  const [address, setAddress] = useState('')
  const [isOdd, setOdd] = useState(false)
  const set = (patch: Partial<ConnectionDraft>) => onChange({ ...draft, ...patch })
  const { client: chosen } = draft
  const engine = ENGINES[chosen]

  function fillIn() {
    const read = draftFromUrl(address)
    setOdd(read === null)
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
                error={isOdd ? m.sources_enter_a_valid_connection_url() : null}
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
              value={draft.host}
              onChange={(event) => set({ host: event.target.value })}
            />
            <TextField
              label={m.sources_port()}
              className={styles.port}
              dir="ltr"
              inputMode="numeric"
              value={draft.port}
              onChange={(event) => set({ port: event.target.value })}
            />
          </div>
          <div className={styles.row}>
            <TextField
              label={m.sources_user()}
              className={styles.grow}
              dir="ltr"
              autoComplete="off"
              value={draft.user}
              onChange={(event) => set({ user: event.target.value })}
            />
            <PasswordField
              label={m.common_password()}
              className={styles.grow}
              autoComplete="new-password"
              placeholder={source?.connection?.hasPassword ? m.sources_unchanged() : undefined}
              value={draft.password}
              onChange={(event) => set({ password: event.target.value })}
            />
          </div>
          <div className={styles.row}>
            <TextField
              label={m.sources_database()}
              className={styles.grow}
              dir="ltr"
              value={draft.database}
              onChange={(event) => set({ database: event.target.value })}
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
          help={m.sources_file_servers_sqlite_sources_folder()}
          value={draft.file}
          onChange={(event) => set({ file: event.target.value })}
        />
      )}
    </div>
  )
}

/** A text until the database has said which schemas there are, then a choice of them. */
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
    <SelectField label={m.sources_schema()} value={current} onChange={onChange}>
      {[...new Set([...schemas, current])].map((schema) => (
        <option key={schema} value={schema}>
          {schema}
        </option>
      ))}
    </SelectField>
  )
}
