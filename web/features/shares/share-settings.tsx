import { useState } from 'react'
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
import { toast } from '../../ui/toast.ts'
import { addressPrefix } from './share-address.ts'
import styles from './share-dialog.module.css'
import type { ShareChange } from './use-share.ts'

interface SharingAddressProps {
  /** Full URL of the link. */
  address: string
  share: Pick<Share, 'id'>
  onSave: (patch: ShareChange) => Promise<void>
}

/** Custom last part of a link's URL. */
export function SharingAddress({ address, share, onSave }: SharingAddressProps) {
  const [text, setText] = useState<string | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const [isBusy, setIsBusy] = useState(false)
  const wanted = text ?? share.id
  const isChanged = wanted !== share.id

  async function save() {
    if (!isChanged || isBusy) return
    if (!CUSTOM_ADDRESS.test(wanted)) {
      setProblem(m.shares_custom_url_rule())
      return
    }
    setIsBusy(true)
    try {
      await onSave({ id: wanted })
      setText(null)
    } catch (error) {
      setProblem(messageOf(error))
    } finally {
      setIsBusy(false)
    }
  }

  return (
    <form
      className={styles.saving}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <TextField
        label={m.shares_custom_url()}
        dir="ltr"
        autoCapitalize="none"
        spellCheck={false}
        maxLength={64}
        value={wanted}
        error={problem}
        help={
          isChanged ? (
            <span dir="ltr">
              {addressPrefix(address, share.id)}
              {wanted}
            </span>
          ) : undefined
        }
        onChange={(event) => {
          setText(event.target.value.trim())
          setProblem(null)
        }}
      />
      {isChanged && (
        <div className={styles.buttons}>
          <Button size="small" type="submit" variant="primary" busy={isBusy}>
            {m.common_save()}
          </Button>
          <Button
            size="small"
            onClick={() => {
              setText(null)
              setProblem(null)
            }}
          >
            {m.common_cancel()}
          </Button>
        </div>
      )}
    </form>
  )
}

interface SharePasswordProps {
  hasPassword: boolean
  onSave: (patch: ShareChange) => Promise<void>
}

/** Sets, changes or removes the password of a link. */
export function SharePassword({ hasPassword, onSave }: SharePasswordProps) {
  const [text, setText] = useState<string | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const [isBusy, setIsBusy] = useState(false)

  async function save(password: string | null) {
    setIsBusy(true)
    try {
      await onSave({ password })
      setText(null)
      setProblem(null)
      toast.success({ text: password === null ? m.shares_password_removed() : m.shares_password_set() })
    } catch (error) {
      setProblem(messageOf(error))
    } finally {
      setIsBusy(false)
    }
  }

  if (text === null) {
    return (
      <div className={styles.state}>
        <span>
          {m.common_password()}
          <small className={styles.hint}>
            {hasPassword ? m.shares_visitors_need_a_password() : m.shares_no_password_required()}
          </small>
          {problem && (
            <small className={styles.problem} role="alert">
              {problem}
            </small>
          )}
        </span>
        <span className={styles.buttons}>
          <Button size="small" onClick={() => setText('')}>
            {hasPassword ? m.common_change_password() : m.shares_set_password()}
          </Button>
          {hasPassword && (
            <Button size="small" busy={isBusy} onClick={() => void save(null)}>
              {m.shares_remove_password()}
            </Button>
          )}
        </span>
      </div>
    )
  }
  const strength = passwordStrength(text)
  return (
    <form
      className={styles.saving}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (strength === 'short') setProblem(tooShort())
        else if (!isBusy) void save(text)
      }}
    >
      <PasswordField
        label={m.common_new_password()}
        autoFocus
        autoComplete="new-password"
        maxLength={256}
        value={text}
        error={problem}
        help={text === '' ? tooShort() : STRENGTHS[strength]()}
        onChange={(event) => {
          setText(event.target.value)
          setProblem(null)
        }}
      />
      <div className={styles.buttons}>
        <Button size="small" type="submit" variant="primary" busy={isBusy}>
          {m.common_save()}
        </Button>
        <Button size="small" onClick={() => setText(null)}>
          {m.common_cancel()}
        </Button>
      </div>
    </form>
  )
}

const tooShort = () => m.shares_at_least_characters({ count: MIN_SHARE_PASSWORD })

const STRENGTHS: Record<PasswordStrength, () => string> = {
  short: tooShort,
  weak: () => m.shares_weak(),
  fair: () => m.shares_fair(),
  strong: () => m.shares_strong(),
}

interface ShareExpiryProps {
  expiresAt: string | null
  onSave: (patch: ShareChange) => Promise<void>
}

/** Expiry of a link, in the user's time zone. */
export function ShareExpiry({ expiresAt, onSave }: ShareExpiryProps) {
  const [text, setText] = useState<string | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const [isBusy, setIsBusy] = useState(false)

  async function save(moment: string | null) {
    setIsBusy(true)
    try {
      await onSave({ expiresAt: moment })
      setText(null)
      setProblem(null)
    } catch (error) {
      setProblem(messageOf(error))
    } finally {
      setIsBusy(false)
    }
  }

  if (text === null) {
    return (
      <div className={styles.state}>
        <span>
          {m.shares_expiry()}
          <small className={styles.hint}>{describe(expiresAt)}</small>
          {problem && (
            <small className={styles.problem} role="alert">
              {problem}
            </small>
          )}
        </span>
        <span className={styles.buttons}>
          <Button size="small" onClick={() => setText(expiresAt === null ? '' : localText(expiresAt))}>
            {expiresAt === null ? m.shares_set_expiry() : m.shares_change_date()}
          </Button>
          {expiresAt !== null && (
            <Button size="small" busy={isBusy} onClick={() => void save(null)}>
              {m.shares_remove_expiry()}
            </Button>
          )}
        </span>
      </div>
    )
  }
  return (
    <form
      className={styles.saving}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        const moment = new Date(text)
        if (text === '' || Number.isNaN(moment.getTime())) setProblem(m.shares_choose_a_date_and_time())
        else if (moment.getTime() <= Date.now()) setProblem(m.shares_choose_date_future())
        else if (!isBusy) void save(moment.toISOString())
      }}
    >
      <TextField
        label={m.shares_expires_on()}
        type="datetime-local"
        autoFocus
        dir="ltr"
        value={text}
        error={problem}
        onChange={(event) => {
          setText(event.target.value)
          setProblem(null)
        }}
      />
      <div className={styles.buttons}>
        <Button size="small" type="submit" variant="primary" busy={isBusy}>
          {m.common_save()}
        </Button>
        <Button
          size="small"
          onClick={() => {
            setText(null)
            setProblem(null)
          }}
        >
          {m.common_cancel()}
        </Button>
      </div>
    </form>
  )
}

function describe(expiresAt: string | null): string {
  if (expiresAt === null) return m.shares_never_expires()
  const when = new Intl.DateTimeFormat(localeTag(), { dateStyle: 'long', timeStyle: 'short' }).format(
    new Date(expiresAt),
  )
  return Date.parse(expiresAt) <= Date.now()
    ? m.shares_expired_on_date({ date: when })
    : m.shares_expires_on_date({ date: when })
}

/** Local time as `datetime-local` inputs need it: `2026-11-20T17:40`. */
function localText(iso: string): string {
  const moment = new Date(iso)
  return new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
