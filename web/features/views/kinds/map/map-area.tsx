import { MapPinPlus } from 'lucide-react'
import { type Ref, useEffect, useImperativeHandle, useRef, useState } from 'react'
import type { Field, RecordId } from '../../../../../src/core/model.ts'
import { shownText } from '../../../../cells/index.ts'
import { usePeople } from '../../../../cells/people-context.ts'
import { MapView } from '../../../../map/map-view.tsx'
import { boundsOf, type LngLat } from '../../../../map/mercator.ts'
import { valueAt } from '../../../../map/place-value.ts'
import type { WorldMap } from '../../../../map/world-map.ts'
import { m } from '../../../../messages.gen.ts'
import { type LocatedRecord, MAP_PAGE, type MapState } from '../../../../records/layouts/map-layout.ts'
import { Button } from '../../../../ui/button.tsx'
import { useOnChange } from '../../../../ui/effects.ts'
import { openMenu } from '../../../../ui/menu.tsx'
import { peopleAtRecords } from '../../../presence/others-at.tsx'
import { others } from '../../../presence/presence-state.ts'
import type { TableContext } from '../../../records/context/table-context.ts'
import { can, type GetContext, isWritable } from '../../../records/context/table-context.ts'
import { openNewRecord } from '../../../records/panel/new-record.tsx'
import { offerUndo, placeOf } from '../../../records/undo/undo-commands.tsx'
import type { CardFields } from '../../cards/card-fields.ts'
import { openCardMenu } from '../../cards/card-menu.ts'
import type { ColorOf } from '../../coloring/row-colors.ts'
import styles from './map.module.css'
import { MapBubble, MapCard, usePinned } from './map-card.tsx'
import { createPins, type PinEvents, type Pins } from './pins.ts'

/** Imperative handle of the map for the list and the screen. */
export interface MapAreaHandle {
  /** Moves the map to a record and shows its card. */
  show: (id: RecordId) => void
  focus: () => void
}

export interface MapAreaProps {
  ref: Ref<MapAreaHandle>
  getContext: GetContext
  state: MapState
  geoField: Field
  fields: CardFields
  colorOf: ColorOf | null
  activeId: RecordId | null
  onActive: (id: RecordId | null) => void
  placingId: RecordId | null
  onPlacing: (id: RecordId | null) => void
}

/** Delay before hovering a pin shows its card, and before leaving hides it. */
const HOVER_MS = 250
/** Menu items for records at the same location. */
const MOST_STACKED = 50

