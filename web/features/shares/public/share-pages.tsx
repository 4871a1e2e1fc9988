import { Link2Off, Lock } from 'lucide-react'
import { useRef, useState } from 'react'
import { t } from '../../../i18n.ts'
import { Button } from '../../../ui/button.tsx'
import { PasswordField } from '../../../ui/field.tsx'
import { EmptyState } from '../../../ui/states.tsx'
import styles from './public-share.module.css'

/** A link that leads nowhere: closed, expired, or mistyped. Which of these is not for strangers. */
export function ClosedPage() {
  return (
    <main className={styles.centre} data-testid="share-closed">
      <EmptyState
        icon={Link2Off}
        title={t('This link does not work')}
        text={t('It was closed or has expired, or the address is incomplete. Ask whoever gave it to you.')}
      >
        <a className={styles.signIn} href="/dashboard#/signin">
          {t('Sign in')}
        </a>
      </EmptyState>
    </main>
  )
}

export interface PasswordPageProps {
  /** What is wrong with the last try; null at first. */
  problem: string | null
  onTry: (password: string) => Promise<void>
}

/** Asks for the password of a link. */
export function PasswordPage({ problem, onTry }: PasswordPageProps) {
  const [text, setText] = useState('')
  const [isBusy, setBusy] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  async function submit() {
    if (text === '' || isBusy) return
    setBusy(true)
    await onTry(text).finally(() => setBusy(false))
    input.current?.select()
  }
  return (
    <main className={styles.centre} data-testid="share-password">
      <form
        className={styles.password}
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <Lock size={28} aria-hidden />
        <h1>{t('This page has a password')}</h1>
        <PasswordField
          ref={input}
          label={t('Password')}
          autoFocus
          autoComplete="off"
          value={text}
          error={problem}
          onChange={(event) => setText(event.target.value)}
        />
        <Button type="submit" variant="primary" size="large" busy={isBusy}>
          {t('Open')}
        </Button>
      </form>
    </main>
  )
}
