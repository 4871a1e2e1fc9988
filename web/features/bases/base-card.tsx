import { Ellipsis } from 'lucide-react'
import type { Base } from '../../../src/core/model.ts'
import { formatAgo } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { hrefOf, paths } from '../../navigation/paths.ts'
import { lastPlaceIn } from '../../session/last-places.ts'
import { IconButton } from '../../ui/button.tsx'
import { openContextMenu, openMenu } from '../../ui/menu.tsx'
import { useSortableItem } from '../../ui/sortable.tsx'
import { BaseIcon } from '../layout/base-icon.tsx'
import { baseMenu } from './base-commands.tsx'
import styles from './base-list-screen.module.css'
import { RolePill } from './role-pill.tsx'

/** One base in the list: opens where one was last; drag to order. */
export function BaseCard({ base }: { base: Base }) {
  const { ref, style, listeners } = useSortableItem(base.id)
  const place = lastPlaceIn(base.id)
  const path = place?.tableId ? paths.table(base.id, place.tableId, place.viewId) : paths.base(base.id)
  const label = m.bases_options_for_base_title({ title: base.title })
  return (
    <li
      ref={ref}
      style={style}
      className={styles.card}
      {...listeners}
      onContextMenu={(event) => openContextMenu(event, baseMenu(base), label)}
    >
      <BaseIcon base={base} size={40} />
      <div className={styles.cardText}>
        <a
          href={hrefOf(path)}
          className={styles.cardTitle}
          dir="auto"
          data-tip={base.title}
          data-tip-clipped
          draggable={false}
        >
          {base.title}
        </a>
        <span className={styles.cardMeta}>
          <RolePill role={base.role} />
          <span className={styles.cardTime}>{formatAgo(base.updatedAt)}</span>
        </span>
      </div>
      <IconButton
        icon={Ellipsis}
        label={label}
        data-tip={m.common_more()}
        size="small"
        className={styles.cardMenu}
        aria-haspopup="menu"
        onClick={(event) => openMenu(event.currentTarget, baseMenu(base), label)}
      />
    </li>
  )
}
