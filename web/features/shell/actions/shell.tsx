import { History, Keyboard, PanelLeft, Search } from 'lucide-react'
import type { Action } from '../../../actions/action.ts'
import { m } from '../../../messages.gen.ts'
import { lazyPart } from '../../../navigation/lazy-screen.ts'
import { openDialog } from '../../../ui/open-dialog.tsx'
import { toggleSidebarCollapsed } from '../../layout/sidebar-state.ts'

/** Has its own file; the shell fetches it while idle, so that the first press of its keys is as quick. */
export const CommandPalette = lazyPart(() => import('../command-palette.tsx'), 'CommandPalette')
const ShortcutSheet = lazyPart(() => import('../shortcut-sheet.tsx'), 'ShortcutSheet')

const group = () => m.shell_general()

/** Finds bases, tables, views and actions by typing. */
export const openPalette: Action = {
  id: 'palette.open',
  label: () => m.shell_search_and_commands(),
  group,
  icon: Search,
  shortcut: 'mod+k',
  hidden: true,
  run: () => void openDialog((close) => <CommandPalette onClose={close} />),
}

/** The views one was in last, the one before the present first. */
export const openRecentViews: Action = {
  id: 'views.recent',
  label: () => m.shell_recent_views(),
  group,
  icon: History,
  shortcut: 'mod+l',
  run: () => void openDialog((close) => <CommandPalette isOfRecent onClose={close} />),
}

/** Lists the keys. */
export const showShortcuts: Action = {
  id: 'shortcuts.show',
  label: () => m.shell_keyboard_shortcuts(),
  group,
  icon: Keyboard,
  shortcut: '?',
  run: () => void openDialog((close) => <ShortcutSheet onClose={close} />),
}

/** Shows or hides the tree of tables. */
export const toggleSidebar: Action = {
  id: 'sidebar.toggle',
  label: () => m.shell_show_or_hide_the_sidebar(),
  group,
  icon: PanelLeft,
  shortcut: 'mod+b',
  when: ({ base }) => base !== null,
  run: toggleSidebarCollapsed,
}
