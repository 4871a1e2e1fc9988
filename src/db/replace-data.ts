import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { lockDataDir } from './lock-data-dir.ts'

/*
 * Replaces the contents of a data folder by others that lie complete in a folder inside of it. The steps are renames;
 * a journal tells how far they are, so that a process that is killed between two leaves a folder that the next start
 * completes.
 */

const JOURNAL = 'replacement.json'
const Journal = z.strictObject({
  /** Folder inside the data folder with the new contents. */
  from: z.string().regex(/^[\w.-]+$/),
  /** Folder inside the data folder that takes the former contents. */
  to: z.string().regex(/^replaced-[\w.-]+$/),
  /**
   * `waiting`: for a transaction in PostgreSQL that decides; `removing`: the former contents are on their way out;
   * `placing`: all of them are, and the new ones are on their way in.
   */
  step: z.enum(['waiting', 'removing', 'placing']),
  /** Identifies that transaction. */
  token: z.string().optional(),
  names: z.array(z.string().regex(/^[\w.-]+$/)),
})
type Journal = z.output<typeof Journal>

/** What belongs together: databases with their logs, attached files, and what a restore has to tell (`restore-note.ts`). */
const CONTENTS = ['sheaf.db', 'sheaf.db-wal', 'sheaf.db-shm', 'bases', 'attachments', 'restored.json']

/** The name of the folder, inside of a data folder, with what was replaced at a time (ISO 8601). */
export const replacedFolder = (at: string): string => `replaced-${at.replaceAll(':', '-')}`

/**
 * Replaces the databases and attached files of a data folder, and its secrets if the new contents have any. The caller
 * holds the lock of the folder.
 *
 * @param from folder inside the data folder with the complete new contents; it is gone then
 * @param to folder inside the data folder, `replaced-…`, for the former contents
 */
export function replaceData(dataDir: string, from: string, to: string): void {
  scheduleReplacement(dataDir, from, to)
  proceed(dataDir)
}

/** As `replaceData`, but the next start makes it. */
export function scheduleReplacement(dataDir: string, from: string, to: string): void {
  store(dataDir, { from, to, step: 'removing', names: namesIn(dataDir, from) })
}

/**
 * As `replaceData`, but only prepared: `decideReplacement` makes it or leaves it, as a transaction in PostgreSQL with
 * this token has been committed or not.
 */
export function prepareReplacement(dataDir: string, from: string, to: string, token: string): void {
  store(dataDir, { from, to, step: 'waiting', names: namesIn(dataDir, from), token })
}

const namesIn = (dataDir: string, from: string): string[] =>
  existsSync(join(dataDir, from, 'secrets')) ? [...CONTENTS, 'secrets'] : CONTENTS

/**
 * Completes a replacement that was interrupted; before anything else opens the data folder.
 *
 * @throws Error if another server uses the folder
 */
export function completeReplacement(dataDir: string): void {
  if (!existsSync(join(dataDir, JOURNAL))) return
  const unlock = lockDataDir(dataDir)
  try {
    if (journalOf(dataDir).step !== 'waiting') proceed(dataDir)
  } finally {
    unlock()
  }
}

/** The token of a prepared replacement; null without one. */
export function waitingReplacement(dataDir: string): string | null {
  if (!existsSync(join(dataDir, JOURNAL))) return null
  const { step, token } = journalOf(dataDir)
  return step === 'waiting' ? (token ?? null) : null
}

/** The folder that an unfinished replacement takes the new contents from; null without one. */
export const neededFolder = (dataDir: string): string | null =>
  existsSync(join(dataDir, JOURNAL)) ? journalOf(dataDir).from : null

/** Makes a prepared replacement, or removes what was prepared. The caller holds the lock of the folder. */
export function decideReplacement(dataDir: string, isCommitted: boolean): void {
  const journal = journalOf(dataDir)
  if (isCommitted) {
    store(dataDir, { ...journal, step: 'removing' })
    proceed(dataDir)
  } else {
    rmSync(join(dataDir, JOURNAL))
    rmSync(join(dataDir, journal.from), { recursive: true, force: true })
  }
}

const journalOf = (dataDir: string): Journal =>
  Journal.parse(JSON.parse(readFileSync(join(dataDir, JOURNAL), 'utf8')))

function proceed(dataDir: string): void {
  const path = join(dataDir, JOURNAL)
  if (!existsSync(path)) return
  let journal = journalOf(dataDir)
  const { from, to, names } = journal
  const moveAll = (source: string, target: string) => {
    mkdirSync(target, { recursive: true, mode: 0o700 })
    for (const name of names) {
      if (existsSync(join(source, name))) renameSync(join(source, name), join(target, name))
    }
  }
  if (journal.step === 'removing') {
    moveAll(dataDir, join(dataDir, to))
    journal = { ...journal, step: 'placing' }
    store(dataDir, journal)
  }
  moveAll(join(dataDir, from), dataDir)
  rmSync(path)
  rmSync(join(dataDir, from), { recursive: true, force: true })
}

/** Written under another name and renamed, so that it is complete or missing. */
function store(dataDir: string, journal: Journal): void {
  const draft = join(dataDir, `${JOURNAL}.draft`)
  writeFileSync(draft, JSON.stringify(journal), { mode: 0o600, flush: true })
  renameSync(draft, join(dataDir, JOURNAL))
}
