import { t } from '../../../i18n.ts'
import { Main } from '../../../ui/main.tsx'
import { LinkPassword } from '../../layout/link-password.tsx'
import formStyles from '../form.module.css'
import styles from './public-form.module.css'

export interface PasswordPageProps {
  state: { isWrong: boolean; error: string | null }
  onTry: (password: string) => Promise<void>
}

/** Asks for the password of a form's link. */
export const PasswordPage = ({ state, onTry }: PasswordPageProps) => (
  <Main className={styles.page} data-testid="form-password">
    <div className={formStyles.form}>
      <LinkPassword
        className={styles.password}
        title={t('This form is password-protected')}
        openLabel={t('Open form')}
        problem={state.isWrong ? t('Incorrect password.') : state.error}
        onTry={onTry}
      />
    </div>
  </Main>
)
