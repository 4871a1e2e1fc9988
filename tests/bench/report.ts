import type { Outcome } from './ratios.ts'

/** A line of the table: what was measured, what is promised, and whether it holds. */
export interface Line {
  work: string
  result: string
  promise: string
  /** Null where nothing is promised. */
  holds: boolean | null
  /** What the result was made of. */
  detail: string
}

/** The line of a contest: the share of the bare server's requests, and of its processor time. */
export function lineOf({ contest, ours, bare }: Outcome): Line {
  const ratio = ours.requestsPerSecond / bare.requestsPerSecond
  const cpu = bare.cpuMicros / ours.cpuMicros
  const side = (name: string, { requestsPerSecond, cpuMicros, p99Ms }: Outcome['ours']) =>
    `${name} ${requestsPerSecond.toFixed(requestsPerSecond < 100 ? 1 : 0)}/s, ${cpuMicros.toFixed(0)} µs cpu, p99 ${p99Ms.toFixed(1)} ms`
  return {
    work: contest.name,
    result: `${ratio.toFixed(2)} of bare (by cpu ${cpu.toFixed(2)})`,
    promise: contest.promise === null ? '' : `≥ ${contest.promise.toFixed(2)}`,
    holds: contest.promise === null ? null : ratio >= contest.promise,
    detail: `${side('ours', ours)}; ${side('bare', bare)}`,
  }
}

export function printTable(lines: Line[]): void {
  const columns = (['work', 'result', 'promise'] as const).map((key) =>
    Math.max(key.length, ...lines.map((line) => line[key].length)),
  )
  const row = (cells: string[]) => cells.map((cell, index) => cell.padEnd(columns[index] ?? 0)).join('  ')
  console.log(row(['work', 'result', 'promise']))
  for (const line of lines) {
    const verdict = line.holds === null ? '' : line.holds ? 'holds' : 'BROKEN'
    console.log(`${row([line.work, line.result, line.promise])}  ${verdict.padEnd(6)}  ${line.detail}`)
  }
}
