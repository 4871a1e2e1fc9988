import { AppError } from '../../../src/core/errors.ts'
import { createId } from '../../../src/core/ids.ts'

/**
 * Runs a change that makes a table or column, and once more under a name that nobody can have, where
 * the first name cannot be used: a process that was killed may have left one behind.
 */
export async function withFreshName<T>(attempt: (suffix: string) => Promise<T>): Promise<T> {
  try {
    return await attempt('')
  } catch (error) {
    if (error instanceof AppError) throw error
    return attempt(`_${createId('option').slice(-6)}`)
  }
}
