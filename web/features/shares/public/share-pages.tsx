import { Link2Off } from 'lucide-react'
import { t } from '../../../i18n.ts'
import { EmptyState } from '../../../ui/states.tsx'
import { LinkPassword } from '../link-password.tsx'
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
export const PasswordPage = ({ problem, onTry }: PasswordPageProps) => (
  <main className={styles.centre} data-testid="share-password">
    <LinkPassword
      className={styles.password}
      title={t('This page has a password')}
      openLabel={t('Open')}
      {...{ problem, onTry }}
    />
  </main>
)
