import { existsSync } from 'node:fs'
import { AppError } from '../core/errors.ts'
import { m } from '../messages.gen.ts'
import { tablesChanged } from './driver-errors.ts'

/**
 * Translates an error of a connected file into a user-facing one. Returns unique and not-null violations unchanged (for
 * `Dialect.violation`), and errors caused by a bug.
 *
 * @param source name of the file in messages
 */
export function explainSqlite(error: unknown, source: string): unknown {
  if (error instanceof AppError || !(error instanceof Error)) return error
  const { message } = error
  if (/^no such (table|column|view)|has no column named/i.test(message)) return tablesChanged(source, message)
  if (/^(UNIQUE|NOT NULL) constraint failed/i.test(message)) return error
  // Keeps the message that a trigger raises.
  if (/constraint failed|datatype mismatch/i.test(message) || isTriggers(error)) {
    return new AppError('DATABASE_ERROR', m.source_error_refused_value({ source, reason: message }))
  }
  if (/readonly database|unable to open|disk I\/O|not a database|malformed/i.test(message)) {
    return new AppError('DATABASE_UNREACHABLE', m.source_error_file_unusable({ source, reason: message }))
  }
  if (/database is (locked|busy)/i.test(message)) {
    return new AppError('CONFLICT', m.source_error_file_busy({ source }), { failure: 'busy' })
  }
  return error
}

const isTriggers = (error: Error): boolean =>
  'code' in error && String(error.code) === 'SQLITE_CONSTRAINT_TRIGGER'

/** @param name path of the file within the data folder */
export const missingBaseFile = (name: string): AppError =>
  new AppError('BASE_DATA_MISSING', m.base_error_file_missing({ name }))

/** @param name path of the file within the data folder */
export const damagedBaseFile = (name: string, reason: string): AppError =>
  new AppError('BASE_DATA_DAMAGED', m.base_error_file_damaged({ name, reason }))

/** Names the base's file in errors about the file itself; returns other errors unchanged. */
export function explainBaseFile(error: unknown, { path, name }: { path: string; name: string }): unknown {
  if (error instanceof AppError || !(error instanceof Error) || !('code' in error)) return error
  const code = String(error.code)
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) return damagedBaseFile(name, error.message)
  if (!/^SQLITE_(CANTOPEN|IOERR|READONLY|PERM|AUTH)|^(ENOENT|EIO|EROFS)$/.test(code)) return error
  if (!existsSync(path)) return missingBaseFile(name)
  return new AppError('DATABASE_UNREACHABLE', m.base_error_file_unusable({ name, reason: error.message }))
}
