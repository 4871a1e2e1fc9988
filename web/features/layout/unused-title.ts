/** The first of `Table-1`, `Table-2`, … that is not in use, ignoring case. */
export function unusedTitle(word: string, titles: readonly string[]): string {
  const taken = new Set(titles.map((title) => title.toLowerCase()))
  let n = 1
  while (taken.has(`${word}-${n}`.toLowerCase())) n++
  return `${word}-${n}`
}
