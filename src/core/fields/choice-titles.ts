/** The titles in a multi-select cell, e.g. `'red,blue'` gives `['red', 'blue']`. */
export const titlesIn = (cell: string): string[] =>
  cell
    .split(',')
    .map((title) => title.trim())
    .filter((title) => title !== '')
