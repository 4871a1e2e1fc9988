const MAX_TITLE = 255 // spec §5: a field's title

/**
 * Field titles from the first row: trimmed, `Field N` where a cell is empty, `_1`, `_2`, … where a
 * title comes again in whatever case (spec §5).
 *
 * @param width number of columns, where rows are wider than the header
 * @param taken titles that are in use already
 */
export function headerTitles(
  cells: readonly string[],
  width = cells.length,
  taken: readonly string[] = [],
): string[] {
  const used = new Set(taken.map((title) => title.toLowerCase()))
  return Array.from({ length: width }, (_, index) => {
    const cleaned = (cells[index] ?? '')
      .normalize('NFC')
      .replace(/[\p{Cc}\p{Cs}\s]+/gu, ' ')
      .trim()
      .slice(0, MAX_TITLE - 5)
      .trim()
    const title = cleaned === '' ? `Field ${index + 1}` : cleaned
    let unique = title
    for (let number = 1; used.has(unique.toLowerCase()); number++) unique = `${title}_${number}`
    used.add(unique.toLowerCase())
    return unique
  })
}
