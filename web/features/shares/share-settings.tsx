import { type ReactNode, useEffect, useRef, useState } from 'react'
import {
  CUSTOM_ADDRESS,
  MIN_SHARE_PASSWORD,
  type PasswordStrength,
  passwordStrength,
  type Share,
} from '../../../src/core/shares.ts'
import { messageOf } from '../../errors.ts'
import { localeTag } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { Button } from '../../ui/button.tsx'
import { PasswordField, TextField } from '../../ui/field.tsx'
import { localInputValue } from '../../ui/local-input-value.ts'
import { toast } from '../../ui/toast.ts'
import { addressPrefix } from './share-address.ts'
import styles from './share-dialog.module.css'
import type { ShareChange } from './use-share.ts'

type Save = (patch: ShareChange) => Promise<void>

/** Custom last part of a link's URL, given the full URL. */
export function SharingAddress(props: { address: string; share: Pick<Share, 'id'>; onSave: Save }) {
  const { address, share, onSave } = props
  const setting = useSetting(onSave)
  const id = setting.text ?? share.id
  const isChanged = id !== share.id

  function submit() {
    if (!isChanged) return
    if (CUSTOM_ADDRESS.test(id)) void setting.save({ id })
    else setting.setProblem(m.shares_custom_url_rule())
  }

  return (
    <SettingForm setting={setting} onSubmit={submit} hidesButtons={!isChanged}>
      <TextField
        label={m.shares_custom_url()}
        dir="ltr"
        autoCapitalize="none"
        spellCheck={false}
        maxLength={64}
        value={id}
        error={setting.problem}
        help={
          isChanged && (
            <span dir="ltr">
              {addressPrefix(address, share.id)}
              {id}
            </span>
          )
        }
        onChange={(event) => setting.edit(event.target.value.trim())}
      />
    </SettingForm>
  )
}

/** Sets, changes or removes the password of a link. */
export function SharePassword({ hasPassword, onSave }: { hasPassword: boolean; onSave: Save }) {
  const setting = useSetting(onSave)
  const { text } = setting

  async function save(password: string | null) {
    if (!(await setting.save({ password }))) return
    toast.success({ text: password === null ? m.shares_password_removed() : m.shares_password_set() })
  }

  if (text === null) {
    return (
      <SettingState
        setting={setting}
        title={m.common_password()}
        hint={hasPassword ? m.shares_visitors_need_a_password() : m.shares_no_password_required()}
        editLabel={hasPassword ? m.common_change_password() : m.shares_set_password()}
        onEdit={() => setting.edit('')}
        removeLabel={hasPassword ? m.shares_remove_password() : null}
        onRemove={() => void save(null)}
      />
    )
  }
  const strength = passwordStrength(text)
  return (
    <SettingForm
      setting={setting}
      onSubmit={() => (strength === 'short' ? setting.setProblem(tooShort()) : void save(text))}
    >
      <PasswordField
        label={m.common_new_password()}
        autoFocus
        autoComplete="new-password"
        maxLength={256}
        value={text}
        error={setting.problem}
        help={text === '' ? tooShort() : STRENGTHS[strength]()}
        onChange={(event) => setting.edit(event.target.value)}
      />
    </SettingForm>
  )
}

const tooShort = () => m.shares_at_least_characters({ count: MIN_SHARE_PASSWORD })

const STRENGTHS: Record<PasswordStrength, () => string> = {
  short: tooShort,
  weak: m.shares_weak,
  fair: m.shares_fair,
  strong: m.shares_strong,
}

