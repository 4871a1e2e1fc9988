import { currentCaller } from './caller.ts'
import type { SlowQueries } from './db/watched-engine.ts'
import type { Log } from './log.ts'

/** Longer statements are cut. */
const MAX_SQL = 4_000

/**
 * Logs slow statements: duration, database, table, request and the statement without values. Null if `thresholdMs` is 0.
 */
export function createSlowQueryLog(log: Log, thresholdMs: number): SlowQueries | null {
  if (thresholdMs === 0) return null
  return {
    thresholdMs,
    report({ client, kind, sql, ms, statements }) {
      const { text, table } = withoutValues(sql)
      const caller = currentCaller()
      log.warn('slow query', {
        ms: Math.round(ms),
        client,
        kind,
        table,
        sql: text.length > MAX_SQL ? `${text.slice(0, MAX_SQL)}…` : text,
        statements,
        requestId: caller?.requestId || undefined,
        route: caller?.route || undefined,
      })
    },
  }
}

/**
 * The tokens of a statement that matter here: texts, quoted names, placeholders, numbers and words. A text without an
 * end reaches to the end of the statement. So does one with a backslash, which escapes a quote in MySQL only; the escape
 * character of LIKE is no such text.
 */
const TOKENS =
  /'\\{1,2}'|'(?:[^'\\]|'')*(?:'|\\[\s\S]*|$)|\$(?:\d+|\$[\s\S]*)|"(?:[^"]|"")*(?:"|$)|`(?:[^`]|``)*(?:`|$)|[A-Za-z_]\w*|\d[\w.]*/g

const TABLE_FOLLOWS = new Set(['from', 'into', 'update', 'table'])

/**
 * A statement with its texts and numbers replaced by `?`, so that no values of users remain, and the first table that
 * it names (null if it names none). Placeholders and names stay.
 */
export function withoutValues(sql: string): { text: string; table: string | null } {
  let table: string | null = null
  let isTableNext = false
  const text = sql.replace(TOKENS, (token) => {
    const first = token[0] ?? ''
    if (first === "'" || token.startsWith('$$') || /\d/.test(first)) return '?'
    if (first === '$') return token
    const isQuoted = first === '"' || first === '`'
    if (isTableNext) {
      table ??= isQuoted ? token.slice(1, -1) : token
      isTableNext = false
    } else if (!isQuoted && TABLE_FOLLOWS.has(token.toLowerCase())) isTableNext = table === null
    return token
  })
  return { text, table }
}
