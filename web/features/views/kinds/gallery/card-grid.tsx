import { DndContext, DragOverlay } from '@dnd-kit/core'
import { Plus } from 'lucide-react'
import { type Ref, useCallback, useEffect, useImperativeHandle, useReducer, useState } from 'react'
import type { Field } from '../../../../../src/core/model.ts'
import type { CheckedRows, GridRow } from '../../../../grid/contract.ts'
import { m } from '../../../../messages.gen.ts'
import { GridBox } from '../../../../ui/composite.tsx'
import type { GetContext, RecordsHandle } from '../../../records/context/table-context.ts'
import type { CardFields } from '../../cards/card-fields.ts'
import { cardHeight } from '../../cards/card-layout.ts'
import { openCardMenu } from '../../cards/card-menu.ts'
import { isChecked, NO_ROWS } from '../../cards/chosen.ts'
import { RecordCard } from '../../cards/record-card.tsx'
import type { ColorOf } from '../../coloring/row-colors.ts'
import styles from './gallery.module.css'
import { placeOf } from './gallery-layout.ts'
import { CardBones, GallerySlot } from './gallery-slot.tsx'
import { useGalleryDrag } from './use-gallery-drag.ts'
import { useGalleryFocus } from './use-gallery-focus.ts'
import { useGalleryScroll } from './use-gallery-scroll.ts'

export interface CardGridProps {
  ref: Ref<RecordsHandle>
  label: string
  getContext: GetContext
  /** Null while unknown. */
  rowCount: number | null
  fields: CardFields
  cover: Field | null
  coverFit: 'fit' | 'crop'
  colorOf: ColorOf | null
  /** Adds a record from a card after the last; absent without the right. */
  onAdd?: () => void
  /** True, or the reason why records cannot be moved. */
  moveRecords: true | string
  /** Called on an attempt to move records while it is not possible. */
  onMoveRefused: (reason: string) => void
  checked: CheckedRows
  onChecked: (checked: CheckedRows) => void
  /** Called when keyboard, click or menu activates a card. */
  onActive: (row: GridRow | undefined) => void
}

/** Number of skeleton cards while the count is unknown. */
const BONES = 12

