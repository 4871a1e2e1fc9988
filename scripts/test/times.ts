import { readdirSync, readFileSync } from 'node:fs'
import { cpus } from 'node:os'

/** Linux counts processor time in ticks of a hundredth of a second (`getconf CLK_TCK`). */
const TICK_MS = 10

/** The line with which `bun test` begins a file, before it loads it. */
const BEGINNING = /^(\S+\.(?:test|e2e)\.tsx?):$/
/** The first line of its summary: the process and its browser have just ended their work. */
const SUMMARY = /^ *\d+ pass$/

/** Files in the list at the end of a run. */
const LISTED_FILES = 40

/** What a test file took. */
export interface FileTime {
  file: string
  clockMs: number
  /** Of its process with all that it has started, such as servers and a browser; 0 where the system does not tell. */
  processorMs: number
}

/** Measures the files that a `bun test` process runs one after the other, by what it prints. */
export function watchFiles(pid: number) {
  const times: FileTime[] = []
  const used = watchProcessor(pid)
  let current: { file: string; startedAt: number; usedBefore: number } | null = null
  let incomplete = ''

  function finish(): void {
    if (!current) return
    const { file, startedAt, usedBefore } = current
    times.push({ file, clockMs: performance.now() - startedAt, processorMs: used.readMs() - usedBefore })
    current = null
  }

  return {
    /** Takes what the process has printed. */
    read(text: string): void {
      const lines = (incomplete + text).split('\n')
      incomplete = lines.pop() ?? ''
      for (const line of lines) {
        const plain = Bun.stripANSI(line)
        const [, file] = BEGINNING.exec(plain) ?? []
        if (file !== undefined || SUMMARY.test(plain)) finish()
        if (file !== undefined) current = { file, startedAt: performance.now(), usedBefore: used.readMs() }
      }
    },
    /** The times of all files, once the process has ended. */
    end(): FileTime[] {
      finish()
      used.stop()
      return times
    },
  }
}

/** A browser ends together with its process: what it has used was read shortly before. */
const READ_EVERY_MS = 2_000

/** The processor time of a process and all that it has started, also of what has ended meanwhile. */
function watchProcessor(pid: number) {
  let last = 0
  /** Of processes that ended and whose time no other process has. */
  let ended = 0
  const readMs = (): number => {
    const now = processorMsOf(pid)
    if (now < last) ended += last - now
    last = now
    return ended + now
  }
  const timer = setInterval(readMs, READ_EVERY_MS)
  return { readMs, stop: () => clearInterval(timer) }
}

/** Processor time of a running process and those below it, with children that it has waited for; 0 where there is no /proc. */
function processorMsOf(pid: number): number {
  const children = new Map<number, number[]>()
  const ticks = new Map<number, number>()
  for (const name of process.platform === 'linux' ? readdirSync('/proc') : []) {
    const fields = /^\d+$/.test(name) ? readStat(name) : null
    if (!fields) continue
    const [parent, own] = [Number(fields[1]), Number(name)]
    children.set(parent, [...(children.get(parent) ?? []), own])
    // `utime`, `stime`, `cutime` and `cstime`.
    ticks.set(
      own,
      fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0),
    )
  }
  const total = (of: number): number =>
    (children.get(of) ?? []).reduce((sum, child) => sum + total(child), ticks.get(of) ?? 0)
  return total(pid) * TICK_MS
}

/** The fields of `/proc/PID/stat` from the state on; null if the process has ended. */
function readStat(pid: string): string[] | null {
  try {
    // The name of the program, in parentheses, may contain spaces.
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? null
  } catch {
    return null
  }
}

/** Measures how long the stages of a run take, and how busy the processors are. */
export function createStages() {
  const stages: { name: string; clockMs: number; busyMs: number }[] = []
  let current: { name: string; startedAt: number; busyBefore: number } | null = null

  function finish(): void {
    if (!current) return
    const { name, startedAt, busyBefore } = current
    stages.push({ name, clockMs: performance.now() - startedAt, busyMs: readBusyMs() - busyBefore })
  }

  return {
    /** Begins a stage, which ends the one before; nothing if it has begun. */
    begin(name: string): void {
      if (current?.name === name) return
      finish()
      current = { name, startedAt: performance.now(), busyBefore: readBusyMs() }
    },
    /** One line for each stage. */
    end(): string[] {
      finish()
      return stages.map(({ name, clockMs, busyMs }) => {
        const busyPercent = (100 * busyMs) / (clockMs * cpus().length)
        return `${seconds(clockMs)} s  ${name}, processors ${busyPercent.toFixed(0)} % busy`
      })
    },
  }
}

/** Time that all processors of the machine have worked. */
const readBusyMs = (): number =>
  cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0)

const seconds = (ms: number): string => (ms / 1000).toFixed(0).padStart(5)

/** Lines with the files that took most processor time. */
export function formatFileTimes(times: readonly FileTime[]): string[] {
  const costliest = times.toSorted((one, other) => other.processorMs - one.processorMs).slice(0, LISTED_FILES)
  return costliest.map(
    ({ file, clockMs, processorMs }) => `${seconds(processorMs)} s in ${seconds(clockMs)} s  ${file}`,
  )
}
