import { and, desc, eq } from 'drizzle-orm'
import type { Actor } from '../../src/core/actor.ts'
import { badRequest } from '../../src/core/errors.ts'
import { createReadCache } from '../../src/db/read-cache.ts'
import type { Kernel } from '../../src/kernel.ts'
import { m } from '../../src/messages.gen.ts'
import { type Access, requireUser } from './access.ts'
import { randomApiToken, sha256 } from './credentials.ts'
import { defineAuthTables } from './tables.ts'

const MAX_CACHED_TOKENS = 10_000
/** A token has 40 characters. */
const MAX_TOKEN_LENGTH = 100
const HINT_LENGTH = 4

export type ApiTokenRow = ReturnType<typeof defineAuthTables>['apiTokens']['$inferSelect']

interface TokenOwner {
  userId: string
  expiresAt: string | null
}

const hasExpired = ({ expiresAt }: Pick<TokenOwner, 'expiresAt'>): boolean =>
  expiresAt !== null && Date.parse(expiresAt) <= Date.now()

export type ApiTokens = ReturnType<typeof createApiTokens>

/** API tokens. Only their hashes are stored. */
export function createApiTokens({ meta }: Pick<Kernel, 'meta'>, access: Access) {
  const { apiTokens } = meta.tables(defineAuthTables)
  const cache = createReadCache<TokenOwner, 'api_tokens'>(meta, {
    name: 'tokens',
    max: MAX_CACHED_TOKENS,
    table: 'api_tokens',
    keyOf: (row) => row.token_hash,
  })

  return {
    /** The token's owner from the cache. */
    recall(token: string): { userId: string } | undefined {
      const owner = token.length > MAX_TOKEN_LENGTH ? undefined : cache.peek(sha256(token))
      return owner && !hasExpired(owner) ? owner : undefined
    },

    /** The token's owner; null for an unknown, deleted or expired token. */
    async identify(token: string): Promise<{ userId: string } | null> {
      if (token.length > MAX_TOKEN_LENGTH) return null
      const hash = sha256(token)
      const owner = await cache.read(hash, async () => {
        const found = await meta.db
          .select({ userId: apiTokens.userId, expiresAt: apiTokens.expiresAt })
          .from(apiTokens)
          .where(eq(apiTokens.tokenHash, hash))
        return found[0] ?? null
      })
      return owner && !hasExpired(owner) ? owner : null
    },

    async list(actor: Actor): Promise<ApiTokenRow[]> {
      await access.authorize(actor, 'token.list')
      const isOwn = eq(apiTokens.userId, requireUser(actor).id)
      return meta.db.select().from(apiTokens).where(isOwn).orderBy(desc(apiTokens.id))
    },

    /** A user's valid tokens, newest first. Does not check access. */
    async activeOf(userId: string): Promise<ApiTokenRow[]> {
      const isTheirs = eq(apiTokens.userId, userId)
      const rows = await meta.db.select().from(apiTokens).where(isTheirs).orderBy(desc(apiTokens.id))
      return rows.filter((row) => !hasExpired(row))
    },

    /** Deletes all tokens of a user, effective on the next call. Does not check access. */
    async deleteAllOf(userId: string): Promise<void> {
      const isTheirs = eq(apiTokens.userId, userId)
      const deleted = await meta.db.delete(apiTokens).where(isTheirs).returning({ hash: apiTokens.tokenHash })
      for (const { hash } of deleted) cache.forget(hash)
    },

    /**
     * Creates a token for the actor; its text is readable in this answer only.
     * @param expiresAt ISO 8601; null: never
     * @throws BAD_REQUEST for an expiry in the past
     */
    async create(
      actor: Actor,
      description: string | null,
      expiresAt: string | null = null,
    ): Promise<{ row: ApiTokenRow; token: string }> {
      await access.authorize(actor, 'token.create')
      if (hasExpired({ expiresAt })) throw badRequest(m.error_expiry_past())
      const token = randomApiToken()
      const [row] = await meta.db
        .insert(apiTokens)
        .values({
          userId: requireUser(actor).id,
          description,
          tokenHash: sha256(token),
          hint: token.slice(-HINT_LENGTH),
          createdAt: new Date().toISOString(),
          expiresAt: expiresAt === null ? null : new Date(expiresAt).toISOString(),
        })
        .returning()
      if (!row) throw new Error('The new token was not stored')
      return { row, token }
    },

    /**
     * Deletes a token of the actor, effective on the next call.
     * @throws BAD_REQUEST if they have no token of this id
     */
    async delete(actor: Actor, tokenId: number): Promise<void> {
      await access.authorize(actor, 'token.delete')
      const isIt = and(eq(apiTokens.id, tokenId), eq(apiTokens.userId, requireUser(actor).id))
      const [deleted] = await meta.db.delete(apiTokens).where(isIt).returning({ hash: apiTokens.tokenHash })
      if (!deleted) throw badRequest(m.wire_error_token_not_found({ id: tokenId }))
      cache.forget(deleted.hash)
    },
  }
}

/** The token as lists show it: only its last characters are readable. */
export const maskedToken = ({ hint }: Pick<ApiTokenRow, 'hint'>): string =>
  `${'*'.repeat(40 - hint.length)}${hint}`
