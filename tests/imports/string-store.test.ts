import { describe, expect, test } from 'bun:test'
import { createStringStore } from '../../modules/imports/readers/excel/string-store.ts'
import { cpuTimeMs } from '../support/cpu-time.ts'

describe('createStringStore', () => {
  /** Texts of different lengths, some longer than a page of the file. */
  const textAt = (n: number) => (n % 977 === 0 ? `${n} `.repeat(2000) : `Text ${n} with ü, 語 and 😀`)

  test('gives the strings that are in the file, in any order', () => {
    const store = createStringStore(1000)
    try {
      for (let n = 0; n < 20_000; n++) store.add(textAt(n))
      for (let n = 0; n < 20_000; n++) {
        const at = (n * 7919) % 20_000
        if (store.get(at) !== textAt(at)) expect(store.get(at)).toBe(textAt(at))
      }
      expect(store.get(20_000)).toBeUndefined()
      expect(store.get(-1)).toBeUndefined()
    } finally {
      store.close()
    }
  })

  test('gives strings in any order in about the time that they take in theirs', () => {
    const [count, looked] = [150_000, 50_000]
    const store = createStringStore(0)
    const timeOf = (at: (n: number) => number): number => {
      const startedAt = cpuTimeMs()
      for (let n = 0; n < looked; n++) store.get(at(n))
      return cpuTimeMs() - startedAt
    }
    try {
      // Four times as much as is kept of the file.
      for (let n = 0; n < count; n++) store.add(`${n} `.padEnd(400, 'x'))
      const ratios = [1, 2, 3].map(
        (round) => timeOf((n) => (n * 104_729 * round) % count) / timeOf((n) => n * round),
      )
      expect(Math.min(...ratios)).toBeLessThan(10)
    } finally {
      store.close()
    }
  })
})
