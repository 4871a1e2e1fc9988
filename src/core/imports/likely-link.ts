import { readNameList } from '../fields/list-value.ts'
import { singularOf } from '../nouns.ts'

/** How the values of a column compare with the names of a table's records. */
export interface LinkEvidence {
  /** Title of the column. */
  column: string
  /** Title of the table. */
  table: string
  /** Distinct values that were looked for, and those that name records. */
  count: number
  found: number
  /** False if only samples of the table's names are known. */
  isComplete: boolean
  /** True if the values are numbers, which many columns have in common. */
  isNumeric: boolean
}

/** Share of the values that name records, where the title says the same, and where it does not. */
const SHARE_IF_NAMED = 0.3
const SHARE = 0.8
/** Names that are found by chance, as “Yes” and “No” are. */
const FEW = 2
/** Names found among samples that are no chance. */
const MANY = 5

/** True if a person would take the column for a link to the table. */
export function isLikelyLink(evidence: LinkEvidence): boolean {
  const { count, found, isComplete, isNumeric } = evidence
  if (found === 0) return false
  const isNamed = isCalledAfter(evidence.column, evidence.table)
  if (!isComplete) return isNamed || (!isNumeric && found >= MANY && found >= count / 2)
  if (isNamed) return found >= count * SHARE_IF_NAMED
  return !isNumeric && found > FEW && found >= count * SHARE
}

/** True if a column is called after a table: `Customer`, `customer_name` or `Customers` after `Customers`. */
export function isCalledAfter(column: string, table: string): boolean {
  const name = wordsOf(singularOf(table.trim()))
  const words = wordsOf(singularOf(column.trim()))
  return name !== '' && ` ${words} `.includes(` ${name} `)
}

/** Lower-case words with single spaces. */
const wordsOf = (title: string): string =>
  title
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .join(' ')
    .trim()

/** The number of values that are a name, or lists of names. */
export const countNamed = (values: readonly string[], isName: (text: string) => boolean): number =>
  values.filter((value) => isName(value.trim()) || namesOf(value).every(isName)).length

/** The names that a value may list, each on a line or separated by commas. */
export const namesOf = (value: string): string[] => value.split('\n').flatMap(readNameList)
