/** `decodeURIComponent` that returns malformed text unchanged, such as a password with an unescaped percent sign. */
export function decodeUri(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (error instanceof URIError) return text
    throw error
  }
}
