import { sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { Actor, UserActor } from '../../src/core/actor.ts'
import type { AppliedChange } from '../../src/core/changes.ts'
import { AppError } from '../../src/core/errors.ts'
import { appendChange, type StoredEntry, toEntry } from '../../src/db/change-log.ts'
import { createMutex } from '../../src/db/mutex.ts'
import type { Dialect, Engine, Transaction } from '../../src/dialects/dialect.ts'
import type { Kernel } from '../../src/kernel.ts'
import type { AuthService } from '../auth/index.ts'
import type { SchemaService } from '../schema/index.ts'
import type { CheckedOperation, Door } from './door.ts'
import { invert, readLogged } from './invert.ts'
import type { LinkSchema } from './links/relation.ts'
import { settleOperations } from './links/settle.ts'
import { rangeCondition, rangeOf, restoredBy } from './range.ts'
import { isForeign } from './record-key.ts'
import type { SetDetail, SetEntry, SetWrites } from './set-write.ts'

/** What undo and redo answer. `applied` is null where nothing was left to take back. */
export interface Undone {
  applied: AppliedChange | null
  /** The kind of what was taken back, e.g. `records.update`; null where there was nothing. */
  kind: string | null
  records: number
  /** Values that someone has changed since, which were left as they are. */
  skipped: number
}

const NOTHING: Undone = { applied: null, kind: null, records: 0, skipped: 0 }

interface Deps {
  kernel: Pick<Kernel, 'sources' | 'events' | 'undoers'>
  auth: Pick<AuthService, 'access'>
  schema: LinkSchema & Pick<SchemaService, 'tables'>
  door: Door
  sets: SetWrites
}

const PASSED_OVER = -1

/** Deletions of so many records, and updates of all that match, go and come back as a set, in a worker thread. */
const SET_FROM = 1_000

/**
 * Undo and redo of a person's own actions in a base, from the log: so they survive a reload. Each is
 * a change of its own, in the log as any other; a new action ends what could be redone.
 */
export function createUndo({ kernel, auth, schema, door, sets }: Deps) {
  const queues = new Map<string, ReturnType<typeof createMutex>>()
  /** The entry whose undo was refused last, by base and person. */
  const refused = new LRUCache<string, number>({ max: 1_000 })

  /** One step of a base at a time: two that come together must not take back the same action. */
  function inTurn<T>(baseId: string, work: () => Promise<T>): Promise<T> {
    const queue = queues.get(baseId) ?? createMutex()
    queues.set(baseId, queue)
    return queue(work)
  }

  /** Takes back the actor's latest action that stands. @throws BASE_NOT_FOUND; PERMISSION_DENIED below editor */
  async function undo(actor: Actor, baseId: string): Promise<Undone> {
    const { user, engine } = await enter(actor, baseId)
    return inTurn(baseId, async () => {
      const entry = await findUndoable(engine, user.id)
      if (!entry) return NOTHING
      const undone = await step(user, baseId, engine, entry, null).catch((error) => {
        if (!(error instanceof AppError)) throw error
        return goOnWithout(user, baseId, engine, entry, error)
      })
      return withRest(undone, entry.actionId, async () => {
        const next = await findUndoable(engine, user.id)
        return next && { entry: next, run: () => step(user, baseId, engine, next, null) }
      })
    })
  }

  /** Does again what the actor took back last. @throws BASE_NOT_FOUND; PERMISSION_DENIED below editor */
  async function redo(actor: Actor, baseId: string): Promise<Undone> {
    const { user, engine } = await enter(actor, baseId)
    return inTurn(baseId, async () => {
      const found = await findRedoable(engine, user.id)
      if (!found) return NOTHING
      const redone = await step(user, baseId, engine, found.entry, found.undoneBy)
      return withRest(redone, found.entry.actionId, async () => {
        const next = await findRedoable(engine, user.id)
        return next && { entry: next.entry, run: () => step(user, baseId, engine, next.entry, next.undoneBy) }
      })
    })
  }

  /**
   * What others have built on, or what would break a rule by now, cannot be taken back. Whoever asks for it once more leaves it as it is,
   * and the action before it is taken back instead: one refusal must not end undo for good.
   */
  async function goOnWithout(
    user: UserActor,
    baseId: string,
    engine: Engine,
    entry: StoredEntry,
    refusal: AppError,
  ): Promise<Undone> {
    const place = `${baseId} ${user.id}`
    if (refused.get(place) !== entry.id) {
      refused.set(place, entry.id)
      throw new AppError(
        refusal.code,
        `${refusal.message}. Undo once more to leave it and go on with what came before`,
      )
    }
    await passOver(engine, entry)
    const previous = await findUndoable(engine, user.id)
    return previous ? step(user, baseId, engine, previous, null) : NOTHING
  }

  async function enter(actor: Actor, baseId: string): Promise<{ user: UserActor; engine: Engine }> {
    // Also finds out that the base is there, and not in the trash.
    await schema.tables(actor, baseId)
    await auth.access.authorize(actor, 'record.undo', baseId)
    if (actor.kind !== 'user')
      throw new AppError('AUTHENTICATION_REQUIRED', 'Authentication required - Invalid token')
    return { user: actor, engine: await kernel.sources.engine(baseId) }
  }

  /** @param undoneBy the entry that took this one back, where it is to be done again; else null */
  async function step(
    user: UserActor,
    baseId: string,
    engine: Engine,
    entry: StoredEntry,
    undoneBy: number | null,
  ): Promise<Undone> {
    const mark = undoneBy === null ? { kind: 'undo', undoes: entry.id } : { kind: 'redo', redoes: entry.id }
    const finish = async (tx: Transaction, dialect: Dialect, entryId: number): Promise<void> => {
      const by = undoneBy === null ? entryId : null
      await tx.run(dialect.render(sql`update sheaf_changes set undone_by = ${by} where id = ${entry.id}`))
    }
    const { kind } = entry
    const owner = kind.split('.')[0] ?? ''
    if (owner !== 'records') {
      const undoer = kernel.undoers.get(owner)
      if (!undoer) throw new Error(`Nobody can take back "${kind}"`)
      await undoer(user, baseId, entry, undoneBy === null ? 'undo' : 'redo')
      const { tableId } = entry
      await engine.write(async (tx) => {
        const appended = await appendChange(tx, engine.dialect, {
          actorId: user.id,
          tableId,
          records: [],
          ...mark,
        })
        await finish(tx, engine.dialect, appended.id)
      })
      return { applied: null, kind, records: entry.records, skipped: 0 }
    }
    const asSet = setStep(entry, undoneBy)
    if (asSet && !(await isForeignEntry(entry))) {
      const { count, skipped, ...applied } = await asSet(user, mark)
      return { applied, kind, records: count, skipped }
    }
    let skipped = 0
    let records = 0
    const applied = await door.write(
      user,
      { baseId },
      {
        entry: { ...mark, tableId: entry.tableId },
        finish,
        async plan(scope) {
          // Redo is the undo of the undo: its records tell what to put back.
          const inverse = await invert(scope, await readLogged(engine, undoneBy ?? entry.id))
          const settled = await settleOperations(scope, inverse.operations)
          skipped = inverse.skipped + settled.skipped
          records = countRecords(inverse.operations, entry.tableId)
          return settled.operations
        },
      },
    )
    return { applied, kind, records: records || applied.count, skipped }
  }

  /** Sets are written beside the log, which a connected database is not. */
  const isForeignEntry = async ({ tableId }: StoredEntry): Promise<boolean> =>
    tableId !== null && isForeign(await schema.loadWithKeys(tableId))

  /** How a change of many records is taken back, or done again: as a set. Null for any other. */
  function setStep(entry: StoredEntry, undoneBy: number | null) {
    const range = rangeOf(entry)
    if (range) {
      return (user: UserActor, mark: SetEntry) =>
        undoneBy === null
          ? sets.deleteWhere(user, range.tableId, (model) => rangeCondition(model, range), mark, entry.id)
          : sets.restoreFrom(user, range.tableId, undoneBy, mark)
    }
    const { tableId } = entry
    if (tableId === null || entry.records < SET_FROM) return null
    const fieldIds = (entry.detail as Partial<SetDetail> | null)?.fields
    if (fieldIds) {
      // Redo is the undo of the undo: its records tell what to put back.
      const change = { changeId: undoneBy ?? entry.id, fieldIds }
      return (user: UserActor, mark: SetEntry) => sets.revert(user, tableId, change, mark)
    }
    if (entry.kind !== 'records.delete') return null
    return (user: UserActor, mark: SetEntry) =>
      undoneBy === null
        ? sets.restoreFrom(user, tableId, entry.id, mark)
        : sets.deleteWhere(user, tableId, (model, dialect) => restoredBy(model, dialect, undoneBy), mark)
  }

  return { undo, redo }
}

/**
 * Goes on with the other entries of the same action: a paste that made fields goes and comes back
 * whole. Stops at one that is refused, which is then the first of the next undo.
 */
async function withRest(
  first: Undone,
  actionId: string | null,
  findNext: () => Promise<{ entry: StoredEntry; run: () => Promise<Undone> } | null>,
): Promise<Undone> {
  let all = first
  while (actionId !== null) {
    const next = await findNext()
    if (next?.entry.actionId !== actionId) break
    try {
      all = together(all, await next.run())
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      break
    }
  }
  return all
}

/** Records of the table that an action was about: those linked to them change with them, and are not counted. */
const countRecords = (operations: readonly CheckedOperation[], tableId: string | null): number =>
  operations
    .filter((operation) => operation.tableId === tableId)
    .reduce((sum, one) => sum + ('rows' in one ? one.rows.length : 'ids' in one ? one.ids.length : 0), 0)

/** Two steps as one answer; of several changes the records are not listed, but read again. */
function together(first: Undone, second: Undone): Undone {
  const [a, b] = [first.applied, second.applied]
  const applied =
    a && b
      ? { ...b, records: [], truncated: true, tableIds: [...new Set([...a.tableIds, ...b.tableIds])] }
      : (a ?? b)
  return {
    applied,
    kind: first.kind,
    records: first.records + second.records,
    skipped: first.skipped + second.skipped,
  }
}

/**
 * Leaves out an action that others have made impossible to take back (their message says why), so
 * that the actions before it can be. No entry has this id, so it cannot be done again either.
 */
async function passOver(engine: Engine, entry: StoredEntry): Promise<void> {
  await engine.write((tx) =>
    tx.run(
      engine.dialect.render(sql`update sheaf_changes set undone_by = ${PASSED_OVER} where id = ${entry.id}`),
    ),
  )
}

async function findUndoable(engine: Engine, actorId: string): Promise<StoredEntry | null> {
  const [row] = await engine.all<Parameters<typeof toEntry>[0]>(
    engine.dialect.render(sql`select id, at, actor_id, kind, table_id, records, undoes, detail, action_id from sheaf_changes
      where actor_id = ${actorId} and undone_by is null and undoes is null and redoes is null order by id desc limit 1`),
  )
  return row ? toEntry(row) : null
}

async function findRedoable(
  engine: Engine,
  actorId: string,
): Promise<{ entry: StoredEntry; undoneBy: number } | null> {
  const [row] = await engine.all<Parameters<typeof toEntry>[0] & { undone_by: number }>(
    engine.dialect.render(sql`select id, at, actor_id, kind, table_id, records, undoes, detail, action_id, undone_by from sheaf_changes
      where actor_id = ${actorId} and undone_by is not null and undone_by > coalesce(
        (select max(id) from sheaf_changes where actor_id = ${actorId} and undoes is null and redoes is null), 0)
      order by undone_by desc limit 1`),
  )
  return row ? { entry: toEntry(row), undoneBy: row.undone_by } : null
}
