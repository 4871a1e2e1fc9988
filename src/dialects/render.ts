import type { SQL } from 'drizzle-orm'
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
  return (query: SQL): Statement => {
    const { sql, params } = query.toQuery({
      escapeName: quote,
      escapeParam: placeholder,
      escapeString: quoteText,
      // Only Drizzle's own table objects have a casing; the dynamic SQL names columns as they are.
      casing: { getColumnCasing: ({ name }: { name: string }) => name } as never,
    })
    if (params.length > maxBound) throw new AppError('BAD_REQUEST', 'Too many values in one request')
    return { sql, params }
  }
}

/** Text as a literal of standard SQL. */
export const quoteText = (text: string): string => `'${text.replaceAll("'", "''")}'`
