import { useState } from 'react'
import { messageOf } from '../../errors.ts'
import { localeTag, t } from '../../i18n.ts'
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
          {t('Expiry')}
          <small className={styles.hint}>{describe(expiresAt)}</small>
          {problem && (
            <small className={styles.problem} role="alert">
              {problem}
            </small>
          )}
        </span>
        <span className={styles.buttons}>
          <Button size="small" onClick={() => setText(expiresAt === null ? '' : localText(expiresAt))}>
            {expiresAt === null ? t('Set expiry') : t('Change date')}
          </Button>
          {expiresAt !== null && (
            <Button size="small" busy={isBusy} onClick={() => void save(null)}>
              {t('Remove expiry')}
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
        if (text === '' || Number.isNaN(moment.getTime())) setProblem(t('Choose a date and time'))
        else if (moment.getTime() <= Date.now()) setProblem(t('Choose a date in the future'))
        else if (!isBusy) void save(moment.toISOString())
      }}
    >
      <TextField
        label={t('Expires on')}
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
          {t('Save')}
        </Button>
        <Button
          size="small"
          onClick={() => {
            setText(null)
            setProblem(null)
          }}
        >
          {t('Cancel')}
        </Button>
      </div>
    </form>
  )
}

function describe(expiresAt: string | null): string {
  if (expiresAt === null) return t('Never expires.')
  const when = new Intl.DateTimeFormat(localeTag(), { dateStyle: 'long', timeStyle: 'short' }).format(
    new Date(expiresAt),
  )
  return Date.parse(expiresAt) <= Date.now()
    ? t('Expired on {date}.', { date: when })
    : t('Expires on {date}.', { date: when })
}

/** As `datetime-local` wants it: `2026-11-20T17:40`, by the clock of this person. */
function localText(iso: string): string {
  const moment = new Date(iso)
  return new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
