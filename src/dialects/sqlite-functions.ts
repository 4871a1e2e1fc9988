import type { Database } from 'bun:sqlite'
import { dateFormatOf, parseDate } from '../core/formula/date-format.ts'
import { encodeUrl } from '../core/formula/encode-url.ts'
import { toLower, toUpper } from '../core/formula/letters.ts'
import { containsPattern, firstMatch, replaceMatches } from '../core/formula/match-pattern.ts'
import { readNumber } from '../core/formula/numbers.ts'

type Value = string | number | bigint | boolean | Uint8Array | null

/** Text functions that SQLite lacks, by name. NULL gives NULL. */
const TEXT_FUNCTIONS: Record<string, (text: string) => Value> = {
  sheaf_upper: toUpper,
  sheaf_lower: toLower,
  sheaf_number: readNumber,
  sheaf_encode_url: encodeUrl,
}

const OPTIONS = { deterministic: true, directOnly: true }

/**
 * Registers the functions for formulas on a connection. `directOnly` restricts them to our statements,
 * because views and triggers of connected files are untrusted.
 */
export function defineSqliteFunctions(file: Database): void {
  for (const [name, evaluate] of Object.entries(TEXT_FUNCTIONS)) {
    file.function(name, OPTIONS, (text: Value) => (text === null ? null : evaluate(String(text))))
  }
  file.function('sheaf_date', OPTIONS, (text: Value, written: string) => {
    const format = dateFormatOf(written)
    return text === null || format === null ? null : parseDate(String(text), format)
  })
  file.function('sheaf_regex_match', OPTIONS, (text: Value, source: string) => {
    const isFound = text === null ? null : containsPattern(String(text), source)
    return isFound === null ? null : Number(isFound)
  })
  file.function('sheaf_regex_extract', OPTIONS, (text: Value, source: string) =>
    text === null ? null : firstMatch(String(text), source),
  )
  file.function('sheaf_regex_replace', OPTIONS, (text: Value, source: string, by: Value) =>
    text === null || by === null ? null : replaceMatches(String(text), source, String(by)),
  )
}
