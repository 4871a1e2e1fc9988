/*
 * Trimming in linear time. `/0+$/` restarts at every zero of a run that does not reach the end of the text,
 * which is quadratic; these loops read each character once.
 */

/**
 * The text without the given characters at its end.
 * @example trimTrailing('1.500', '0') // '1.5'
 */
export function trimTrailing(text: string, characters: string): string {
  let end = text.length
  while (end > 0 && characters.includes(text[end - 1] ?? '')) end--
  return text.slice(0, end)
}

/**
 * The text without the given characters at both ends.
 * @example trimCharacters("'Sheet'", "'") // 'Sheet'
 */
export function trimCharacters(text: string, characters: string): string {
  let start = 0
  while (start < text.length && characters.includes(text[start] ?? '')) start++
  return trimTrailing(text.slice(start), characters)
}
