import { useDraggable } from '@dnd-kit/core'
import { memo, useCallback, useLayoutEffect, useSyncExternalStore } from 'react'
import type { Field } from '../../../../../src/core/model.ts'
import type { GridRow, GridSource } from '../../../../grid/contract.ts'
import { GridBox } from '../../../../ui/composite.tsx'
import { Skeleton } from '../../../../ui/states.tsx'
import { picturesOf } from '../../cards/card-cover.tsx'
import type { CardFields } from '../../cards/card-fields.ts'
import cardStyles from '../../cards/record-card.module.css'
import { RecordCard } from '../../cards/record-card.tsx'
import type { ColorOf } from '../../coloring/row-colors.ts'
import styles from './gallery.module.css'

export interface GallerySlotProps {
  source: GridSource
  index: number
  column: number
  start: number
  top: number
  width: number
  height: number
  fields: CardFields
  cover: Field | null
  coverFit: 'fit' | 'crop'
  /** True if cards reserve space for a cover. */
  hasPictures: boolean
  /** Called when the first image of a field is found. */
  onPicture: (coverFieldId: string) => void
  colorOf: ColorOf | null
  isActive: boolean
  isChosen: (row: GridRow) => boolean
  canDrag: boolean
  isDragged: boolean
}

/** The slot of a card, which renders when its record changes. */
export const GallerySlot = memo(function GallerySlot(props: GallerySlotProps) {
  const { source, index, column, start, top, width, height, fields, cover, isActive } = props
  const row = useSyncExternalStore(
    useCallback((onChange) => source.subscribeRow(index, onChange), [source, index]),
    () => source.getRow(index),
  )
  const { hasPictures, onPicture } = props
  const coverValue = cover && row ? row.values(cover.id) : null
  // Runs before paint, so that cards reserve the space at once.
  useLayoutEffect(() => {
    if (cover && !hasPictures && picturesOf(cover, coverValue).length > 0) onPicture(cover.id)
  }, [cover, coverValue, hasPictures, onPicture])
  const { setNodeRef, listeners } = useDraggable({ id: index, disabled: !props.canDrag || !row })
  const isSelected = row !== undefined && props.isChosen(row)
  return (
    <GridBox
      ref={setNodeRef}
      role="gridcell"
      tabIndex={isActive ? 0 : -1}
      aria-colindex={column + 1}
      aria-selected={isSelected}
      aria-busy={row === undefined || undefined}
      className={styles.slot}
      data-testid="gallery-card"
      data-index={index}
      data-dragged={props.isDragged || undefined}
      style={{ insetInlineStart: start, insetBlockStart: top, inlineSize: width, blockSize: height }}
      {...listeners}
    >
      {row === undefined ? (
        <CardBones index={index} fields={fields.rest.length} />
      ) : (
        <RecordCard
          row={row}
          fields={fields}
          width={width}
          cover={hasPictures ? cover : null}
          coverFit={props.coverFit}
          color={props.colorOf?.(row) ?? null}
          isSelected={isSelected}
        />
      )}
    </GridBox>
  )
})

/** Skeleton of a loading card. */
export function CardBones({ index, fields }: { index: number; fields: number }) {
  return (
    <div className={`${cardStyles.card} ${cardStyles.bones}`} aria-hidden>
      <Skeleton width={`${50 + ((index * 17) % 35)}%`} height={18} />
      {Array.from({ length: Math.min(6, fields) }, (_, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines that are all alike
        <Skeleton key={at} width={`${40 + ((index * 37 + at * 23) % 50)}%`} height={12} />
      ))}
    </div>
  )
}
