import { useParams } from '@tanstack/react-router'
import { KeyRound, LockKeyhole, UserRound } from 'lucide-react'
import { t } from '../../i18n.ts'
import { type AccountPage, hrefOf, paths } from '../../routes/paths.ts'
import { NotFoundScreen } from '../../routes/root.tsx'
import { useDocumentTitle } from '../../routes/use-document-title.ts'
import { LanguageSelect } from '../../ui/language-select.tsx'
import { Main } from '../../ui/main.tsx'
import styles from './account.module.css'
import { PasswordPage } from './password-page.tsx'
import { ProfilePage } from './profile-page.tsx'
import { TokensPage } from './tokens-page.tsx'

const pages = (): {
  id: AccountPage
  title: string
  icon: typeof UserRound
  page: () => React.ReactNode
}[] => [
  { id: 'profile', title: t('Profile'), icon: UserRound, page: () => <ProfilePage /> },
  { id: 'password', title: t('Password'), icon: LockKeyhole, page: () => <PasswordPage /> },
  { id: 'tokens', title: t('API tokens'), icon: KeyRound, page: () => <TokensPage /> },
]

/** One's own account: a page for each subject, chosen at the side. */
export function AccountScreen() {
  const { page = 'profile' } = useParams({ from: '/shell/account/{-$page}' })
  const all = pages()
  const open = all.find(({ id }) => id === page)
  useDocumentTitle(open?.title)
  if (!open) return <NotFoundScreen />
  return (
    <Main className={styles.screen}>
      <nav className={styles.nav} aria-label={t('Account')}>
        <h1 className={styles.title}>{t('Account')}</h1>
        <ul>
          {all.map(({ id, title, icon: Icon }) => (
            <li key={id}>
              <a href={hrefOf(paths.account(id))} aria-current={id === page ? 'page' : undefined}>
                <Icon size={16} />
                {title}
              </a>
            </li>
          ))}
        </ul>
        <LanguageSelect />
      </nav>
      <section className={styles.page} aria-labelledby="account-page">
        <h2 id="account-page" className={styles.pageTitle}>
          {open.title}
        </h2>
        {open.page()}
      </section>
    </Main>
  )
}
