import {
  BookOpen,
  Copy,
  FileUp,
  Gauge,
  History,
  Keyboard,
  KeyRound,
  LayoutGrid,
  LockKeyhole,
  LogOut,
  MessageSquare,
  Network,
  PanelLeft,
  Pencil,
  Plus,
  Search,
  Share2,
  Table2,
  Trash2,
  UserRound,
  Webhook,
} from 'lucide-react'
import type { Table } from '../../../src/core/model.ts'
import type { Action, ActionContext } from '../../actions/action.ts'
import { runAction } from '../../actions/index.ts'
import { m } from '../../messages.gen.ts'
import { lazyPart } from '../../navigation/lazy-screen.ts'
import { leave } from '../../navigation/leave.ts'
import { goTo, paths } from '../../navigation/paths.ts'
import { endOnServer } from '../../session/end-on-server.ts'
import { askBeforeSignOut, giveUpUnsaved, mayLoseUnsaved, sendUnsaved } from '../../session/unsaved.ts'
import { cache } from '../../trpc.ts'
import { confirm } from '../../ui/confirm.tsx'
import type { MenuItem } from '../../ui/menu.tsx'
import { openDialog } from '../../ui/open-dialog.tsx'
import { shortcutLabel } from '../../ui/shortcuts.ts'
import { toast } from '../../ui/toast.ts'
import { openImport } from '../imports/open-import.ts'
import { toggleSidebarCollapsed } from '../layout/sidebar-state.ts'
import { openShareDialog } from '../shares/open-share-dialog.tsx'
import { KIND_INFO, KINDS } from '../views/manage/kind-info.tsx'
import { CommandPalette, dialogMenus, menus } from './later.tsx'

const ShortcutSheet = lazyPart(() => import('./shortcut-sheet.tsx'), 'ShortcutSheet')

const generalGroup = () => m.shell_general()

export const openPalette: Action = {
  id: 'palette.open',
  label: () => m.shell_search_and_commands(),
  group: generalGroup,
  icon: Search,
  shortcut: 'mod+k',
  hidden: true,
  run: () => void openDialog((close) => <CommandPalette onClose={close} />),
}

/** Recently visited views, latest first. */
const openRecentViews: Action = {
  id: 'views.recent',
  label: () => m.shell_recent_views(),
  group: generalGroup,
  icon: History,
  shortcut: 'mod+l',
  run: () => void openDialog((close) => <CommandPalette isOfRecent onClose={close} />),
}

export const showShortcuts: Action = {
  id: 'shortcuts.show',
  label: () => m.shell_keyboard_shortcuts(),
  group: generalGroup,
  icon: Keyboard,
  shortcut: '?',
  run: () => void openDialog((close) => <ShortcutSheet onClose={close} />),
}

const toggleSidebar: Action = {
  id: 'sidebar.toggle',
  label: () => m.shell_show_or_hide_the_sidebar(),
  group: generalGroup,
  icon: PanelLeft,
  shortcut: 'mod+b',
  when: ({ base }) => base !== null,
  run: toggleSidebarCollapsed,
}

const baseGroup = () => m.shell_this_base()

export const createTableAction: Action = {
  id: 'table.create',
  label: () => m.common_new_table(),
  group: baseGroup,
  icon: Table2,
  shortcut: 'alt+t',
  when: ({ can }) => can('table.create'),
  run({ base }) {
    if (base) return dialogMenus().then(({ createTable }) => createTable(base.id))
  },
}

const duplicateTableAction: Action = {
  id: 'table.duplicate',
  label: () => m.shell_duplicate_table(),
  group: baseGroup,
  icon: Copy,
  when: (context) => context.can('table.duplicate') && tableOf(context) !== undefined,
  run(context) {
    const table = tableOf(context)
    if (table) return dialogMenus().then(({ duplicateTable }) => duplicateTable(table))
  },
}

