import {
  Archive,
  Bell,
  HardDrive,
  KeyRound,
  LockKeyhole,
  Plug,
  ScrollText,
  Settings2,
  UserRound,
  UsersRound,
} from 'lucide-react'
import type { OrgRole } from '../../../src/core/roles.ts'
import { m } from '../../messages.gen.ts'
import { lazyPart } from '../../navigation/lazy-screen.ts'
import { type AccountPage, hrefOf, paths } from '../../navigation/paths.ts'
import { useParams } from '../../navigation/router.tsx'
import { useDocumentTitle } from '../../navigation/use-document-title.ts'
import { useMe } from '../../session/use-me.ts'
import { LanguageSelect } from '../../ui/language-select.tsx'
import { Main } from '../../ui/main.tsx'
import { NotFoundScreen } from '../layout/not-found-screen.tsx'
import { NotificationsPage } from '../notifications/notification-settings.tsx'
import styles from './account.module.css'
import { PasswordPage, ProfilePage } from './profile-page.tsx'
import { SettingsPage, StoragePage } from './server-pages.tsx'
import { TokensPage } from './tokens-page.tsx'
import { UsersPage } from './users-page.tsx'

const AuditPage = lazyPart(() => import('../history/history-screen.tsx'), 'AuditPage')
const BackupsPage = lazyPart(() => import('../backups/backups-page.tsx'), 'BackupsPage')
const SetupPage = lazyPart(() => import('../plugins/setup-page.tsx'), 'SetupPage')

const pages = (): {
  id: AccountPage
  title: string
  icon: typeof UserRound
  /** Minimum organization role; everyone may open a page without it. */
  least?: OrgRole
  page: () => React.ReactNode
}[] => [
  { id: 'profile', title: m.account_profile(), icon: UserRound, page: () => <ProfilePage /> },
  { id: 'password', title: m.common_password(), icon: LockKeyhole, page: () => <PasswordPage /> },
  {
    id: 'notifications',
    title: m.notifications_notifications(),
    icon: Bell,
    page: () => <NotificationsPage />,
  },
  { id: 'tokens', title: m.account_api_tokens(), icon: KeyRound, page: () => <TokensPage /> },
  {
    id: 'users',
    title: m.account_users(),
    icon: UsersRound,
    least: 'org-level-creator',
    page: () => <UsersPage />,
  },
  {
    id: 'settings',
    title: m.account_settings(),
    icon: Settings2,
    least: 'super',
    page: () => <SettingsPage />,
  },
  { id: 'setup', title: m.account_setup(), icon: Plug, least: 'super', page: () => <SetupPage /> },
  { id: 'storage', title: m.common_storage(), icon: HardDrive, least: 'super', page: () => <StoragePage /> },
  {
    id: 'backups',
    title: m.account_backups(),
    icon: Archive,
    least: 'super',
    page: () => <BackupsPage />,
  },
  {
    id: 'audit',
    title: m.account_audit(),
    icon: ScrollText,
    least: 'super',
    page: () => <AuditPage />,
  },
]

/** Account pages with their navigation, limited to those that the user's role may open. */
export function AccountScreen() {
  const { page = 'profile' } = useParams()
  const { user, holds } = useMe()
  const all = pages().filter(({ least }) => least === undefined || holds(least))
  const open = all.find(({ id }) => id === page)
  useDocumentTitle(open?.title)
  // The role decides which pages exist.
  if (!open && !user) return null
  if (!open) return <NotFoundScreen />
  return (
    <Main className={styles.screen}>
      <nav className={styles.nav} aria-label={m.account_account()}>
        <h1 className={styles.title}>{m.account_account()}</h1>
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
      <section
        className={styles.page}
        data-wide={open.least !== undefined || undefined}
        aria-labelledby="account-page"
      >
        <h2 id="account-page" className={styles.pageTitle}>
          {open.title}
        </h2>
        {open.page()}
      </section>
    </Main>
  )
}
