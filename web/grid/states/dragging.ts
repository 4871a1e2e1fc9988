import type { RecordId } from '../../../src/core/model.ts'
import { cellText } from '../../cells/index.ts'
import { m } from '../../messages.gen.ts'
import { isChecked } from '../checks.ts'
import type { ResolvedColumn } from '../columns.ts'
import type { Engine, Mode, Pointer } from '../engine.ts'
import { LINE_HEIGHTS } from '../groups/row-lines.ts'
import type { GroupNode } from '../groups/tree.ts'
import { clampWidth, gapAt } from '../layout.ts'
import { boundsOf, extendTo } from '../selection.ts'

/** A drag's behaviour; positions come from `engine.viewport`. */
interface Drag {
  name: Mode['name']
  /** Scroll direction while the pointer is near or beyond the grid's edge. */
  scrolls: 'both' | 'rows' | 'columns' | 'none'
  /** The pointer or the grid below it moved, or a modifier key changed. */
  move(pointer: Pointer): void
  drop(pointer: Pointer): void
  /** Clears the preview after a drop or Escape. */
  end?(): void
}

/** Distance from the edge at which scrolling starts, and its speed in pixels per frame for each pixel beyond it. */
const EDGE_PX = 28
const SPEED = 0.35
const MAX_SPEED_PX = 60

/** Pixels that the pointer may move before a press becomes a drag. */
const DRAG_THRESHOLD_PX = 4

/**
 * A mode for the time a mouse button is down. Listens on the window instead of capturing the pointer, which
 * would take the click from a pressed star or link. Escape cancels.
 */
export function dragMode(drag: Drag): Mode {
  let stop = () => {}
  return {
    name: drag.name,
    enter(engine) {
      stop = listen(engine, drag)
    },
    leave() {
      stop()
      drag.end?.()
    },
    onKeyDown(event, engine) {
      if (event.key === 'Escape') engine.toIdle()
      return event.key === 'Escape'
    },
  }
}

function listen(engine: Engine, drag: Drag): () => void {
  let last: Pointer | null = null
  let frame = 0
  const move = (event: PointerEvent) => {
    // The button was released outside the window.
    if (event.buttons === 0) return engine.toIdle()
    last = event
    drag.move(event)
    if (frame === 0) frame = requestAnimationFrame(scroll)
  }
  const scroll = () => {
    frame = 0
    if (!last || !scrollAtEdge(engine, drag.scrolls, last)) return
    drag.move(last)
    frame = requestAnimationFrame(scroll)
  }
  const up = (event: PointerEvent) => {
    drag.drop(event)
    engine.toIdle()
  }
  const cancel = () => engine.toIdle()
  const keys = ({ ctrlKey, metaKey, shiftKey }: KeyboardEvent) => {
    if (last) drag.move({ clientX: last.clientX, clientY: last.clientY, ctrlKey, metaKey, shiftKey })
  }
  window.addEventListener('pointermove', move)
  window.addEventListener('pointerup', up)
  window.addEventListener('pointercancel', cancel)
  window.addEventListener('keydown', keys)
  window.addEventListener('keyup', keys)
  return () => {
    cancelAnimationFrame(frame)
    window.removeEventListener('pointermove', move)
    window.removeEventListener('pointerup', up)
    window.removeEventListener('pointercancel', cancel)
    window.removeEventListener('keydown', keys)
    window.removeEventListener('keyup', keys)
  }
}

/** Scrolls in proportion to the distance beyond the edge; false if nothing scrolled. */
function scrollAtEdge(engine: Engine, scrolls: Drag['scrolls'], pointer: Pointer): boolean {
  const { viewport } = engine
  const { x, y } = viewport.pointIn(pointer.clientX, pointer.clientY)
  const frozen = engine.layout.frozenWidth
  const across = scrolls === 'rows' || scrolls === 'none' ? 0 : beyond(x, frozen, viewport.width.get())
  const down = scrolls === 'columns' || scrolls === 'none' ? 0 : beyond(y, 0, viewport.bodyHeight)
  if (across === 0 && down === 0) return false
  // Frozen columns are drop targets too, so only their outer edge scrolls.
  const inline = across < 0 && x > EDGE_PX ? 0 : across
  const before = { top: viewport.top, inline: viewport.inline }
  viewport.scrollTo({ top: before.top + down, inline: before.inline + inline })
  return viewport.top !== before.top || viewport.inline !== before.inline
}

function beyond(at: number, start: number, end: number): number {
  if (at < start + EDGE_PX) return Math.max(-MAX_SPEED_PX, Math.floor((at - start - EDGE_PX) * SPEED))
  return at > end - EDGE_PX ? Math.min(MAX_SPEED_PX, Math.ceil((at - end + EDGE_PX) * SPEED)) : 0
}

