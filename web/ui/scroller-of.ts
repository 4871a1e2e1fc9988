/** The nearest ancestor that scrolls vertically; null if only the window does. */
export function scrollerOf(element: Element | null): HTMLElement | null {
  for (let around = element?.parentElement; around; around = around.parentElement) {
    if (/auto|scroll/.test(getComputedStyle(around).overflowY)) return around
  }
  return null
}
