import type { Engine } from '../engine.ts'
import { activeCell } from '../selection.ts'
import { canType, startEditing } from './editing.ts'
import type { Mode } from './mode.ts'

/**
 * An input method (Chinese, Japanese, Korean, a dead key, dictation) is writing a word into the grid's
 * hidden text area, which shows over the active cell meanwhile. Moving the focus would break the word off,
 * so the cell's own editor takes over only once it is finished.
 */
function composing(): Mode {
  return {
    name: 'composing',
    onKeyDown(event, engine) {
      // 229: Safari's Enter that chose a word, told after the word has ended.
      if (event.isComposing || event.keyCode === 229) return false
      finishComposing(engine)
      return engine.mode.get().onKeyDown?.(event, engine) ?? false
    },
    onPointerDown(hit, event, engine) {
      finishComposing(engine)
      engine.mode.get().onPointerDown?.(hit, event, engine)
    },
  }
}

/** A word begins. Where the cell takes no text it is dropped when it ends. */
export function startComposing(engine: Engine): void {
  const selection = engine.selection.get()
  if (engine.mode.get().name !== 'idle' || !selection || !canType(engine, activeCell(selection))) return
  engine.select(selection)
  engine.enter(composing())
}

/** Opens the editor of the active cell with what was written into the hidden text area, and empties that. */
export function finishComposing(engine: Engine): void {
  const { receiver, active } = engine
  if (!receiver) return
  const text = receiver.value
  receiver.value = ''
  const wasComposing = engine.mode.get().name === 'composing'
  if (wasComposing) engine.toIdle()
  if (text === '' || !active || engine.mode.get().name !== 'idle') return
  if (!startEditing(engine, active, text)) engine.explainReadOnly(active)
}
