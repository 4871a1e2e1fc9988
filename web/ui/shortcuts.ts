/** True on Apple machines, where Cmd does what Ctrl does elsewhere. */
export const isMac = /mac|iphone|ipad/i.test(navigator.platform)

/**
 * Whether a key press is the chord, e.g. `mod+shift+k`, `alt+d`, `?`. Reads the event's own flags, never
 * remembered keys. Letters go by their place on the keyboard as well, because Alt+D types `∂` on a Mac and
 * a Russian or Arabic layout has no D at all.
 */
export function isShortcut(event: KeyboardEvent, chord: string): boolean {
  const parts = chord.split('+')
  const key = parts.pop() ?? ''
  const wants = (name: string) => parts.includes(name)
  if ((isMac ? event.metaKey : event.ctrlKey) !== wants('mod')) return false
  if ((isMac ? event.ctrlKey : event.metaKey) || event.altKey !== wants('alt')) return false
  const isLetter = /^[a-z]$/.test(key)
  // "?" needs Shift on most layouts and on others not: the character decides.
  if ((isLetter || key.length > 1) && event.shiftKey !== wants('shift')) return false
  return event.key.toLowerCase() === key || (isLetter && event.code === `Key${key.toUpperCase()}`)
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
 * True where keys are text: shortcuts without a modifier stay out of it. `data-shortcuts` marks what takes
 * text only to pass it on, as the grid's receiver does.
 */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.dataset.shortcuts === undefined &&
    (target.isContentEditable || target.matches('input, textarea, select, [role="textbox"]'))
  )
}
