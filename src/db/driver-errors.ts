import { AppError } from '../core/errors.ts'
import { m } from '../messages.gen.ts'

/** Maximum length of a database's message that is parsed, logged and shown. */
const MAX_MESSAGE = 1000

/** Truncates the message of a driver's error, which the server may make arbitrarily long. */
export function shortenMessage<E extends Error>(error: E): E {
  if (error.message.length > MAX_MESSAGE) error.message = `${error.message.slice(0, MAX_MESSAGE)}…`
  return error
}

/** The error for a table or column that no longer exists in a connected database. */
export const tablesChanged = (source: string, reason: string): AppError =>
  new AppError('DATABASE_ERROR', m.source_error_tables_changed({ source, reason }))
