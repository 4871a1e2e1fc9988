/** What the browser reads of a token. It is the server that checks the signature; here it only tells the time. */
export interface TokenClaims {
  /** Id of the user, e.g. `us2vpf8fjsfpnuwv`. */
  id: string
  email: string
  /** Moment of expiry in milliseconds since 1970. */
  expiresAtMs: number
}

/** The claims of a sign-in token, or null where it is not one. */
export function readToken(token: string | null): TokenClaims | null {
  const payload = token?.split('.')[1]
  if (!payload) return null
  try {
    const claims: unknown = JSON.parse(decodeBase64Url(payload))
    if (typeof claims !== 'object' || claims === null) return null
    const { id, email, exp } = claims as Record<string, unknown>
    if (typeof id !== 'string' || typeof exp !== 'number') return null
    return { id, email: typeof email === 'string' ? email : '', expiresAtMs: exp * 1000 }
  } catch (error) {
    // Not base64 (DOMException) or not JSON (SyntaxError): somebody else's text under our key.
    if (error instanceof SyntaxError || error instanceof DOMException) return null
    throw error
  }
}

function decodeBase64Url(text: string): string {
  const bytes = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return new TextDecoder().decode(Uint8Array.from(bytes, (char) => char.charCodeAt(0)))
}
