import { useMemo, useRef } from 'react'
import { coloringFields, type RowColoring } from '../../../../src/core/views/index.ts'
import type { StoreQuery } from '../../../records/types.ts'
import type { GetContext, TableContext } from '../../records/context/table-context.ts'
import { type ScreenActions, useTableActions } from '../../records/screen/use-table-actions.ts'
import type { KindScreenProps, ViewFrameState } from '../../records/screen/view-frame.tsx'
import { fieldsAnchor } from '../../records/toolbar/toolbar.tsx'

/** The parts of the context and of the table's actions that depend on the kind of view. */
interface CardsContextInput
  extends Required<Pick<TableContext, 'store' | 'cards' | 'editRecords'>>,
    Required<Pick<ScreenActions, 'addRecord' | 'shortcuts'>> {
  /** Default: puts the record into the URL. */
  openRecord?: TableContext['openRecord']
  /** Default: opens the search box of the toolbar. */
  openSearch?: ScreenActions['openSearch']
}

/**
 * The context of a view that shows records as cards, pins or events. Registers the table's actions and shortcuts.
 * The functions of `input` are called only after the render.
 */
export function useCardsContext(
  { schema, role, people }: KindScreenProps,
  frame: ViewFrameState,
  input: CardsContextInput,
): { context: TableContext; getContext: GetContext } {
  const { store, cards, editRecords, addRecord, shortcuts } = input
  const { state, setEditing } = frame
  const context: TableContext = {
    schema,
    state,
    store,
    role,
    people,
    cards,
    editRecords,
    editField: setEditing,
    grid: () => null,
    openFilter: () => frame.setFilterOpen(true),
    openRecord: input.openRecord ?? ((id) => frame.openRecord(id === null ? null : store.realId(id))),
  }
  const latest = useRef(context)
  latest.current = context
  const getContext = () => latest.current
  useTableActions(getContext, {
    openSearch: input.openSearch ?? (() => frame.setSearchOpen(true)),
    addField() {
      const anchor = fieldsAnchor()
      if (anchor) setEditing({ field: null, anchor })
    },
    addRecord,
    shortcuts,
  })
  return { context, getContext }
}

/**
 * A view's query with hidden fields that it needs: for colouring, covers or the location of pins.
 */
export function useQueryWith(
  query: StoreQuery,
  coloring: RowColoring | null,
  fieldIds: readonly (string | null)[],
): StoreQuery {
  const extraIds = JSON.stringify([...fieldIds, ...(coloring ? coloringFields(coloring) : [])])
  return useMemo(() => {
    const known = new Set(query.fields.map((field) => field.id))
    const all: (string | null)[] = [...query.fieldIds, ...JSON.parse(extraIds)]
    const ids = new Set(all.filter((id): id is string => id !== null && known.has(id)))
    return ids.size === query.fieldIds.length ? query : { ...query, fieldIds: [...ids] }
  }, [query, extraIds])
}
