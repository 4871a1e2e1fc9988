/** The first of `Table-1`, `Table-2`, … that is not in use, ignoring case. */
export function unusedTitle(word: string, titles: readonly string[]): string {
  const taken = new Set(titles.map((title) => title.toLowerCase()))
  let n = 1
  while (taken.has(`${word}-${n}`.toLowerCase())) n++
  return `${word}-${n}`
}

/** The first of `Title`, `Title_1`, `Title_2`, … that is not in use, ignoring case. */
export function freeTitle(title: string, taken: readonly string[]): string {
  const used = new Set(taken.map((one) => one.toLowerCase()))
  let free = title
  for (let n = 1; used.has(free.toLowerCase()); n++) free = `${title}_${n}`
  return free
}
