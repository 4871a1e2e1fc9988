/** The nearest element around this one that scrolls up and down; null: only the window does. */
export function scrollerOf(element: Element | null): HTMLElement | null {
  for (let around = element?.parentElement; around; around = around.parentElement) {
    if (/auto|scroll/.test(getComputedStyle(around).overflowY)) return around
  }
  return null
}
