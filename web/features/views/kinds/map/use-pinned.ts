import { useEffect, useState } from 'react'
import type { LngLat } from '../../../../map/mercator.ts'
import type { WorldMap } from '../../../../map/world-map.ts'
import styles from './map.module.css'

/** What the map must not take for a drag or a zoom of its own. */
const OWN_EVENTS = ['mousedown', 'touchstart', 'pointerdown', 'dblclick', 'wheel'] as const

/** An element that the map keeps above a place, to draw a card or a bubble into; null without one. */
export function usePinned(
  map: WorldMap | null,
  at: LngLat | null,
  look: 'card' | 'bubble',
): HTMLElement | null {
  const [element, setElement] = useState<HTMLElement | null>(null)
  const { lng, lat } = at ?? {}
  useEffect(() => {
    if (!map || lng === undefined || lat === undefined) return
    const box = document.createElement('div')
    box.className = `${styles.pinned} ${look === 'card' ? styles.aboveIt : ''}`
    for (const name of OWN_EVENTS) box.addEventListener(name, (event) => event.stopPropagation())
    const marker = map.pin(box, { lng, lat }, { anchor: 'bottom' })
    setElement(box)
    return () => {
      setElement(null)
      marker.remove()
    }
  }, [map, lng, lat, look])
  useEffect(() => {
    if (map && element) return keepInSight(map, element)
  }, [map, element])
  return element
}

/** Shifts what is drawn into the element where it would stand partly outside of the map: sideways, or below the place. */
function keepInSight(map: WorldMap, element: HTMLElement): () => void {
  const look = () => {
    const { firstElementChild: inner } = element
    if (!(inner instanceof HTMLElement)) return
    inner.style.translate = ''
    const box = inner.getBoundingClientRect()
    const outer = map.gl.getContainer().getBoundingClientRect()
    const tooFarStart = outer.left + EDGE_PX - box.left
    const tooFarEnd = box.right - outer.right + EDGE_PX
    const x = tooFarStart > 0 ? tooFarStart : tooFarEnd > 0 ? -tooFarEnd : 0
    const below = element.getBoundingClientRect().bottom - box.top + EDGE_PX
    const hasRoomBelow = box.bottom + below < outer.bottom
    const y = box.top < outer.top + EDGE_PX && hasRoomBelow ? below : 0
    inner.style.translate = `${x}px ${y}px`
  }
  const observer = new ResizeObserver(look)
  observer.observe(element)
  const stop = map.onView(look)
  return () => {
    observer.disconnect()
    stop()
  }
}

const EDGE_PX = 12
