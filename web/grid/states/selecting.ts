import type { Engine } from '../engine.ts'
import { clampCell, extendTo, focusCell } from '../selection.ts'
import { dragMode } from './drag.ts'
import type { Mode } from './mode.ts'

/** Drawing a range from the active cell, or a run of rows from the active row. */
export function selecting(engine: Engine, kind: 'cells' | 'rows'): Mode {
  return dragMode({
    name: 'selecting',
    scrolls: kind === 'rows' ? 'rows' : 'both',
    move({ clientX, clientY }) {
      const selection = engine.selection.get()
      if (!selection) return
      const cell = clampCell(engine.viewport.cellAt(clientX, clientY), engine.size)
      const before = focusCell(selection)
      if (cell.row === before.row && cell.column === before.column) return
      engine.selection.set(extendTo(selection, cell))
    },
    drop() {},
  })
}
