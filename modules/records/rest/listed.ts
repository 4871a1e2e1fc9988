/**
 * All that a query string says of one parameter, however a client writes a list of it: `a=1,2` (which stays one
 * item), `a=1&a=2`, `a[]=1&a[]=2` (axios, and with it the SDKs) or `a[0]=1&a[1]=2` (qs, and axios within objects).
 *
 * @param names of the parameter, the long one first; the first that is there counts
 * @returns the items as they stand, and whether brackets have parted them already
 */
export function listed(query: URLSearchParams, ...names: string[]): { items: string[]; isParted: boolean } {
  for (const name of names) {
    const bracketed = [...query].flatMap(([key, value]) => (isItemOf(key, name) ? [value] : []))
    if (bracketed.length > 0) return { items: [...query.getAll(name), ...bracketed], isParted: true }
    if (query.has(name)) return { items: query.getAll(name), isParted: false }
  }
  return { items: [], isParted: false }
}

/** Takes parameters out of a query string, however they are written. */
export function dropParameters(query: URLSearchParams, ...names: string[]): void {
  for (const key of [...query.keys()])
    if (names.some((name) => key === name || isItemOf(key, name))) query.delete(key)
}

const isItemOf = (key: string, name: string): boolean =>
  key.startsWith(`${name}[`) && /^\[\d*\]$/.test(key.slice(name.length))
