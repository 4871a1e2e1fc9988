/** A value from outside as it may be quoted in a message: short, on one line, never `[object Object]`. */
export function describeValue(input: unknown): string {
  const text = typeof input === 'object' && input !== null ? jsonOf(input) : String(input)
  const line = text.replace(/\s+/g, ' ')
  return line.length > 60 ? `${line.slice(0, 57)}...` : line
}

function jsonOf(input: object): string {
  // Large input is named by its kind; writing all of it out, to show 57 characters, would be work for nothing.
  if (Array.isArray(input)) return input.length > 20 ? 'a list' : safeJson(input, 'a list')
  return Object.keys(input).length > 20 ? 'an object' : safeJson(input, 'an object')
}

function safeJson(input: object, otherwise: string): string {
  const nested = Object.values(input).some((value) => typeof value === 'object' && value !== null)
  return nested ? otherwise : JSON.stringify(input)
}
