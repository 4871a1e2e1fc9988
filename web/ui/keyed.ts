/**
 * Keys for items that have no id and may be equal: the text of each, and which of the equal ones it is. An item
 * keeps its key when others are added, removed or moved.
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
