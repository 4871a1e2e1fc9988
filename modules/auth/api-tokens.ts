import { and, desc, eq } from 'drizzle-orm'
import type { Actor } from '../../src/core/actor.ts'
import { badRequest } from '../../src/core/errors.ts'
import { createReadCache } from '../../src/db/read-cache.ts'
import type { Kernel } from '../../src/kernel.ts'
import { type Access, requireUser } from './access.ts'
import { randomApiToken, sha256 } from './credentials.ts'
import { defineAuthTables } from './tables.ts'

const MAX_CACHED_TOKENS = 10_000
/** Ours have 40 characters. */
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

/** Tokens by which programs act for a person. Only their hashes are stored. */
export function createApiTokens({ meta }: Pick<Kernel, 'meta'>, access: Access) {
  const { apiTokens } = meta.tables(defineAuthTables)
  const cache = createReadCache<TokenOwner>(meta, MAX_CACHED_TOKENS, 'tokens')

  return {
    /** Whose token it is, where that is at hand. */
    recall(token: string): { userId: string } | undefined {
      const owner = token.length > MAX_TOKEN_LENGTH ? undefined : cache.peek(sha256(token))
      return owner && !hasExpired(owner) ? owner : undefined
    },

    /** Whose token it is; null where it is none, deleted or expired. */
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

    /** The actor's own tokens, newest first. */
    async list(actor: Actor): Promise<ApiTokenRow[]> {
      await access.authorize(actor, 'token.list')
      const isOwn = eq(apiTokens.userId, requireUser(actor).id)
      return meta.db.select().from(apiTokens).where(isOwn).orderBy(desc(apiTokens.id))
    },

    /** Those of a user that work, newest first. For services: the caller has checked who asks. */
    async activeOf(userId: string): Promise<ApiTokenRow[]> {
      const isTheirs = eq(apiTokens.userId, userId)
      const rows = await meta.db.select().from(apiTokens).where(isTheirs).orderBy(desc(apiTokens.id))
      return rows.filter((row) => !hasExpired(row))
    },

    /** Deletes all tokens of a user: they are refused from the next call on. For services, as `activeOf`. */
    async deleteAllOf(userId: string): Promise<void> {
      const isTheirs = eq(apiTokens.userId, userId)
      const deleted = await meta.db.delete(apiTokens).where(isTheirs).returning({ hash: apiTokens.tokenHash })
      for (const { hash } of deleted) cache.forget(hash)
    },

    /**
     * A new token of the actor's; this answer is the only place where it is readable.
     * @param expiresAt ISO 8601; null: it does not expire
     * @throws BAD_REQUEST for a moment that has passed
     */
    async create(
      actor: Actor,
      description: string | null,
      expiresAt: string | null = null,
    ): Promise<{ row: ApiTokenRow; token: string }> {
      await access.authorize(actor, 'token.create')
      if (hasExpired({ expiresAt })) throw badRequest('A token cannot expire in the past')
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
     * Deletes a token of the actor's: it is refused from the next call on.
     * @throws BAD_REQUEST when they have none of that id
     */
    async delete(actor: Actor, tokenId: number): Promise<void> {
      await access.authorize(actor, 'token.delete')
      const isIt = and(eq(apiTokens.id, tokenId), eq(apiTokens.userId, requireUser(actor).id))
      const [deleted] = await meta.db.delete(apiTokens).where(isIt).returning({ hash: apiTokens.tokenHash })
      if (!deleted) throw badRequest(`Token with id '${tokenId}' not found`)
      cache.forget(deleted.hash)
    },
  }
}

/** What a list shows of a token: enough to know it again, nothing to use. */
export const maskedToken = ({ hint }: Pick<ApiTokenRow, 'hint'>): string =>
  `${'*'.repeat(40 - hint.length)}${hint}`
