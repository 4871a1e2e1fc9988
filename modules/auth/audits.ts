import {
  and,
  desc,
  eq,
  gte,
  inArray,
  isNotNull,
  isNull,
  lt,
  lte,
  not,
  notInArray,
  or,
  type SQL,
  sql,
} from 'drizzle-orm'
import { currentOrigin } from '../../src/caller.ts'
import { nowIso, nowMs } from '../../src/clock.ts'
import type { AuditDetail, AuditKind } from '../../src/core/activity.ts'
import type { Actor, UserActor } from '../../src/core/actor.ts'
import type { AccountAuditKind, AuditEntry } from '../../src/core/audits.ts'
import { createId } from '../../src/core/ids.ts'
import type { MetaStatement } from '../../src/db/meta.ts'
import type { Kernel } from '../../src/kernel.ts'
import { containsText } from './accounts.ts'
import { parseEmail } from './credentials.ts'
import { defineAuthTables } from './tables.ts'
import { networkOf } from './throttle.ts'

/** Something that happened to a base, an account or the server. */
export type NewAudit = {
  /** The user whom it concerns. */
  userId?: string
  detail: AuditDetail
} & ({ baseId: string; kind: AuditKind } | { baseId?: undefined; kind: AccountAuditKind })

/** Who acted: all that is stored of an actor is the id of a user. */
type Author = Pick<UserActor, 'kind' | 'id'> | Exclude<Actor, UserActor>

/** Which audits of a base are listed. */
export interface AuditFilter {
  actorId?: string | undefined
  /** ISO 8601, both inclusive. */
  from?: string | undefined
  to?: string | undefined
  /** Kinds that are left out. */
  except: readonly AuditKind[]
}

/** Which entries of the whole log are listed. */
export interface AuditLogFilter {
  kinds?: readonly AuditEntry['kind'][] | undefined
  /** The id of a user, or text in the address of some: entries that they caused or that concern them. */
  person?: string | undefined
  /** ISO 8601, both inclusive. */
  from?: string | undefined
  to?: string | undefined
}

export interface StoredAudit {
  id: number
  at: string
  actorId: string | null
  kind: AuditKind
  detail: AuditDetail
}

export type Audits = ReturnType<typeof createAudits>

/** Limits per minute of recorded failures: of one network, and of all, so that they cannot fill the disk. */
export const MAX_FAILURES_PER_NETWORK = 10
export const MAX_FAILURES_PER_MINUTE = 300
const MINUTE_MS = 60_000