/** True once the pointer moved beyond the drag threshold. */
const hasLeft = (from: Pointer, to: Pointer): boolean =>
  Math.abs(from.clientX - to.clientX) > DRAG_THRESHOLD_PX ||
  Math.abs(from.clientY - to.clientY) > DRAG_THRESHOLD_PX

/** Resizes a column by its end edge; if whole columns are selected, all of them. */
export function resizing(engine: Engine, column: number, from: Pointer): Mode {
  const columns = columnsWith(engine, column)
  const before = engine.columns[column]!.width
  return dragMode({
    name: 'resizing',
    scrolls: 'none',
    move({ clientX }) {
      const delta = (clientX - from.clientX) * (engine.viewport.rtl ? -1 : 1)
      const width = clampWidth(before + delta)
      engine.widths.set(new Map(columns.map((each) => [engine.columns[each]!.fieldId, width])))
    },
    drop: () => saveWidths(engine, engine.widths.get()),
    end: () => engine.widths.set(new Map()),
  })
}

/** Fits the double-clicked column, and those selected with it, to their content. */
export function fitColumns(engine: Engine, column: number): void {
  const widths = columnsWith(engine, column).map((each): [string, number] => {
    const { fieldId } = engine.columns[each]!
    return [fieldId, contentWidth(engine, engine.columns[each]!)]
  })
  saveWidths(engine, new Map(widths))
}

function saveWidths(engine: Engine, widths: ReadonlyMap<string, number>): void {
  const changed = [...widths]
    .filter(([fieldId, width]) => engine.columns.find((each) => each.fieldId === fieldId)?.width !== width)
    .map(([fieldId, width]) => ({ fieldId, width }))
  if (changed.length > 0) engine.commands.resizeColumns(changed)
}

/** The column, or all whole columns selected with it. */
function columnsWith(engine: Engine, column: number): number[] {
  const columns = new Set<number>()
  for (const range of engine.selection.get()?.ranges ?? []) {
    if (range.kind !== 'columns' && range.kind !== 'all') continue
    const { start, end } = boundsOf(range, engine.size)
    for (let each = start; each <= end; each++) columns.add(each)
  }
  return columns.has(column) ? [...columns].sort((a, b) => a - b) : [column]
}

/** Padding of a cell on both sides, with some extra space. */
const CELL_PADDING_PX = 20
/** Icon, gap and menu button of a header. */
const HEADER_EXTRA_PX = 60
const MOST_PX = 480

/** Width that fits the header and all mounted values of a column, within limits. */
function contentWidth(engine: Engine, column: ResolvedColumn): number {
  const canvas = document.createElement('canvas').getContext('2d')
  const element = engine.viewport.element
  if (!canvas || !element) return column.width
  const { fontFamily } = getComputedStyle(element)
  canvas.font = `500 13px ${fontFamily}`
  let width = canvas.measureText(column.field.title).width + HEADER_EXTRA_PX
  canvas.font = `13px ${fontFamily}`
  const { first, last } = engine.viewport.mounted.get().rows
  for (let row = first; row <= last; row++) {
    const value = engine.rowAt(row)?.values(column.fieldId)
    if (value === null || value === undefined) continue
    const lines = cellText(column.field, value, engine.people).slice(0, 500).split('\n')
    const extra = CELL_PADDING_PX + (column.cell.extraWidth ?? 0)
    for (const line of lines) width = Math.max(width, canvas.measureText(line).width + extra)
  }
  return clampWidth(Math.min(MOST_PX, Math.ceil(width)), column.cell.minWidth)
}

/**
 * Dragging a header moves its column, or all columns selected with it, to the drop line; dragging the divider
 * after the frozen columns changes how many are frozen.
 */
export function movingColumn(
  engine: Engine,
  what: { column: number } | { divider: true },
  from: Pointer,
): Mode {
  const moved = 'column' in what ? columnsWith(engine, what.column) : []
  return dragMode({
    name: 'movingColumn',
    scrolls: 'columns',
    move(pointer) {
      if (!engine.preview.get() && !hasLeft(from, pointer)) return
      const { x } = engine.viewport.pointIn(pointer.clientX, pointer.clientY)
      const gap = gapAt(engine.layout, x, engine.viewport.inline)
      engine.preview.set(
        'divider' in what
          ? { kind: 'freezeLine', count: gap }
          : { kind: 'columnLine', gap, moved, pointerX: x },
      )
    },
    drop() {
      const preview = engine.preview.get()
      if (preview?.kind === 'freezeLine' && preview.count !== engine.props.frozen) {
        engine.commands.freezeColumns(preview.count)
      }
      if (preview?.kind === 'columnLine') dropColumns(engine, moved, preview.gap)
    },
    end: () => engine.preview.set(null),
  })
}

