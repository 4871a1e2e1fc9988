import type { Engine } from '../engine.ts'
import { gapAt } from '../layout.ts'
import { extendTo } from '../selection.ts'
import { dragMode, hasLeft } from './drag.ts'
import type { Mode, Pointer } from './mode.ts'
import { columnsWith } from './resizing.ts'

/**
 * Dragging a header moves its column, or all that are selected with it, to the line that is drawn;
 * dragging the divider behind the frozen columns freezes those before it.
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
        engine.props.commands.freezeColumns(preview.count)
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
  engine.props.commands.moveColumns(ids, engine.columns[before]?.fieldId ?? null)
  // The selection goes with the columns.
  const start = gap - moved.filter((column) => column < gap).length
  const range = {
    kind: 'columns' as const,
    anchor: { row: 0, column: start },
    focus: { row: 0, column: start },
  }
  engine.selection.set(extendTo({ ranges: [range] }, { row: 0, column: start + moved.length - 1 }))
}
