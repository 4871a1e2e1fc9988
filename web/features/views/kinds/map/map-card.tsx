import { Maximize2, Move, X } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { createPortal } from 'react-dom'
import type { GridRow } from '../../../../grid/contract.ts'
import { direction } from '../../../../i18n.ts'
import type { LngLat } from '../../../../map/mercator.ts'
import type { WorldMap } from '../../../../map/world-map.ts'
import { m } from '../../../../messages.gen.ts'
import { Button, IconButton } from '../../../../ui/button.tsx'
import type { CardFields } from '../../cards/card-fields.ts'
import { RecordCard } from '../../cards/record-card.tsx'
import type { ColorOf } from '../../coloring/row-colors.ts'
import styles from './map.module.css'

/** Width in pixels. */
const CARD_PX = 264

interface MapCardProps {
  /** Its container, which the map keeps at the location. */
  into: HTMLElement
  row: GridRow
  fields: CardFields
  colorOf: ColorOf | null
  /** The pointer entered (true) or left the card. */
  onHover: (isOver: boolean) => void
  onOpen: () => void
  onClose: () => void
  /** Lets the next click on the map set the location; absent if the user cannot move it. */
  onMove?: () => void
}

/** The card of a pin's record. */
export function MapCard({ into, row, fields, colorOf, onHover, onOpen, onClose, onMove }: MapCardProps) {
  return createPortal(
    <section
      className={styles.card}
      aria-label={m.common_record()}
      data-testid="map-card"
      // The map runs from west to east in all languages.
      dir={direction()}
      onPointerEnter={() => onHover(true)}
      onPointerLeave={() => onHover(false)}
    >
      <RecordCard
        row={row}
        fields={fields}
        width={CARD_PX}
        color={colorOf?.(row) ?? null}
        hidesEmpty
        actions={
          <IconButton icon={X} size="small" iconSize={14} label={m.common_close()} onClick={onClose} />
        }
      >
        <span className={styles.cardActions}>
          <Button size="small" variant="primary" icon={Maximize2} onClick={onOpen}>
            {m.common_open()}
          </Button>
          {onMove && (
            <Button size="small" variant="ghost" icon={Move} onClick={onMove}>
              {m.map_move()}
            </Button>
          )}
        </span>
      </RecordCard>
    </section>,
    into,
  )
}

/** A popup at a location with its actions. */
export function MapBubble({ into, children }: { into: HTMLElement; children: ReactNode }) {
  return createPortal(
    <div className={styles.bubble} dir={direction()}>
      {children}
    </div>,
    into,
  )
}

/** Events that must not drag or zoom the map below. */
const OWN_EVENTS = ['mousedown', 'touchstart', 'pointerdown', 'dblclick', 'wheel'] as const

/** An element that the map keeps above a location, for a card or tooltip; null without a location. */
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

/** Shifts the card sideways, or below the location, if it would extend beyond the map. */
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
