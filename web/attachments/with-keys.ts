import type { AttachmentItem } from '../../src/core/fields/attachment-item.ts'

/** Files with keys that stay theirs in another order: their place, and of equal ones which of them. */
export function withKeys(
  items: readonly AttachmentItem[],
): { key: string; item: AttachmentItem; at: number }[] {
  const seen = new Map<string, number>()
  return items.map((item, at) => {
    const place = item.path ?? item.url ?? ''
    const copy = seen.get(place) ?? 0
    seen.set(place, copy + 1)
    return { key: `${copy} ${place}`, item, at }
  })
}
