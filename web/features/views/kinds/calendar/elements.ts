import type { RecordId } from '../../../../../src/core/model.ts'

/** The first element that a record is drawn as; null where it is not drawn. */
export const elementOf = (root: HTMLElement | null, id: RecordId): HTMLElement | null =>
  [...(root?.querySelectorAll<HTMLElement>('[data-record]') ?? [])].find(
    (one) => one.dataset.record === String(id),
  ) ?? null

/** Gives the focus to a record where it is drawn, else to a day. */
export function focusOn(root: HTMLElement | null, id: RecordId | null, day: string): void {
  const event = id === null ? null : elementOf(root, id)
  const target = event ?? root?.querySelector<HTMLElement>(`[data-day="${day}"]`)
  target?.focus({ preventScroll: true })
}
