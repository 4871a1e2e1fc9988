import { useLocation, useParams } from '@tanstack/react-router'
import { Database, FileUp, Plus, Table2 } from 'lucide-react'
import type { Base } from '../../../src/core/model.ts'
import { roleCan } from '../../../src/core/roles.ts'
import type { ShortcutSection } from '../../actions/index.ts'
import { m } from '../../messages.gen.ts'
import { goTo, paths } from '../../navigation/paths.ts'
import { useDocumentTitle } from '../../navigation/use-document-title.ts'
import { trpc } from '../../trpc.ts'
import { Button } from '../../ui/button.tsx'
import { Main } from '../../ui/main.tsx'
import { shortcutLabel } from '../../ui/shortcuts.ts'
import { EmptyState, ErrorState, Skeleton } from '../../ui/states.tsx'
import { BaseIcon } from '../layout/base-icon.tsx'
import { useScreenUndo } from '../records/undo/use-screen-undo.ts'
import { connectDatabase } from '../sources/source-commands.tsx'
import { SourcesPanel } from '../sources/sources-panel.tsx'
import { StoragePanel } from '../storage/storage-panel.tsx'
import { pickImport } from '../tables/pick-import.ts'
import { createTable } from '../tables/table-commands.tsx'
import { useFileDrop } from '../tables/use-file-drop.ts'
import styles from './base-home-screen.module.css'
import { MemberList } from './member-list.tsx'
import { TableList } from './table-list.tsx'

/** The first page of a base: what is in it, who is in it, and how to add a table. */
export function BaseHomeScreen() {
  const { baseId } = useParams({ from: '/shell/$typeOrId/$baseId' })
  // The layout around this screen has read the base and says so where it could not.
  const base = trpc.bases.get.useQuery({ baseId }).data
  const tab = useTab()
  useDocumentTitle(base?.title)
  const mayImport = base !== undefined && roleCan(base.role, 'import.create')
  useScreenUndo({ baseId }, base !== undefined && roleCan(base.role, 'record.undo'), BASE_SHORTCUTS)
  const { isOver, dropProps } = useFileDrop(mayImport ? { baseId } : null)
  if (!base) return <HomeSkeleton />

  return (
    <Main className={styles.screen} data-drop={isOver || undefined} {...dropProps}>
      <header className={styles.header}>
        <BaseIcon base={base} size={48} />
        <div className={styles.heading}>
          <h1 className={styles.title} dir="auto">
            {base.title}
          </h1>
          {base.description && <p dir="auto">{base.description}</p>}
        </div>
      </header>
      <div className={styles.tabs} role="tablist">
        <Tab
          name={m.bases_overview()}
          selected={tab === 'overview'}
          onSelect={() => goTo(paths.base(baseId))}
        />
        <Tab
          name={m.bases_members()}
          selected={tab === 'members'}
          onSelect={() => goTo(paths.members(baseId))}
        />
        {roleCan(base.role, 'source.list') && (
          <Tab
            name={m.bases_data_sources()}
            selected={tab === 'sources'}
            onSelect={() => goTo(paths.sources(baseId))}
          />
        )}
        {roleCan(base.role, 'base.storage') && (
          <Tab
            name={m.common_storage()}
            selected={tab === 'storage'}
            onSelect={() => goTo(paths.storage(baseId))}
          />
        )}
      </div>
      {tab === 'overview' && <Overview base={base} />}
      {tab === 'members' && <MemberList base={base} />}
      {tab === 'sources' && roleCan(base.role, 'source.list') && <SourcesPanel base={base} />}
      {tab === 'storage' && roleCan(base.role, 'base.storage') && <StoragePanel base={base} />}
      {isOver && <div className={styles.dropHint}>{m.bases_drop_import_new_table()}</div>}
    </Main>
  )
}

/** The tab that the address names: one can send it, and the browser's "back" leads to the one before. */
function useTab(): 'overview' | 'members' | 'sources' | 'storage' {
  const { pathname, search } = useLocation()
  if (pathname.endsWith('/auth')) return 'members'
  return ('tab' in search && search.tab) || 'overview'
}

function HomeSkeleton() {
  return (
    <Main className={styles.screen} aria-busy="true">
      <div className={styles.header}>
        <Skeleton width={48} height={48} />
        <Skeleton width={220} height={24} />
      </div>
      <div className={styles.tabs}>
        <span className={styles.tab}>
          <Skeleton width={64} />
        </span>
      </div>
      <div className={styles.panel}>
        <div className={styles.tiles}>
          <Skeleton height={62} />
          <Skeleton height={62} />
        </div>
        <TableList tables={undefined} />
      </div>
    </Main>
  )
}

function Tab({ name, selected, onSelect }: { name: string; selected: boolean; onSelect: () => void }) {
  return (
    <button type="button" role="tab" aria-selected={selected} className={styles.tab} onClick={onSelect}>
      {name}
    </button>
  )
}

function Overview({ base }: { base: Base }) {
  const tables = trpc.schema.tables.useQuery({ baseId: base.id })
  return (
    <div role="tabpanel" aria-label={m.bases_overview()} className={styles.panel}>
      <div className={styles.tiles}>
        {roleCan(base.role, 'table.create') && (
          <Tile
            icon={Plus}
            title={m.common_new_table()}
            text={m.bases_start_with_an_empty_table()}
            onClick={() => createTable(base.id)}
          />
        )}
        {roleCan(base.role, 'import.create') && (
          <Tile
            icon={FileUp}
            title={m.bases_import_data()}
            text={m.bases_file_url_pasted_text()}
            onClick={() => pickImport({ baseId: base.id })}
          />
        )}
        {roleCan(base.role, 'source.create') && (
          <Tile
            icon={Database}
            title={m.bases_connect_a_database()}
            text={m.bases_postgresql_mysql_mariadb_or_sqlite()}
            onClick={() => connectDatabase(base.id)}
          />
        )}
      </div>
      {tables.error && !tables.data ? (
        <ErrorState
          title={m.bases_tables_load_failed()}
          error={tables.error}
          onRetry={() => void tables.refetch()}
        />
      ) : tables.data?.length === 0 ? (
        <EmptyState
          icon={Table2}
          title={m.bases_no_tables_yet()}
          text={roleCan(base.role, 'table.create') ? m.bases_create_table_import_file_get() : undefined}
        >
          {roleCan(base.role, 'table.create') && (
            <Button variant="primary" icon={Plus} onClick={() => createTable(base.id)}>
              {m.common_new_table()}
            </Button>
          )}
        </EmptyState>
      ) : (
        <TableList base={base} tables={tables.data} />
      )}
    </div>
  )
}

function Tile(props: { icon: typeof Plus; title: string; text: string; onClick: () => void }) {
  return (
    <button type="button" className={styles.tile} onClick={props.onClick}>
      <span className={styles.tileIcon}>
        <props.icon size={18} />
      </span>
      <span>
        <strong>{props.title}</strong>
        <small>{props.text}</small>
      </span>
    </button>
  )
}

/** The keys of a base's first page, for the shortcut sheet. They are read by `use-screen-undo.ts`. */
const BASE_SHORTCUTS: ShortcutSection = {
  title: () => m.common_base(),
  lines: [
    { keys: [shortcutLabel('mod+z')], label: () => m.common_undo() },
    { keys: [shortcutLabel('mod+shift+z'), shortcutLabel('mod+y')], label: () => m.common_redo() },
  ],
}
