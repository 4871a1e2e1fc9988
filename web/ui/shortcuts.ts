/** True on Apple devices, where Cmd replaces Ctrl. */
export const isMac = /mac|iphone|ipad/i.test(navigator.platform)

/**
 * True if a key press matches a shortcut, e.g. `mod+shift+k`, `alt+d`, `?`. Uses the event's own flags.
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
  // Signs go by what the key types: on a French keyboard, "?" and "," are at the position of M.
  return (isLetter ? letterOf(event) : event.key.toLowerCase()) === key
}

/**
 * The character that a key types, in lower case. Keys that type no Latin letter go by their position: Alt+D types `∂`
 * on a Mac, and Russian or Arabic layouts have no D. Others do not: German keyboards have Y at the position of Z.
 */
export function letterOf({ key, code }: Pick<KeyboardEvent, 'key' | 'code'>): string {
  const letter = key.toLowerCase()
  return /^[a-z]$/.test(letter) || !code.startsWith('Key') ? letter : code.slice(3).toLowerCase()
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

/** Prevents Ctrl/Cmd+A from selecting the page's text (spec §2), where no control has handled it. */
export function preventSelectAll(event: KeyboardEvent): void {
  if (!event.isComposing && isShortcut(event, 'mod+a') && !isTyping(event.target)) event.preventDefault()
}
