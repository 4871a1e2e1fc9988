import { useState } from 'react'
import { messageOf } from '../../errors.ts'
import { localeTag } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import styles from './share-dialog.module.css'
import type { ShareChange } from './use-share.ts'

export interface ShareExpiryProps {
  expiresAt: string | null
  onSave: (patch: ShareChange) => Promise<void>
}

/** When a link ends. A date and time of this person's clock. */
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

/** As `datetime-local` wants it: `2026-11-20T17:40`, by the clock of this person. */
function localText(iso: string): string {
  const moment = new Date(iso)
  return new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
