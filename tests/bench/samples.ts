import type { Line } from './report.ts'

/** Durations of calls, in milliseconds. */
export interface Sample {
  p50: number
  p95: number
  max: number
}

/** Times calls, one after the other. */
export async function time(times: number, call: (index: number) => Promise<unknown>): Promise<Sample> {
  const took: number[] = []
  for (let index = 0; index < times; index++) {
    const startedAt = performance.now()
    await call(index)
    took.push(performance.now() - startedAt)
  }
  return sampleOf(took)
}

export function sampleOf(took: number[]): Sample {
  const sorted = took.toSorted((a, b) => a - b)
  return { p50: quantile(sorted, 0.5), p95: quantile(sorted, 0.95), max: quantile(sorted, 1) }
}

const quantile = (sorted: number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0

export const lineFor = (work: string, { p50, p95, max }: Sample, limitMs: number, detail = ''): Line => ({
  work,
  result: `p50 ${p50.toFixed(1)}, p95 ${p95.toFixed(1)} ms`,
  promise: `p95 ≤ ${limitMs} ms`,
  holds: p95 <= limitMs,
  detail: `max ${max.toFixed(1)} ms${detail}`,
})
