import { AppError } from '../core/errors.ts'
import { changedThere } from './changed-there.ts'

/**
 * What went wrong in a file that is not ours, in words for the person who asked. Unique and not-null
 * violations pass as they are, for `Dialect.violation`; so does what is a fault of ours.
 *
 * @param source what errors call the file
 */
export function explainSqlite(error: unknown, source: string): unknown {
  if (error instanceof AppError || !(error instanceof Error)) return error
  const { message } = error
  const refuse = (what: string) => new AppError('DATABASE_ERROR', `${what}: ${message}`)
  if (/^no such (table|column|view)|has no column named/i.test(message)) return refuse(changedThere(source))
  if (/^(UNIQUE|NOT NULL) constraint failed/i.test(message)) return error
  // What a trigger raises has words of its own.
  if (/constraint failed|datatype mismatch/i.test(message) || isTriggers(error)) {
    return refuse('The database refused the value')
  }
  if (/readonly database|unable to open|disk I\/O|not a database|malformed/i.test(message)) {
    return new AppError('DATABASE_UNREACHABLE', `The file of ${source} cannot be used: ${message}`)
  }
  if (/database is (locked|busy)/i.test(message)) {
    return new AppError('CONFLICT', `Others are writing to the file of ${source}: try again`)
  }
  return error
}

const isTriggers = (error: Error): boolean =>
  'code' in error && String(error.code) === 'SQLITE_CONSTRAINT_TRIGGER'
