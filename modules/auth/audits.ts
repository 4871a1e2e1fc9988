import { and, desc, eq, gte, lt, lte, not, notInArray, type SQL } from 'drizzle-orm'
import type { AuditDetail, AuditKind } from '../../src/core/activity.ts'
import type { Actor } from '../../src/core/actor.ts'
import { createId } from '../../src/core/ids.ts'
import type { MetaStatement } from '../../src/db/meta.ts'
import type { Kernel } from '../../src/kernel.ts'
import { defineAuthTables } from './tables.ts'

/** Something that happened to a base. */
export interface NewAudit {
  baseId: string
  kind: AuditKind
  detail: AuditDetail
}

/** Which audits are listed. */
export interface AuditFilter {
  actorId?: string | undefined
  /** ISO 8601, both inclusive. */
  from?: string | undefined
  to?: string | undefined
  /** Kinds that are left out. */
  except: readonly AuditKind[]
}

export interface StoredAudit extends NewAudit {
  id: number
  at: string
  actorId: string | null
}

export type Audits = ReturnType<typeof createAudits>

/** What happened to bases, their members and their public links (spec §3, audit operation types). */
export function createAudits({ meta, events, removals }: Pick<Kernel, 'meta' | 'events' | 'removals'>) {
  const { audits } = meta.tables(defineAuthTables)
  const { db } = meta
  removals.push((baseId) => [db.delete(audits).where(eq(audits.baseId, baseId))])

  return {
    /**
     * The statements that record an action, for the end of its transaction. Call `added` after it.
     *
     * @param isDone if the action may turn out to do nothing: true in the transaction if it did something
     */
    record(actor: Actor, { baseId, kind, detail }: NewAudit, isDone?: SQL): MetaStatement[] {
      const key = createId('audit')
      const row = {
        key,
        at: new Date().toISOString(),
        baseId,
        kind,
        actorId: actor.kind === 'user' ? actor.id : null,
        detail,
      }
      const insert = db.insert(audits).values(row)
      return isDone ? [insert, db.delete(audits).where(and(eq(audits.key, key), not(isDone)))] : [insert]
    },

    /** Tells everyone who has the base open. */
    added: (baseId: string): void => events.emit('base.audited', { baseId }),

    /** The audits of a base before an id, newest first. Does not check access. */
    async list(
      baseId: string,
      { actorId, from, to, except }: AuditFilter,
      { before, limit }: { before: number; limit: number },
    ): Promise<StoredAudit[]> {
      const rows = await db
        .select()
        .from(audits)
        .where(
          and(
            eq(audits.baseId, baseId),
            lt(audits.id, before),
            actorId === undefined ? undefined : eq(audits.actorId, actorId),
            from === undefined ? undefined : gte(audits.at, from),
            to === undefined ? undefined : lte(audits.at, to),
            except.length === 0 ? undefined : notInArray(audits.kind, [...except]),
          ),
        )
        .orderBy(desc(audits.id))
        .limit(limit)
      return rows.map(({ kind, detail, ...row }) => ({
        ...row,
        kind: kind as AuditKind,
        detail: detail as AuditDetail,
      }))
    },
  }
}