/** Cards in rows; only visible ones are mounted. */
export function CardGrid(props: CardGridProps) {
  const { getContext, rowCount, fields, cover, onAdd, checked, onChecked, moveRecords } = props
  const { source } = getContext().store
  const [, redraw] = useReducer((n: number) => n + 1, 0)
  useEffect(() => source.subscribe(redraw), [source])
  const records = rowCount ?? BONES
  const canAdd = onAdd !== undefined && rowCount !== null
  // Reserves space for covers once an image is found: the attachment field may be empty.
  const [picturedId, setPicturedId] = useState<string | null>(null)
  const hasPictures = cover !== null && picturedId === cover.id
  const scroll = useGalleryScroll(records + (canAdd ? 1 : 0), cardHeight(fields.rest.length, hasPictures))
  const { layout, rows, origin } = scroll
  const dragging = useGalleryDrag(getContext, scroll, records, checked)
  const { drag } = dragging

  const focus = useGalleryFocus({
    getContext,
    scroll,
    records,
    checked,
    onChecked,
    onAdd: () => onAdd?.(),
    onActive: props.onActive,
    openMenu(index, anchor) {
      const id = source.getRow(index)?.id
      if (id !== undefined) openCardMenu(getContext(), { id, index, anchor, checked })
    },
    moveTo(from, before) {
      const id = source.getRow(from)?.id
      if (moveRecords !== true) props.onMoveRefused(moveRecords)
      else if (id !== undefined) dragging.move([id], before)
    },
  })
  const { index: active } = focus

  useImperativeHandle(props.ref, () => ({
    focus: focus.takeFocus,
    select: (index) => focus.select(index, false),
    check: (ids) => onChecked({ kind: 'some', ids: new Set(ids) }),
    clearChecked: () => onChecked(NO_ROWS),
  }))

  const first = rows.first * layout.columns
  const last = Math.min(records, (rows.last + 1) * layout.columns) - 1
  useEffect(() => {
    if (rowCount === null || last >= first) source.requestRange(first, Math.max(first, last))
  }, [source, first, last, rowCount])

  const isChosen = useCallback((row: GridRow) => isChecked(checked, row.id), [checked])
  // The focused and the dragged card stay mounted while scrolling.
  const kept = [active, drag?.index].filter(
    (index): index is number => index !== undefined && index < records,
  )
  const shown = new Map<number, number[]>()
  for (let row = rows.first; row <= rows.last; row++) shown.set(row, rowOf(row))
  for (const index of kept) {
    const row = Math.floor(index / layout.columns)
    if (!shown.has(row)) shown.set(row, [index])
  }
  const draggedRow = drag ? source.getRow(drag.index) : undefined

  function rowOf(row: number): number[] {
    const from = row * layout.columns
    const count = Math.min(layout.columns, records - from)
    return Array.from({ length: Math.max(0, count) }, (_, at) => from + at)
  }

  const addPlace = placeOf(layout, records)
  const showsAdd = canAdd && (active >= records || Math.floor(records / layout.columns) <= rows.last)
  return (
    <DndContext {...dragging.context} autoScroll={{ threshold: { x: 0, y: 0.12 } }}>
      <GridBox
        ref={scroll.box}
        role="grid"
        tabIndex={-1}
        className={styles.scroll}
        aria-label={props.label}
        aria-rowcount={layout.rows}
        aria-colcount={layout.columns}
        aria-multiselectable
        aria-busy={rowCount === null || undefined}
        data-testid="gallery"
        onFocus={focus.onFocus}
        onClick={focus.onClick}
        // A long press drags a card, but browsers also open the context menu.
        onContextMenu={drag ? (event) => event.preventDefault() : focus.onContextMenu}
        onKeyDown={focus.onKeyDown}
      >
        <div className={styles.all} role="presentation" style={{ blockSize: scroll.height }}>
          {rowCount === null
            ? rowOfBones(layout.columns).map((index) => {
                const { start, top } = placeOf(layout, index)
                const { cardWidth: inlineSize, cardHeight: blockSize } = layout
                const place = { insetInlineStart: start, insetBlockStart: top, inlineSize, blockSize }
                return (
                  <div key={index} className={styles.slot} style={place} role="presentation">
                    <CardBones index={index} fields={fields.rest.length} />
                  </div>
                )
              })
            : [...shown]
                .sort(([a], [b]) => a - b)
                .map(([row, indexes]) => (
                  <GridBox key={row} role="row" aria-rowindex={row + 1}>
                    {indexes.map((index) => {
                      const { start, top } = placeOf(layout, index)
                      return (
                        <GallerySlot
                          key={index}
                          source={source}
                          index={index}
                          start={start}
                          fields={fields}
                          cover={cover}
                          isChosen={isChosen}
                          hasPictures={hasPictures}
                          column={index % layout.columns}
                          top={top - origin}
                          width={layout.cardWidth}
                          height={layout.cardHeight}
                          coverFit={props.coverFit}
                          onPicture={setPicturedId}
                          colorOf={props.colorOf}
                          isActive={index === active}
                          canDrag={moveRecords === true}
                          isDragged={drag !== null && isDragged(drag.ids, source.getRow(index))}
                        />
                      )
                    })}
                    {showsAdd && row === Math.floor(records / layout.columns) && addCard(row)}
                  </GridBox>
                ))}
          {showsAdd && !shown.has(Math.floor(records / layout.columns)) && addRow()}
          {drag?.over && (
            <span
              className={styles.bar}
              aria-hidden
              style={{
                insetInlineStart: drag.over.start,
                insetBlockStart: drag.over.top - origin,
                blockSize: layout.cardHeight,
              }}
            />
          )}
        </div>
      </GridBox>
      <DragOverlay dropAnimation={null}>
        {drag && draggedRow && (
          <div className={styles.ghost} style={{ inlineSize: layout.cardWidth }}>
            <RecordCard
              row={draggedRow}
              fields={{ title: fields.title, rest: fields.rest.slice(0, 2) }}
              width={layout.cardWidth}
            />
            {drag.ids.length > 1 && (
              <span className={styles.several}>{m.common_records_count({ count: drag.ids.length })}</span>
            )}
          </div>
        )}
      </DragOverlay>
    </DndContext>
  )

  function addRow() {
    const row = Math.floor(records / layout.columns)
    return (
      <GridBox key="add" role="row" aria-rowindex={row + 1}>
        {addCard(row)}
      </GridBox>
    )
  }

  function addCard(row: number) {
    return (
      <GridBox
        role="gridcell"
        tabIndex={active === records ? 0 : -1}
        aria-colindex={records - row * layout.columns + 1}
        className={`${styles.slot} ${styles.add}`}
        data-index={records}
        data-testid="gallery-add"
        style={{
          insetInlineStart: addPlace.start,
          insetBlockStart: addPlace.top - origin,
          inlineSize: layout.cardWidth,
          blockSize: layout.cardHeight,
        }}
      >
        <Plus size={18} aria-hidden />
        {m.common_new_record()}
      </GridBox>
    )
  }
}

const isDragged = (ids: readonly GridRow['id'][], row: GridRow | undefined): boolean =>
  row !== undefined && ids.includes(row.id)

const rowOfBones = (columns: number): number[] =>
  Array.from({ length: Math.max(columns, BONES) }, (_, index) => index)