/** Expiry of a link, in the user's time zone. */
export function ShareExpiry({ expiresAt, onSave }: { expiresAt: string | null; onSave: Save }) {
  const setting = useSetting(onSave)
  const { text } = setting
  if (text === null) {
    return (
      <SettingState
        setting={setting}
        title={m.shares_expiry()}
        hint={expiryText(expiresAt)}
        editLabel={expiresAt === null ? m.shares_set_expiry() : m.shares_change_date()}
        onEdit={() => setting.edit(expiresAt === null ? '' : localInputValue(expiresAt))}
        removeLabel={expiresAt === null ? null : m.shares_remove_expiry()}
        onRemove={() => void setting.save({ expiresAt: null })}
      />
    )
  }

  function submit(value: string) {
    const moment = new Date(value)
    if (Number.isNaN(moment.getTime())) setting.setProblem(m.shares_choose_a_date_and_time())
    else if (moment.getTime() <= Date.now()) setting.setProblem(m.shares_choose_date_future())
    else void setting.save({ expiresAt: moment.toISOString() })
  }

  return (
    <SettingForm setting={setting} onSubmit={() => submit(text)}>
      <TextField
        label={m.shares_expires_on()}
        type="datetime-local"
        autoFocus
        dir="ltr"
        value={text}
        error={setting.problem}
        onChange={(event) => setting.edit(event.target.value)}
      />
    </SettingForm>
  )
}

function expiryText(expiresAt: string | null): string {
  if (expiresAt === null) return m.shares_never_expires()
  const format = new Intl.DateTimeFormat(localeTag(), { dateStyle: 'long', timeStyle: 'short' })
  const date = format.format(new Date(expiresAt))
  return Date.parse(expiresAt) <= Date.now()
    ? m.shares_expired_on_date({ date })
    : m.shares_expires_on_date({ date })
}

type Setting = ReturnType<typeof useSetting>

/** A setting while it is edited; its `text` is null while it is only shown. */
function useSetting(onSave: Save) {
  const [text, setText] = useState<string | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const [wasEdited, setEdited] = useState(false)

  function edit(next: string | null) {
    setText(next)
    setEdited(true)
    setProblem(null)
  }

  /** @returns whether the server accepted the change; otherwise `problem` has the reason */
  async function save(patch: ShareChange): Promise<boolean> {
    if (isBusy) return false
    setBusy(true)
    try {
      await onSave(patch)
      edit(null)
      return true
    } catch (error) {
      setProblem(messageOf(error))
      return false
    } finally {
      setBusy(false)
    }
  }

  return { text, problem, isBusy, wasEdited, edit, setProblem, save }
}

interface SettingFormProps {
  setting: Setting
  onSubmit: () => void
  hidesButtons?: boolean
  children: ReactNode
}

/** The input of a setting with Save and Cancel. */
function SettingForm({ setting, onSubmit, hidesButtons = false, children }: SettingFormProps) {
  return (
    <form
      className={styles.saving}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
    >
      {children}
      {!hidesButtons && (
        <div className={styles.buttons}>
          <Button size="small" type="submit" variant="primary" busy={setting.isBusy}>
            {m.common_save()}
          </Button>
          <Button size="small" onClick={() => setting.edit(null)}>
            {m.common_cancel()}
          </Button>
        </div>
      )}
    </form>
  )
}

interface SettingStateProps {
  setting: Setting
  title: string
  hint: string
  editLabel: string
  onEdit: () => void
  /** Null: there is nothing to remove. */
  removeLabel: string | null
  onRemove: () => void
}

/** The current value of a setting with buttons to change and remove it. */
function SettingState(props: SettingStateProps) {
  const { setting, title, hint, editLabel, onEdit, removeLabel, onRemove } = props
  const button = useRef<HTMLButtonElement>(null)
  const { wasEdited } = setting
  useEffect(() => {
    // The input that had the focus has gone.
    if (wasEdited && document.activeElement === document.body) button.current?.focus()
  }, [wasEdited])
  return (
    <div className={styles.state}>
      <span>
        {title}
        <small className={styles.hint}>{hint}</small>
        {setting.problem && (
          <small className={styles.problem} role="alert">
            {setting.problem}
          </small>
        )}
      </span>
      <span className={styles.buttons}>
        <Button ref={button} size="small" onClick={onEdit}>
          {editLabel}
        </Button>
        {removeLabel !== null && (
          <Button size="small" busy={setting.isBusy} onClick={onRemove}>
            {removeLabel}
          </Button>
        )}
      </span>
    </div>
  )
}