const performanceAction: Action = {
  id: 'table.performance',
  label: () => m.indexes_performance(),
  group: baseGroup,
  icon: Gauge,
  when: (context) => context.can('table.indexes') && tableOf(context) !== undefined,
  run(context) {
    const table = tableOf(context)
    if (table) return dialogMenus().then(({ openPerformance }) => openPerformance(table))
  },
}

const tableOf = ({ base, tableId }: ActionContext): Table | undefined =>
  base ? cache.schema.tables.getData({ baseId: base.id })?.find(({ id }) => id === tableId) : undefined

export const importAction: Action = {
  id: 'base.import',
  label: () => m.shell_import_data(),
  group: baseGroup,
  icon: FileUp,
  when: ({ can }) => can('import.create'),
  run({ base }) {
    if (base) openImport(null, { baseId: base.id })
  },
}

const relationsAction: Action = {
  id: 'base.relations',
  label: () => m.shell_relations_between_tables(),
  group: baseGroup,
  icon: Network,
  when: ({ base }) => base !== undefined && base !== null,
  run({ base }) {
    if (base) goTo(paths.relations(base.id))
  },
}

export const trashAction: Action = {
  id: 'base.trash',
  label: () => m.common_trash(),
  group: baseGroup,
  icon: Trash2,
  when: ({ can }) => can('record.restore'),
  run({ base, tableId }) {
    if (base) goTo(paths.trash(base.id, { tableId: tableId ?? undefined }))
  },
}

export const commentsAction: Action = {
  id: 'base.comments',
  label: () => m.comments_comments(),
  group: baseGroup,
  icon: MessageSquare,
  when: ({ can }) => can('comment.list'),
  run({ base }) {
    if (base) goTo(paths.comments(base.id))
  },
}

export const webhooksAction: Action = {
  id: 'base.webhooks',
  label: () => m.hooks_webhooks(),
  group: baseGroup,
  icon: Webhook,
  when: ({ can }) => can('hook.list'),
  run({ base, tableId }) {
    if (base) goTo(paths.webhooks(base.id, { tableId: tableId ?? undefined }))
  },
}

export const historyAction: Action = {
  id: 'base.history',
  label: () => m.common_history(),
  group: baseGroup,
  icon: History,
  when: ({ can }) => can('base.activity'),
  run({ base, tableId }) {
    if (base) goTo(paths.history(base.id, { tableId: tableId ?? undefined }))
  },
}

/** Creates a view of each kind for the open table. */
const createViewActions: readonly Action[] = KINDS.map((kind) => ({
  id: `view.create.${kind}`,
  label: KIND_INFO[kind].newLabel,
  group: () => m.shell_views(),
  icon: KIND_INFO[kind].Icon,
  hint: KIND_INFO[kind].purpose,
  when: ({ can, tableId }) => tableId !== null && can('view.create'),
  run({ base, tableId }) {
    if (base && tableId) return dialogMenus().then(({ createView }) => createView(base.id, tableId, kind))
  },
}))

/** Public links of the open view and base. */
export const shareAction: Action = {
  id: 'view.share',
  label: () => m.common_share(),
  group: () => m.shell_this_base(),
  icon: Share2,
  shortcut: 'alt+i',
  when: ({ can }) => can('view.share') || can('base.share'),
  run({ base, tableId, viewId }) {
    if (!base) return
    openShareDialog({
      baseId: base.id,
      ...(tableId && { tableId }),
      ...(viewId && { viewId }),
    })
  },
}

const basesGroup = () => m.shell_bases()

const goToBases: Action = {
  id: 'bases.open',
  label: () => m.shell_go_to_bases(),
  group: basesGroup,
  icon: LayoutGrid,
  shortcut: 'alt+b',
  run: () => goTo(paths.bases()),
}

export const createBaseAction: Action = {
  id: 'base.create',
  label: () => m.shell_new_base(),
  group: basesGroup,
  icon: Plus,
  shortcut: 'alt+d',
  when: ({ holds }) => holds('org-level-creator'),
  run: () => dialogMenus().then(({ createBase }) => createBase()),
}

