import type { Engine } from '../engine.ts'
import { fillTarget } from '../fill.ts'
import { applyFill } from '../fill-actions.ts'
import { clampCell, lastBounds } from '../selection.ts'
import { dragMode } from './drag.ts'
import type { Mode } from './mode.ts'

/** Dragging the fill handle: a dotted frame follows, and the drop fills it as one change. */
export function filling(engine: Engine): Mode {
  const selection = engine.selection.get()
  const source = selection && lastBounds(selection, engine.size)
  return dragMode({
    name: 'filling',
    scrolls: 'both',
    move({ clientX, clientY }) {
      const cell = clampCell(engine.viewport.cellAt(clientX, clientY), engine.size)
      const target = source && fillTarget(source, cell)
      engine.preview.set(target ? { kind: 'fill', target } : null)
    },
    drop({ ctrlKey, metaKey }) {
      const preview = engine.preview.get()
      if (source && preview?.kind === 'fill') applyFill(engine, source, preview.target, ctrlKey || metaKey)
    },
    end: () => engine.preview.set(null),
  })
}
