import { letterOf } from '../ui/shortcuts.ts'
import type { Step } from './selection.ts'

/** Properties of a keydown event. */
export interface KeyEventLike {
  key: string
  code: string
  ctrlKey: boolean
  metaKey: boolean
  shiftKey: boolean
  altKey: boolean
}

/** Meaning of a key on a selected cell (ui §4.4). */
export type Intent =
  | { kind: 'move'; step: Step; extend: boolean }
  | { kind: 'tab'; back: boolean }
  | { kind: 'enter'; back: boolean }
  | { kind: 'addRow' }
  | { kind: 'edit' }
  | { kind: 'type'; text: string }
  | { kind: 'escape' }
  | { kind: 'expand' }
  | { kind: 'selectRow' }
  | { kind: 'selectColumn' }
  | { kind: 'selectAll' }
  | { kind: 'clear' }
  | { kind: 'undo' }
  | { kind: 'redo' }
  | { kind: 'fillDown' }
  | { kind: 'fillEnd' }
  | { kind: 'insertToday' }
  | { kind: 'insertNow' }
  | { kind: 'openLink' }
  | { kind: 'contextMenu' }
  | { kind: 'pasteAsText' }

/** Key mapping inputs besides the event. */
interface KeyContext {
  /** In RTL, the left arrow moves to the next column. */
  rtl: boolean
  /** On a Mac, Cmd is the command modifier, except for Space, which uses Ctrl. */
  mac: boolean
}

/**
 * Maps a key to an intent; null leaves the event to the browser (copy, cut and paste have separate events) or
 * the app (Alt+R, Ctrl+K, "?"). Alt with a letter never types, so it cannot clear a cell.
 */
export function intentOf(event: KeyEventLike, context: KeyContext): Intent | null {
  const command = context.mac ? event.metaKey : event.ctrlKey
  const arrow = arrowOf(event, context, command)
  if (arrow) return arrow
  if (event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey)) return { kind: 'contextMenu' }
  if (event.altKey && event.key !== 'Enter') return typedByAltGr(event)
  if (command || event.ctrlKey) return chordOf(event)
  return event.metaKey ? null : plainKeyOf(event)
}

function arrowOf(event: KeyEventLike, { rtl }: KeyContext, command: boolean): Intent | null {
  if (event.altKey) return null
  const move = (step: Step): Intent => ({ kind: 'move', step, extend: event.shiftKey })
  switch (event.key) {
    case 'ArrowUp':
      return move(command ? 'edgeUp' : 'up')
    case 'ArrowDown':
      return move(command ? 'edgeDown' : 'down')
    case 'ArrowLeft':
      return rtl ? move(command ? 'edgeEnd' : 'end') : move(command ? 'edgeStart' : 'start')
    case 'ArrowRight':
      return rtl ? move(command ? 'edgeStart' : 'start') : move(command ? 'edgeEnd' : 'end')
    case 'Home':
      return move(command ? 'gridStart' : 'rowStart')
    case 'End':
      return move(command ? 'gridEnd' : 'rowEnd')
    case 'PageUp':
      return command ? null : move('pageUp')
    case 'PageDown':
      return command ? null : move('pageDown')
    default:
      return null
  }
}

function chordOf(event: KeyEventLike): Intent | null {
  // By position where a layout has no semicolon, as letters are (`letterOf`). With Shift it is ":" on a US keyboard.
  const isAtSemicolon = event.code === 'Semicolon' && !/^[a-z]$/i.test(event.key)
  if (isAtSemicolon || event.key === ';' || event.key === ':') {
    return { kind: event.shiftKey ? 'insertNow' : 'insertToday' }
  }
  if (event.key === ' ') return { kind: 'selectColumn' }
  if (event.key === 'Enter') return event.shiftKey ? null : { kind: 'addRow' }
  switch (letterOf(event)) {
    case 'a':
      return event.shiftKey ? null : { kind: 'selectAll' }
    case 'z':
      return { kind: event.shiftKey ? 'redo' : 'undo' }
    case 'y':
      return event.shiftKey ? null : { kind: 'redo' }
    case 'd':
      return event.shiftKey ? null : { kind: 'fillDown' }
    case 'r':
      return event.shiftKey ? null : { kind: 'fillEnd' }
    case 'o':
      return event.shiftKey ? null : { kind: 'openLink' }
    case 'v':
      return event.shiftKey ? { kind: 'pasteAsText' } : null
    default:
      return null
  }
}

function plainKeyOf(event: KeyEventLike): Intent | null {
  switch (event.key) {
    case 'Tab':
      return { kind: 'tab', back: event.shiftKey }
    case 'Enter':
      return { kind: 'enter', back: event.shiftKey }
    case 'F2':
      return { kind: 'edit' }
    case 'Escape':
      return { kind: 'escape' }
    case ' ':
      return { kind: event.shiftKey ? 'selectRow' : 'expand' }
    case 'Delete':
    case 'Backspace':
      return { kind: 'clear' }
    // `Process` and `Dead` belong to the input method, whose text arrives in the receiver.
    default:
      return isCharacter(event.key) ? { kind: 'type', text: event.key } : null
  }
}

/** AltGr (reported as Ctrl+Alt on Windows) types characters such as @ or €; plain Alt is a command. */
function typedByAltGr(event: KeyEventLike): Intent | null {
  const types = event.ctrlKey && isCharacter(event.key) && !/^[a-z0-9]$/i.test(event.key)
  return types ? { kind: 'type', text: event.key } : null
}

/** True for a single character; names of keys such as `Shift` are longer. */
const isCharacter = (key: string): boolean => [...key].length === 1
