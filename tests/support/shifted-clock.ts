/*
 * Preloaded by a server process (`BUN_OPTIONS=--preload=…`) whose clock is to differ by CLOCK_SHIFT_MS from that of the
 * machine, in all its threads. Files and timers keep the machine's clock.
 */

const shiftMs = Number(process.env.CLOCK_SHIFT_MS ?? 0)
const RealDate = Date

class ShiftedDate extends RealDate {
  constructor(...given: []) {
    if (given.length === 0) super(ShiftedDate.now())
    else super(...given)
  }
  static override now(): number {
    return RealDate.now() + shiftMs
  }
}
globalThis.Date = ShiftedDate as DateConstructor

globalThis.Worker = class extends Worker {
  constructor(script: string | URL, options: WorkerOptions = {}) {
    super(script, { ...options, preload: [import.meta.path] })
  }
}
