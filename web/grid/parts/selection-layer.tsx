import { type ReactNode, type RefObject, useCallback, useRef, useSyncExternalStore } from 'react'
import { m } from '../../messages.gen.ts'
import type { GridProps, GridSource } from '../contract.ts'
import { useEngine } from '../engine.ts'
import type { RowLines } from '../groups/row-lines.ts'
import { shownPieces } from '../groups/row-lines.ts'
import { type ColumnLayout, ROW_HEIGHTS, type Span } from '../layout.ts'
import { activeCell, allBounds, type Bounds, isSingleCell } from '../selection.ts'
import { useStore } from '../store.ts'
import { FloatingNote } from './floating-note.tsx'
import styles from './selection-layer.module.css'

interface LayerProps {
  props: GridProps
  layout: ColumnLayout
  /** The columns that this layer covers: frozen or scrolling. */
  columns: Span
}

/**
 * Frames and fills of the selection as a few elements over the cells, so that moving it renders no cell. Drawn twice:
 * for scrolling and for frozen columns.
 */
export function SelectionLayer({ props, layout, columns }: LayerProps): ReactNode {
  const engine = useEngine()
  const selection = useStore(engine.selection)
  const session = useStore(engine.session)
  const preview = useStore(engine.preview)
  const { lines, rows, origin } = useStore(engine.viewport.mounted)
  const activeElement = useRef<HTMLDivElement>(null)
  if (!selection || columns.last < columns.first) return null
  const height = ROW_HEIGHTS[props.rowHeight]
  const place = (bounds: Bounds): Box | null =>
    boxOf(bounds, { lines, rows, origin, height, layout, columns })
  const all = allBounds(selection, engine.size)
  const last = all.at(-1)!
  const active = activeCell(selection)
  const activeBox = place({ top: active.row, bottom: active.row, start: active.column, end: active.column })
  const fill = preview?.kind === 'fill' ? place(preview.target.bounds) : null
  const canFill =
    props.rights.editRecords && !session && last.end >= columns.first && last.end <= columns.last
  const lastBox = place(last)
  return (
    <>
      {!isSingleCell(selection) &&
        all.flatMap((bounds) =>
          piecesOf(bounds, lines, rows).map((piece) => (
            <Frame key={JSON.stringify(piece)} box={place(piece)} />
          )),
        )}
      {activeBox && (
        <div
          ref={activeElement}
          className={styles.active}
          style={activeBox.style}
          data-testid="active-cell"
        />
      )}
      {fill && <div className={styles.fillPreview} style={fill.style} />}
      {canFill && lastBox?.hasEnd && lastBox.hasBottom && (
        <div
          className={styles.fillHandle}
          data-part="fillHandle"
          data-testid="fill-handle"
          title={m.grid_drag_to_fill()}
          style={{
            insetInlineStart: lastBox.style.insetInlineStart + lastBox.style.inlineSize - 5,
            insetBlockStart: lastBox.style.insetBlockStart + lastBox.style.blockSize - 5,
          }}
        />
      )}
      {activeBox && !session && (
        <Refusal
          source={props.source}
          row={active.row}
          fieldId={engine.columns[active.column]?.fieldId ?? ''}
          anchor={activeElement}
        />
      )}
    </>
  )
}

interface Box {
  style: { insetInlineStart: number; inlineSize: number; insetBlockStart: number; blockSize: number }
  /** False if the range continues beyond this layer or the mounted rows. */
  hasStart: boolean
  hasEnd: boolean
  hasBottom: boolean
}

interface Place {
  lines: RowLines
  rows: Span
  origin: number
  height: number
  layout: ColumnLayout
  columns: Span
}

function boxOf(bounds: Bounds, { lines, rows, origin, height, layout, columns }: Place): Box | null {
  // Clipped to mounted rows: a million selected rows would exceed the maximum element height.
  const first = Math.max(bounds.top, rows.first - 1)
  const last = Math.min(bounds.bottom, rows.last + 1)
  // Rows in collapsed groups are not drawn.
  const place = { first: lines.placeOf(first), last: lines.placeOf(last) - (lines.isShown(last) ? 0 : 1) }
  if (last < first || place.last < place.first) return null
  const [top, bottom] = [lines.rowOf(place.first), lines.rowOf(place.last)]
  const start = Math.max(bounds.start, columns.first)
  const end = Math.min(bounds.end, columns.last)
  if (end < start) return null
  return {
    style: {
      insetInlineStart: layout.starts[start]!,
      inlineSize: layout.starts[end + 1]! - layout.starts[start]!,
      insetBlockStart: lines.topOf(top) - origin,
      blockSize: lines.topOf(bottom) - lines.topOf(top) + height,
    },
    hasStart: start === bounds.start,
    hasEnd: end === bounds.end,
    hasBottom: bottom === bounds.bottom,
  }
}

/** Splits a range at group headers, so that no frame covers a header; mounted rows only. */
function piecesOf(bounds: Bounds, lines: RowLines, rows: Span): Bounds[] {
  if (lines.lines.length === 0) return [bounds]
  const span = { first: Math.max(bounds.top, rows.first), last: Math.min(bounds.bottom, rows.last) }
  if (span.last < span.first) return []
  return shownPieces(lines, span).map(({ first, last }) => ({ ...bounds, top: first, bottom: last }))
}

function Frame({ box }: { box: Box | null }): ReactNode {
  if (!box) return null
  return (
    <div
      className={styles.range}
      style={box.style}
      data-open-start={!box.hasStart || undefined}
      data-open-end={!box.hasEnd || undefined}
    />
  )
}

interface RefusalProps {
  source: GridSource
  row: number
  fieldId: string
  anchor: RefObject<HTMLElement | null>
}

/** Note beside the active cell: why its value was rejected, with buttons to retry and discard. */
function Refusal({ source, row, fieldId, anchor }: RefusalProps): ReactNode {
  const engine = useEngine()
  const subscribe = useCallback((onChange: () => void) => source.subscribeRow(row, onChange), [source, row])
  const record = useSyncExternalStore(subscribe, () => source.getRow(row))
  const message = record?.failedCells?.get(fieldId)
  if (!record || message === undefined) return null
  return (
    <FloatingNote anchor={anchor}>
      <span>{message}</span>
      <button type="button" data-part="retry" onClick={() => engine.commands.retry(record.id)}>
        {m.grid_retry()}
      </button>
      <button type="button" data-part="discard" onClick={() => engine.commands.discard(record.id)}>
        {m.grid_discard()}
      </button>
    </FloatingNote>
  )
}
