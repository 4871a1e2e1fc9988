/** `Table-1`, or the first of `Table-2`, `Table-3`, … that no title in use equals, whatever its case. */
export function unusedTitle(word: string, titles: readonly string[]): string {
  const taken = new Set(titles.map((title) => title.toLowerCase()))
  let n = 1
  while (taken.has(`${word}-${n}`.toLowerCase())) n++
  return `${word}-${n}`
}

/** The title itself where it is free, else `Title_1`, `Title_2`, …: the first that no title in use equals. */
export function freeTitle(title: string, taken: readonly string[]): string {
  const used = new Set(taken.map((one) => one.toLowerCase()))
  let free = title
  for (let n = 1; used.has(free.toLowerCase()); n++) free = `${title}_${n}`
  return free
}
