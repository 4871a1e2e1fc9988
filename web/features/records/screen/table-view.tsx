import { useRef, useState, useSyncExternalStore } from 'react'
import { useStore } from 'zustand'
import { ALL_DIGITS } from '../../../../src/core/fields/number.ts'
import type { CheckedRows, SelectionStatus } from '../../../grid/contract.ts'
import { Grid, type GridHandle } from '../../../grid/grid.tsx'
import { localeTag } from '../../../i18n.ts'
import { m } from '../../../messages.gen.ts'
import { preloadAfterContent, useIsContentShown } from '../../../navigation/after-content.ts'
import { lazyPart, loadPart } from '../../../navigation/lazy-screen.ts'
import { isWholeTable } from '../../../records/record-order.ts'
import { useRecordStore } from '../../../records/use-record-store.ts'
import { isVisitorPage } from '../../../session/visitor.ts'
import { ErrorState } from '../../../ui/states.tsx'
import { useFileDrop } from '../../imports/open-import.ts'
import { useIsNarrow } from '../../layout/sidebar-state.ts'
import { otherCells, ownPosition } from '../../presence/presence-state.ts'
import { useRowColor } from '../../views/coloring/use-row-color.ts'
import { ReadErrorBar } from '../bars/status-bars.tsx'
import styles from '../bars/table-view.module.css'
import { useCommentCounts } from '../comments/use-comment-counts.ts'
import { can, type TableContext } from '../context/table-context.ts'
import { useUntickAll } from '../context/use-ticks.ts'
import { useGridGroups, useViewGroups } from '../groups/use-groups.ts'
import { useSheetPaste } from '../paste/use-sheet-paste.ts'
import { GRID_CONTROLS } from '../toolbar/toolbar.tsx'
import { GridEmpty } from './grid-empty.tsx'
import { useGridColumns } from './use-grid-columns.ts'
import { useShowRecord } from './use-show-record.ts'
import { useTableActions } from './use-table-actions.ts'
import { type KindScreenProps, useViewFrame, ViewFrame } from './view-frame.tsx'

const BulkBar = lazyPart(() => import('../toolbar/bulk-bar.tsx'), 'BulkBar')
preloadAfterContent(BulkBar)

const NOTHING_CHECKED: CheckedRows = { kind: 'some', ids: new Set() }

