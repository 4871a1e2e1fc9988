import {
  ChevronDown,
  ChevronRight,
  Ellipsis,
  Lock,
  Menu as MenuIcon,
  PanelLeftOpen,
  RotateCw,
  Search,
  Share2,
} from 'lucide-react'
import type { ReactNode } from 'react'
import type { Base, View } from '../../../src/core/model.ts'
import { roleCan } from '../../../src/core/roles.ts'
import { runAction } from '../../actions/index.ts'
import { m } from '../../messages.gen.ts'
import { goTo, hrefOf, paths } from '../../navigation/paths.ts'
import { queryClient, trpc } from '../../trpc.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { type MenuItem, openContextMenu, openMenu } from '../../ui/menu.tsx'
import { shortcutLabel } from '../../ui/shortcuts.ts'
import { BaseIcon } from '../layout/base-icon.tsx'
import {
  setDrawerOpen,
  toggleSidebarCollapsed,
  useIsNarrow,
  useSidebarState,
} from '../layout/sidebar-state.ts'
import { shareRefusal } from '../shares/share-target.ts'
import { TableIcon } from '../views/icons/chosen-icon.tsx'
import { ViewIcon } from '../views/manage/kind-info.tsx'
import { modeMark } from '../views/manage/view-lock.ts'
import { openPalette, shareAction } from './actions.tsx'
import { LaterParts, menus } from './later.tsx'
import styles from './top-bar.module.css'
import { useOpenPlace } from './use-place.ts'

/** Top bar with the breadcrumb base / table / view. */
export function TopBar({ baseId }: { baseId?: string }) {
  const isNarrow = useIsNarrow()
  const { collapsed } = useSidebarState()
  const { tableId } = useOpenPlace()
  return (
    <header className={styles.bar}>
      {isNarrow && (
        <IconButton icon={MenuIcon} label={m.shell_open_navigation()} onClick={() => setDrawerOpen(true)} />
      )}
      {!isNarrow && collapsed && (
        <IconButton
          icon={PanelLeftOpen}
          className="flip-in-rtl"
          label={m.shell_show_the_sidebar()}
          shortcut={shortcutLabel('mod+b')}
          onClick={toggleSidebarCollapsed}
        />
      )}
      {baseId ? <Breadcrumb baseId={baseId} /> : <span className={styles.name}>Sheaf</span>}
      <span className={styles.space} />
      <LaterParts slot="topBar" baseId={baseId} />
      {isNarrow && (
        <IconButton icon={Search} label={openPalette.label()} onClick={() => runAction(openPalette)} />
      )}
      {isNarrow && <LaterParts slot="rail" baseId={baseId} />}
      {/* Narrow windows have it in the view's menu. */}
      {baseId && !(isNarrow && tableId) && <ShareButton baseId={baseId} isNarrow={isNarrow} />}
      {baseId && (
        <IconButton
          icon={RotateCw}
          label={m.shell_reload_data()}
          onClick={() => void queryClient.invalidateQueries()}
        />
      )}
    </header>
  )
}

/** Opens the share dialog; disabled with the reason if the role may not share. */
function ShareButton({ baseId, isNarrow }: { baseId: string; isNarrow: boolean }) {
  const role = trpc.bases.get.useQuery({ baseId }).data?.role
  if (!role) return null
  const refusal = shareRefusal(role)
  const props = {
    disabled: refusal !== null,
    'data-tip': refusal ?? shareAction.label(),
    'data-tip-keys': refusal === null ? shortcutLabel('alt+i') : undefined,
    onClick: () => runAction(shareAction),
  }
  return isNarrow ? (
    <IconButton icon={Share2} label={m.common_share()} {...props} />
  ) : (
    <Button size="small" icon={Share2} {...props}>
      {m.common_share()}
    </Button>
  )
}

