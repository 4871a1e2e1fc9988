/** True if every word of the search occurs in the text, ignoring case and accents: `resume` finds `Résumé`. */
export function matches(text: string, search: string): boolean {
  const plain = fold(text)
  return fold(search)
    .split(/\s+/)
    .every((word) => plain.includes(word))
}

const fold = (text: string): string =>
  text
    .trim()
    .normalize('NFKD')
    .replace(/\p{Mn}/gu, '')
    .toLocaleLowerCase()