/** What happened to accounts, the server, bases, their members and their public links (spec §3, audit operation types). */
export function createAudits({ meta, events, removals }: Pick<Kernel, 'meta' | 'events' | 'removals'>) {
  const { audits, users } = meta.tables(defineAuthTables)
  const { db } = meta
  removals.push((baseId) => [db.delete(audits).where(eq(audits.baseId, baseId))])
  const mayRecordFailure = createFailureLimit()

  const rowOf = (by: Author, { baseId, userId, kind, detail }: NewAudit) => ({
    key: createId('audit'),
    at: nowIso(),
    baseId: baseId ?? null,
    kind,
    actorId: by.kind === 'user' ? by.id : null,
    userId: userId ?? null,
    ...currentOrigin(),
    detail,
  })

  const during = (from?: string, to?: string) =>
    and(
      from === undefined ? undefined : gte(audits.at, from),
      to === undefined ? undefined : lte(audits.at, to),
    )

  /**
   * The statements that record an action, for the end of its transaction. Call `added` after one of a base.
   *
   * @param isDone if the action may turn out to do nothing: true in the transaction if it did something
   */
  function record(by: Author, audit: NewAudit, isDone?: SQL): MetaStatement[] {
    const row = rowOf(by, audit)
    const insert = db.insert(audits).values(row)
    return isDone ? [insert, db.delete(audits).where(and(eq(audits.key, row.key), not(isDone)))] : [insert]
  }

  return {
    record,

    /** As `record`, for what users do to their own account. */
    recordOwn: (
      kind: AccountAuditKind,
      { id, email }: { id: string; email: string },
      isDone?: SQL,
    ): MetaStatement[] => record({ kind: 'user', id }, { kind, userId: id, detail: { name: email } }, isDone),

    /**
     * Records a failed sign-in, unless too many were recorded within this minute. Takes as long for unknown accounts.
     * Stores the typed text only if it is an email address, since it may be a password.
     */
    async signInFailed(userId: string | null, email: string, address: string): Promise<void> {
      if (!mayRecordFailure(networkOf(address))) return
      const name = parseEmail(email)
      const audit: NewAudit = {
        kind: 'user.sign-in-failed',
        detail: name === null ? {} : { name },
        ...(userId !== null && { userId }),
      }
      await db.insert(audits).values(rowOf({ kind: 'anonymous' }, audit))
    },

    /** Tells everyone who has the base open. */
    added: (baseId: string): void => events.emit('base.audited', { baseId }),

    /** The audits of a base before an id, newest first. Does not check access. */
    async list(
      baseId: string,
      { actorId, from, to, except }: AuditFilter,
      { before, limit }: { before: number; limit: number },
    ): Promise<StoredAudit[]> {
      const { id, at, kind, detail } = audits
      const rows = await db
        .select({ id, at, actorId: audits.actorId, kind, detail })
        .from(audits)
        .where(
          and(
            eq(audits.baseId, baseId),
            lt(audits.id, before),
            actorId === undefined ? undefined : eq(audits.actorId, actorId),
            during(from, to),
            except.length === 0 ? undefined : notInArray(audits.kind, [...except]),
          ),
        )
        .orderBy(desc(audits.id))
        .limit(limit)
      return rows as StoredAudit[]
    },

    /** Entries of the whole log before an id, newest first. Does not check access. */
    async log(
      { kinds, person, from, to }: AuditLogFilter,
      { before, limit }: { before: number; limit: number },
    ): Promise<AuditEntry[]> {
      const named =
        person === undefined
          ? null
          : db
              .select({ id: users.id })
              .from(users)
              .where(or(eq(users.id, person), containsText(sql`lower(${users.email})`, person)))
      const rows = await db
        .select()
        .from(audits)
        .where(
          and(
            lt(audits.id, before),
            kinds === undefined ? undefined : inArray(audits.kind, [...kinds]),
            named === null ? undefined : or(inArray(audits.actorId, named), inArray(audits.userId, named)),
            during(from, to),
          ),
        )
        .orderBy(desc(audits.id))
        .limit(limit)
      return rows.map(({ key: _, ...row }) => row as AuditEntry)
    },

    /**
     * Removes what is older than a time: entries of accounts and the server, and the addresses of those of bases, which
     * themselves belong to the history of their base.
     */
    async removeOld(before: string): Promise<void> {
      const isOld = lt(audits.at, before)
      await meta.atomically([
        db.delete(audits).where(and(isOld, isNull(audits.baseId))),
        db
          .update(audits)
          .set({ address: null, userAgent: null })
          .where(and(isOld, or(isNotNull(audits.address), isNotNull(audits.userAgent)))),
      ])
    },
  }
}

/** Counts the failures of the present minute; false above a limit. */
function createFailureLimit(): (network: string) => boolean {
  let minute = 0
  let total = 0
  const counts = new Map<string, number>()
  return (network) => {
    const now = Math.floor(nowMs() / MINUTE_MS)
    if (now !== minute) {
      minute = now
      total = 0
      counts.clear()
    }
    const count = counts.get(network) ?? 0
    if (count >= MAX_FAILURES_PER_NETWORK || total >= MAX_FAILURES_PER_MINUTE) return false
    counts.set(network, count + 1)
    total++
    return true
  }
}
