import { ChevronDown, House, PanelLeftClose, Plus, X } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { roleCan } from '../../../src/core/roles.ts'
import { actionContext } from '../../actions/action.ts'
import { m } from '../../messages.gen.ts'
import { hrefOf, paths } from '../../navigation/paths.ts'
import { trpc } from '../../trpc.ts'
import { IconButton } from '../../ui/button.tsx'
import { openContextMenu, openMenu } from '../../ui/menu.tsx'
import { SearchInput } from '../../ui/search-input.tsx'
import { shortcutLabel } from '../../ui/shortcuts.ts'
import { Skeleton } from '../../ui/states.tsx'
import { useFileDrop } from '../imports/open-import.ts'
import { BaseIcon } from '../layout/base-icon.tsx'
import { toggleSidebarCollapsed, useIsNarrow } from '../layout/sidebar-state.ts'
import {
  actionItem,
  commentsAction,
  createTableAction,
  historyAction,
  importAction,
  trashAction,
  webhooksAction,
} from './actions.tsx'
import { menus } from './later.tsx'
import styles from './sidebar.module.css'
import { TableTree } from './table-tree.tsx'
import { useBasePage, useIsBaseHome } from './use-place.ts'

/** The pages of a base below its tables. */
const LISTS = [
  { name: 'comments', action: commentsAction, path: paths.comments },
  { name: 'history', action: historyAction, path: (baseId: string) => paths.history(baseId) },
  { name: 'webhooks', action: webhooksAction, path: (baseId: string) => paths.webhooks(baseId) },
  { name: 'trash', action: trashAction, path: (baseId: string) => paths.trash(baseId) },
]

/** Sidebar of a base: menu, search, overview and tree of tables; `edge` is its resize handle. */
export function Sidebar({ baseId, edge }: { baseId: string; edge?: ReactNode }) {
  const isHome = useIsBaseHome()
  const page = useBasePage()
  const base = trpc.bases.get.useQuery({ baseId })
  const isNarrow = useIsNarrow()
  const [search, setSearch] = useState('')
  const mayImport = base.data !== undefined && roleCan(base.data.role, 'import.create')
  const { isOver, dropProps } = useFileDrop(mayImport ? { baseId } : null)

  if (!base.data) return <SidebarSkeleton failed={base.error !== null} />
  const { data } = base
  const menuLabel = m.shell_options_for_base_title({ title: data.title })
  const menu = () => menus().then(({ baseMenu }) => baseMenu(data))
  const context = actionContext()
  return (
    <aside
      className={styles.sidebar}
      aria-label={m.shell_sidebar()}
      data-drop={isOver || undefined}
      {...dropProps}
    >
      <div className={styles.header}>
        <button
          type="button"
          className={styles.base}
          aria-haspopup="menu"
          onClick={(event) => openMenu(event.currentTarget, menu(), menuLabel)}
          onContextMenu={(event) => openContextMenu(event, menu(), menuLabel)}
        >
          <BaseIcon base={data} size={24} />
          <span className="visually-hidden">{menuLabel}</span>
          <span className={styles.baseTitle} dir="auto" data-tip={data.title} data-tip-clipped aria-hidden>
            {data.title}
          </span>
          <ChevronDown size={14} />
        </button>
        {!isNarrow && (
          <IconButton
            icon={PanelLeftClose}
            className="flip-in-rtl"
            label={m.shell_hide_the_sidebar()}
            shortcut={shortcutLabel('mod+b')}
            size="small"
            onClick={toggleSidebarCollapsed}
          />
        )}
      </div>

      <div className={styles.tools}>
        <SearchInput
          label={m.shell_search_tables_and_views()}
          placeholder={m.common_search()}
          value={search}
          onSearch={setSearch}
          onKeyDown={(event) => {
            if (event.key !== 'Escape' || search === '') return
            event.preventDefault()
            setSearch('')
          }}
          className={styles.search}
          after={
            search && (
              <IconButton
                icon={X}
                size="small"
                iconSize={14}
                label={m.shell_clear_search()}
                onClick={() => setSearch('')}
              />
            )
          }
        />
        {createTableAction.when?.(context) && (
          <IconButton
            icon={Plus}
            label={m.common_new_table()}
            shortcut={shortcutLabel('alt+t')}
            size="small"
            aria-haspopup="menu"
            onClick={(event) =>
              openMenu(
                event.currentTarget,
                [createTableAction, importAction].map(actionItem),
                m.shell_create_new(),
              )
            }
          />
        )}
      </div>

      <a href={hrefOf(paths.base(baseId))} className={styles.link} aria-current={isHome ? 'page' : undefined}>
        <House size={15} />
        {m.shell_overview()}
      </a>

      <TableTree base={data} search={search} />

      <div className={styles.lists}>
        {LISTS.filter(({ action }) => action.when?.(context)).map(({ action, name, path }) => (
          <a
            key={name}
            href={hrefOf(path(baseId))}
            className={styles.link}
            aria-current={page === name ? 'page' : undefined}
          >
            {action.icon && <action.icon size={15} />}
            {action.label()}
          </a>
        ))}
      </div>
      {edge}
      {isOver && <div className={styles.dropHint}>{m.shell_drop_import_new_table()}</div>}
    </aside>
  )
}

/** If the base cannot be read, the screen reports it and the sidebar stays empty. */
function SidebarSkeleton({ failed }: { failed: boolean }) {
  if (failed) return <aside className={styles.sidebar} />
  return (
    <aside className={styles.sidebar} aria-busy="true" aria-label={m.shell_sidebar()}>
      <div className={styles.header}>
        <Skeleton width={24} height={24} />
        <Skeleton width={140} />
      </div>
      <div className={styles.skeleton}>
        {[70, 55, 80, 62].map((width) => (
          <Skeleton key={width} width={`${width}%`} />
        ))}
      </div>
    </aside>
  )
}
