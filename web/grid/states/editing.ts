import { flushSync } from 'react-dom'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import type { Move } from '../../cells/cell.ts'
import type { EditSession, Engine, Mode } from '../engine.ts'
import { activeCell, type CellPosition, selectCell } from '../selection.ts'

/** A cell is being edited. A press elsewhere commits first, if the value is valid. */
function editing(): Mode {
  return {
    name: 'editing',
    leave(engine) {
      engine.session.set(null)
      engine.editor = null
    },
    onKeyDown: (event, engine) => onEditorKey(event, engine),
    onPointerDown(hit, event, engine) {
      if (!leaveEditor(engine)) return event.preventDefault()
      engine.mode.get().onPointerDown?.(hit, event, engine)
    },
  }
}

/** True if a cell's editor can be opened. */
const canType = (engine: Engine, { row, column }: CellPosition): boolean =>
  engine.columns[column]?.cell.Editor !== undefined &&
  engine.rowAt(row) !== undefined &&
  engine.lines.isShown(row) &&
  engine.canEdit(column)

/**
 * Opens the editor of a cell; false if the cell cannot be edited. When this returns, the editor is mounted
 * and focused, so that no keystroke is lost.
 */
export function startEditing(engine: Engine, { row, column }: CellPosition, typed: string | null): boolean {
  const target = engine.columns[column]
  const record = engine.rowAt(row)
  if (!target || !record || !canType(engine, { row, column })) return false
  const opened = record.values(target.fieldId)
  engine.select(selectCell({ row, column }))
  flushSync(() => {
    engine.enter(editing())
    engine.session.set({
      row,
      column,
      fieldId: target.fieldId,
      recordId: record.id,
      opened,
      typed,
      message: null,
    })
  })
  return true
}

/** Handles Enter, Tab and Escape unless the editor has used them (a list, a line break). */
function onEditorKey(event: KeyboardEvent, engine: Engine): boolean {
  // Input methods use Enter and Escape to choose words.
  if (event.isComposing || event.defaultPrevented) return false
  if (event.key === 'Escape') {
    cancelEditor(engine)
    return true
  }
  if (event.key === 'Enter') {
    if (leaveEditor(engine, event.shiftKey ? 'up' : 'down') && (event.ctrlKey || event.metaKey))
      addRowBelow(engine)
    return true
  }
  if (event.key === 'Tab') {
    leaveEditor(engine, event.shiftKey ? 'previous' : 'next')
    return true
  }
  return false
}

function addRowBelow(engine: Engine): void {
  const column = engine.rowStart
  const row = engine.props.rights.addRecords ? engine.commands.addRow(null) : null
  if (row !== null) engine.select(selectCell({ row, column }))
}

/** Closes the editor and discards its input. */
export function cancelEditor(engine: Engine): void {
  engine.toIdle()
  engine.focus()
}

/**
 * Commits the editor and closes it. False if its text is invalid: it stays open with a message, and the
 * stored value is unchanged. Without `takeFocus`, the focus is not changed.
 */
export function leaveEditor(engine: Engine, move: Move = 'stay', takeFocus = true): boolean {
  const session = engine.session.get()
  if (!session) return true
  const draft = engine.draft()
  if (draft && !draft.ok) {
    engine.session.set({ ...session, message: draft.message })
    engine.announce(draft.message)
    if (takeFocus) engine.editor?.focus()
    return false
  }
  closeWith(engine, session, draft ? draft.value : session.opened, move, takeFocus)
  return true
}

/** Commits an editor whose cell is no longer drawn, if its text is valid, and ends the session. */
export function leaveRemovedEditor(engine: Engine): void {
  if (leaveEditor(engine, 'stay', false)) return
  const message = engine.session.get()?.message
  engine.toIdle()
  if (message) engine.commands.notify(message, 'error')
}

/** Commits a value chosen in the editor (from a list, a calendar) and closes it. */
export function commitEditor(engine: Engine, value: CellValue, move: Move = 'stay'): void {
  const session = engine.session.get()
  if (session) closeWith(engine, session, value, move, true)
}

function closeWith(
  engine: Engine,
  session: EditSession,
  value: CellValue,
  move: Move,
  takeFocus: boolean,
): void {
  engine.toIdle()
  if (takeFocus) engine.focus()
  store(engine, session, value)
  engine.moveAfter(move, { row: session.row, column: session.column })
}

/** Writes the value of an editor, if it was changed. */
export function store(engine: Engine, session: EditSession, value: CellValue): void {
  const { fieldId, recordId, opened } = session
  if (Object.is(value, opened)) return
  const rowIndex = engine.props.source.indexOf(recordId) ?? session.row
  const { setEdited } = engine.commands
  if (setEdited) setEdited({ rowIndex, recordId, fieldId, value, opened })
  else engine.setCells([{ rowIndex, recordId, fieldId, value }])
}

/**
 * An input method (Chinese, Japanese, Korean, a dead key, dictation) composes text in the grid's hidden text area,
 * shown over the active cell. Moving the focus would abort the composition, so the cell's editor opens after it.
 */
function composing(): Mode {
  return {
    name: 'composing',
    onKeyDown(event, engine) {
      // 229: in Safari, the Enter that confirms a word arrives after the composition has ended.
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

/** Starts a composition; its text is discarded if the cell is not editable. */
export function startComposing(engine: Engine): void {
  const selection = engine.selection.get()
  if (engine.mode.get().name !== 'idle' || !selection || !canType(engine, activeCell(selection))) return
  engine.select(selection)
  engine.enter(composing())
}

/** Opens the active cell's editor with the composed text, and clears the text area. */
export function finishComposing(engine: Engine): void {
  const { receiver, active } = engine
  if (!receiver) return
  const text = receiver.value
  receiver.value = ''
  const wasComposing = engine.mode.get().name === 'composing'
  if (wasComposing) engine.toIdle()
  if (text === '' || !active) return
  const { name } = engine.mode.get()
  // A word in the making is behind held keys, which have opened the editor.
  if (name === 'editing') document.execCommand('insertText', false, text)
  if (name !== 'idle') return
  if (!startEditing(engine, active, text)) engine.explainReadOnly(active)
}
