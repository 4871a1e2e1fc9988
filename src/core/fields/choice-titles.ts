/** The titles in a multi-select cell, e.g. `'red,blue'` gives `['red', 'blue']`. */
export const titlesIn = (cell: string): string[] =>
  cell
    .split(',')
    .map((title) => title.trim())
    .filter((title) => title !== '')

/**
 * The titles of a select field's options by their former ones, also of those that have kept theirs: a text with a comma may be
 * a title or a list of titles.
 */
export type ChoiceTitles = ReadonlyMap<string, string>
