import { m } from '../../../messages.gen.ts'
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
        title={m.form_this_form_is_password_protected()}
        openLabel={m.form_open_form()}
        problem={state.isWrong ? m.common_incorrect_password() : state.error}
        onTry={onTry}
      />
    </div>
  </Main>
)
