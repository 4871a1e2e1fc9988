import { AppError } from '../core/errors.ts'
import { m } from '../messages.gen.ts'

/** Maximum length of a database's message that is parsed, logged and shown. */
const MAX_MESSAGE = 1000

/** Truncates the message of a driver's error, which the server may make arbitrarily long. */
export function shortenMessage<E extends Error>(error: E): E {
  if (error.message.length > MAX_MESSAGE) error.message = `${error.message.slice(0, MAX_MESSAGE)}…`
  return error
}

/** The code of a driver's error; empty without one. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''

/** Why a database failed, as users are told. */
type DriverFailure =
  | 'unreachable'
  | 'refused'
  | 'timeout'
  | 'forbidden'
  | 'busy'
  | 'gone'
  | 'character set'
  | 'value'

/** @param failure why it failed, for those who distinguish the reasons */
const failed = (message: string, failure?: DriverFailure): AppError =>
  new AppError('DATABASE_ERROR', message, failure && { failure })

const EXPLAINED: Record<DriverFailure, (source: string, reason: string) => AppError> = {
  unreachable: (source, reason) =>
    new AppError('DATABASE_UNREACHABLE', m.source_error_unreachable({ source, reason })),
  refused: (source, reason) => failed(m.source_error_refused({ source, reason }), 'refused'),
  timeout: (source) => failed(m.source_error_timeout({ source }), 'timeout'),
  forbidden: (source, reason) => failed(m.source_error_forbidden({ source, reason }), 'forbidden'),
  busy: (source) => new AppError('CONFLICT', m.source_error_busy({ source }), { failure: 'busy' }),
  gone: tablesChanged,
  'character set': (source, reason) => failed(m.source_error_character_set({ source, reason })),
  value: (source, reason) => failed(m.source_error_refused_value({ source, reason }), 'value'),
}

/**
 * Translates a driver's error into a user-facing one; returns errors without a `failureOf`, and errors that have been
 * translated already, unchanged.
 *
 * @param source name of the database
 */
export function explainDriverError(
  error: unknown,
  source: string,
  failureOf: (error: Error, code: string) => DriverFailure | null,
): unknown {
  if (error instanceof AppError || !(error instanceof Error)) return error
  shortenMessage(error)
  const failure = failureOf(error, codeOf(error))
  return failure === null ? error : EXPLAINED[failure](source, error.message || codeOf(error))
}

/** The error for a table or column that no longer exists in a connected database. */
export function tablesChanged(source: string, reason: string): AppError {
  return failed(m.source_error_tables_changed({ source, reason }), 'gone')
}
