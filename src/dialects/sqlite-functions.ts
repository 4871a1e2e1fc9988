import type { Database } from 'bun:sqlite'
import { dateFormatOf, parseDate } from '../core/formula/date-format.ts'
import { encodeUrl } from '../core/formula/encode-url.ts'
import { jsonAt } from '../core/formula/json-path.ts'
import { toLower, toUpper } from '../core/formula/letters.ts'
import {
  elementsBetween,
  elementsOf,
  filledElements,
  listOf,
  sortedElements,
  splitText,
  uniqueElements,
} from '../core/formula/lists.ts'
import { containsPattern, firstMatch, replaceMatches } from '../core/formula/match-pattern.ts'
import { readNumber } from '../core/formula/numbers.ts'

type Value = string | number | bigint | boolean | Uint8Array | null

/** Text functions that SQLite lacks, by name. NULL gives NULL. */
const TEXT_FUNCTIONS: Record<string, (text: string) => Value> = {
  sheaf_upper: toUpper,
  sheaf_lower: toLower,
  sheaf_number: readNumber,
  sheaf_number_text: (number) => String(Number(number)),
  sheaf_encode_url: encodeUrl,
  sheaf_list_of: (text) => listOf([text]),
  sheaf_list_unique: (list) => listOf(uniqueElements(elementsOf(list))),
  sheaf_list_filled: (list) => listOf(filledElements(elementsOf(list))),
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
  defineListFunctions(file)
  file.function('sheaf_json_at', OPTIONS, (text: Value, path: string) =>
    text === null ? null : jsonAt(String(text), JSON.parse(path)),
  )
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

/** Functions of lists, which are JSON text, with further arguments. */
function defineListFunctions(file: Database): void {
  const elements = (list: Value) => elementsOf(list === null ? null : String(list))
  file.function('sheaf_list_split', OPTIONS, (text: Value, separator: Value) => {
    const parts = text === null || separator === null ? null : splitText(String(text), String(separator))
    return parts && listOf(parts)
  })
  file.function('sheaf_list_join', OPTIONS, (list: Value, separator: Value) =>
    list === null || separator === null ? null : elements(list).join(String(separator)),
  )
  file.function('sheaf_list_concat', OPTIONS, (first: Value, second: Value) =>
    listOf([...elements(first), ...elements(second)]),
  )
  file.function('sheaf_list_sorted', OPTIONS, (list: Value, isNumeric: Value, isDescending: Value) =>
    listOf(sortedElements(elements(list), Boolean(isNumeric), Boolean(isDescending))),
  )
  file.function('sheaf_list_between', OPTIONS, (list: Value, from: Value, to: Value) =>
    listOf(elementsBetween(elements(list), Number(from), Number(to))),
  )
}
