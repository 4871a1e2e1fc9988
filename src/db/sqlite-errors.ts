import { existsSync } from 'node:fs'
import { AppError } from '../core/errors.ts'
import { changedThere } from './driver-errors.ts'

/**
 * Translates an error of a connected file into a user-facing one. Returns unique and not-null violations unchanged (for
 * `Dialect.violation`), and errors caused by a bug.
 *
 * @param source name of the file in messages
 */
export function explainSqlite(error: unknown, source: string): unknown {
  if (error instanceof AppError || !(error instanceof Error)) return error
  const { message } = error
  const refuse = (what: string) => new AppError('DATABASE_ERROR', `${what}: ${message}`)
  if (/^no such (table|column|view)|has no column named/i.test(message)) return refuse(changedThere(source))
  if (/^(UNIQUE|NOT NULL) constraint failed/i.test(message)) return error
  // Keeps the message that a trigger raises.
  if (/constraint failed|datatype mismatch/i.test(message) || isTriggers(error)) {
    return refuse('The database refused the value')
  }
  if (/readonly database|unable to open|disk I\/O|not a database|malformed/i.test(message)) {
    return new AppError('DATABASE_UNREACHABLE', `The file of ${source} cannot be used: ${message}`)
  }
  if (/database is (locked|busy)/i.test(message)) {
    return new AppError('CONFLICT', `The file of ${source} is busy. Try again.`)
  }
  return error
}

const isTriggers = (error: Error): boolean =>
  'code' in error && String(error.code) === 'SQLITE_CONSTRAINT_TRIGGER'

/** @param name path of the file within the data folder */
export const missingBaseFile = (name: string): AppError =>
  new AppError(
    'BASE_DATA_MISSING',
    `The file of this base is missing: ${name} is not in the data folder. Restore it from a backup`,
  )

/** @param name path of the file within the data folder */
export const damagedBaseFile = (name: string, reason: string): AppError =>
  new AppError(
    'BASE_DATA_DAMAGED',
    `The file of this base is damaged: ${name} cannot be read (${reason}). Restore it from a backup`,
  )

/** Names the base's file in errors about the file itself; returns other errors unchanged. */
export function explainBaseFile(error: unknown, { path, name }: { path: string; name: string }): unknown {
  if (error instanceof AppError || !(error instanceof Error) || !('code' in error)) return error
  const code = String(error.code)
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) return damagedBaseFile(name, error.message)
  if (!/^SQLITE_(CANTOPEN|IOERR|READONLY|PERM|AUTH)|^ENOENT$/.test(code)) return error
  if (!existsSync(path)) return missingBaseFile(name)
  return new AppError(
    'DATABASE_UNREACHABLE',
    `The file of this base cannot be used: ${name} (${error.message})`,
  )
}
