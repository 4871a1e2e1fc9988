import { Link2Off } from 'lucide-react'
import { t } from '../../../i18n.ts'
import { Main } from '../../../ui/main.tsx'
import { EmptyState } from '../../../ui/states.tsx'
import { LinkPassword } from '../../layout/link-password.tsx'
import styles from './public-share.module.css'

/** A link that leads nowhere: closed, expired, or mistyped. Which of these is not for strangers. */
export function ClosedPage() {
  return (
    <Main className={styles.centre} data-testid="share-closed">
      <EmptyState
        icon={Link2Off}
        headingLevel={1}
        title={t('This link doesn’t work')}
        text={t(
          'It was turned off or has expired, or the URL is incomplete. Ask the person who shared it with you.',
        )}
      >
        <a className={styles.signIn} href="/dashboard#/signin">
          {t('Sign in')}
        </a>
      </EmptyState>
    </Main>
  )
}

export interface PasswordPageProps {
  /** What is wrong with the last try; null at first. */
  problem: string | null
  onTry: (password: string) => Promise<void>
}

/** Asks for the password of a link. */
export const PasswordPage = ({ problem, onTry }: PasswordPageProps) => (
  <Main className={styles.centre} data-testid="share-password">
    <LinkPassword
      className={styles.password}
      title={t('This page is password-protected')}
      openLabel={t('Open')}
      problem={problem}
      onTry={onTry}
    />
  </Main>
)
