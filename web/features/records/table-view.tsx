import { Suspense, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import type { Person, RecordId, TableSchema, View } from '../../../src/core/model.ts'
import type { Search } from '../../../src/core/query.ts'
import type { BaseRole } from '../../../src/core/roles.ts'
import { Grid, type GridHandle } from '../../grid/grid.tsx'
import type { CheckedRows, SelectionStatus } from '../../grid/source.ts'
import { t } from '../../i18n.ts'
import { lazyPart } from '../../routes/lazy-screen.ts'
import { setQuery } from '../../routes/paths.ts'
import { ErrorState } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.ts'
import { useIsNarrow } from '../shell/sidebar-state.ts'
import { useViewState } from '../views/view-state.ts'
import { BulkBar } from './bulk-bar.tsx'
import { createGridCommands } from './grid-commands.ts'
import { GridEmpty } from './grid-empty.tsx'
import { gridRights } from './grid-rights.ts'
import { QueueBar } from './queue-bar.tsx'
import { SelectionNumbers } from './selection-numbers.tsx'
import type { FieldEditorRequest, TableContext } from './table-context.ts'
import styles from './table-view.module.css'
import { TableToolbar } from './toolbar.tsx'
import { useGridColumns } from './use-grid-columns.ts'
import { useRecordStore } from './use-record-store.ts'
import { useSheetPaste } from './use-sheet-paste.ts'
import { useShowRecord } from './use-show-record.ts'
import { useStoreQuery } from './use-store-query.ts'
import { useTableActions } from './use-table-actions.ts'

const FieldEditor = lazyPart(() => import('../schema/field-editor.tsx'), 'FieldEditor')
const RecordPanel = lazyPart(() => import('./record-panel.tsx'), 'RecordPanel')

const NOTHING_CHECKED: CheckedRows = { kind: 'some', ids: new Set() }

export interface TableViewProps {
  schema: TableSchema
  saved: View
  role: BaseRole
  people: readonly Person[]
  /** The open record, as it stands in the address. */
  rowId?: string
}

/** A view of a table: toolbar, grid, and the open record beside it. */
export function TableView({ schema, saved, role, people, rowId }: TableViewProps) {
  const { baseId, id: tableId } = schema.table
  const rights = useMemo(() => gridRights(role, schema), [role, schema])
  const state = useViewState(schema, saved, rights.mayArrange)
  const [search, setSearch] = useState<Search | null>(null)
  const [panel, setPanel] = useState<'search' | 'filter' | null>(null)
  const [editing, setEditing] = useState<FieldEditorRequest | null>(null)
  const [checked, setChecked] = useState<CheckedRows>(NOTHING_CHECKED)
  const [bulkEdits, setBulkEdits] = useState(false)
  const [numbers, setNumbers] = useState<SelectionStatus | null>(null)
  const grid = useRef<GridHandle>(null)
  const query = useStoreQuery(schema.fields, state.view, search)
  const store = useRecordStore(baseId, tableId, query)
  const columns = useGridColumns(state.view, query, store, rights.grid.editRecords)
  const rowCount = useSyncExternalStore(store.source.subscribe, () => store.source.rowCount)
  const { error } = useSyncExternalStore(store.subscribeStatus, store.status)
  const isNarrow = useIsNarrow()

  const context: TableContext = {
    ...{ schema, state, store, role, people, editField: setEditing },
    grid: () => grid.current,
    openFilter: () => setPanel('filter'),
    editRecords(ids) {
      grid.current?.check(ids)
      setBulkEdits(true)
    },
    openRecord: (id) =>
      setQuery('rowId', id === null ? null : String(store.realId(id)), { replace: rowId !== undefined }),
  }
  const latest = useRef(context)
  latest.current = context
  const [commands] = useState(() => createGridCommands(() => latest.current))
  const { addRecord } = useTableActions(() => latest.current, {
    openSearch: () => setPanel('search'),
    addField: () => {
      const anchor = [
        ...document.querySelectorAll('[data-testid="add-field"], [data-testid="fields-button"]'),
      ]
        .toReversed()
        .find((element) => element.getBoundingClientRect().right <= window.innerWidth)
      if (anchor) setEditing({ field: null, anchor })
    },
  })
  useSheetPaste(
    () => latest.current,
    rowCount === 0 && search === null && query.filter === null && rights.grid.addRecords,
  )

  const openId = rowId === undefined ? null : recordIdOf(rowId)
  useShowRecord(store, openId, (row) => grid.current?.select(row))
  const closeRecord = () => {
    setQuery('rowId', null, { replace: true })
    grid.current?.focus()
  }
  const moveRecords =
    query.sorts.length > 0 ? t('Remove the sort to move records by hand') : rights.grid.moveRecords

  return (
    <div className={styles.screen}>
      <TableToolbar
        context={context}
        search={search}
        onSearch={setSearch}
        isSearchOpen={panel === 'search' || search !== null}
        onSearchOpen={(open) => {
          setPanel(open ? 'search' : null)
          if (!open) grid.current?.focus()
        }}
        isFilterOpen={panel === 'filter'}
        onFilterOpen={(open) => setPanel(open ? 'filter' : null)}
        onAddRecord={addRecord}
      />
      <QueueBar baseId={baseId} />
      <div className={styles.main}>
        <div className={styles.gridArea}>
          {error !== null && rowCount === null ? (
            <ErrorState
              title={t('The records could not be read')}
              error={error}
              onRetry={() => void store.reload()}
            />
          ) : (
            <Grid
              ref={grid}
              label={`${schema.table.title}, ${state.view.title}`}
              source={store.source}
              columns={columns}
              commands={commands}
              rights={{ ...rights.grid, moveRecords }}
              rowHeight={state.view.rowHeight}
              frozen={state.view.frozen}
              tapOpensRecord={isNarrow}
              onActiveCellChange={(cell) => {
                store.setActive(cell?.recordId ?? null)
                if (cell?.recordId !== undefined && rowId !== undefined && store.isSaved(cell.recordId)) {
                  context.openRecord(cell.recordId)
                }
              }}
              onCheckedChange={setChecked}
              onSelectionStatus={setNumbers}
              empty={
                <GridEmpty context={context} search={search} onSearch={setSearch} onAddRecord={addRecord} />
              }
            />
          )}
          {error !== null && rowCount !== null && (
            <div className={styles.readError} role="alert">
              <span>{t('Some records could not be read.')}</span>
              <button type="button" onClick={() => void store.reload()}>
                {t('Try again')}
              </button>
            </div>
          )}
          {isAnyChecked(checked, rowCount ?? 0) && (
            <BulkBar
              context={context}
              checked={checked}
              rowCount={rowCount ?? 0}
              isEditing={bulkEdits}
              onEditing={setBulkEdits}
            />
          )}
          <SelectionNumbers status={numbers} />
        </div>
        {openId !== null && (
          <Suspense>
            <RecordPanel
              context={context}
              getContext={() => latest.current}
              recordId={openId}
              onClose={closeRecord}
            />
          </Suspense>
        )}
      </div>
      {editing && (
        <Suspense>
          <FieldEditor
            key={editing.field?.id ?? 'new'}
            table={schema.table}
            field={editing.field}
            anchor={editing.anchor}
            place={{ viewId: state.view.id, beforeFieldId: editing.beforeFieldId }}
            start={editing.start}
            onClose={() => setEditing(null)}
            onAbandoned={(start) =>
              toast.success({
                text: t('The field was not saved'),
                action: { label: t('Go on editing'), run: () => setEditing({ ...editing, start }) },
              })
            }
          />
        </Suspense>
      )}
    </div>
  )
}

const isAnyChecked = (checked: CheckedRows, rowCount: number): boolean =>
  checked.kind === 'some' ? checked.ids.size > 0 : rowCount > checked.except.size

/** Ids of our own tables are numbers; those of other databases may be text. */
const recordIdOf = (text: string): RecordId => (/^\d+$/.test(text) ? Number(text) : text)
