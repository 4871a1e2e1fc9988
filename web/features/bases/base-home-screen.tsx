import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual'
import { Database, FileUp, Import, Plus, Table2 } from 'lucide-react'
import { Fragment, type ReactNode, useLayoutEffect, useRef, useState } from 'react'
import type { Base, Table } from '../../../src/core/model.ts'
import { roleCan } from '../../../src/core/roles.ts'
import type { ShortcutSection } from '../../actions/index.ts'
import { formatAgo, formatNumber } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { goTo, hrefOf, paths } from '../../navigation/paths.ts'
import { useLocation, useParams } from '../../navigation/router.tsx'
import { useDocumentTitle } from '../../navigation/use-document-title.ts'
import { trpc } from '../../trpc.ts'
import { Button } from '../../ui/button.tsx'
import { Main } from '../../ui/main.tsx'
import { openContextMenu } from '../../ui/menu.tsx'
import { shortcutLabel } from '../../ui/shortcuts.ts'
import { EmptyState, QueryError, Skeleton } from '../../ui/states.tsx'
import { Tabs, TabsSkeleton } from '../../ui/tabs.tsx'
import { withIndexes } from '../../ui/with-indexes.ts'
import { openBaseImport } from '../base-imports/open-base-import.ts'
import { openImport, useFileDrop } from '../imports/open-import.ts'
import { BaseIcon } from '../layout/base-icon.tsx'
import { useScreenUndo } from '../records/undo/use-screen-undo.ts'
import { connectDatabase } from '../sources/source-commands.tsx'
import { SourcesPanel } from '../sources/sources-panel.tsx'
import { StoragePanel } from '../storage/storage-panel.tsx'
import { createTable, renameTableInDialog } from '../tables/table-commands.tsx'
import styles from './base-home-screen.module.css'
import { MemberList } from './members.tsx'
import { tableMenu } from './node-menus.ts'

/** Start page of a base: tables, members, data sources and storage. */
export function BaseHomeScreen() {
  const { baseId = '' } = useParams()
  // The layout reports a base that cannot be read.
  const base = trpc.bases.get.useQuery({ baseId }).data
  const tab = useTab()
  useDocumentTitle(base?.title)
  const mayImport = base !== undefined && roleCan(base.role, 'import.create')
  useScreenUndo({ baseId }, base !== undefined && roleCan(base.role, 'record.undo'), BASE_SHORTCUTS)
  const { isOver, dropProps } = useFileDrop(mayImport ? { baseId } : null)
  if (!base) return <HomeSkeleton />

  const maySeeSources = roleCan(base.role, 'source.list')
  const maySeeStorage = roleCan(base.role, 'base.storage')
  const tabs: { id: TabId; label: string }[] = [
    { id: 'overview', label: m.bases_overview() },
    { id: 'members', label: m.bases_members() },
    ...(maySeeSources ? [{ id: 'sources', label: m.bases_data_sources() } as const] : []),
    ...(maySeeStorage ? [{ id: 'storage', label: m.common_storage() } as const] : []),
  ]
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
      <Tabs
        label={m.common_base()}
        tabs={tabs}
        selected={tab}
        onSelect={(id) => goTo(TAB_PATHS[id](baseId))}
        className={styles.tabs}
      >
        {tab === 'overview' && <Overview base={base} />}
        {tab === 'members' && <MemberList base={base} />}
        {tab === 'sources' && maySeeSources && <SourcesPanel base={base} />}
        {tab === 'storage' && maySeeStorage && <StoragePanel base={base} />}
      </Tabs>
      {isOver && <div className={styles.dropHint}>{m.bases_drop_import_new_table()}</div>}
    </Main>
  )
}

const TAB_PATHS = {
  overview: paths.base,
  members: paths.members,
  sources: paths.sources,
  storage: paths.storage,
}

type TabId = keyof typeof TAB_PATHS

/** The tab in the URL, so that it can be shared and Back returns to the previous one. */
function useTab(): TabId {
  const { path, search } = useLocation()
  if (path.endsWith('/auth')) return 'members'
  return search.tab === 'sources' || search.tab === 'storage' ? search.tab : 'overview'
}

