/** English plurals and singulars of table titles, for naming link fields. Words that match no rule keep their form. */

const IRREGULAR: readonly (readonly [singular: string, plural: string])[] = [
  ['person', 'people'],
  ['child', 'children'],
  ['man', 'men'],
  ['woman', 'women'],
  ['foot', 'feet'],
  ['tooth', 'teeth'],
  ['mouse', 'mice'],
  ['goose', 'geese'],
  ['leaf', 'leaves'],
  ['shelf', 'shelves'],
  ['movie', 'movies'],
  ['analysis', 'analyses'],
  ['criterion', 'criteria'],
]

/** Words with one form, and singulars that end with s. */
const UNCHANGED = /(?:news|series|species|staff|equipment|information|data|media|sheep|fish|software)$/i

/** `Book` gives `Books`, `Order line` gives `Order lines`, `City` gives `Cities`; `Books` stays. */
export function pluralOf(title: string): string {
  if (!/[a-z]$/i.test(title) || UNCHANGED.test(title)) return title
  const irregular = replaceEnding(title, 0, 1)
  if (irregular !== null) return irregular
  if (singularOf(title) !== title) return title
  if (/[^aeiou]y$/i.test(title)) return title.slice(0, -1) + inCase(title, 'ies')
  return title + inCase(title, /(?:s|x|z|ch|sh)$/i.test(title) ? 'es' : 's')
}

/** `Books` gives `Book`, `Categories` gives `Category`, `Boxes` gives `Box`; `Book` stays, and so does `Address`. */
export function singularOf(title: string): string {
  if (UNCHANGED.test(title)) return title
  const irregular = replaceEnding(title, 1, 0)
  if (irregular !== null) return irregular
  if (/[^aeiou]ies$/i.test(title)) return title.slice(0, -3) + inCase(title, 'y')
  if (/(?:ss|x|z|ch|sh)es$/i.test(title)) return title.slice(0, -2)
  return /[^sui]s$/i.test(title) ? title.slice(0, -1) : title
}

function replaceEnding(title: string, from: 0 | 1, to: 0 | 1): string | null {
  const lower = title.toLowerCase()
  for (const pair of IRREGULAR) {
    const [ending, other] = [pair[from], pair[to]]
    const start = title.length - ending.length
    const isWord = lower.endsWith(ending) && !/[a-z]/i.test(title[start - 1] ?? '')
    if (isWord) return title.slice(0, start) + title[start] + inCase(title, other.slice(1))
  }
  return null
}

/** An ending in capitals for a title in capitals: `BOOK` gives `BOOKS`. */
const inCase = (title: string, ending: string): string =>
  title.length > 1 && title === title.toUpperCase() && title !== title.toLowerCase()
    ? ending.toUpperCase()
    : ending
