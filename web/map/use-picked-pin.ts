import type { Marker } from 'maplibre-gl'
import { useEffect, useRef } from 'react'
import type { LngLat } from './mercator.ts'
import styles from './place-picker.module.css'
import type { WorldMap } from './world-map.ts'

/** Draws the pin that is being placed, shows where it stands at first, and keeps it in sight. */
export function usePickedPin(map: WorldMap | null, at: LngLat | null, onDrag: (to: LngLat) => void): void {
  const marker = useRef<Marker | null>(null)
  const latest = useRef({ at, onDrag })
  latest.current = { at, onDrag }
  const isPlaced = at !== null

  useEffect(() => {
    if (!map) return
    // Keys move the pin here, and not the map.
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
    // The box around the map takes the keys, so the pin itself need not be reached.
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