/** The map with its pins, the card of the active record, and placing of records. */
export function MapArea(props: MapAreaProps) {
  const { getContext, state, geoField, fields, colorOf, activeId, placingId } = props
  const context = getContext()
  const people = usePeople()
  const [map, setMap] = useState<WorldMap | null>(null)
  const pins = useRef<Pins | null>(null)
  const [hovered, setHovered] = useState<RecordId | null>(null)
  const [here, setHere] = useState<LngLat | null>(null)
  const hoverTimer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const mayMove = can(context, 'record.update') && isWritable(geoField)
  const mayAdd = can(context, 'record.create') && isWritable(geoField)

  const shownId = hovered ?? activeId
  const shown = shownId === null ? undefined : state.placed.find(({ row }) => row.id === shownId)
  const cardAt = usePinned(map, shown?.at ?? null, 'card')
  const bubbleAt = usePinned(map, here, 'bubble')

  const titleOf: PinEvents['titleOf'] = (row) =>
    (fields.title && shownText(fields.title.field, row.values(fields.title.field.id), people)) ||
    m.common_untitled()
  const activate = (id: RecordId | null) => {
    clearTimeout(hoverTimer.current)
    setHovered(null)
    setHere(null)
    props.onActive(id)
  }
  const events: PinEvents = {
    titleOf,
    colorOf: (row) => colorOf?.(row) ?? null,
    canMove: () => mayMove,
    people: peopleAtRecords,
    onOpen: ({ row }) => activate(row.id),
    onHover(record) {
      clearTimeout(hoverTimer.current)
      hoverTimer.current = setTimeout(() => setHovered(record?.row.id ?? null), HOVER_MS)
    },
    onMove: ({ row }, to) => void movePlace(getContext(), { id: row.id, geoFieldId: geoField.id, to }),
    onMenu: ({ row }, anchor) => {
      const index = getContext().store.source.indexOf(row.id) ?? -1
      openCardMenu(getContext(), { id: row.id, index, anchor })
    },
    onStack: openStack,
  }
  const latest = useRef(events)
  latest.current = events

  function openStack(stack: readonly LocatedRecord[], element: HTMLElement) {
    const lines = stack.slice(0, MOST_STACKED).map(({ row }) => ({
      kind: 'action' as const,
      label: titleOf(row),
      run: () => getContext().openRecord(row.id),
    }))
    openMenu(element, lines, m.common_records_count({ count: stack.length }))
  }

  useEffect(() => {
    if (!map) return
    const created = createPins(map, () => latest.current)
    pins.current = created
    return () => {
      pins.current = null
      created.remove()
    }
  }, [map])
  useEffect(() => {
    if (map) pins.current?.setRecords(state.placed)
  }, [map, state.placed])
  useEffect(() => {
    if (map) pins.current?.setActive(activeId)
  }, [map, activeId])
  useOnChange([colorOf, fields], () => pins.current?.repaint())
  useEffect(() => others.subscribe(() => pins.current?.repaint()), [])

  const fit = (isInstant: boolean) => {
    const bounds = boundsOf(state.placed.map(({ at }) => at))
    if (map && bounds) map.fit(bounds, { isInstant })
  }
  // The map fits all pins, also while more load, until the user moves it.
  const isHeld = useRef(false)
  useEffect(() => {
    if (!map) return
    const hold = () => {
      isHeld.current = true
    }
    const element = map.gl.getContainer()
    const names = ['pointerdown', 'wheel', 'keydown'] as const
    for (const name of names) element.addEventListener(name, hold, { passive: true })
    return () => {
      for (const name of names) element.removeEventListener(name, hold)
    }
  }, [map])
  const hasPins = state.placed.length > 0
  useOnChange([map, hasPins, state.isLoading], () => {
    if (map && hasPins && !isHeld.current) fit(true)
    if (map && hasPins && !state.isLoading) isHeld.current = true
  })

  useImperativeHandle(props.ref, () => ({
    show(id) {
      // Without a loaded map, opens the record.
      if (!map) return getContext().openRecord(id)
      activate(id)
      const record = state.placed.find(({ row }) => row.id === id)
      if (record) map.goTo(record.at)
    },
    focus: () => map?.gl.getCanvas().focus({ preventScroll: true }),
  }))

  function onMapClick(at: LngLat) {
    if (placingId !== null) {
      props.onPlacing(null)
      void movePlace(getContext(), { id: placingId, geoFieldId: geoField.id, to: at })
      return
    }
    if (activeId !== null || here !== null) activate(null)
    else if (mayAdd) setHere(at)
  }

  const addHere = () => {
    if (!here) return
    setHere(null)
    openNewRecord(getContext, {
      values: { [geoField.id]: valueAt(here) },
      onCreated: (id) => props.onActive(id),
    })
  }
  const isCounting = state.isLoading && state.placed.length >= MAP_PAGE
  return (
    <MapView
      label={m.map_map_of_table({ table: context.schema.table.title })}
      onMap={setMap}
      onClick={onMapClick}
      onFit={hasPins ? () => fit(false) : undefined}
      isPlacing={placingId !== null}
    >
      {cardAt && shown && (
        <MapCard
          into={cardAt}
          row={shown.row}
          fields={fields}
          colorOf={colorOf}
          onHover={(isOver) => {
            clearTimeout(hoverTimer.current)
            if (!isOver) hoverTimer.current = setTimeout(() => setHovered(null), HOVER_MS)
          }}
          onOpen={() => context.openRecord(shown.row.id)}
          onClose={() => activate(null)}
          onMove={
            mayMove
              ? () => {
                  activate(null)
                  props.onPlacing(shown.row.id)
                }
              : undefined
          }
        />
      )}
      {bubbleAt && here && (
        <MapBubble into={bubbleAt}>
          <span dir="ltr">{valueAt(here).replace(';', '; ')}</span>
          <Button size="small" variant="primary" icon={MapPinPlus} data-testid="add-here" onClick={addHere}>
            {m.map_add_record_here()}
          </Button>
        </MapBubble>
      )}
      <div className={styles.notes} role="status">
        {placingId !== null && (
          <span className={styles.note}>
            {m.map_click_map_place_record()}{' '}
            <Button size="small" onClick={() => props.onPlacing(null)}>
              {m.common_cancel()}
            </Button>
          </span>
        )}
        {isCounting && (
          <span className={styles.note} data-testid="map-progress">
            {state.total === null
              ? m.map_records_loaded({ count: state.placed.length })
              : m.map_of_total_records_loaded({
                  count: Math.min(state.placed.length, state.total),
                  total: state.total,
                })}
          </span>
        )}
        {!state.isLoading && !hasPins && state.error === null && placingId === null && mayAdd && (
          <span className={styles.note}>{m.map_click_map_add_record()}</span>
        )}
      </div>
    </MapView>
  )
}

/** Moves a record's pin optimistically; if the server rejects it, rolls back and shows the reason. */
async function movePlace(
  context: TableContext,
  { id, geoFieldId, to }: { id: RecordId; geoFieldId: string; to: LngLat },
): Promise<void> {
  const { id: tableId } = context.schema.table
  const rows = [{ id, values: { [geoFieldId]: valueAt(to) } }]
  const written = await context.store.apply([{ kind: 'update', tableId, rows }], { rollsBack: true })
  if (written) offerUndo(placeOf(context), m.map_location_updated(), written.id)
}
