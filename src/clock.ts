/** Added to this machine's clock to get the shared one, in milliseconds. */
let offsetMs = 0

/**
 * Milliseconds since 1970 by the clock that all servers of an installation share: that of PostgreSQL if it has the
 * metadata (`followClock`), this machine's otherwise. For every time that is stored, or compared with a stored one, as
 * another server may have written it. Durations within one process use `performance.now()` or `Date.now()`.
 */
export const nowMs = (): number => Date.now() + offsetMs

/** As `nowMs`, in ISO 8601 in UTC: `2026-03-01T12:00:00.000Z`. */
export const nowIso = (): string => new Date(nowMs()).toISOString()

/** What a thread or process needs to have the same time, for `setClockOffset`. */
export const clockOffsetMs = (): number => offsetMs

/** Takes over the offset of the server that a thread or process works for. */
export function setClockOffset(ms: number): void {
  offsetMs = ms
}

/**
 * Follows a shared clock that showed `sharedMs` (whole milliseconds, rounded down as those of `Date.now()`) at some moment
 * between `startedMs` and `endedMs` of this machine's clock.
 * The offset changes only if it cannot be right: clocks that agree within the time of the question keep none, and the
 * time never goes back by the inaccuracy of a measurement.
 * @returns the milliseconds by which the offset has changed
 */
export function followClock(sharedMs: number, startedMs: number, endedMs: number): number {
  const before = offsetMs
  offsetMs = Math.min(Math.max(offsetMs, sharedMs - endedMs), sharedMs - startedMs)
  return offsetMs - before
}
