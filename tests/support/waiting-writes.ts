import { spyOn } from 'bun:test'
import type { Engine } from '../../src/dialects/dialect.ts'
import { until } from './until.ts'

const WRITES = ['write', 'writeTogether', 'writeScript'] as const

/**
 * Follows the writes that an engine is asked for, which wait while something else has its turn. `until` waits for so many
 * since its last call.
 */
export function followWrites(engine: Engine): { until(count: number): Promise<void>; stop(): void } {
  const spies = WRITES.map((name) => spyOn(engine, name))
  const asked = () => spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0)
  let seen = 0
  return {
    async until(count) {
      await until(() => asked() >= seen + count, `${count} writes that wait`)
      seen = asked()
    },
    stop() {
      for (const spy of spies) spy.mockRestore()
    },
  }
}
