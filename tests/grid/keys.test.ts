import { describe, expect, test } from 'bun:test'
import { intentOf, type KeyEventLike } from '../../web/grid/keys.ts'
import { isMac, isShortcut, stepOfKey } from '../../web/ui/shortcuts.ts'

const pc = { rtl: false, mac: false }
const mac = { rtl: false, mac: true }

function press(keys: string, over: Partial<KeyEventLike> = {}): KeyEventLike {
  const parts = keys.split('+')
  const key = parts.at(-1) ?? ''
  return {
    key: key === 'Space' ? ' ' : key,
    code: /^[a-z]$/i.test(key) ? `Key${key.toUpperCase()}` : key,
    ctrlKey: parts.includes('Ctrl'),
    metaKey: parts.includes('Cmd'),
    shiftKey: parts.includes('Shift'),
    altKey: parts.includes('Alt'),
    ...over,
  }
}

describe('the keyboard map', () => {
  test.each([
    ['ArrowDown', { kind: 'move', step: 'down', extend: false }],
    ['Shift+ArrowUp', { kind: 'move', step: 'up', extend: true }],
    ['Ctrl+Shift+ArrowRight', { kind: 'move', step: 'edgeEnd', extend: true }],
    ['Ctrl+Home', { kind: 'move', step: 'gridStart', extend: false }],
    ['End', { kind: 'move', step: 'rowEnd', extend: false }],
    ['PageDown', { kind: 'move', step: 'pageDown', extend: false }],
    ['Shift+Tab', { kind: 'tab', back: true }],
    ['Enter', { kind: 'enter', back: false }],
    ['Ctrl+Enter', { kind: 'addRow' }],
    ['F2', { kind: 'edit' }],
    ['Space', { kind: 'expand' }],
    ['Shift+Space', { kind: 'selectRow' }],
    ['Ctrl+Space', { kind: 'selectColumn' }],
    ['Ctrl+a', { kind: 'selectAll' }],
    ['Ctrl+z', { kind: 'undo' }],
    ['Ctrl+Shift+Z', { kind: 'redo' }],
    ['Ctrl+y', { kind: 'redo' }],
    ['Ctrl+d', { kind: 'fillDown' }],
    ['Ctrl+r', { kind: 'fillEnd' }],
    ['Ctrl+;', { kind: 'insertToday' }],
    ['Ctrl+Shift+:', { kind: 'insertNow' }],
    ['Backspace', { kind: 'clear' }],
    ['ContextMenu', { kind: 'contextMenu' }],
    ['Shift+F10', { kind: 'contextMenu' }],
    ['Ctrl+Shift+V', { kind: 'pasteAsText' }],
    ['x', { kind: 'type', text: 'x' }],
    ['Shift+Ä', { kind: 'type', text: 'Ä' }],
    ['🎉', { kind: 'type', text: '🎉' }],
  ] as const)('%s', (keys, intent) => {
    expect(intentOf(press(keys), pc)).toEqual(intent)
  })

  test.each([
    'Ctrl+c',
    'Ctrl+x',
    'Ctrl+v',
    'Ctrl+k',
    'Ctrl+f',
    'Alt+r',
    'Alt+c',
    'F5',
    'Shift',
    'Control',
    'Alt+ArrowUp',
  ])('leaves %s to the browser or the app', (keys) => {
    expect(intentOf(press(keys), pc)).toBeNull()
  })

  test('never types with Alt, except what AltGr writes', () => {
    expect(intentOf(press('Alt+q'), pc)).toBeNull()
    expect(intentOf(press('Ctrl+Alt+@', { code: 'KeyQ' }), pc)).toEqual({ kind: 'type', text: '@' })
    expect(intentOf(press('Ctrl+Alt+a'), pc)).toBeNull()
  })

  test('mirrors the arrows from right to left', () => {
    const rtl = { rtl: true, mac: false }
    expect(intentOf(press('ArrowLeft'), rtl)).toEqual({ kind: 'move', step: 'end', extend: false })
    expect(intentOf(press('Ctrl+ArrowRight'), rtl)).toEqual({
      kind: 'move',
      step: 'edgeStart',
      extend: false,
    })
  })

  test('knows Cmd on a Mac', () => {
    expect(intentOf(press('Cmd+z'), mac)).toEqual({ kind: 'undo' })
    expect(intentOf(press('Cmd+ArrowDown'), mac)).toEqual({ kind: 'move', step: 'edgeDown', extend: false })
    expect(intentOf(press('Cmd+c'), mac)).toBeNull()
  })

  test('finds the letter of a chord on a Cyrillic keyboard', () => {
    expect(intentOf(press('Ctrl+я', { code: 'KeyZ' }), pc)).toEqual({ kind: 'undo' })
  })

  test.each(['Process', 'Dead', 'Unidentified'])('leaves %s to the input method', (key) => {
    expect(intentOf(press(key), pc)).toBeNull()
  })

  test('takes the position of the semicolon only where it types no Latin letter', () => {
    // Colemak has O there, Russian keyboards ж.
    expect(intentOf(press('Ctrl+o', { code: 'Semicolon' }), pc)).toEqual({ kind: 'openLink' })
    expect(intentOf(press('Ctrl+ж', { code: 'Semicolon' }), pc)).toEqual({ kind: 'insertToday' })
  })
})

describe('the shortcuts of the app', () => {
  const mod = isMac ? 'Cmd' : 'Ctrl'
  const pressed = (keys: string, code: string) => press(keys, { code }) as KeyboardEvent

  test('go by the letter that a key types', () => {
    // On German keyboards, Z and Y have changed places.
    expect(stepOfKey(pressed(`${mod}+y`, 'KeyZ'))).toBe('redo')
    expect(stepOfKey(pressed(`${mod}+z`, 'KeyY'))).toBe('undo')
    // Dvorak has X at the position of B.
    expect(isShortcut(pressed(`${mod}+x`, 'KeyB'), 'mod+b')).toBe(false)
  })

  test('go by the position of a key that types no Latin letter', () => {
    expect(stepOfKey(pressed(`${mod}+я`, 'KeyZ'))).toBe('undo')
    expect(isShortcut(pressed('Alt+∂', 'KeyD'), 'alt+d')).toBe(true)
    expect(isShortcut(pressed('Shift+?', 'KeyM'), '?')).toBe(true)
  })
})
