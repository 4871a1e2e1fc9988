/** The first of `Title`, `Title_1`, `Title_2`, … that is not in use, ignoring case. */
export function freeTitle(title: string, taken: readonly string[]): string {
  const used = new Set(taken.map((one) => one.toLowerCase()))
  let free = title
  for (let n = 1; used.has(free.toLowerCase()); n++) free = `${title}_${n}`
  return free
}