const editBaseAction: Action = {
  id: 'base.edit',
  label: () => m.shell_rename_this_base(),
  group: basesGroup,
  icon: Pencil,
  shortcut: 'alt+,',
  when: ({ can }) => can('base.update'),
  run({ base }) {
    if (base) return dialogMenus().then(({ editBase }) => editBase(base))
  },
}

const openTrashAction: Action = {
  id: 'bases.trash',
  label: () => m.shell_trash_of_all_bases(),
  group: basesGroup,
  icon: Trash2,
  run: () => goTo(paths.trash(null)),
}

/** API documentation of the open base, otherwise of the server. */
const apiDocsAction: Action = {
  id: 'api.docs',
  label: () => m.shell_api_documentation(),
  group: basesGroup,
  icon: BookOpen,
  shortcut: 'mod+j',
  run: ({ base }) => menus().then(({ openApiDocs }) => openApiDocs(base)),
}

const accountGroup = () => m.shell_account()

export const editProfile: Action = {
  id: 'account.profile',
  label: () => m.shell_profile(),
  group: accountGroup,
  icon: UserRound,
  run: () => goTo(paths.account('profile')),
}

export const changePassword: Action = {
  id: 'account.password',
  label: () => m.common_change_password(),
  group: accountGroup,
  icon: LockKeyhole,
  run: () => goTo(paths.account('password')),
}

export const openTokens: Action = {
  id: 'account.tokens',
  label: () => m.shell_api_tokens(),
  group: accountGroup,
  icon: KeyRound,
  run: () => goTo(paths.account('tokens')),
}

/** How long signing out waits for changes that are on their way. */
const MAX_WAIT_MS = 5000

/** A wait that takes longer is shown. */
const TELL_AFTER_MS = 300

/** Signs out this browser, after the last changes are stored or the user gives them up. */
export const signOutAction: Action = {
  id: 'account.signOut',
  label: () => m.shell_sign_out(),
  group: accountGroup,
  icon: LogOut,
  run() {
    signingOut ??= signOut().finally(() => {
      signingOut = null
    })
    return signingOut
  },
}

/** Null unless signing out is under way. */
let signingOut: Promise<void> | null = null

async function signOut(): Promise<void> {
  const lost = await mayLoseUnsaved()
  if (lost === null) return
  await endOnServer()
  if (lost > 0) giveUpUnsaved()
  leave()
}

// For all ways to sign out, such as an address with `?logout`.
askBeforeSignOut(async () => {
  const isSlow = setTimeout(
    () => toast.info({ text: m.shell_saving_before_sign_out(), topic: 'signOut' }),
    TELL_AFTER_MS,
  )
  const count = await sendUnsaved(MAX_WAIT_MS)
  clearTimeout(isSlow)
  const isAgreed =
    count === 0 ||
    (await confirm({
      title: m.shell_sign_out_confirm(),
      text: m.shell_sign_out_unsaved({ count }),
      confirmLabel: m.shell_sign_out(),
      danger: true,
    }))
  return isAgreed ? count : null
})

/** Actions of every screen, in the order of the command palette. */
export const APP_ACTIONS: readonly Action[] = [
  openPalette,
  openRecentViews,
  createTableAction,
  duplicateTableAction,
  performanceAction,
  ...createViewActions,
  shareAction,
  importAction,
  relationsAction,
  createBaseAction,
  goToBases,
  editBaseAction,
  apiDocsAction,
  trashAction,
  commentsAction,
  historyAction,
  webhooksAction,
  openTrashAction,
  toggleSidebar,
  showShortcuts,
  editProfile,
  changePassword,
  openTokens,
  signOutAction,
]

/** An action as a menu item. */
export const actionItem = (action: Action): MenuItem => ({
  kind: 'action',
  label: action.label(),
  icon: action.icon,
  shortcut: action.shortcut && shortcutLabel(action.shortcut),
  run: () => runAction(action),
})
