import { ChevronDown, ChevronRight, Copy, Table2 } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { Table } from '../../../../src/core/model.ts'
import type { OpenedShare } from '../../../../src/core/shares.ts'
import { collectsAnswers } from '../../../../src/core/views/index.ts'
import { m } from '../../../messages.gen.ts'
import { goTo, hrefOf, paths } from '../../../navigation/paths.ts'
import { useParams, useSearch } from '../../../navigation/router.tsx'
import { trpc } from '../../../trpc.ts'
import { useOnChange } from '../../../ui/effects.ts'
import { Main } from '../../../ui/main.tsx'
import { EmptyState, QueryError, Skeleton } from '../../../ui/states.tsx'
import { useIsNarrow } from '../../layout/sidebar-state.ts'
import { TableIcon } from '../../views/icons/chosen-icon.tsx'
import { TableScreen } from '../../views/kinds/table-screen.tsx'
import { ViewIcon } from '../../views/manage/kind-info.tsx'
import { DownloadButton } from './download-button.tsx'
import styles from './public-share.module.css'
import { ShareGate, ShareHeader } from './share-gate.tsx'

/** Shared base: list of tables and views, and the open one. */
export function SharedBaseScreen() {
  const { linkId = '', ...place } = useParams()
  const { rowId } = useSearch()
  return (
    <ShareGate kind="base" linkId={linkId}>
      {(opened) => <SharedBase opened={opened} linkId={linkId} {...place} rowId={rowId} />}
    </ShareGate>
  )
}

interface Place {
  linkId?: string
  tableId?: string
  viewId?: string
}

function SharedBase({
  opened,
  linkId,
  tableId,
  viewId,
  rowId,
}: Place & { opened: OpenedShare; linkId: string; rowId?: string }) {
  const { baseId } = opened
  const tables = trpc.schema.tables.useQuery({ baseId })
  const first = tables.data?.[0]?.id
  const isNarrow = useIsNarrow()
  // In narrow windows, the list is hidden again after a choice.
  const [isChoosing, setChoosing] = useState(false)
  useOnChange([tableId, viewId], () => setChoosing(false))
  useEffect(() => {
    if (tableId === undefined && first) goTo(paths.table(baseId, first), { replace: true })
  }, [tableId, first, baseId])
  return (
    <Main className={styles.screen}>
      <ShareHeader title={opened.title} description={null}>
        {opened.settings.allowDownload && tableId && <ViewDownload tableId={tableId} viewId={viewId} />}
        <a
          className={styles.copy}
          href={`/dashboard#${paths.copySharedBase(linkId)}`}
          target="_blank"
          rel="noreferrer"
          data-tip={m.shares_copy_to_my_bases()}
        >
          <Copy size={14} aria-hidden />{' '}
          <span className={styles.copyText}>{m.shares_copy_to_my_bases()}</span>
        </a>
      </ShareHeader>
      <div className={styles.columns}>
        {isNarrow && (
          <button
            type="button"
            className={styles.choose}
            aria-expanded={isChoosing}
            onClick={() => setChoosing(!isChoosing)}
          >
            <Table2 size={16} aria-hidden />
            <span dir="auto">
              {tables.data?.find(({ id }) => id === tableId)?.title ?? m.common_tables()}
            </span>
            <ChevronDown size={14} aria-hidden />
          </button>
        )}
        <nav className={styles.tables} aria-label={m.common_tables()} hidden={isNarrow && !isChoosing}>
          {tables.error && <QueryError title={m.shares_tables_load_failed()} query={tables} />}
          {!tables.data && !tables.error && <Skeleton width="70%" />}
          {tables.data && (
            <ul>
              {tables.data.map((table) => (
                <TableEntry key={table.id} table={table} openId={tableId} viewId={viewId} />
              ))}
            </ul>
          )}
        </nav>
        <div className={styles.content}>
          {tableId && <TableScreen baseId={baseId} tableId={tableId} viewId={viewId} rowId={rowId} />}
          {!tableId && tables.data?.length === 0 && (
            <EmptyState
              icon={Table2}
              title={m.shares_nothing_here_yet()}
              text={m.shares_this_base_has_no_tables()}
            />
          )}
        </div>
      </div>
    </Main>
  )
}

/** Downloads the records of the open view, unless it is a form. */
function ViewDownload({ tableId, viewId }: { tableId: string; viewId?: string }) {
  const schema = trpc.schema.table.useQuery({ tableId }).data
  const view = schema?.views.find(({ id, isDefault }) => (viewId ? id === viewId : isDefault))
  if (!schema || !view || collectsAnswers(view)) return null
  const place = [schema.table.baseId, tableId, 'views', view.id].map(encodeURIComponent).join('/')
  return <DownloadButton address={`/api/v1/db/data/noco/${place}/export`} title={view.title} />
}

function TableEntry({ table, openId, viewId }: { table: Table; openId?: string; viewId?: string }) {
  const isOpen = table.id === openId
  const [isExpanded, setExpanded] = useState(isOpen)
  const schema = trpc.schema.table.useQuery({ tableId: table.id }, { enabled: isExpanded || isOpen })
  useEffect(() => {
    if (isOpen) setExpanded(true)
  }, [isOpen])
  const Caret = isExpanded ? ChevronDown : ChevronRight
  return (
    <li>
      <div className={styles.entry} data-current={(isOpen && !viewId) || undefined}>
        <button
          type="button"
          className={styles.caret}
          aria-expanded={isExpanded}
          aria-label={m.shares_views_of_title({ title: table.title })}
          onClick={() => setExpanded(!isExpanded)}
        >
          <Caret size={14} className="flip-in-rtl" />
        </button>
        <a href={hrefOf(paths.table(table.baseId, table.id))} aria-current={isOpen ? 'page' : undefined}>
          <TableIcon table={table} />
          <span dir="auto" data-tip={table.title} data-tip-clipped>
            {table.title}
          </span>
        </a>
      </div>
      {isExpanded && (
        <ul>
          {(schema.data?.views ?? []).map((view) => (
            <li
              key={view.id}
              className={styles.view}
              data-current={(isOpen && viewId === view.id) || undefined}
            >
              <a href={hrefOf(paths.table(table.baseId, table.id, view.id))}>
                <ViewIcon view={view} />
                <span dir="auto" data-tip={view.title} data-tip-clipped>
                  {view.title}
                </span>
              </a>
            </li>
          ))}
        </ul>
      )}
    </li>
  )
}