function Breadcrumb({ baseId }: { baseId: string }) {
  const { tableId, viewId } = useOpenPlace()
  const base = trpc.bases.get.useQuery({ baseId }).data
  const tables = trpc.schema.tables.useQuery({ baseId }).data
  const schema = trpc.schema.table.useQuery({ tableId: tableId ?? '' }, { enabled: isTableId(tableId) }).data
  const table = tables?.find((one) => one.id === tableId)
  const view = schema?.views.find((one) => (viewId ? one.id === viewId : one.isDefault))
  const tableItems = (tables ?? []).map(
    (one): MenuItem => ({
      kind: 'action',
      label: one.title,
      checked: one.id === tableId,
      icon: () => <TableIcon table={one} />,
      run: () => goTo(paths.table(baseId, one.id)),
    }),
  )

  return (
    <nav className={styles.crumbs} aria-label={m.shell_breadcrumb()}>
      {base && (
        <a
          href={hrefOf(paths.base(baseId))}
          className={styles.base}
          data-inside={tableId ? '' : undefined}
          aria-current={tableId ? undefined : 'page'}
        >
          <BaseIcon base={base} size={20} />
          <span className={styles.text} dir="auto" data-tip={base.title} data-tip-clipped>
            {base.title}
          </span>
        </a>
      )}
      {table && (
        <Crumb
          title={table.title}
          icon={<TableIcon table={table} size={14} />}
          label={m.shell_table_title_choose_another({ title: table.title })}
          items={() => tableItems}
        />
      )}
      {table && view && schema && base && (
        <Crumb
          title={view.title}
          icon={<ViewIcon view={view} />}
          label={m.shell_view_title_choose_another({ title: view.title })}
          items={() => viewItems(base, schema.views, view)}
          mark={view.lock === 'locked' ? modeMark(view, baseId) : null}
          menu={{
            label: m.shell_options_for_view_title({ title: view.title }),
            items: () => menus().then(({ viewMenu }) => viewMenu(base, view, schema.views)),
          }}
        />
      )}
    </nav>
  )
}

const isTableId = (id: string | undefined): boolean => id?.startsWith('m') ?? false

/** Views of a table, and the kinds of views to create. */
async function viewItems(base: Base, views: readonly View[], at: View): Promise<MenuItem[]> {
  const others = views.map(
    (view): MenuItem => ({
      kind: 'action',
      label: view.title,
      checked: view.id === at.id,
      icon: () => <ViewIcon view={view} />,
      run: () => goTo(paths.table(base.id, view.tableId, view.id)),
    }),
  )
  if (!roleCan(base.role, 'view.create')) return others
  const { newViewItems } = await menus()
  return [...others, { kind: 'separator' }, ...newViewItems(base, at.tableId)]
}

interface CrumbProps {
  title: string
  icon: ReactNode
  label: string
  /** Its siblings, to switch to. */
  items: () => MenuItem[] | Promise<MenuItem[]>
  /** Label of the lock icon, or null. */
  mark?: string | null
  /** Its context menu, also behind "⋯". */
  menu?: { label: string; items: () => Promise<MenuItem[]> }
}

function Crumb({ title, icon, label, items, mark, menu }: CrumbProps) {
  return (
    <>
      <ChevronRight size={14} className={`flip-in-rtl ${styles.divider}`} />
      <button
        type="button"
        className={styles.crumb}
        aria-haspopup="menu"
        aria-label={label}
        onClick={(event) => openMenu(event.currentTarget, items(), label)}
        onContextMenu={menu && ((event) => openContextMenu(event, menu.items(), menu.label))}
      >
        {icon}
        <span className={styles.text} dir="auto" data-tip={title} data-tip-clipped>
          {title}
        </span>
        {mark && (
          <span role="img" className={styles.mark} aria-label={mark} data-tip={mark}>
            <Lock size={12} />
          </span>
        )}
        <ChevronDown size={13} />
      </button>
      {menu && (
        <IconButton
          icon={Ellipsis}
          size="small"
          className={styles.more}
          label={menu.label}
          data-tip={m.common_more()}
          aria-haspopup="menu"
          onClick={(event) => openMenu(event.currentTarget, menu.items(), menu.label)}
        />
      )}
    </>
  )
}
