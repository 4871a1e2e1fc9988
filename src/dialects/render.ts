import type { SQL } from 'drizzle-orm'
import { CasingCache } from 'drizzle-orm/casing'
import { AppError } from '../core/errors.ts'
import type { Statement } from './dialect.ts'

/**
 * Turns composed SQL into text and bound values, with an engine's own quotes and placeholders. What
 * binds more than `maxBound` values is refused with BAD_REQUEST.
 */
export function createRender(
  quote: (name: string) => string,
  placeholder: (index: number) => string,
  maxBound = Number.POSITIVE_INFINITY,
) {
  // Column names stay as they are.
  const casing = new CasingCache()
  return (query: SQL): Statement => {
    const { sql, params } = query.toQuery({
      escapeName: quote,
      escapeParam: placeholder,
      escapeString: quoteText,
      casing,
    })
    if (params.length > maxBound) throw new AppError('BAD_REQUEST', 'Too many values in one request')
    return { sql, params }
  }
}

/** Text as a literal of standard SQL. */
export const quoteText = (text: string): string => `'${text.replaceAll("'", "''")}'`
