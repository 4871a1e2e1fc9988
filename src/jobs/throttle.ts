/** Calls `work` at once, then at most every `everyMs`; a call that came meanwhile is made at the end. */
export function createThrottle(everyMs: number, work: () => void): { call(): void; stop(): void } {
  let timer: Timer | null = null
  let isWanted = false

  function run(): void {
    isWanted = false
    timer = setTimeout(() => {
      timer = null
      if (isWanted) run()
    }, everyMs)
    timer.unref()
    work()
  }

  return {
    call() {
      if (timer) isWanted = true
      else run()
    },
    stop() {
      if (timer) clearTimeout(timer)
      isWanted = false
    },
  }
}
