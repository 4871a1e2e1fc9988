import { ChevronRight, Ellipsis, Plus } from 'lucide-react'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import type { Base, Table } from '../../../src/core/model.ts'
import { roleCan } from '../../../src/core/roles.ts'
import { direction } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { hrefOf, paths } from '../../navigation/paths.ts'
import { IconButton } from '../../ui/button.tsx'
import { ControlGroup } from '../../ui/composite.tsx'
import { openContextMenu, openMenu } from '../../ui/menu.tsx'
import { useSortableItem } from '../../ui/sortable.tsx'
import { tableMenu } from '../bases/node-menus.ts'
import { setExpanded, useSidebarState } from '../layout/sidebar-state.ts'
import { renameTable } from '../tables/table-commands.tsx'
import { TableIcon } from '../views/icons/chosen-icon.tsx'
import { newViewItems } from '../views/manage/view-menu.ts'
import { InlineRename } from './inline-rename.tsx'
import { tipOf } from './node-tip.ts'
import styles from './table-tree.module.css'
import { useOpenPlace } from './use-place.ts'
import { ViewNodes } from './view-nodes.tsx'

/** A table in the tree, with its views below it when unfolded. */
export function TableNode({ base, table, search }: { base: Base; table: Table; search: string }) {
  const open = useOpenPlace()
  const { expanded } = useSidebarState()
  const [isRenaming, setIsRenaming] = useState(false)
  const link = useRef<HTMLAnchorElement>(null)
  const { ref, style, listeners } = useSortableItem(table.id)
  const isExpanded = expanded.has(table.id) || search !== ''
  const isCurrent = open.tableId === table.id
  const canRename = roleCan(base.role, 'table.update')
  const rename = () => setIsRenaming(true)
  const menuLabel = m.shell_options_for_table_title({ title: table.title })
  const menu = () => tableMenu(base, table, rename)

  // Whoever comes by the address of a view sees where it stands, and what stands beside it.
  const holdsOpenView = isCurrent && open.viewId !== undefined
  useEffect(() => {
    if (holdsOpenView) setExpanded(table.id, true)
  }, [holdsOpenView, table.id])

  function closeRename() {
    setIsRenaming(false)
    // The link is drawn again in this tick.
    requestAnimationFrame(() => link.current?.focus())
  }

  function onKeyDown(event: KeyboardEvent) {
    const forward = direction() === 'ltr' ? 'ArrowRight' : 'ArrowLeft'
    const back = direction() === 'ltr' ? 'ArrowLeft' : 'ArrowRight'
    if (event.key === 'F2' && canRename) rename()
    else if (event.key === forward) setExpanded(table.id, true)
    else if (event.key === back) setExpanded(table.id, false)
    else return
    event.preventDefault()
  }

  return (
    <ControlGroup
      ref={ref}
      style={style}
      onContextMenu={(event) => openContextMenu(event, menu(), menuLabel)}
    >
      <div className={styles.line} data-current={isCurrent && (!open.viewId || !isExpanded) ? '' : undefined}>
        <button
          type="button"
          className={styles.fold}
          aria-expanded={isExpanded}
          aria-label={m.shell_views_of_title({ title: table.title })}
          onClick={() => setExpanded(table.id, !isExpanded)}
        >
          <ChevronRight size={14} />
        </button>
        {isRenaming ? (
          <InlineRename
            title={table.title}
            onRename={(title) => renameTable(table, title)}
            onClose={closeRename}
          />
        ) : (
          <a
            ref={link}
            href={hrefOf(paths.table(base.id, table.id))}
            className={styles.link}
            aria-current={isCurrent ? 'page' : undefined}
            draggable={false}
            {...listeners}
            onDoubleClick={canRename ? rename : undefined}
            onKeyDown={onKeyDown}
          >
            <TableIcon table={table} />
            <span className={styles.title} dir="auto" {...tipOf(table)}>
              {table.title}
            </span>
          </a>
        )}
        <span className={styles.more}>
          {roleCan(base.role, 'view.create') && (
            <IconButton
              icon={Plus}
              size="small"
              label={m.shell_new_view_of_title({ title: table.title })}
              data-tip={m.shell_new_view()}
              aria-haspopup="menu"
              onClick={(event) =>
                openMenu(event.currentTarget, newViewItems(base, table.id), m.shell_new_view())
              }
            />
          )}
          <IconButton
            icon={Ellipsis}
            size="small"
            label={menuLabel}
            data-tip={m.common_more()}
            aria-haspopup="menu"
            onClick={(event) => openMenu(event.currentTarget, menu(), menuLabel)}
          />
        </span>
      </div>
      {isExpanded && <ViewNodes base={base} table={table} />}
    </ControlGroup>
  )
}
