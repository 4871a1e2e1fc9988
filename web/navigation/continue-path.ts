const PUBLIC_PAGES = /^\/(signin|signup|forgot-password|reset|error|unsubscribe)(\/|\?|$)/i

/** True for a path that needs no session. */
export const isPublicPath = (path: string): boolean => PUBLIC_PAGES.test(path)

/**
 * Validated path to open after sign-in; null if it is not one of ours. It comes from the address bar, so a link may
 * contain anything: `//evil.example`, `https:…` and `javascript:…` give null.
 */
export function readContinuePath(text: unknown): string | null {
  if (typeof text !== 'string' || !text.startsWith('/')) return null
  // Browsers read `\` as `/` and drop tabs and line breaks within an address.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are rejected
  if (/^\/[/\\]|[\u0000-\u001f\\]/.test(text)) return null
  // Continuing to a sign-out would end the new session.
  if (/[?&]logout(=|&|$)/.test(text)) return null
  return text === '/' || isPublicPath(text) ? null : text
}