function dropColumns(engine: Engine, moved: readonly number[], gap: number): void {
  const first = moved[0]!
  const isSamePlace =
    gap >= first && gap <= first + moved.length && moved.at(-1)! - first === moved.length - 1
  if (isSamePlace) return
  let before = gap
  while (moved.includes(before)) before++
  const ids = moved.map((column) => engine.columns[column]!.fieldId)
  engine.commands.moveColumns(ids, engine.columns[before]?.fieldId ?? null)
  // The selection follows the columns.
  const start = gap - moved.filter((column) => column < gap).length
  const range = {
    kind: 'columns' as const,
    anchor: { row: 0, column: start },
    focus: { row: 0, column: start },
  }
  engine.selection.set(extendTo({ ranges: [range] }, { row: 0, column: start + moved.length - 1 }))
}

/** Maximum number of rows moved by one drag. */
const MAX_MOVED = 1000

/** Moves a row, or all checked rows, to the drop line. */
export function movingRow(engine: Engine, row: number, from: Pointer): Mode {
  const ids = movedIds(engine, row)
  return dragMode({
    name: 'movingRow',
    scrolls: 'rows',
    move(pointer) {
      const reason = engine.props.rights.moveRecords
      if (reason !== true || ids.length === 0) return
      if (!engine.preview.get() && !hasLeft(from, pointer)) return
      const { y } = engine.viewport.pointIn(pointer.clientX, pointer.clientY)
      const gap = rowGapAt(engine, y + engine.viewport.top)
      engine.preview.set({ kind: 'rowLine', ...gap, rows: ids.length, pointerY: y })
    },
    drop(pointer) {
      const { commands } = engine
      const { rights } = engine.props
      if (rights.moveRecords !== true && hasLeft(from, pointer))
        return commands.notify(rights.moveRecords, 'info')
      const preview = engine.preview.get()
      if (preview?.kind === 'rowLine') dropRows(engine, ids, preview.gap, preview.into)
    },
    end: () => engine.preview.set(null),
  })
}

function movedIds(engine: Engine, row: number): RecordId[] {
  const record = engine.rowAt(row)
  if (!record) return []
  const checked = engine.checks.checked.get()
  if (checked.kind === 'all' || !isChecked(checked, record.id)) return [record.id]
  const place = (id: RecordId) => engine.props.source.indexOf(id) ?? Number.MAX_SAFE_INTEGER
  return [...checked.ids].slice(0, MAX_MOVED).sort((a, b) => place(a) - place(b))
}

/** A gap between rows, its position, and its group: at a group border there are two. */
interface Gap {
  gap: number
  top: number
  into: GroupNode | null
}

function rowGapAt({ lines, size }: Engine, top: number): Gap {
  const line = lines.lineAt(top)
  if (line === null || line.kind === 'rows') {
    const [first, last] = line ? [line.first, line.first + line.count] : [0, size.rows]
    const start = line?.top ?? 0
    const gap = Math.max(first, Math.min(first + Math.round((top - start) / lines.rowHeight), last))
    return { gap, top: start + (gap - first) * lines.rowHeight, into: line?.group ?? null }
  }
  if (line.kind === 'add') return { gap: line.first, top: line.top, into: line.group }
  if (line.kind === 'more') return { gap: line.first, top: line.top, into: line.parent }
  return { gap: line.first, top: line.top + LINE_HEIGHTS.group, into: line.node }
}

function dropRows(engine: Engine, ids: RecordId[], gap: number, into: GroupNode | null): void {
  const { commands } = engine
  if (into !== null) {
    // The next row belongs to another group, which may be collapsed and not loaded.
    const [next, own] = [engine.rowAt(gap)?.id ?? null, engine.lines.isShown(gap)]
    commands.moveRows(ids, own && next !== null && !ids.includes(next) ? next : null, into)
    return
  }
  const moved = new Set(ids)
  let before = gap
  while (before < engine.size.rows && moved.has(engine.rowAt(before)?.id ?? '')) before++
  const last = engine.size.rows
  const target = before < last ? engine.rowAt(before)?.id : null
  // The target row is not loaded, so its id is unknown.
  if (target === undefined) {
    commands.notify(m.grid_these_rows_are_still_loading(), 'info')
    return
  }
  const isSamePlace = ids.length === 1 && (gap === engine.props.source.indexOf(ids[0]!) || before !== gap)
  if (!isSamePlace) commands.moveRows(ids, target)
}
