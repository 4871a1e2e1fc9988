import { errors, jwtVerify, SignJWT } from 'jose'
import { LRUCache } from 'lru-cache'
import { nowMs } from '../../src/clock.ts'
import type { Kernel } from '../../src/kernel.ts'
import { rolesOf, type UserRow } from './accounts.ts'

/** wire §2.1 */
const TOKEN_LIFE_SECONDS = 10 * 60 * 60
/** A token has about 500 characters. */
const MAX_TOKEN_LENGTH = 4096
const MAX_VERIFIED_TOKENS = 10_000

/** The claims that the server uses; everything else is read from the account. */
export interface Claims {
  userId: string
  tokenVersion: string
  /** Unix time in milliseconds. */
  expiresAtMs: number
}

export type Jwt = ReturnType<typeof createJwt>

/** Signs and verifies access tokens with HS256 and this installation's key. */
export function createJwt({ secrets }: Pick<Kernel, 'secrets'>) {
  // Verifying a signature is the slowest part of a request, and its result never changes.
  const verified = new LRUCache<string, Claims>({ max: MAX_VERIFIED_TOKENS })

  function recall(token: string): Claims | undefined {
    const claims = verified.get(token)
    if (claims === undefined || claims.expiresAtMs > nowMs()) return claims
    verified.delete(token)
    return undefined
  }

  return {
    /**
     * Signs a token for the user. Clients expect `roles` as an object after sign-in and as a comma list
     * elsewhere (wire §2.1); the server does not read them.
     */
    sign(row: UserRow, roles: 'object' | 'list'): Promise<string> {
      const issuedAt = Math.floor(nowMs() / 1000)
      return new SignJWT({
        email: row.email,
        id: row.id,
        roles: roles === 'list' ? row.roles : Object.fromEntries(rolesOf(row).map((role) => [role, true])),
        token_version: row.tokenVersion,
      })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + TOKEN_LIFE_SECONDS)
        .sign(secrets.jwt)
    },

    /** The claims of a token that has been verified before and is still valid. */
    recall,

    /** The claims of a valid token, else null. */
    async verify(token: string): Promise<Claims | null> {
      if (token.length > MAX_TOKEN_LENGTH) return null
      const known = recall(token)
      if (known) return known
      try {
        const { payload } = await jwtVerify(token, secrets.jwt, {
          algorithms: ['HS256'],
          currentDate: new Date(nowMs()),
        })
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
