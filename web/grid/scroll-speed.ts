/** How fast one scrolls, in pixels a second: downwards above 0. */
export class ScrollSpeed {
  now = 0
  private lastAt = 0

  /** A step of the scrolling; one over more than `jump` pixels is no speed. */
  note(delta: number, jump: number): void {
    const at = performance.now()
    const seconds = (at - this.lastAt) / 1000
    this.lastAt = at
    if (seconds > 0.2 || Math.abs(delta) > jump) this.now = 0
    else this.now = this.now * 0.6 + (delta / Math.max(seconds, 0.008)) * 0.4
  }
}