/** A table's grid view: toolbar, grid, and the open record. */
export function TableView(props: KindScreenProps) {
  const { schema, saved, role, people, rowId } = props
  const { baseId, id: tableId } = schema.table
  const frame = useViewFrame(props)
  const { rights, state, query, search, setSearch, setEditing, openId } = frame
  const [checked, setChecked] = useState<CheckedRows>(NOTHING_CHECKED)
  const [bulkEdits, setBulkEdits] = useState(false)
  const [numbers, setNumbers] = useState<SelectionStatus | null>(null)
  const grid = useRef<GridHandle>(null)
  const groups = useViewGroups(saved.id)
  const store = useRecordStore(baseId, tableId, query, { layout: () => groups.layout })
  const columns = useGridColumns(state.view, query, store, rights.grid.editRecords)
  const rowCount = useSyncExternalStore(store.source.subscribe, () => store.source.rowCount)
  const { error } = useStore(store.status)
  const isNarrow = useIsNarrow()

  const context: TableContext = {
    schema,
    state,
    store,
    groups,
    role,
    people,
    editField: setEditing,
    grid: () => grid.current,
    openFilter: () => frame.setFilterOpen(true),
    editRecords(ids) {
      grid.current?.check(ids)
      setBulkEdits(true)
    },
    openRecord: (id) => frame.openRecord(id === null ? null : store.realId(id)),
  }
  const latest = useRef(context)
  latest.current = context
  const [get] = useState(() => () => latest.current)
  const [loadCommands] = useState(() => async () => {
    const { createGridCommands } = await loadPart(() => import('../menus/grid-commands.ts'))
    return createGridCommands(get)
  })
  const gridGroups = useGridGroups(groups, query, store, { get, canAdd: rights.grid.addRecords })
  const { addRecord } = useTableActions(() => latest.current, {
    openSearch: () => frame.setSearchOpen(true),
    addField: () => {
      const anchor = [
        ...document.querySelectorAll('[data-testid="add-field"], [data-testid="fields-button"]'),
      ]
        .toReversed()
        .find((element) => element.getBoundingClientRect().right <= window.innerWidth)
      if (anchor) setEditing({ field: null, anchor })
    },
  })
  useSheetPaste(() => latest.current, rowCount === 0 && isWholeTable(query) && rights.grid.addRecords)
  useUntickAll(checked, query, () => grid.current?.clearChecked())
  useShowRecord(store, openId, (row) => grid.current?.select(row))
  const mayImport = can(context, 'import.append') && !isVisitorPage
  const { isOver, dropProps } = useFileDrop(mayImport ? { baseId, tableId } : null)
  const isComplete = useIsContentShown()
  const comments = useCommentCounts(schema.table.id)
  const colorOf = useRowColor(schema.fields, state.view.coloring, people)
  const moveRecords =
    query.sorts.length > 0 && !gridGroups
      ? m.records_remove_sort_reorder_records_manually()
      : rights.grid.moveRecords

  return (
    <ViewFrame
      frame={frame}
      context={context}
      getContext={() => latest.current}
      controls={GRID_CONTROLS}
      onAddRecord={addRecord}
      onFocus={() => grid.current?.focus()}
    >
      <div className={styles.gridArea} {...dropProps}>
        {error !== null && rowCount === null ? (
          <ErrorState
            title={m.records_records_load_failed()}
            error={error}
            onRetry={() => void store.reload()}
          />
        ) : (
          <Grid
            ref={grid}
            label={`${schema.table.title}, ${state.view.title}`}
            source={store.source}
            columns={columns}
            loadCommands={loadCommands}
            rights={{ ...rights.grid, moveRecords }}
            rowHeight={state.view.rowHeight}
            frozen={state.view.frozen}
            colorOf={colorOf}
            comments={comments}
            others={isComplete && !isVisitorPage ? otherCells : undefined}
            groups={gridGroups}
            tapOpensRecord={isNarrow}
            onEditingChange={(isEditing) =>
              ownPosition.setState(({ cell }) => ({ cell: cell && { ...cell, isEditing } }))
            }
            onActiveCellChange={(cell) => {
              const recordId = cell?.recordId
              const isSaved = recordId !== undefined && store.isSaved(recordId)
              ownPosition.setState({
                cell: isSaved ? { recordId, fieldId: cell?.fieldId ?? null, isEditing: false } : null,
              })
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
          <ReadErrorBar text={m.records_records_load_failed_sentence()} onRetry={() => void store.reload()} />
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
        {isOver && (
          <div className={styles.dropHint}>
            <span>{m.records_drop_import()}</span>
          </div>
        )}
      </div>
    </ViewFrame>
  )
}

const isAnyChecked = (checked: CheckedRows, rowCount: number): boolean =>
  checked.kind === 'some' ? checked.ids.size > 0 : rowCount > checked.except.size

/** Count, sum and average of the selection, over the end of the footer. */
function SelectionNumbers({ status }: { status: SelectionStatus | null }) {
  if (!status || status.cells < 2) return null
  const { decimals } = status
  const format = new Intl.NumberFormat(
    localeTag(),
    Number.isFinite(decimals) ? { maximumFractionDigits: decimals } : ALL_DIGITS,
  )
  return (
    <output className={styles.numbers} data-testid="selection-numbers">
      <span>{m.records_cells_count({ count: status.cells })}</span>
      {status.numbers > 0 && (
        <>
          <span>{m.records_sum({ n: format.format(status.sum) })}</span>
          {status.average !== null && <span>{m.records_average({ n: format.format(status.average) })}</span>}
        </>
      )}
      {!status.complete && <span>{m.records_loaded_cells_only()}</span>}
    </output>
  )
}
