import { Maximize2, Move, X } from 'lucide-react'
import type { ReactNode } from 'react'
import { createPortal } from 'react-dom'
import type { GridRow } from '../../../../grid/source.ts'
import { direction } from '../../../../i18n.ts'
import { m } from '../../../../messages.gen.ts'
import { Button, IconButton } from '../../../../ui/button.tsx'
import type { CardFields } from '../../cards/card-fields.ts'
import { RecordCard } from '../../cards/record-card.tsx'
import type { ColorOf } from '../../coloring/row-color.ts'
import styles from './map.module.css'

/** Pixels across a card over the map. */
const CARD_PX = 264

export interface MapCardProps {
  /** Where it is drawn: an element that the map keeps at the place. */
  into: HTMLElement
  row: GridRow
  fields: CardFields
  colorOf: ColorOf | null
  /** The pointer is over it, or has left it. */
  onHover: (isOver: boolean) => void
  onOpen: () => void
  onClose: () => void
  /** The next click on the map is its new place; absent where it may not be moved. */
  onMove?: () => void
}

/** The record of a pin. */
export function MapCard({ into, row, fields, colorOf, onHover, onOpen, onClose, onMove }: MapCardProps) {
  return createPortal(
    <section
      className={styles.card}
      aria-label={m.common_record()}
      data-testid="map-card"
      // The map itself runs from west to east in every language.
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

/** A bubble at a place: what can be done there. */
export function MapBubble({ into, children }: { into: HTMLElement; children: ReactNode }) {
  return createPortal(
    <div className={styles.bubble} dir={direction()}>
      {children}
    </div>,
    into,
  )
}
