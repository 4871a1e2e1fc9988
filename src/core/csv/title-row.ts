/** Rows that are looked at, and rows above the titles at most. */
const SEEN = 200
const MAX_ABOVE = 50
/** Fewer columns do not tell a remark from titles. */
const MIN_COLUMNS = 3
/** Share of the rows below the titles that must be as full as a table's. */
const FULL_ROWS = 0.8

/**
 * Finds the row with the titles below the remarks that banks and other programs write above their tables: account numbers,
 * dates and balances in a cell or two. Without clear evidence it is the first row.
 *
 * @param rows from the beginning of the file, with empty ones
 * @returns from 1
 */
export function findTitleRow(rows: readonly (readonly string[])[]): number {
  const comments = countComments(rows)
  return comments + titleRowOf(comments === 0 ? rows : rows.slice(comments))
}

/** Rows of comments above the titles, which begin with `#`; titles may begin with it as well, as in `# id,name`. */
function countComments(rows: readonly (readonly string[])[]): number {
  const isComment = (cells: readonly string[] = []) => cells[0]?.trimStart().startsWith('#') === true
  const count = rows.findIndex((cells) => !isComment(cells) && cells.some((text) => text.trim() !== ''))
  if (count < 1 || count > MAX_ABOVE) return 0
  const [last = [], next = []] = rows.slice(count - 1)
  const areTitles = last.length > 1 && last.length === next.length && !next.every(isWord)
  return areTitles ? count - 1 : count
}

const isWord = (text: string): boolean => /\p{L}/u.test(text)

function titleRowOf(rows: readonly (readonly string[])[]): number {
  const counts = rows
    .slice(0, SEEN)
    .map((cells) => cells.reduce((count, text) => (text.trim() === '' ? count : count + 1), 0))
  const fullest = Math.max(0, ...counts)
  const first = counts.findIndex((count) => count > fullest / 2)
  if (fullest < MIN_COLUMNS || first < 1 || first > MAX_ABOVE) return 1
  const below = counts.slice(first + 1).filter((count) => count > 0)
  const full = below.filter((count) => count > fullest / 2).length
  if (below.length === 0 || full < below.length * FULL_ROWS) return 1
  const titles = (rows[first] ?? []).map((text) => text.trim()).filter((text) => text !== '')
  const areTitles =
    new Set(titles).size === titles.length && !titles.some((text) => /^[-+]?[\d.,:/\s-]+$/.test(text))
  return areTitles ? first + 1 : 1
}
