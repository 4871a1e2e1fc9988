import { ChevronDown, ChevronRight, Menu as MenuIcon, PanelLeftOpen, RotateCw, Search } from 'lucide-react'
import { actionContext } from '../../actions/action.ts'
import { openPalette } from '../../actions/shell.tsx'
import { t } from '../../i18n.ts'
import { goTo, hrefOf, paths } from '../../routes/paths.ts'
import { queryClient, trpc } from '../../trpc.ts'
import { IconButton } from '../../ui/button.tsx'
import { type MenuItem, openMenu } from '../../ui/menu.tsx'
import { shortcutLabel } from '../../ui/shortcuts.ts'
import { BaseIcon } from '../bases/base-icon.tsx'
import { setDrawerOpen, toggleSidebarCollapsed, useIsNarrow, useSidebarState } from './sidebar-state.ts'
import styles from './top-bar.module.css'
import { useOpenPlace } from './use-place.ts'

/** Where one is: base / table / view, each leading to its neighbours. */
export function TopBar({ baseId }: { baseId?: string }) {
  const isNarrow = useIsNarrow()
  const { collapsed } = useSidebarState()
  return (
    <header className={styles.bar}>
      {isNarrow && (
        <IconButton icon={MenuIcon} label={t('Open navigation')} onClick={() => setDrawerOpen(true)} />
      )}
      {!isNarrow && collapsed && (
        <IconButton
          icon={PanelLeftOpen}
          className="flip-in-rtl"
          label={t('Show the sidebar')}
          shortcut={shortcutLabel('mod+b')}
          onClick={toggleSidebarCollapsed}
        />
      )}
      {baseId ? <Breadcrumb baseId={baseId} /> : <span className={styles.name}>Sheaf</span>}
      <span className={styles.space} />
      {isNarrow && (
        <IconButton
          icon={Search}
          label={openPalette.label()}
          onClick={() => void openPalette.run(actionContext())}
        />
      )}
      {baseId && (
        <IconButton
          icon={RotateCw}
          label={t('Reload the data')}
          onClick={() => void queryClient.invalidateQueries()}
        />
      )}
    </header>
  )
}

function Breadcrumb({ baseId }: { baseId: string }) {
  const { tableId, viewId } = useOpenPlace()
  const base = trpc.bases.get.useQuery({ baseId }).data
  const tables = trpc.schema.tables.useQuery({ baseId }).data
  const schema = trpc.schema.table.useQuery({ tableId: tableId ?? '' }, { enabled: isTableId(tableId) }).data
  const table = tables?.find((one) => one.id === tableId)
  const view = schema?.views.find((one) => (viewId ? one.id === viewId : one.isDefault))
  const choices = (
    list: { id: string; title: string }[] | undefined,
    at: string | undefined,
    go: (id: string) => string,
  ) =>
    list?.map((one): MenuItem => {
      return { kind: 'action', label: one.title, checked: one.id === at, run: () => goTo(go(one.id)) }
    }) ?? []

  return (
    <nav className={styles.crumbs} aria-label={t('Breadcrumb')}>
      {base && (
        <a
          href={hrefOf(paths.base(baseId))}
          className={styles.base}
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
          label={t('Table {title}, choose another', { title: table.title })}
          items={() => choices(tables, table.id, (id) => paths.table(baseId, id))}
        />
      )}
      {table && view && schema && schema.views.length > 1 && (
        <Crumb
          title={view.title}
          label={t('View {title}, choose another', { title: view.title })}
          items={() => choices(schema.views, view.id, (id) => paths.table(baseId, table.id, id))}
        />
      )}
    </nav>
  )
}

const isTableId = (id: string | undefined): boolean => id?.startsWith('m') ?? false

function Crumb({ title, label, items }: { title: string; label: string; items: () => MenuItem[] }) {
  return (
    <>
      <ChevronRight size={14} className={`flip-in-rtl ${styles.divider}`} />
      <button
        type="button"
        className={styles.crumb}
        aria-haspopup="menu"
        aria-label={label}
        onClick={(event) => openMenu(event.currentTarget, items(), label)}
      >
        <span className={styles.text} dir="auto" data-tip={title} data-tip-clipped>
          {title}
        </span>
        <ChevronDown size={13} />
      </button>
    </>
  )
}
