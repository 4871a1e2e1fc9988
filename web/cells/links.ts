/** Addresses that a cell may open. Whatever else a value says, `javascript:` included, stays text. */

const SCHEME = /^([a-z][a-z0-9+.-]*):/i
const ALLOWED = new Set(['http', 'https', 'mailto', 'tel'])

/** The address of a URL cell: `example.com/a` is taken for https. Null: nothing that may be opened. */
export function urlHref(text: string): string | null {
  const trimmed = text.trim()
  if (trimmed === '' || /\s/.test(trimmed)) return null
  const scheme = SCHEME.exec(trimmed)?.[1]?.toLowerCase()
  // `localhost:8080` and `example.com:443/a` begin with a host, not with a scheme.
  if (scheme && /^[^:]+:\d+(?:[/?#]|$)/.test(trimmed) && !ALLOWED.has(scheme))
    return checked(`https://${trimmed}`)
  if (scheme) return ALLOWED.has(scheme) ? checked(trimmed) : null
  return checked(`https://${trimmed}`)
}

/** `mailto:` for an address, without anything that would add headers. */
export function emailHref(text: string): string | null {
  const trimmed = text.trim()
  return /^[^\s@?&]+@[^\s@?&]+$/.test(trimmed) ? `mailto:${encodeURI(trimmed)}` : null
}

/** `tel:` with digits and a leading plus alone. */
export function phoneHref(text: string): string | null {
  const digits = text.replace(/[^\d+]/g, '').replace(/(?!^)\+/g, '')
  return digits.length >= 3 ? `tel:${digits}` : null
}

const checked = (address: string): string | null => (URL.canParse(address) ? address : null)
