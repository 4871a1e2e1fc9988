import { Lock } from 'lucide-react'
import { useRef, useState } from 'react'
import { t } from '../../../i18n.ts'
import { Button } from '../../../ui/button.tsx'
import { PasswordField } from '../../../ui/field.tsx'
import formStyles from '../form.module.css'
import styles from './public-form.module.css'

/** Asks for the password of a link. */
export function PasswordPage({
  state,
  onTry,
}: {
  state: { isWrong: boolean; error: string | null }
  onTry: (password: string) => Promise<void>
}) {
  const [text, setText] = useState('')
  const [isBusy, setBusy] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const submit = async () => {
    if (text === '' || isBusy) return
    setBusy(true)
    await onTry(text).finally(() => setBusy(false))
    input.current?.select()
  }
  return (
    <main className={styles.page} data-testid="form-password">
      <div className={formStyles.form}>
        <form
          className={styles.password}
          onSubmit={(event) => {
            event.preventDefault()
            void submit()
          }}
        >
          <Lock size={28} aria-hidden />
          <h1>{t('This form has a password')}</h1>
          <PasswordField
            ref={input}
            label={t('Password')}
            autoFocus
            autoComplete="off"
            value={text}
            error={state.isWrong ? t('This password is wrong.') : state.error}
            onChange={(event) => setText(event.target.value)}
          />
          <Button type="submit" variant="primary" size="large" busy={isBusy}>
            {t('Open the form')}
          </Button>
        </form>
      </div>
    </main>
  )
}
