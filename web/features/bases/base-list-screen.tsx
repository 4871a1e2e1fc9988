import { Database, Ellipsis, FileUp, Import, Plus, SearchX, Trash2, Undo2 } from 'lucide-react'
import { useState } from 'react'
import type { Base } from '../../../src/core/model.ts'
import { formatAgo } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { goTo, hrefOf, paths } from '../../navigation/paths.ts'
import { useDocumentTitle } from '../../navigation/use-document-title.ts'
import { lastPlaceIn } from '../../session/last-places.ts'
import { useMe } from '../../session/use-me.ts'
import { trpc } from '../../trpc.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Main } from '../../ui/main.tsx'
import { matches } from '../../ui/matches.ts'
import { openContextMenu, openMenu } from '../../ui/menu.tsx'
import type { MenuItem } from '../../ui/menu-list.tsx'
import { SearchInput } from '../../ui/search-input.tsx'
import { shortcutLabel } from '../../ui/shortcuts.ts'
import { SortableList, useSortableItem } from '../../ui/sortable.tsx'
import { EmptyState, QueryError, Skeleton } from '../../ui/states.tsx'
import { openBaseImport } from '../base-imports/open-base-import.ts'
import { BaseIcon } from '../layout/base-icon.tsx'
import { RolePill } from '../members/role-pill.tsx'
import { baseMenu, createBase, importBaseFile, reorderBase, restoreBase } from './base-commands.tsx'
import styles from './base-list-screen.module.css'

/** Where a new base may come from. */
const importMenu = (): MenuItem[] => [
  {
    kind: 'action',
    label: m.base_imports_import_from_product(),
    icon: Import,
    run: () => openBaseImport(null),
  },
  { kind: 'action', label: m.bases_import_sheaf_file(), icon: FileUp, run: importBaseFile },
]

/** The user's bases: search, create, reorder, delete, restore. */
export function BaseListScreen() {
  useDocumentTitle(m.bases_bases())
  const [search, setSearch] = useState('')
  const bases = trpc.bases.list.useQuery({})
  const { user, holds } = useMe()
  const canCreate = holds('org-level-creator')
  const found = bases.data?.filter((base) => matches(base.title, search))

  return (
    <Main className={styles.screen}>
      <header className={styles.header}>
        <h1 className={styles.title}>{m.bases_bases()}</h1>
        <div className={styles.tools}>
          <Button variant="ghost" icon={Trash2} onClick={() => goTo(paths.trash(null))}>
            {m.common_trash()}
          </Button>
          {!user && <Skeleton width={104} height={32} />}
          {canCreate && (
            <Button
              icon={Import}
              aria-haspopup="menu"
              onClick={(event) => openMenu(event.currentTarget, importMenu(), m.base_imports_import())}
            >
              {m.base_imports_import()}
            </Button>
          )}
          {canCreate && (
            <Button
              variant="primary"
              icon={Plus}
              onClick={createBase}
              data-tip={m.bases_new_base()}
              data-tip-keys={shortcutLabel('alt+d')}
            >
              {m.bases_new_base()}
            </Button>
          )}
        </div>
      </header>

      {(bases.data?.length ?? 0) > 0 && (
        <SearchInput
          label={m.bases_search_bases()}
          value={search}
          onSearch={setSearch}
          className={styles.search}
        />
      )}

      {bases.error && !bases.data ? (
        <QueryError title={m.bases_bases_load_failed()} query={bases} />
      ) : !found ? (
        <BaseListSkeleton />
      ) : bases.data?.length === 0 ? (
        <NoBases canCreate={canCreate} />
      ) : found.length === 0 ? (
        <EmptyState icon={SearchX} title={m.bases_no_bases_match_search({ search })}>
          <Button onClick={() => setSearch('')}>{m.bases_clear_search()}</Button>
        </EmptyState>
      ) : (
        <>
          <SortableList
            ids={found.map((base) => base.id)}
            layout="grid"
            disabled={search !== ''}
            onMove={(id, before) => void reorderBase(id, before)}
          >
            <ul className={styles.grid}>
              {found.map((base) => (
                <BaseCard key={base.id} base={base} />
              ))}
            </ul>
          </SortableList>
          <p className="visually-hidden" aria-live="polite">
            {m.bases_bases_count({ count: found.length })}
          </p>
        </>
      )}
    </Main>
  )
}

/** Empty state with the next step that the user's role and trash allow. */
function NoBases({ canCreate }: { canCreate: boolean }) {
  const trash = trpc.bases.list.useQuery({ trash: true }, { staleTime: 0 })
  const deleted = trash.data ?? []
  const create = canCreate && (
    <Button variant="primary" icon={Plus} onClick={createBase}>
      {m.bases_new_base()}
    </Button>
  )
  if (trash.isPending) return <BaseListSkeleton />
  if (deleted.length > 0) {
    const [only] = deleted
    return (
      <EmptyState
        icon={Trash2}
        title={
          deleted.length === 1 && only
            ? m.bases_base_title_trash({ title: only.title })
            : m.bases_all_bases_in_trash()
        }
        text={canCreate ? m.bases_restore_tables_records_create_new() : m.bases_restore_tables_records()}
      >
        {deleted.length === 1 && only ? (
          <Button icon={Undo2} onClick={() => void restoreBase(only)}>
            {m.bases_restore_title({ title: only.title })}
          </Button>
        ) : (
          <Button icon={Undo2} onClick={() => goTo(paths.trash(null))}>
            {m.bases_open_the_trash()}
          </Button>
        )}
        {create}
      </EmptyState>
    )
  }
  if (canCreate) {
    return (
      <EmptyState icon={Database} title={m.bases_create_your_first_base()} text={m.bases_first_base_hint()}>
        {create}
      </EmptyState>
    )
  }
  return <EmptyState icon={Database} title={m.bases_no_bases_yet()} text={m.bases_no_bases_hint()} />
}

function BaseListSkeleton() {
  return (
    <ul className={styles.grid} aria-busy="true" aria-label={m.bases_loading()}>
      {[1, 2, 3].map((n) => (
        <li key={n} className={styles.skeleton}>
          <Skeleton width={40} height={40} />
          <div className={styles.skeletonText}>
            <Skeleton width="60%" />
            <Skeleton width="40%" height={11} />
          </div>
        </li>
      ))}
    </ul>
  )
}

/** Card of a base: opens the last visited table or view; drag to reorder. */
function BaseCard({ base }: { base: Base }) {
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
