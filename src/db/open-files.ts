import { readFileSync } from 'node:fs'

/** A database file that is open, and can be closed and opened again without anybody noticing. */
export interface OpenFile {
  /** Grows with each use, see `OpenFiles.tick`. */
  usedAt: number
  /** True while somebody writes through it. */
  isBusy(): boolean
  /** Gives back its file descriptors. */
  close(): void
}

/** The database files that are open at once, so that their number stays within a budget. */
export interface OpenFiles {
  /** Runs `open`, closing what was not used for longest where the budget, or the system, has no room. */
  admit(file: OpenFile, open: () => void): void
  /** Waits while all that may be open are busy; undefined where there is room. */
  room(): Promise<void> | undefined
  /** To be called where a file is not busy any more. */
  idle(): void
  /** To be called where a file was closed by its owner. */
  forget(file: OpenFile): void
  /** A number greater than all before. */
  tick(): number
  readonly count: number
}

/** File descriptors of one open base: reader and writer with the log beside the file, and the log's index. */
const DESCRIPTORS_EACH = 5
/** Descriptors reserved for sockets, worker threads, uploads and the metadata. */
const KEPT_FREE = 64
/** Where the system does not say how many files a process may open. */
const ASSUMED_LIMIT = 256

/** How many bases may be open at once within what the system lets this process open. */
export function openFilesBudget(limit: number = descriptorLimit()): number {
  // At least half is left to connections of clients.
  return Math.max(4, Math.min(2000, Math.floor((limit / 2 - KEPT_FREE) / DESCRIPTORS_EACH)))
}

/** How many files the system lets this process have open. */
function descriptorLimit(): number {
  try {
    const [, soft] =
      /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === 'unlimited' ? 1_000_000 : Number(soft ?? ASSUMED_LIMIT)
  } catch (error) {
    // Linux alone has this file.
    if (!(error instanceof Error && 'code' in error)) throw error
    return ASSUMED_LIMIT
  }
}

/** @param budget most files that are open at once; more only while all of them are written to */
export function createOpenFiles(budget: number): OpenFiles {
  const files = new Set<OpenFile>()
  const waiting: (() => void)[] = []
  let clock = 0

  function isFull(): boolean {
    if (files.size < budget) return false
    for (const file of files) if (!file.isBusy()) return false
    return true
  }

  async function waitForRoom(): Promise<void> {
    while (isFull()) await new Promise<void>((resolve) => waiting.push(resolve))
  }

  /** Closes what was not used for longest; false where everything is in use. */
  function closeOne(): boolean {
    let oldest: OpenFile | null = null
    for (const file of files) {
      if (!file.isBusy() && (oldest === null || file.usedAt < oldest.usedAt)) oldest = file
    }
    if (oldest === null) return false
    files.delete(oldest)
    oldest.close()
    return true
  }

  return {
    admit(file, open) {
      while (files.size >= budget && closeOne());
      for (;;) {
        try {
          open()
          break
        } catch (error) {
          // Others may have taken the descriptors: SQLite says of all reasons that it cannot open the file.
          const code = error instanceof Error && 'code' in error ? String(error.code) : ''
          if (!/CANTOPEN|EMFILE|ENFILE/.test(code) || !closeOne()) throw error
        }
      }
      files.add(file)
    },
    room: () => (isFull() ? waitForRoom() : undefined),
    idle: () => waiting.shift()?.(),
    forget: (file) => void files.delete(file),
    tick: () => ++clock,
    get count() {
      return files.size
    },
  }
}
