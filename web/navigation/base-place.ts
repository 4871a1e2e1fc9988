/** The base, and table if any, in an app URL such as `/nc/p123/m456`. */
export function readBasePlace(path: string): { baseId: string; tableId: string | undefined } | null {
  // Account pages have a name in place of the base id; `profile` would match the pattern.
  const found = /^\/(?!account\/|profile\/)[^/]+\/(p[a-z0-9_]{6,})(?:\/(m[a-z0-9_]+))?/.exec(path)
  return found?.[1] === undefined ? null : { baseId: found[1], tableId: found[2] }
}
