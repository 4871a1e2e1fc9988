import { type ReactNode, useEffect, useRef, useState } from 'react'
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
  /** What was entered before, in another step of the dialog. */
  known: SourceInput | null
  /** Null while something is missing. */
  onChange: (input: SourceInput | null) => void
}

interface SourceForm {
  label: () => string
  hint: () => string
  Form: (props: FormProps) => ReactNode
}

/** A text that was entered before; '' for none. */
function knownText(known: SourceInput | null, name: string): string {
  const { [name]: value } = (known?.credentials ?? {}) as Record<string, unknown>
  return typeof value === 'string' ? value : ''
}

function AirtableForm({ known, onChange }: FormProps) {
  const [token, setToken] = useState(() => knownText(known, 'token'))
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

function AirtableLinkForm({ known, onChange }: FormProps) {
  const [link, setLink] = useState(() => knownText(known, 'link'))
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
function ServerForm(props: ServerFormProps) {
  const { known, onChange, placeholder, tokenLabel, tokenHelp, byToken, byAccount } = props
  const [values, setValues] = useState(() => ({
    address: knownText(known, 'address'),
    token: knownText(known, 'token'),
    email: knownText(known, 'email'),
    password: knownText(known, 'password'),
  }))
  const [hasAccount, setAccount] = useState(values.email !== '')
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
function FileForm({ known, onChange, label, accept, byUpload }: FileFormProps) {
  const [problem, setProblem] = useState<string | null>(null)
  const [isSending, setSending] = useState(false)
  const [sent, setSent] = useState(0)
  const [isOffline, setOffline] = useState(false)
  /** Of the file that was chosen last. */
  const controller = useRef<AbortController | null>(null)
  useEffect(() => () => controller.current?.abort(), [])

  async function choose(file: File | undefined): Promise<void> {
    controller.current?.abort()
    onChange(null)
    setProblem(null)
    setSending(file !== undefined)
    setSent(0)
    setOffline(false)
    if (!file) return
    const own = new AbortController()
    controller.current = own
    try {
      const uploadId = await uploadSource(sourceOfFile(file), {
        signal: own.signal,
        onProgress: (bytes) => !own.signal.aborted && setSent(bytes / Math.max(1, file.size)),
        onLost: (isLost) => !own.signal.aborted && setOffline(isLost),
      })
      if (own.signal.aborted) return
      onChange(byUpload(uploadId))
    } catch (error) {
      if (own.signal.aborted) return
      setProblem(messageOf(error))
    }
    setSending(false)
  }

  const percent = Math.floor(sent * 100)
  const progress = isOffline
    ? m.imports_upload_interrupted({ percent })
    : m.imports_uploading_percent({ percent })
  return (
    <TextField
      label={label()}
      type="file"
      accept={accept}
      error={problem}
      help={
        isSending ? <span role="status">{progress}</span> : known ? m.base_imports_file_is_here() : undefined
      }
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
export function SourceCredentials({ source, known, onChange }: FormProps & { source: BaseSourceKind }) {
  const { Form, hint } = SOURCE_FORMS[source]
  return (
    <div className={styles.fields}>
      <p className={styles.hint}>{hint()}</p>
      <Form key={source} known={known?.source === source ? known : null} onChange={onChange} />
    </div>
  )
}
