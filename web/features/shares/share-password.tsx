import { useState } from 'react'
import { MIN_SHARE_PASSWORD } from '../../../src/core/shares.ts'
import { messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { Button } from '../../ui/button.tsx'
import { PasswordField } from '../../ui/field.tsx'
import { toast } from '../../ui/toast.ts'
import { type PasswordStrength, passwordStrength } from './password-strength.ts'
import styles from './share-dialog.module.css'
import type { ShareChange } from './use-share.ts'

export interface SharePasswordProps {
  hasPassword: boolean
  onSave: (patch: ShareChange) => Promise<void>
}

/** The password that a link asks for: set, change, remove. One that is set is known to nobody. */
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
