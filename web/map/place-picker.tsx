import { LocateFixed } from 'lucide-react'
import type { Marker } from 'maplibre-gl'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { m } from '../messages.gen.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/overlays.ts'
import { MapView } from './map-view.tsx'
import type { LngLat } from './mercator.ts'
import styles from './place-picker.module.css'
import { placeIn, valueAt } from './place-value.ts'
import type { WorldMap } from './world-map.ts'

interface PlacePickerProps {
  title: string
  value: string | null
  onPick: (value: string) => void
  onClose: () => void
}

/** A map with one pin, set by click, drag or arrow keys. */
export function PlacePicker({ title, value, onPick, onClose }: PlacePickerProps) {
  const [at, setAt] = useState<LngLat | null>(() => placeIn(value))
  const [map, setMap] = useState<WorldMap | null>(null)
  const hintId = useId()
  usePickedPin(map, at, setAt)

  function use() {
    onClose()
    if (at) onPick(valueAt(at))
  }

  function onKeyDown(event: KeyboardEvent<HTMLElement>) {
    if (!map || event.ctrlKey || event.metaKey || event.altKey) return
    // Ignores keys on the buttons over the map.
    if (event.target instanceof HTMLButtonElement) return
    const step = stepOf(event)
    const zoom = zoomOf(event)
    if (step) setAt(map.movedBy(at, step))
    else if (zoom !== 0) map.zoomBy(zoom, at)
    else if (event.key === 'Enter' && at) use()
    else return
    event.preventDefault()
  }

  return (
    <Dialog
      title={title}
      size="large"
      onClose={onClose}
      // Marks the dialog as part of the cell's editor, which stays open.
      marks={{ 'data-cell-popover': '' }}
      footer={
        <>
          <span className={styles.value} role="status">
            <bdi dir="ltr" data-testid="picked-place">
              {at ? valueAt(at).replace(';', '; ') : ''}
            </bdi>
          </span>
          <Button onClick={onClose}>{m.common_cancel()}</Button>
          <Button variant="primary" disabled={at === null} onClick={use}>
            {m.map_use_this_location()}
          </Button>
        </>
      }
    >
      {/* The focus has to go somewhere in here: left behind the dialog, it would close the cell's editor. */}
      <div
        className={styles.map}
        role="application"
        aria-label={m.map_map()}
        aria-describedby={hintId}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keys move the pin
        tabIndex={0}
        data-autofocus
        onKeyDown={onKeyDown}
      >
        <MapView label={m.map_map()} onMap={setMap} onClick={setAt} isPlacing>
          {map && (
            <Button
              size="small"
              icon={LocateFixed}
              className={styles.middle}
              onClick={() => setAt(map.gl.getCenter())}
            >
              {m.map_move_pin_to_centre()}
            </Button>
          )}
        </MapView>
      </div>
      <p id={hintId} className={styles.hint}>
        {m.map_click_map_drag_pin()} <span className={styles.keys}>{m.map_use_arrow_keys_move_zoom()}</span>
      </p>
    </Dialog>
  )
}

/** Pixels per arrow key, without and with Shift. */
const STEP_PX = 8
const LONG_STEP_PX = 64

/** Offset in pixels by which an arrow key moves the pin; null for other keys. */
function stepOf({ key, shiftKey }: { key: string; shiftKey: boolean }): { x: number; y: number } | null {
  const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key]
  if (!way) return null
  const [x = 0, y = 0] = way.map((one) => one * (shiftKey ? LONG_STEP_PX : STEP_PX))
  return { x, y }
}

/** Zoom step of a key; 0 for other keys. `=` is `+` without Shift on many keyboards. */
const zoomOf = ({ key }: { key: string }): number => ({ '+': 1, '=': 1, '-': -1, '−': -1, _: -1 })[key] ?? 0

/** Draws the pin being placed, pans to its initial position, and keeps it in sight. */
function usePickedPin(map: WorldMap | null, at: LngLat | null, onDrag: (to: LngLat) => void): void {
  const marker = useRef<Marker | null>(null)
  const latest = useRef({ at, onDrag })
  latest.current = { at, onDrag }
  const isPlaced = at !== null

  useEffect(() => {
    if (!map) return
    // Keys move the pin instead of the map.
    map.gl.keyboard.disable()
    map.gl.getCanvas().tabIndex = -1
    if (latest.current.at) map.goTo(latest.current.at, { isInstant: true })
  }, [map])

  useEffect(() => {
    const { at } = latest.current
    if (!map || !isPlaced || !at) return
    const element = document.createElement('span')
    element.className = styles.pin ?? ''
    element.dataset.testid = 'picked-pin'
    const pin = map.pin(element, at, { draggable: true, anchor: 'bottom' })
    // The map's container handles the keys, so the pin is not focusable.
    element.tabIndex = -1
    element.ariaHidden = 'true'
    pin.on('dragend', () => latest.current.onDrag(pin.getLngLat()))
    marker.current = pin
    return () => {
      marker.current = null
      pin.remove()
    }
  }, [map, isPlaced])

  useEffect(() => {
    if (!map || !at) return
    marker.current?.setLngLat(at)
    map.keepInSight(at)
  }, [map, at])
}
