/**
 * Keys for items without ids that may be equal: an item's text and its count among equal ones. Items keep their keys
 * when others are added, removed or moved.
 */
export function keyed<T>(
  items: readonly T[],
  textOf: (item: T) => string = String,
): { key: string; item: T; at: number }[] {
  const seen = new Map<string, number>()
  return items.map((item, at) => {
    const text = textOf(item)
    const copy = seen.get(text) ?? 0
    seen.set(text, copy + 1)
    return { key: `${copy} ${text}`, item, at }
  })
}
