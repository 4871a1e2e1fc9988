import { and, desc, eq, inArray } from 'drizzle-orm'
import { nowIso, nowMs } from '../../src/clock.ts'
import type { Actor } from '../../src/core/actor.ts'
import { badRequest } from '../../src/core/errors.ts'
import { createReadCache } from '../../src/db/read-cache.ts'
import type { Kernel } from '../../src/kernel.ts'
import { m } from '../../src/messages.gen.ts'
import { type Access, requireUser } from './access.ts'
import type { Audits } from './audits.ts'
import { randomApiToken, sha256 } from './credentials.ts'
import { defineAuthTables } from './tables.ts'

const MAX_CACHED_TOKENS = 10_000
/** A token has 40 characters. */
const MAX_TOKEN_LENGTH = 100
const HINT_LENGTH = 4
const MAX_DELETED_AT_ONCE = 500

export type ApiTokenRow = ReturnType<typeof defineAuthTables>['apiTokens']['$inferSelect']

interface TokenOwner {
  userId: string
  expiresAt: string | null
}

const hasExpired = ({ expiresAt }: Pick<TokenOwner, 'expiresAt'>): boolean =>
  expiresAt !== null && Date.parse(expiresAt) <= nowMs()

export type ApiTokens = ReturnType<typeof createApiTokens>

/** API tokens. Only their hashes are stored. */
export function createApiTokens({ meta }: Pick<Kernel, 'meta'>, access: Access, audits: Audits) {
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
    async deleteAllOf(by: Actor, userId: string): Promise<void> {
      const isTheirs = eq(apiTokens.userId, userId)
      const some = () => meta.db.select().from(apiTokens).where(isTheirs).limit(MAX_DELETED_AT_ONCE)
      // Read again: a token that was created meanwhile may be cached already.
      for (let rows = await some(); rows.length > 0; rows = await some()) {
        const ids = rows.map(({ id }) => id)
        await meta.atomically([
          meta.db.delete(apiTokens).where(inArray(apiTokens.id, ids)),
          ...rows.flatMap((row) => audits.record(by, auditOf('token.delete', row))),
        ])
        for (const { tokenHash } of rows) cache.forget(tokenHash)
      }
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
      const values = {
        userId: requireUser(actor).id,
        description,
        tokenHash: sha256(token),
        hint: token.slice(-HINT_LENGTH),
        createdAt: nowIso(),
        expiresAt: expiresAt === null ? null : new Date(expiresAt).toISOString(),
      }
      await meta.atomically([
        meta.db.insert(apiTokens).values(values),
        ...audits.record(actor, auditOf('token.create', values)),
      ])
      const isNew = eq(apiTokens.tokenHash, values.tokenHash)
      const [row] = await meta.db.select().from(apiTokens).where(isNew)
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
      const [row] = await meta.db.select().from(apiTokens).where(isIt)
      if (!row) throw badRequest(m.wire_error_token_not_found({ id: tokenId }))
      await meta.atomically([
        meta.db.delete(apiTokens).where(isIt),
        ...audits.record(actor, auditOf('token.delete', row)),
      ])
      cache.forget(row.tokenHash)
    },
  }
}

/** The token by its description only. */
const auditOf = (
  kind: 'token.create' | 'token.delete',
  { userId, description }: Pick<ApiTokenRow, 'userId' | 'description'>,
) => ({ kind, userId, detail: description === null ? {} : { name: description } })

/** The token as lists show it: only its last characters are readable. */
export const maskedToken = ({ hint }: Pick<ApiTokenRow, 'hint'>): string =>
  `${'*'.repeat(40 - hint.length)}${hint}`
