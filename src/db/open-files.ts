import { readFileSync } from 'node:fs'

/** An open database file that can be closed and reopened transparently. */
export interface OpenFile {
  /** Tick of the last use, see `OpenFiles.tick`. */
  usedAt: number
  /** True during a write. */
  isBusy(): boolean
  /** Releases its file descriptors. */
  close(): void
}

/** Keeps the number of open database files within a budget. */
export interface OpenFiles {
  /** Runs `open`, closing the least recently used files if the budget or the system's limit is reached. */
  admit(file: OpenFile, open: () => void): void
  /** Waits while all files of the budget are busy; undefined if there is room. */
  room(): Promise<void> | undefined
  /** Call when a file is no longer busy. */
  idle(): void
  /** Call when the owner has closed a file. */
  forget(file: OpenFile): void
  /** Returns the next number of an increasing sequence. */
  tick(): number
  readonly count: number
}

/** File descriptors per open base: file and write-ahead log of reader and writer, and the log's index. */
const DESCRIPTORS_EACH = 5
/** Descriptors reserved for sockets, worker threads, uploads and the metadata. */
const KEPT_FREE = 64
/** Assumed where the system does not report a limit. */
const ASSUMED_LIMIT = 256

/** The number of bases that fit into this process's limit of open files. */
export function openFilesBudget(limit: number = descriptorLimit()): number {
  // At least half is left for client connections.
  return Math.max(4, Math.min(2000, Math.floor((limit / 2 - KEPT_FREE) / DESCRIPTORS_EACH)))
}

/** The system's limit of open files for this process. */
function descriptorLimit(): number {
  try {
    const [, soft] =
      /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === 'unlimited' ? 1_000_000 : Number(soft ?? ASSUMED_LIMIT)
  } catch (error) {
    // Exists on Linux only.
    if (!(error instanceof Error && 'code' in error)) throw error
    return ASSUMED_LIMIT
  }
}

/** @param budget maximum number of open files, exceeded only while all of them are being written */
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

  /** Closes the least recently used file; false if all are in use. */
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
          // May be caused by exhausted descriptors: SQLite reports the same error for every reason.
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
