import { AppError, retryAfterOf } from './core/errors.ts'
import { m } from './messages.gen.ts'

/** Error codes for a full disk: SQLite, the file system, PostgreSQL. */
const CODES = new Set<unknown>(['SQLITE_FULL', 'ENOSPC', 'EDQUOT', '53100'])
/** SQLite's message, for errors from a thread that passes only the text. */
const SQLITE_FULL = 'database or disk is full'

/** A user-facing error if the disk is full, or if the error wraps a user-facing one; any other error unchanged. */
export function explainStorage(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof AppError) return error
  const code = 'code' in error ? error.code : undefined
  if (CODES.has(code) || error.message === SQLITE_FULL)
    return new AppError('STORAGE_FULL', m.storage_error_full())
  return error.cause === undefined ? error : causeOf(error, error.cause)
}

/** Drizzle and tRPC wrap database errors. */
function causeOf(error: Error, cause: unknown): unknown {
  const reason = explainStorage(cause)
  return reason instanceof AppError ? reason : error
}

/** True if a write has failed because the disk is full. */
export function isStorageFull(error: unknown): boolean {
  const reason = explainStorage(error)
  return reason instanceof AppError && reason.code === 'STORAGE_FULL'
}

/** True if Sheaf's own database does not answer; it usually comes back. */
export function isOutage(error: unknown): boolean {
  const reason = explainStorage(error)
  return reason instanceof AppError && reason.code === 'DATABASE_UNREACHABLE' && retryAfterOf(reason) !== null
}
