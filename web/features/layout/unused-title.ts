/** `Table-1`, or the first of `Table-2`, `Table-3`, … that no title in use equals, whatever its case. */
export function unusedTitle(word: string, titles: readonly string[]): string {
  const taken = new Set(titles.map((title) => title.toLowerCase()))
  let n = 1
  while (taken.has(`${word}-${n}`.toLowerCase())) n++
  return `${word}-${n}`
}
