import { Link2Off } from 'lucide-react'
import { m } from '../../../messages.gen.ts'
import { Main } from '../../../ui/main.tsx'
import { EmptyState } from '../../../ui/states.tsx'
import { LinkPassword } from '../../layout/link-password.tsx'
import styles from './public-share.module.css'

/** Page of a closed, expired or mistyped link; strangers are not told which. */
export function ClosedPage() {
  return (
    <Main className={styles.centre} data-testid="share-closed">
      <EmptyState
        icon={Link2Off}
        headingLevel={1}
        title={m.shares_this_link_doesnt_work()}
        text={m.shares_link_invalid_hint()}
      >
        <a className={styles.signIn} href="/dashboard#/signin">
          {m.shares_sign_in()}
        </a>
      </EmptyState>
    </Main>
  )
}

export interface PasswordPageProps {
  /** Why the last attempt failed; null at first. */
  problem: string | null
  onTry: (password: string) => Promise<void>
}

export const PasswordPage = ({ problem, onTry }: PasswordPageProps) => (
  <Main className={styles.centre} data-testid="share-password">
    <LinkPassword
      className={styles.password}
      title={m.shares_this_page_is_password_protected()}
      openLabel={m.common_open()}
      problem={problem}
      onTry={onTry}
    />
  </Main>
)
