import { errors, jwtVerify, SignJWT } from 'jose'
import { LRUCache } from 'lru-cache'
import type { Kernel } from '../../src/kernel.ts'
import { rolesOf, type UserRow } from './accounts.ts'

/** Life of an access token (wire §2.1). */
const TOKEN_LIFE_SECONDS = 10 * 60 * 60
/** Ours have some 500 characters; nothing near this is worth checking, or keeping. */
const MAX_TOKEN_LENGTH = 4096
const MAX_VERIFIED_TOKENS = 10_000

/** What an access token says that we rely on. All else is read from the account. */
export interface Claims {
  userId: string
  tokenVersion: string
  /** Milliseconds since 1970. */
  expiresAtMs: number
}

export type Jwt = ReturnType<typeof createJwt>

/** Signs and checks access tokens: HS256, with the key of this installation. */
export function createJwt({ secrets }: Pick<Kernel, 'secrets'>) {
  // Checking a signature takes longer than all else about a request, and never turns out differently.
  const verified = new LRUCache<string, Claims>({ max: MAX_VERIFIED_TOKENS })

  function recall(token: string): Claims | undefined {
    const claims = verified.get(token)
    if (claims === undefined || claims.expiresAtMs > Date.now()) return claims
    verified.delete(token)
    return undefined
  }

  return {
    /**
     * A token for the user. `roles` go in as an object after sign-in and as a comma list otherwise,
     * as clients know them (wire §2.1); nothing on the server reads them.
     */
    sign: (row: UserRow, roles: 'object' | 'list'): Promise<string> =>
      new SignJWT({
        email: row.email,
        id: row.id,
        roles: roles === 'list' ? row.roles : Object.fromEntries(rolesOf(row).map((role) => [role, true])),
        token_version: row.tokenVersion,
      })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setIssuedAt()
        .setExpirationTime(`${TOKEN_LIFE_SECONDS}s`)
        .sign(secrets.jwt),

    /** The claims of a token that was checked before and is not expired. */
    recall,

    /** The claims of a token of ours, or null: wrong signature, expired, or no token at all. */
    async verify(token: string): Promise<Claims | null> {
      if (token.length > MAX_TOKEN_LENGTH) return null
      const known = recall(token)
      if (known) return known
      try {
        const { payload } = await jwtVerify(token, secrets.jwt, { algorithms: ['HS256'] })
        const { id, token_version: tokenVersion, exp } = payload
        if (typeof id !== 'string' || typeof tokenVersion !== 'string' || exp === undefined) return null
        const claims = { userId: id, tokenVersion, expiresAtMs: exp * 1000 }
        verified.set(token, claims)
        return claims
      } catch (error) {
        if (error instanceof errors.JOSEError) return null
        throw error
      }
    },
  }
}
