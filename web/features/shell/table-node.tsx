import { ChevronRight, Ellipsis, Table2 } from 'lucide-react'
import { type KeyboardEvent, useRef, useState } from 'react'
import type { Base, Table } from '../../../src/core/model.ts'
import { roleCan } from '../../../src/core/roles.ts'
import { direction, t } from '../../i18n.ts'
import { hrefOf, paths } from '../../routes/paths.ts'
import { IconButton } from '../../ui/button.tsx'
import { openContextMenu, openMenu } from '../../ui/menu.tsx'
import { useSortableItem } from '../../ui/sortable.tsx'
import { InlineRename } from './inline-rename.tsx'
import { tableMenu } from './node-menus.ts'
import { setExpanded, useSidebarState } from './sidebar-state.ts'
import { renameTable } from './table-commands.tsx'
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
  const menuLabel = t('Menu of table {title}', { title: table.title })
  const menu = () => tableMenu(base, table, rename)

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
    <li ref={ref} style={style} onContextMenu={(event) => openContextMenu(event, menu(), menuLabel)}>
      <div className={styles.line} data-current={isCurrent && (!open.viewId || !isExpanded) ? '' : undefined}>
        <button
          type="button"
          className={styles.fold}
          aria-expanded={isExpanded}
          aria-label={t('Views of {title}', { title: table.title })}
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
            {typeof table.meta.icon === 'string' ? table.meta.icon : <Table2 size={15} />}
            <span className={styles.title} dir="auto" data-tip={table.title} data-tip-clipped>
              {table.title}
            </span>
          </a>
        )}
        <IconButton
          icon={Ellipsis}
          size="small"
          className={styles.more}
          label={menuLabel}
          data-tip={t('More')}
          aria-haspopup="menu"
          onClick={(event) => openMenu(event.currentTarget, menu(), menuLabel)}
        />
      </div>
      {isExpanded && <ViewNodes base={base} table={table} />}
    </li>
  )
}
