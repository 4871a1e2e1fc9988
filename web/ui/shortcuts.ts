/** True on Apple devices, where Cmd replaces Ctrl. */
export const isMac = /mac|iphone|ipad/i.test(navigator.platform)

/**
 * True if a key press matches a shortcut, e.g. `mod+shift+k`, `alt+d`, `?`. Uses the event's own flags.
 * Letters also match by key position: Alt+D types `∂` on a Mac, and Russian or Arabic layouts have no D.
 */
export function isShortcut(event: KeyboardEvent, chord: string): boolean {
  const parts = chord.split('+')
  const key = parts.pop() ?? ''
  const wants = (name: string) => parts.includes(name)
  if ((isMac ? event.metaKey : event.ctrlKey) !== wants('mod')) return false
  if ((isMac ? event.ctrlKey : event.metaKey) || event.altKey !== wants('alt')) return false
  const isLetter = /^[a-z]$/.test(key)
  // "?" needs Shift on most, but not all layouts, so only the character counts.
  if ((isLetter || key.length > 1) && event.shiftKey !== wants('shift')) return false
  return event.key.toLowerCase() === key || (isLetter && event.code === `Key${key.toUpperCase()}`)
}

/** The step that a key press asks for; null if none. */
export function stepOfKey(event: KeyboardEvent): 'undo' | 'redo' | null {
  if (isShortcut(event, 'mod+z')) return 'undo'
  return isShortcut(event, 'mod+shift+z') || isShortcut(event, 'mod+y') ? 'redo' : null
}

/** The shortcut in this platform's notation: `Ctrl+Shift+K`, `⇧⌘K`. */
export function shortcutLabel(chord: string): string {
  const names: Record<string, string> = isMac
    ? { mod: '⌘', shift: '⇧', alt: '⌥', enter: '↵' }
    : { mod: 'Ctrl', shift: 'Shift', alt: 'Alt', enter: 'Enter' }
  return chord
    .split('+')
    .map((part) => names[part] ?? (part.length === 1 ? part.toUpperCase() : part))
    .join(isMac ? '' : '+')
}

/**
 * True in text inputs, where shortcuts without a modifier do not apply. `data-shortcuts` marks inputs that forward
 * their text, such as the grid's receiver.
 */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.dataset.shortcuts === undefined &&
    (target.isContentEditable || target.matches('input, textarea, select, [role="textbox"]'))
  )
}
