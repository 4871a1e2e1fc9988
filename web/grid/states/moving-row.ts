import type { RecordId } from '../../../src/core/model.ts'
import { m } from '../../messages.gen.ts'
import { isChecked } from '../checks.ts'
import type { Engine } from '../engine.ts'
import { LINE_HEIGHTS } from '../groups/row-lines.ts'
import type { GroupNode } from '../groups/tree.ts'
import { dragMode, hasLeft } from './drag.ts'
import type { Mode, Pointer } from './mode.ts'

/** Most rows that a drag carries: those ticked among the rows in memory, near the one that is dragged. */
const MAX_MOVED = 1000

/** Dragging the handle at a row's start: a line shows where the row, or all that are ticked, would go. */
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
      const gap = gapAt(engine, y + engine.viewport.top)
      engine.preview.set({ kind: 'rowLine', ...gap, rows: ids.length, pointerY: y })
    },
    drop(pointer) {
      const { rights, commands } = engine.props
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

/** A place between two rows, where it lies, and the group that it belongs to: at its border there are two. */
interface Gap {
  gap: number
  top: number
  into: GroupNode | null
}

function gapAt({ lines, size }: Engine, top: number): Gap {
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
  const { commands } = engine.props
  if (into !== null) {
    // Behind the last of a group comes the first of another, which may be closed and not loaded.
    const [next, own] = [engine.rowAt(gap)?.id ?? null, engine.lines.isShown(gap)]
    commands.moveRows(ids, own && next !== null && !ids.includes(next) ? next : null, into)
    return
  }
  const moved = new Set(ids)
  let before = gap
  while (before < engine.size.rows && moved.has(engine.rowAt(before)?.id ?? '')) before++
  const last = engine.size.rows
  const target = before < last ? engine.rowAt(before)?.id : null
  // A row that is not loaded cannot be named; it is loaded by the time one has seen it.
  if (target === undefined) {
    commands.notify(m.grid_these_rows_are_still_loading(), 'info')
    return
  }
  const isSamePlace = ids.length === 1 && (gap === engine.props.source.indexOf(ids[0]!) || before !== gap)
  if (!isSamePlace) commands.moveRows(ids, target)
}
