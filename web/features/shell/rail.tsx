import { Keyboard, LayoutGrid, Plus, Search } from 'lucide-react'
import { type Action, actionContext } from '../../actions/action.ts'
import { runAction } from '../../actions/index.ts'
import { m } from '../../messages.gen.ts'
import { hrefOf, paths } from '../../navigation/paths.ts'
import { lastPlaces } from '../../session/last-places.ts'
import { useMe } from '../../session/use-me.ts'
import { trpc } from '../../trpc.ts'
import { Avatar } from '../../ui/avatar.tsx'
import { IconButton } from '../../ui/button.tsx'
import { type MenuItem, openMenu } from '../../ui/menu.tsx'
import { shortcutLabel } from '../../ui/shortcuts.ts'
import { BaseIcon } from '../layout/base-icon.tsx'
import { Logo } from '../layout/logo.tsx'
import { useIsNarrow } from '../layout/sidebar-state.ts'
import {
  actionItem,
  changePassword,
  createBaseAction,
  createTableAction,
  editProfile,
  importAction,
  openPalette,
  openTokens,
  showShortcuts,
  signOutAction,
} from './actions.tsx'
import { LaterParts } from './later.tsx'
import styles from './rail.module.css'
import { useOpenPlace } from './use-place.ts'

const MAX_RECENT = 6

/** Icon bar at the start of the page: bases, search, create, shortcuts, account. */
export function Rail() {
  const { baseId } = useOpenPlace()
  const { user } = useMe()
  const isNarrow = useIsNarrow()
  return (
    <nav className={styles.rail} aria-label={m.shell_main()}>
      <a
        href={hrefOf(paths.bases())}
        className={styles.logo}
        aria-label={m.shell_sheaf_all_bases()}
        data-tip={m.shell_all_bases()}
        data-tip-side="side"
      >
        <Logo />
      </a>
      <a
        href={hrefOf(paths.bases())}
        className={styles.link}
        aria-label={m.shell_bases()}
        aria-current={baseId ? undefined : 'page'}
        data-tip={m.shell_bases()}
        data-tip-keys={shortcutLabel('alt+b')}
        data-tip-side="side"
      >
        <LayoutGrid size={18} />
      </a>
      <RailButton icon={Search} action={openPalette} />
      <RecentBases openBaseId={baseId} />
      <span className={styles.space} />
      {/* Narrow windows have it in the top bar. */}
      {!isNarrow && (
        <span className={styles.bell}>
          <LaterParts slot="rail" baseId={baseId} />
        </span>
      )}
      <IconButton
        icon={Plus}
        iconSize={18}
        label={m.shell_create()}
        aria-haspopup="menu"
        data-tip-side="side"
        onClick={(event) => openMenu(event.currentTarget, createMenu(), m.shell_create())}
      />
      <RailButton icon={Keyboard} action={showShortcuts} />
      <button
        type="button"
        className={styles.me}
        aria-haspopup="menu"
        data-tip={user?.displayName || user?.email || m.shell_account()}
        data-tip-side="side"
        onClick={(event) => openMenu(event.currentTarget, accountMenu(user?.email), m.shell_account_menu())}
      >
        {user ? <Avatar person={user} size={28} /> : <span className={styles.noFace} />}
        <span className="visually-hidden">{m.shell_account_menu()}</span>
      </button>
    </nav>
  )
}

function RailButton({ icon, action }: { icon: typeof Search; action: Action }) {
  return (
    <IconButton
      icon={icon}
      iconSize={18}
      label={action.label()}
      shortcut={action.shortcut && shortcutLabel(action.shortcut)}
      data-tip-side="side"
      onClick={() => runAction(action)}
    />
  )
}

/** Recently visited bases, in the order of the base list so that they do not move. */
function RecentBases({ openBaseId }: { openBaseId?: string }) {
  const bases = trpc.bases.list.useQuery({})
  const recent = new Set(
    lastPlaces()
      .slice(0, MAX_RECENT)
      .map((place) => place.baseId),
  )
  const shown = bases.data?.filter((base) => recent.has(base.id) || base.id === openBaseId)
  if (!shown?.length) return null
  return (
    <ul className={styles.recent} aria-label={m.shell_recent_bases()}>
      {shown.map((base) => (
        <li key={base.id}>
          <a
            href={hrefOf(paths.base(base.id))}
            className={styles.link}
            aria-label={base.title}
            aria-current={base.id === openBaseId ? 'page' : undefined}
            data-tip={base.title}
            data-tip-side="side"
          >
            <BaseIcon base={base} size={24} />
          </a>
        </li>
      ))}
    </ul>
  )
}

function createMenu(): MenuItem[] {
  const context = actionContext()
  return [createTableAction, importAction, createBaseAction]
    .filter((action) => action.when?.(context) ?? true)
    .map(actionItem)
}

function accountMenu(email: string | undefined): MenuItem[] {
  const who: MenuItem[] = email ? [{ kind: 'id', label: m.shell_signed_in_as(), value: email }] : []
  return [
    ...who,
    actionItem(editProfile),
    actionItem(changePassword),
    actionItem(openTokens),
    { kind: 'separator' },
    actionItem(signOutAction),
  ]
}