function HomeSkeleton() {
  return (
    <Main className={styles.screen} aria-busy="true">
      <div className={styles.header}>
        <Skeleton width={48} height={48} />
        <Skeleton width={220} height={24} />
      </div>
      <TabsSkeleton className={styles.tabs} />
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

function Overview({ base }: { base: Base }) {
  const tables = trpc.schema.tables.useQuery({ baseId: base.id })
  return (
    <div className={styles.panel}>
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
            onClick={() => openImport(null, { baseId: base.id })}
          />
        )}
        {roleCan(base.role, 'import.create') && (
          <Tile
            icon={Import}
            title={m.base_imports_import_from_product()}
            text={m.base_imports_products()}
            onClick={() => openBaseImport(base.id)}
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
        <QueryError title={m.bases_tables_load_failed()} query={tables} />
      ) : tables.data?.length === 0 ? (
        <EmptyState
          icon={Table2}
          title={m.bases_no_tables_yet()}
          text={roleCan(base.role, 'table.create') ? m.bases_no_tables_hint() : undefined}
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

/** Shortcuts of this page for the shortcut sheet; `use-screen-undo.ts` handles the keys. */
const BASE_SHORTCUTS: ShortcutSection = {
  title: () => m.common_base(),
  lines: [
    { keys: [shortcutLabel('mod+z')], label: () => m.common_undo() },
    { keys: [shortcutLabel('mod+shift+z'), shortcutLabel('mod+y')], label: () => m.common_redo() },
  ],
}

/** Height of a row without a description, with its border. */
const ROW_PX = 49

/** Tables of a base with record and field counts; a skeleton without `base` or `tables`. */
function TableList({ base, tables }: { base?: Base; tables: Table[] | undefined }) {
  return (
    <table
      className={styles.list}
      aria-busy={tables === undefined}
      aria-rowcount={tables && tables.length + 1}
    >
      <thead>
        <tr>
          <th scope="col">{m.common_table()}</th>
          <th scope="col" className={styles.number}>
            {m.common_records()}
          </th>
          <th scope="col" className={styles.number}>
            {m.common_fields()}
          </th>
          <th scope="col" className={styles.when}>
            {m.bases_last_modified()}
          </th>
        </tr>
      </thead>
      {base && tables ? (
        <TableRows base={base} tables={tables} />
      ) : (
        <tbody>
          {[1, 2, 3].map((n) => (
            <tr key={n}>
              <td>
                <Skeleton width={160} />
              </td>
              <td colSpan={3} />
            </tr>
          ))}
        </tbody>
      )}
    </table>
  )
}

/** Renders only visible rows, because each row queries its own counts. */
function TableRows({ base, tables }: { base: Base; tables: Table[] }) {
  const body = useRef<HTMLTableSectionElement>(null)
  const [top, setTop] = useState(0)
  const [focusedId, setFocusedId] = useState<string | null>(null)
  const focusedAt = tables.findIndex((table) => table.id === focusedId)
  const rows = useVirtualizer({
    count: tables.length,
    estimateSize: () => ROW_PX,
    overscan: 6,
    scrollMargin: top,
    getScrollElement: () => scrollerOf(body.current),
    getItemKey: (index) => tables[index]?.id ?? index,
    rangeExtractor: (range) => withIndexes(defaultRangeExtractor(range), [focusedAt]),
  })
  // The height above the rows depends on the window's width.
  useLayoutEffect(() => setTop(topIn(scrollerOf(body.current), body.current)))

  const drawn = rows.getVirtualItems()
  const end = top + rows.getTotalSize()
  return (
    <tbody ref={body}>
      {drawn.map(({ index, start, key }, at) => {
        const table = tables[index]
        return (
          table && (
            <Fragment key={key}>
              <Gap px={start - (drawn[at - 1]?.end ?? top)} />
              <tr
                ref={rows.measureElement}
                data-index={index}
                aria-rowindex={index + 2}
                onFocus={() => setFocusedId(table.id)}
                onContextMenu={(event) =>
                  openContextMenu(
                    event,
                    tableMenu(base, table, () => renameTableInDialog(table)),
                    m.bases_options_for_table_title({ title: table.title }),
                  )
                }
              >
                <TableCells base={base} table={table} />
              </tr>
            </Fragment>
          )
        )
      })}
      <Gap px={end - (drawn.at(-1)?.end ?? top)} />
    </tbody>
  )
}

/** Spacer for rows that are not rendered. */
const Gap = ({ px }: { px: number }): ReactNode =>
  px > 0 && (
    <tr aria-hidden className={styles.gap}>
      <td colSpan={4} style={{ blockSize: px }} />
    </tr>
  )

/** Offset of an element within its scroller, in pixels. */
function topIn(scroller: Element | null, element: Element | null): number {
  if (!scroller || !element) return 0
  return Math.round(
    element.getBoundingClientRect().top - scroller.getBoundingClientRect().top + scroller.scrollTop,
  )
}

function TableCells({ base, table }: { base: Base; table: Table }) {
  const count = trpc.records.count.useQuery({ selection: { tableId: table.id } })
  const schema = trpc.schema.table.useQuery({ tableId: table.id })
  const fields = schema.data?.fields.filter((field) => !field.isSystem).length
  return (
    <>
      <td className={styles.name}>
        <div className={styles.nameRow}>
          <Table2 size={16} />
          <a href={hrefOf(paths.table(base.id, table.id))} dir="auto" data-tip={table.title} data-tip-clipped>
            {table.title}
          </a>
        </div>
        {table.description && (
          <span className={styles.description} dir="auto">
            {table.description}
          </span>
        )}
      </td>
      <td className={styles.number}>{count.data ? formatNumber(count.data.count) : '–'}</td>
      <td className={styles.number}>{fields === undefined ? '–' : formatNumber(fields)}</td>
      <td className={styles.when}>{formatAgo(table.updatedAt)}</td>
    </>
  )
}

/** The nearest ancestor that scrolls vertically; null if only the window does. */
function scrollerOf(element: Element | null): HTMLElement | null {
  for (let around = element?.parentElement; around; around = around.parentElement) {
    if (/auto|scroll/.test(getComputedStyle(around).overflowY)) return around
  }
  return null
}
