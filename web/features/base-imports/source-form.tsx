import { type ReactNode, useState } from 'react'
import type { BaseSourceKind } from '../../../src/core/base-imports.ts'
import { messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import type { Inputs } from '../../trpc.ts'
import { Checkbox } from '../../ui/checkbox.tsx'
import { PasswordField, TextField } from '../../ui/field.tsx'
import { sourceOfFile } from '../imports/source.ts'
import { uploadSource } from '../imports/transfer.ts'
import styles from './base-imports.module.css'

/** A source with its credentials, as the server takes them. */
export type SourceInput = Inputs['baseImports']['inspect']['from']

interface FormProps {
  /** Null while something is missing. */
  onChange: (input: SourceInput | null) => void
}

interface SourceForm {
  label: () => string
  hint: () => string
  Form: (props: FormProps) => ReactNode
}

function AirtableForm({ onChange }: FormProps) {
  const [token, setToken] = useState('')
  return (
    <PasswordField
      label={m.base_imports_token()}
      help={m.base_imports_airtable_token_help()}
      value={token}
      autoFocus
      autoComplete="off"
      onChange={({ target: { value } }) => {
        setToken(value)
        onChange(value.trim() === '' ? null : { source: 'airtable', credentials: { token: value.trim() } })
      }}
    />
  )
}

function AirtableLinkForm({ onChange }: FormProps) {
  const [link, setLink] = useState('')
  return (
    <TextField
      label={m.base_imports_shared_link()}
      type="url"
      dir="ltr"
      placeholder="https://airtable.com/appXXX/shrXXX"
      autoFocus
      value={link}
      onChange={({ target: { value } }) => {
        setLink(value)
        onChange(
          value.trim() === '' ? null : { source: 'airtable-link', credentials: { link: value.trim() } },
        )
      }}
    />
  )
}

interface ServerFormProps extends FormProps {
  placeholder: string
  tokenLabel: () => string
  tokenHelp?: () => string
  byToken: (credentials: { address: string; token: string }) => SourceInput
  /** Absent for a product that takes tokens only. */
  byAccount?: (credentials: { address: string; email: string; password: string }) => SourceInput
}

/** The address of a running instance, with a token or an account. */
function ServerForm({ onChange, placeholder, tokenLabel, tokenHelp, byToken, byAccount }: ServerFormProps) {
  const [values, setValues] = useState({ address: '', token: '', email: '', password: '' })
  const [hasAccount, setAccount] = useState(false)
  const update = (next: typeof values, withAccount: boolean) => {
    setValues(next)
    setAccount(withAccount)
    const address = next.address.trim()
    const token = next.token.trim()
    const email = next.email.trim()
    const { password } = next
    const secret = withAccount ? email !== '' && password !== '' : token !== ''
    if (address === '' || !secret) onChange(null)
    else if (withAccount && byAccount) onChange(byAccount({ address, email, password }))
    else onChange(byToken({ address, token }))
  }
  return (
    <>
      <TextField
        label={m.base_imports_address()}
        type="url"
        dir="ltr"
        placeholder={placeholder}
        autoFocus
        value={values.address}
        onChange={({ target }) => update({ ...values, address: target.value }, hasAccount)}
      />
      {byAccount && (
        <Checkbox
          label={m.base_imports_sign_in_with_account()}
          checked={hasAccount}
          onChange={(checked) => update(values, checked)}
        />
      )}
      {hasAccount ? (
        <>
          <TextField
            label={m.base_imports_email()}
            type="email"
            dir="ltr"
            autoComplete="off"
            value={values.email}
            onChange={({ target }) => update({ ...values, email: target.value }, true)}
          />
          <PasswordField
            label={m.common_password()}
            autoComplete="off"
            value={values.password}
            onChange={({ target }) => update({ ...values, password: target.value }, true)}
          />
        </>
      ) : (
        <PasswordField
          label={tokenLabel()}
          help={tokenHelp?.()}
          autoComplete="off"
          value={values.token}
          onChange={({ target }) => update({ ...values, token: target.value }, false)}
        />
      )}
    </>
  )
}

const NocodbForm = (props: FormProps) => (
  <ServerForm
    {...props}
    placeholder="https://nocodb.example.com"
    tokenLabel={m.base_imports_api_token}
    byToken={(credentials) => ({ source: 'nocodb', credentials })}
    byAccount={(credentials) => ({ source: 'nocodb', credentials })}
  />
)

const BaserowForm = (props: FormProps) => (
  <ServerForm
    {...props}
    placeholder="https://api.baserow.io"
    tokenLabel={m.base_imports_database_token}
    tokenHelp={m.base_imports_database_token_help}
    byToken={(credentials) => ({ source: 'baserow', credentials })}
    byAccount={(credentials) => ({ source: 'baserow', credentials })}
  />
)

const TeableForm = (props: FormProps) => (
  <ServerForm
    {...props}
    placeholder="https://app.teable.ai"
    tokenLabel={m.base_imports_token}
    tokenHelp={m.base_imports_teable_token_help}
    byToken={(credentials) => ({ source: 'teable', credentials })}
  />
)

interface FileFormProps extends FormProps {
  label: () => string
  accept: string
  byUpload: (uploadId: string) => SourceInput
}

/** A file, which is uploaded when it is chosen. */
function FileForm({ onChange, label, accept, byUpload }: FileFormProps) {
  const [problem, setProblem] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  async function choose(file: File | undefined): Promise<void> {
    onChange(null)
    setProblem(null)
    if (!file) return
    setBusy(true)
    try {
      const signal = new AbortController().signal
      const uploadId = await uploadSource(sourceOfFile(file), { signal, onProgress: () => undefined })
      onChange(byUpload(uploadId))
    } catch (error) {
      setProblem(messageOf(error))
    }
    setBusy(false)
  }
  return (
    <TextField
      label={label()}
      type="file"
      accept={accept}
      error={problem}
      help={isBusy ? m.base_imports_uploading() : undefined}
      onChange={({ target }) => void choose(target.files?.[0])}
    />
  )
}

const GristForm = (props: FormProps) => (
  <FileForm
    {...props}
    label={m.base_imports_grist_file}
    accept=".grist"
    byUpload={(uploadId) => ({ source: 'grist', credentials: { uploadId } })}
  />
)

const BaserowExportForm = (props: FormProps) => (
  <FileForm
    {...props}
    label={m.base_imports_baserow_export_file}
    accept=".zip"
    byUpload={(uploadId) => ({ source: 'baserow-export', credentials: { uploadId } })}
  />
)

/** The sources with the inputs of their credentials. */
export const SOURCE_FORMS: Record<BaseSourceKind, SourceForm> = {
  airtable: {
    label: () => 'Airtable',
    hint: m.base_imports_airtable_hint,
    Form: AirtableForm,
  },
  'airtable-link': {
    label: m.base_imports_airtable_link_label,
    hint: m.base_imports_airtable_link_hint,
    Form: AirtableLinkForm,
  },
  nocodb: {
    label: () => 'NocoDB',
    hint: m.base_imports_nocodb_hint,
    Form: NocodbForm,
  },
  baserow: {
    label: () => 'Baserow',
    hint: m.base_imports_baserow_hint,
    Form: BaserowForm,
  },
  'baserow-export': {
    label: m.base_imports_baserow_export_label,
    hint: m.base_imports_baserow_export_hint,
    Form: BaserowExportForm,
  },
  teable: {
    label: () => 'Teable',
    hint: m.base_imports_teable_hint,
    Form: TeableForm,
  },
  grist: {
    label: () => 'Grist',
    hint: m.base_imports_grist_hint,
    Form: GristForm,
  },
}

/** The inputs of a source's credentials. */
export function SourceCredentials({ source, onChange }: FormProps & { source: BaseSourceKind }) {
  const { Form, hint } = SOURCE_FORMS[source]
  return (
    <div className={styles.fields}>
      <p className={styles.hint}>{hint()}</p>
      <Form key={source} onChange={onChange} />
    </div>
  )
}
