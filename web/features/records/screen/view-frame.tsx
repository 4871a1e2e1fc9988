import { type ReactNode, Suspense, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { useStore } from 'zustand'
import { createStore } from 'zustand/vanilla'
import type { Field, Person, RecordId, TableSchema, View } from '../../../../src/core/model.ts'
import type { Search } from '../../../../src/core/query.ts'
import { idAsStored } from '../../../../src/core/record-id.ts'
import type { BaseRole } from '../../../../src/core/roles.ts'
import { preloadEditors } from '../../../cells/cell.ts'
import { m } from '../../../messages.gen.ts'
import { goTo, paths, setQuery } from '../../../navigation/paths.ts'
import type { StoreQuery } from '../../../records/types.ts'
import { useIsMounted, useOnChange } from '../../../ui/effects.ts'
import { LayerBoundary } from '../../../ui/layer-boundary.tsx'
import { lazyDialog } from '../../../ui/lazy-dialog.ts'
import { toast } from '../../../ui/toast.ts'
import { useViewState, type ViewState } from '../../views/state/view-state.ts'
import { QueueBar, WorkBar } from '../bars/status-bars.tsx'
import styles from '../bars/table-view.module.css'
import { gridRights } from '../context/grid-rights.ts'
import { can, type FieldEditorRequest, type GetContext, type TableContext } from '../context/table-context.ts'
import { useStoreQuery } from '../context/use-store-query.ts'
import { LeftOutBar } from '../paste/left-out.tsx'
import { TableToolbar, type ToolbarControl } from '../toolbar/toolbar.tsx'
import { useGoToWantedCell } from './use-show-record.ts'

const FieldEditor = lazyDialog(() => import('../../schema/field-editor.tsx'), 'FieldEditor')
const RecordPanel = lazyDialog(async () => {
  const [panel] = await Promise.all([import('../panel/record-panel.tsx'), preloadEditors()])
  return panel
}, 'RecordPanel')

/** Props of every view screen. */
export interface KindScreenProps {
  schema: TableSchema
  saved: View
  role: BaseRole
  people: readonly Person[]
  /** Id of the open record, from the URL. */
  rowId?: string
}

/** State shared by all kinds of view. */
export interface ViewFrameState {
  rights: ReturnType<typeof gridRights>
  state: ViewState
  search: Search | null
  setSearch: (search: Search | null) => void
  isSearchOpen: boolean
  setSearchOpen: (open: boolean) => void
  isFilterOpen: boolean
  setFilterOpen: (open: boolean) => void
  editing: FieldEditorRequest | null
  setEditing: (request: FieldEditorRequest | null) => void
  /** The record store's query: shown fields, filter, sorts and search. */
  query: StoreQuery
  openId: RecordId | null
  /** Puts a record into the URL; null removes it. */
  openRecord: (id: RecordId | null) => void
}

/** The state around a view: unsaved changes, search, open record and open editor. */
export function useViewFrame({ schema, saved, role, rowId }: KindScreenProps): ViewFrameState {
  const rights = useMemo(() => gridRights(role, schema), [role, schema])
  const state = useViewState(schema, saved, role)
  const [search, setSearch] = useState<Search | null>(null)
  const [isSearchOpen, setSearchOpen] = useState(false)
  const [isFilterOpen, setFilterOpen] = useState(false)
  const [editing, setEditing] = useState<FieldEditorRequest | null>(null)
  const query = useStoreQuery(schema.fields, state.view, search)
  return {
    rights,
    state,
    search,
    setSearch,
    isSearchOpen: isSearchOpen || search !== null,
    setSearchOpen,
    isFilterOpen,
    setFilterOpen,
    editing,
    setEditing,
    query,
    openId: rowId === undefined ? null : recordIdOf(rowId, schema.fields),
    openRecord: (id) => setQuery('rowId', id === null ? null : String(id), { replace: rowId !== undefined }),
  }
}

export interface ViewFrameProps {
  frame: ViewFrameState
  context: TableContext
  getContext: GetContext
  /** Toolbar controls to show. */
  controls: readonly ToolbarControl[]
  /** Controls of the view kind, after the others. */
  tools?: ReactNode
  onAddRecord: () => void
  /** Returns the focus to the view when a record or the search closes. */
  onFocus: () => void
  children: ReactNode
}

/** The frame of a view: toolbar, status bars, open record and field editor. */
export function ViewFrame(props: ViewFrameProps) {
  const { frame, context, getContext, onFocus } = props
  const { schema, state } = context
  const { editing, setEditing, openId } = frame
  useGoToWantedCell(context)
  useAbandonedEditor(state.view.id, setEditing)
  const isMounted = useIsMounted()
  const isLeaving = useRef(false)
  const closeRecord = () => {
    isLeaving.current = true
    setQuery('rowId', null, { replace: true })
  }
  const closeEditor = () => setEditing(null)
  // After the record has closed, because the view cannot take the focus behind a dialog.
  useLayoutEffect(() => {
    if (openId !== null || !isLeaving.current) return
    isLeaving.current = false
    onFocus()
  }, [openId, onFocus])
  return (
    <div className={styles.screen}>
      <TableToolbar
        context={context}
        controls={props.controls}
        tools={props.tools}
        search={frame.search}
        onSearch={frame.setSearch}
        isSearchOpen={frame.isSearchOpen}
        onSearchOpen={(open) => {
          frame.setSearchOpen(open)
          if (!open) onFocus()
        }}
        isFilterOpen={frame.isFilterOpen}
        onFilterOpen={frame.setFilterOpen}
        onAddRecord={props.onAddRecord}
      />
      <QueueBar baseId={schema.table.baseId} />
      <WorkBar baseId={schema.table.baseId} canCancel={can(context, 'record.undo')} />
      <LeftOutBar tableId={schema.table.id} onFocus={onFocus} />
      <div className={styles.main}>
        {props.children}
        {openId !== null && (
          <LayerBoundary onFailure={closeRecord}>
            <Suspense>
              <RecordPanel
                context={context}
                getContext={getContext}
                recordId={openId}
                onClose={closeRecord}
              />
            </Suspense>
          </LayerBoundary>
        )}
      </div>
      {editing && (
        <LayerBoundary onFailure={closeEditor}>
          <Suspense>
            <FieldEditor
              key={editing.field?.id ?? 'new'}
              table={schema.table}
              field={editing.field}
              anchor={editing.anchor}
              place={{ viewId: state.view.id, beforeFieldId: editing.beforeFieldId }}
              start={editing.start}
              onClose={closeEditor}
              onAbandoned={(start) =>
                toast.warning({
                  text: m.records_field_not_saved(),
                  action: {
                    label: m.records_keep_editing(),
                    run() {
                      if (isMounted.current) return setEditing({ ...editing, start })
                      // The header that was its anchor is gone.
                      const anchor = { x: window.innerWidth / 2, y: 0 }
                      abandonedEditor.setState({
                        viewId: state.view.id,
                        request: { ...editing, anchor, start },
                      })
                      goTo(paths.table(schema.table.baseId, schema.table.id, state.view.id))
                    },
                  },
                })
              }
            />
          </Suspense>
        </LayerBoundary>
      )}
    </div>
  )
}

/** A field editor that was left with its view, for that view to continue. */
const abandonedEditor = createStore<{ viewId: string; request: FieldEditorRequest } | null>(() => null)

/** Opens the field editor of this view that somebody wants to continue. */
function useAbandonedEditor(viewId: string, open: (request: FieldEditorRequest) => void): void {
  const abandoned = useStore(abandonedEditor)
  useOnChange([abandoned, viewId], () => {
    if (abandoned?.viewId !== viewId) return
    abandonedEditor.setState(null, true)
    open(abandoned.request)
  })
}

/** The record id in an address. A view that is shown to visitors may lack the key of its table, which then is a number. */
function recordIdOf(text: string, fields: readonly Field[]): RecordId {
  const keys = fields.filter((field) => field.isPrimaryKey)
  return idAsStored(keys.length === 0 ? [{ type: 'ID' }] : keys, text)
}
