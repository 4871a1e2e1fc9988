/** The base, and table if any, in an app URL such as `/nc/p123/m456`. */
export function readBasePlace(path: string): { baseId: string; tableId: string | undefined } | null {
  // A user's own pages have a name where a base has its id, and `profile` could be one.
  const found = /^\/(?!account\/|profile\/)[^/]+\/(p[a-z0-9_]{6,})(?:\/(m[a-z0-9_]+))?/.exec(path)
  return found?.[1] === undefined ? null : { baseId: found[1], tableId: found[2] }
}
