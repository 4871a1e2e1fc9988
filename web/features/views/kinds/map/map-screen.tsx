import { MapPinPlus } from 'lucide-react'
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import type { RecordId } from '../../../../../src/core/model.ts'
import { isLocationField, optionsOf } from '../../../../../src/core/views/index.ts'
import type { ShortcutSection } from '../../../../actions/index.ts'
import { placeIn } from '../../../../map/place-value.ts'
import { canDrawMaps } from '../../../../map/world-map.ts'
import { m } from '../../../../messages.gen.ts'
import { createMapLayout } from '../../../../records/layouts/map-layout.ts'
import { useRecordStore } from '../../../../records/use-record-store.ts'
import { Button } from '../../../../ui/button.tsx'
import { ControlGroup } from '../../../../ui/composite.tsx'
import { EmptyState } from '../../../../ui/states.tsx'
import { useIsNarrow } from '../../../layout/sidebar-state.ts'
import {
  can,
  isWritable,
  type RecordsHandle,
  type TableContext,
} from '../../../records/context/table-context.ts'
import { openNewRecord } from '../../../records/panel/new-record.tsx'
import { GridEmpty } from '../../../records/screen/grid-empty.tsx'
import { type KindScreenProps, useViewFrame, ViewFrame } from '../../../records/screen/view-frame.tsx'
import type { ToolbarControl } from '../../../records/toolbar/toolbar.tsx'
import { draftOf, withType } from '../../../schema/field-draft.ts'
import { cardFields } from '../../cards/card-fields.ts'
import { useCardsContext, useQueryWith } from '../../cards/use-cards-context.ts'
import { useRowColor } from '../../coloring/use-row-color.ts'
import styles from './map.module.css'
import { MapArea, type MapAreaHandle } from './map-area.tsx'
import { MapTools } from './map-tools.tsx'
import { PlaceList } from './place-list.tsx'

const CONTROLS: readonly ToolbarControl[] = ['fields', 'filter', 'color', 'search']

/** A table's records as pins on a world map, with a list. */
export function MapScreen(props: KindScreenProps) {
  const { schema, people } = props
  const { baseId, id: tableId } = schema.table
  const frame = useViewFrame(props)
  const { state: viewState, search, setSearch, openId } = frame
  const { view } = viewState
  const { geoFieldId } = optionsOf(view, 'map')
  // Default: the first location field.
  const geoField =
    schema.fields.find((field) => field.id === geoFieldId) ??
    schema.fields.find((field) => !field.isSystem && isLocationField(field))
  const display = schema.fields.find((field) => field.isDisplay)
  const query = useQueryWith(frame.query, view.coloring, [geoField?.id ?? null, display?.id ?? null])
  const [records] = useState(() => createMapLayout(geoField?.id ?? null))
  const store = useRecordStore(baseId, tableId, query, { layout: () => records.layout })
  const state = useSyncExternalStore(records.subscribe, records.state)
  useEffect(() => records.setField(geoField?.id ?? null), [records, geoField?.id])
  const colorOf = useRowColor(schema.fields, view.coloring, people)
  const [activeId, setActiveId] = useState<RecordId | null>(openId)
  const [placingId, setPlacingId] = useState<RecordId | null>(null)
  const isNarrow = useIsNarrow()
  const [isListOpen, setListOpen] = useState(!isNarrow)
  const map = useRef<MapAreaHandle>(null)
  const fields = useMemo(
    () => cardFields(schema.fields, view, [geoField?.id ?? null]),
    [schema.fields, view, geoField],
  )

  const show = (id: RecordId | undefined) => {
    if (id !== undefined) map.current?.show(id)
  }
  const cards: RecordsHandle = {
    focus: () => map.current?.focus(),
    select: (index) => show(store.source.getRow(index)?.id),
    check: ([id]) => show(id),
    clearChecked: () => setActiveId(null),
  }
  const { context, getContext } = useCardsContext(props, frame, {
    store,
    cards: () => cards,
    editRecords: (ids) => cards.check([...ids]),
    addRecord,
    shortcuts: MAP_SHORTCUTS,
  })
  function addRecord(): void {
    openNewRecord(getContext, { onCreated: setActiveId })
  }
  const isNarrowed = query.filter !== null || search !== null
  const mayPlace =
    geoField !== undefined && can(context, 'record.update') && isWritable(geoField) && canDrawMaps()

  return (
    <ViewFrame
      frame={frame}
      context={context}
      getContext={getContext}
      controls={CONTROLS}
      tools={
        geoField && (
          <MapTools
            fields={schema.fields}
            geoField={geoField}
            onGeoField={(id) => viewState.update({ options: { ...optionsOf(view, 'map'), geoFieldId: id } })}
            isListOpen={isListOpen}
            onList={setListOpen}
          />
        )
      }
      onAddRecord={addRecord}
      onFocus={() => map.current?.focus()}
    >
      {geoField === undefined ? (
        <div className={styles.empty}>
          <NoGeoField context={context} />
        </div>
      ) : (
        <ControlGroup
          className={styles.area}
          onKeyDown={(event) => {
            if (event.key !== 'Escape' || event.defaultPrevented) return
            if (placingId !== null) setPlacingId(null)
            else setActiveId(null)
          }}
        >
          <MapArea
            ref={map}
            getContext={getContext}
            state={state}
            geoField={geoField}
            fields={fields}
            colorOf={colorOf}
            activeId={activeId}
            placingId={placingId}
            onActive={setActiveId}
            onPlacing={setPlacingId}
          />
          {isListOpen && (
            <PlaceList
              state={state}
              title={display}
              geoFieldId={geoField.id}
              activeId={activeId}
              onShow={(row) => (placeIn(row.values(geoField.id)) ? show(row.id) : context.openRecord(row.id))}
              onPlace={mayPlace ? (row) => setPlacingId(row.id === placingId ? null : row.id) : undefined}
              placingId={placingId}
              onRetry={() => void store.reload()}
              onMore={() => void records.moreUnplaced()}
            />
          )}
          {isNarrowed && !state.isLoading && state.total === 0 && state.unplacedTotal === 0 && (
            <div className={styles.noMatch}>
              <GridEmpty context={context} search={search} onSearch={setSearch} onAddRecord={addRecord} />
            </div>
          )}
        </ControlGroup>
      )}
    </ViewFrame>
  )
}

/** Keys of a map for the shortcut sheet; the map library handles them. */
const MAP_SHORTCUTS: ShortcutSection = {
  title: () => m.map_map(),
  lines: [
    { keys: ['↑', '↓', '←', '→'], label: () => m.map_move_the_map() },
    { keys: ['+', '-'], label: () => m.map_zoom_in_and_out() },
  ],
}

/** The empty state of a table without a location field. */
function NoGeoField({ context }: { context: TableContext }) {
  const mayAdd = can(context, 'field.create')
  return (
    <EmptyState
      icon={MapPinPlus}
      title={m.map_table_no_location_field()}
      text={mayAdd ? m.map_location_field_hint() : m.map_ask_base_creator_add_geo()}
    >
      {mayAdd && (
        <Button
          variant="primary"
          icon={MapPinPlus}
          onClick={(event) =>
            context.editField({
              field: null,
              anchor: event.currentTarget,
              start: { ...withType(draftOf(null), 'GeoData'), title: m.common_place() },
            })
          }
        >
          {m.map_add_location_field()}
        </Button>
      )}
    </EmptyState>
  )
}
