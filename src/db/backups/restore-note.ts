import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

const NOTE = 'restored.json'

/** What a server or command that has restored everything tells the next server on the data folder, which has the restored data. */
const RestoreNote = z.object({
  /** The job of the server before, or a new id. */
  jobId: z.string(),
  /** Empty after a command. */
  userId: z.string(),
  /** Address of that user, as the restored data may not have the account; after a command, its name. */
  email: z.string(),
  /** When the restore was started; ISO 8601. */
  startedAt: z.string(),
  backupId: z.string(),
  /** The moment whose state the backup has; ISO 8601. */
  backupAt: z.string(),
  /** ISO 8601. */
  at: z.string(),
  /** Folder with the former files. */
  folder: z.string(),
  /** Start of the names of the schemas with the former tables; null with files. */
  schemas: z.string().nullable(),
  /** Why nothing was restored; null if it was. */
  problem: z.string().nullable(),
})
export type RestoreNote = z.output<typeof RestoreNote>

/**
 * Writes a note into a folder: into that of the restored files, so that it gets into the data folder together with them,
 * or into the data folder itself, for a restore that has failed.
 */
export function writeRestoreNote(folder: string, note: RestoreNote): void {
  // Written under another name and renamed, so that it is complete or missing.
  const draft = join(folder, `${NOTE}.draft`)
  writeFileSync(draft, JSON.stringify(note), { mode: 0o600, flush: true })
  renameSync(draft, join(folder, NOTE))
}

/** The note in a data folder; null without one. @throws Error if it is damaged */
export function readRestoreNote(dataDir: string): RestoreNote | null {
  const path = join(dataDir, NOTE)
  return existsSync(path) ? RestoreNote.parse(JSON.parse(readFileSync(path, 'utf8'))) : null
}

/** Removes the note, also a missing one. */
export const removeRestoreNote = (dataDir: string): void => rmSync(join(dataDir, NOTE), { force: true })
