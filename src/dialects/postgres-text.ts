/** Converts a `like` pattern to a regular expression: `Ü%` becomes `^(?:ü|Ü).*$`. */
export function asRegularExpression(pattern: string): string {
  const characters = [...pattern]
  let expression = ''
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] ?? ''
    if (character === '%') expression += '.*'
    else if (character === '_') expression += '.'
    else expression += literal(character === '\\' ? (characters[++at] ?? '\\') : character)
  }
  return `^${expression}$`
}

function literal(character: string): string {
  const cases = [...new Set([character, character.toLowerCase(), character.toUpperCase()])]
  // "ß" is two letters in upper case, which is a different text.
  const single = cases.filter((variant) => [...variant].length === 1).map(escaped)
  return single.length > 1 ? `(?:${single.join('|')})` : (single[0] ?? '')
}

const escaped = (character: string): string => character.replace(/[\\^$.|?*+()[\]{}-]/, '\\$&')
