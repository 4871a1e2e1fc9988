import { sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import { forEachBreathing } from '../../../src/breathe.ts'
import type { Action } from '../../../src/core/actions.ts'
import type { Actor, UserActor } from '../../../src/core/actor.ts'
import type { AppliedChange } from '../../../src/core/changes.ts'
import { AppError, notFound } from '../../../src/core/errors.ts'
import type { Person, Table } from '../../../src/core/model.ts'
import {
  entriesOfAction,
  findAction,
  latestRedoable,
  latestUndoable,
} from '../../../src/db/change-log/actions.ts'
import { appendChange, markUndone } from '../../../src/db/change-log/append.ts'
import { listActions } from '../../../src/db/change-log/entries.ts'
import { FINAL, FROM_ANOTHER_BASE, type StoredEntry } from '../../../src/db/change-log/entry.ts'
import { isWrittenAfter, writtenSince } from '../../../src/db/change-log/later-changes.ts'
import { type LoggedRecord, recordsOf } from '../../../src/db/change-log/records.ts'
import { finalizeViewDeletion, listViewDeletions } from '../../../src/db/change-log/view-deletions.ts'
import { baseBusy, createWriteQueue, writePatienceMs } from '../../../src/db/mutex.ts'
import type { Dialect, Engine, Transaction } from '../../../src/dialects/dialect.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import { currentWork, type WorkName } from '../../../src/works.ts'
import type { AuthService } from '../../auth/index.ts'
import type { BasesService } from '../../bases/index.ts'
import { definitionsAt, type FieldChanges, fieldChangesSince, type SchemaReader } from '../../schema/index.ts'
import type { ViewsService } from '../../views/index.ts'
import type { LinkSchema } from '../links/index.ts'
import type { Reader } from '../read/index.ts'
import { fitsSet, formerFields, formerFieldsNow, UNCHANGED_FIELDS, withPresentTitles } from '../rows/index.ts'
import { isForeign, keyOf, rangeCondition, rangeOf, restoredBy } from '../table/index.ts'
import type { CheckedOperation, Door, SetDetail, SetEntry, SetWrites, Where } from '../write/index.ts'
import { type Audience, createDescribe } from './describe.ts'
import { dropStaleOperations } from './drop-stale.ts'
import { invert } from './invert.ts'

/** The result of undo and redo. `applied` is null if there was nothing to revert. */
export interface Undone {
  applied: AppliedChange | null
  /** The kind of the reverted entry, e.g. `records.update`; null if there was nothing. */
  kind: string | null
  records: number
  /** Values that were skipped because they were changed since. */
  skipped: number
}

/** How an action is undone. */
export interface UndoOptions {
  /** Records that the action added stay if someone has changed them since, as changed values always do. */
  keepsChanged?: boolean
}

/** Another server has undone the entry, or redone it, while the call waited for the write lease: nothing is left to do. */
class NotDue extends Error {}

/** Pause before a server asks again whether another one still reverts a definition in the base. */
const CLAIM_AGAIN_MS = 50

const NOTHING: Undone = { applied: null, kind: null, records: 0, skipped: 0 }

interface Deps {
  kernel: Pick<Kernel, 'log' | 'meta' | 'sources' | 'events' | 'undoers' | 'works'>
  auth: Pick<AuthService, 'access' | 'people'>
  schema: LinkSchema & Pick<SchemaReader, 'tables' | 'logNames'>
  views: Pick<ViewsService, 'titlesOf'>
  bases: Pick<BasesService, 'sourcesOf'>
  reader: Pick<Reader, 'open' | 'page'>
  door: Door
  sets: SetWrites
}

/** From this many records on, deletions and bulk updates are reverted as a set, in a worker thread. */
const SET_FROM = 1_000

/** Limit of actions on one page of the history. */
export const MAX_ACTIONS = 100

/** A page of the history of a base or one of its tables. */
export interface ActionsRequest {
  baseId: string
  tableId?: string
  /** The last entry seen; absent: from the newest. */
  before?: number
  limit: number
}

/** Limit of listed deleted views. */
const MAX_DELETED_VIEWS = 500

type Direction = 'undo' | 'redo'

/**
 * Undo and redo from the log, so that they survive a reload. Each is a change of its own in the log; a new action
 * clears the redo history.
 */
export function createUndo({ kernel, auth, schema, views, bases, reader, door, sets }: Deps) {
  const queues = new Map<string, ReturnType<typeof createWriteQueue>>()
  /** Number of rejected undos by entry, for each base and person. After the second one, undo skips the entry. */
  const refused = new LRUCache<string, ReadonlyMap<number, number>>({ max: 1_000 })
  const describe = createDescribe({ reader, schema, views, bases })

  /** Runs the steps of a base one at a time: two concurrent calls must not undo the same action. */
  function inTurn<T>(baseId: string, work: () => Promise<T>): Promise<T> {
    const queue = queues.get(baseId) ?? createWriteQueue()
    queues.set(baseId, queue)
    return queue(work, { patienceMs: writePatienceMs() })
  }

  const refusalsOf = (baseId: string, user: UserActor): ReadonlyMap<number, number> =>
    refused.get(`${baseId} ${user.id}`) ?? new Map()

  const skippedEntries = (baseId: string, user: UserActor): ReadonlySet<number> =>
    new Set([...refusalsOf(baseId, user)].flatMap(([id, times]) => (times > 1 ? id : [])))

  /**
   * The next action to undo or redo: the actor’s latest in the table of `scope`, or in the base. Null if there is
   * none.
   *
   * @throws BASE_NOT_FOUND; PERMISSION_DENIED below editor
   */
  async function next(
    actor: Actor,
    baseId: string,
    direction: Direction,
    scope: Audience = {},
  ): Promise<Action | null> {
    const { user, engine } = await enter(actor, baseId)
    const { tableId } = scope
    const found =
      direction === 'undo'
        ? await latestUndoable(engine, user.id, { tableId, except: skippedEntries(baseId, user) })
        : await latestRedoable(engine, user.id, { tableId })
    if (!found) return null
    return describeAction(user, baseId, engine, await entriesOfAction(engine, found, direction), scope)
  }

  /**
   * Describes several entries of one action as one: labelled by the records it wrote, and confirmed if one of them
   * needs it.
   */
  async function describeAction(
    user: UserActor,
    baseId: string,
    engine: Engine,
    entries: readonly StoredEntry[],
    audience: Audience,
  ): Promise<Action | null> {
    const described = await describe(user, baseId, engine, entries, audience)
    const [first] = described
    const main = described.find(({ kind }) => kind.startsWith('records.')) ?? first
    if (!main || !first) return null
    // An action that touches the table on screen is not elsewhere, whatever other tables it wrote.
    const reasons = described.map((one) => one.confirm)
    const isElsewhere = reasons.every((reason) => reason === 'elsewhere')
    const heavy = reasons.find((reason) => reason !== null && reason !== 'elsewhere') ?? null
    const confirm = isElsewhere ? 'elsewhere' : heavy
    // Undo names the first entry and includes the others.
    return { ...main, id: first.id, further: described.length - 1, confirm }
  }

  /**
   * Undoes an action: the one with `entryId`, or the actor’s latest. Actions of others need the right to undo them.
   * An action that is already undone stays so: a call may be sent twice.
   *
   * @throws BASE_NOT_FOUND, GENERIC_NOT_FOUND for an unknown entry; PERMISSION_DENIED below editor, and for what
   *   another person did below creator; CONFLICT where it cannot be undone
   */
  async function undo(
    actor: Actor,
    baseId: string,
    entryId?: number,
    options: UndoOptions = {},
  ): Promise<Undone> {
    const { user, engine } = await enter(actor, baseId)
    return inTurn(baseId, async () => {
      if (entryId !== undefined) {
        const found = await findNamed(user, baseId, engine, entryId)
        if (found.undoneBy !== null) return { ...NOTHING, kind: found.kind }
        return undoAction(user, baseId, engine, found, options)
      }
      for (;;) {
        const found = await latestUndoable(engine, user.id, { except: skippedEntries(baseId, user) })
        if (!found) return NOTHING
        try {
          return await undoAction(user, baseId, engine, found)
        } catch (error) {
          if (!(error instanceof AppError) || error.details?.passedOver !== true) throw error
        }
      }
    })
  }

  async function undoAction(
    user: UserActor,
    baseId: string,
    engine: Engine,
    entry: StoredEntry,
    options: UndoOptions = {},
  ): Promise<Undone> {
    const entries = await entriesOfAction(engine, entry, 'undo')
    const [first = entry] = entries
    return inSteps(user, 'undo', baseId, entries, (each) =>
      step(user, baseId, engine, each, null, options).catch(async (error) => {
        throw each === first ? await refusal(user, baseId, engine, first, error) : error
      }),
    )
  }

  /**
   * Undoes or redoes the entries of an action one by one, as one work that goes on without its client: what is left of it would need
   * another undo. It cannot be cancelled where there are several, for the same reason.
   *
   * @param run undoes or redoes one of them
   */
  async function inSteps(
    user: UserActor,
    kind: 'undo' | 'redo',
    baseId: string,
    entries: readonly StoredEntry[],
    run: (entry: StoredEntry) => Promise<Undone>,
  ): Promise<Undone> {
    const [first, ...others] = entries
    if (!first) return NOTHING
    if (others.length === 0) return run(first)
    const isSameTable = others.every(({ tableId }) => tableId === first.tableId)
    const tables = isSameTable && first.tableId !== null ? await schema.tables(user, baseId) : []
    const table = tables.find(({ id }) => id === first.tableId)
    const records = entries.reduce((sum, entry) => sum + entry.records, 0)
    const name: WorkName = { kind, baseId, table, records, canCancel: false }
    return kernel.works.follow(user, name, async (work) => {
      let done = 0
      const runPart = (entry: StoredEntry): Promise<Undone> => {
        const from = done
        done += Math.max(1, entry.records)
        const whole = Math.max(records, entries.length)
        work.part(Math.min(1, from / whole), Math.min(1, done / whole))
        return run(entry)
      }
      return runRest(await runPart(first), others, runPart)
    })
  }

  /**
   * Redoes an action: the one with `entryId`, or the one that the actor undid last.
   *
   * @throws as `undo`
   */
  async function redo(actor: Actor, baseId: string, entryId?: number): Promise<Undone> {
    const { user, engine } = await enter(actor, baseId)
    return inTurn(baseId, async () => {
      const found =
        entryId === undefined
          ? await latestRedoable(engine, user.id, {})
          : await findNamed(user, baseId, engine, entryId)
      if (!found) return NOTHING
      if (found.undoneBy === null) return { ...NOTHING, kind: found.kind }
      const entries = await entriesOfAction(engine, found, 'redo')
      return inSteps(user, 'redo', baseId, entries, (entry) =>
        step(user, baseId, engine, entry, entry.undoneBy),
      )
    })
  }

  /**
   * The history of a base or table, newest first, with the people involved. `next` is the `before` of the next page.
   *
   * @throws BASE_NOT_FOUND; PERMISSION_DENIED below editor
   */
  async function actions(
    actor: Actor,
    { baseId, tableId, before, limit }: ActionsRequest,
  ): Promise<{ actions: Action[]; people: Person[]; next: number | null }> {
    const { user, engine, tableIds } = await enter(actor, baseId)
    const listed = await listActions(engine, { tableId, tableIds, before, limit: limit + 1 })
    const entries = listed.slice(0, limit)
    const described = await describe(user, baseId, engine, entries, {})
    const ids = entries.flatMap(({ actorId }) => actorId ?? [])
    return {
      actions: joinActions(entries, described).map(({ action }) => action),
      people: await auth.people([...new Set(ids)]),
      next: listed.length > limit ? (entries.at(-1)?.id ?? null) : null,
    }
  }

  /**
   * The deleted views of a base’s tables, newest first: undoing the entry restores the view.
   *
   * @param before the id of the last entry of the page before
   * @param actorId the user who deleted them
   * @param until ISO 8601: only those that were deleted by then
   * @param tables the tables of the base, if the caller has read them
   * @throws BASE_NOT_FOUND; PERMISSION_DENIED below creator
   */
  async function deletedViews(
    actor: Actor,
    baseId: string,
    {
      limit = MAX_DELETED_VIEWS,
      tables,
      ...filter
    }: {
      before?: number
      actorId?: string
      tableId?: string
      until?: string
      limit?: number
      tables?: readonly Table[]
    } = {},
  ): Promise<{ actions: Action[]; people: Person[] }> {
    const { user, engine, tableIds: all } = await enter(actor, baseId, tables)
    await auth.access.authorize(actor, 'view.create', baseId)
    const tableIds = all.filter((id) => id === (filter.tableId ?? id))
    if (tableIds.length === 0) return { actions: [], people: [] }
    const entries = await listViewDeletions(engine, tableIds, { ...filter, limit })
    if (entries.length === 0) return { actions: [], people: [] }
    const people = await auth.people([...new Set(entries.flatMap(({ actorId }) => actorId ?? []))])
    return { actions: await describe(user, baseId, engine, entries, {}), people }
  }

  /**
   * Deletes a view permanently: nothing can restore it.
   *
   * @throws VIEW_NOT_FOUND where the entry deleted none, or it is back; PERMISSION_DENIED below creator
   */
  async function deleteViewForever(actor: Actor, baseId: string, entryId: number): Promise<void> {
    const { engine } = await enter(actor, baseId)
    await auth.access.authorize(actor, 'view.purge', baseId)
    if (!(await finalizeViewDeletion(engine, entryId))) throw notFound('View', String(entryId))
  }

  /**
   * All entries that undoing an action would undo, latest first.
   *
   * @throws as `undo`
   */
  async function openAction(
    actor: Actor,
    baseId: string,
    entryId: number,
  ): Promise<{ user: UserActor; engine: Engine; entries: StoredEntry[] }> {
    const { user, engine } = await enter(actor, baseId)
    const entry = await findNamed(user, baseId, engine, entryId)
    const entries = entry.undoneBy === null ? await entriesOfAction(engine, entry, 'undo') : [entry]
    return { user, engine, entries }
  }

  /** An entry by id, for someone who may undo or redo it. */
  async function findNamed(
    user: UserActor,
    baseId: string,
    engine: Engine,
    entryId: number,
  ): Promise<StoredEntry> {
    const entry = await findAction(engine, entryId)
    if (!entry) throw notFound('Action', String(entryId))
    if (entry.actorId !== user.id) await auth.access.authorize(user, 'record.undo-others', baseId)
    refuseFinal(entry)
    return entry
  }

  /**
   * Explains why an entry cannot be undone, because others built on it or a rule forbids it. A second attempt skips
   * the entry (`details.passedOver`) and continues with the one before: one rejection must not block undo for good.
   */
  async function refusal(
    user: UserActor,
    baseId: string,
    engine: Engine,
    entry: StoredEntry,
    error: unknown,
  ): Promise<unknown> {
    // A cancelled undo was not rejected.
    if (!(error instanceof AppError) || error.details?.isCancelled === true) return error
    const { tableId } = entry
    const [inTable, inBase] = await Promise.all(
      [tableId ?? undefined, undefined].map((id) =>
        latestUndoable(engine, user.id, { tableId: id, except: skippedEntries(baseId, user) }),
      ),
    )
    // The entry was chosen from the history instead of being next in line.
    if (inTable?.id !== entry.id && inBase?.id !== entry.id) return error
    const refusals = refusalsOf(baseId, user)
    const times = (refusals.get(entry.id) ?? 0) + 1
    refused.set(`${baseId} ${user.id}`, new Map([...refusals, [entry.id, times]]))
    const { code, message, details } = error
    // Some reasons are sentences of their own, with a period.
    const reason = message.endsWith('.') ? message.slice(0, -1) : message
    return times === 1
      ? new AppError(code, m.records_error_undo_refused({ reason }), details)
      : new AppError(code, message, { ...details, passedOver: true })
  }

  async function enter(
    actor: Actor,
    baseId: string,
    known?: readonly Table[],
  ): Promise<{ user: UserActor; engine: Engine; tableIds: string[] }> {
    // Also checks that the base exists and is not in the trash.
    const tables = known ?? (await schema.tables(actor, baseId))
    await auth.access.authorize(actor, 'record.undo', baseId)
    if (actor.kind !== 'user') throw new AppError('AUTHENTICATION_REQUIRED', m.wire_error_invalid_token())
    return { user: actor, engine: await kernel.sources.engine(baseId), tableIds: tables.map(({ id }) => id) }
  }

  /** @param undoneBy to redo: the entry that undid this one; null to undo */
  async function step(
    user: UserActor,
    baseId: string,
    engine: Engine,
    entry: StoredEntry,
    undoneBy: number | null,
    options: UndoOptions = {},
  ): Promise<Undone> {
    const tables = entry.tableId === null ? [] : await schema.tables(user, baseId)
    const table = tables.find(({ id }) => id === entry.tableId)
    const work = { kind: undoneBy === null ? 'undo' : 'redo', baseId, table } as const
    try {
      return await kernel.works.follow(user, work, () =>
        stepNow(user, baseId, engine, entry, undoneBy, options),
      )
    } catch (error) {
      if (error instanceof NotDue) return { ...NOTHING, kind: entry.kind }
      throw error
    }
  }

  async function stepNow(
    user: UserActor,
    baseId: string,
    engine: Engine,
    entry: StoredEntry,
    undoneBy: number | null,
    { keepsChanged = false }: UndoOptions,
  ): Promise<Undone> {
    const mark = undoneBy === null ? { kind: 'undo', undoes: entry.id } : { kind: 'redo', redoes: entry.id }
    const finish = (tx: Transaction, dialect: Dialect, entryId: number): Promise<void> =>
      markUndone(tx, dialect, entry.id, undoneBy === null ? entryId : null)
    /**
     * Asked with the write lease: since the entry was read, retention may have removed it, which leaves its records for a while, and another
     * server may have undone or redone it.
     */
    const requireDue = async () => {
      const now = await findAction(engine, entry.id)
      if (!now) throw notFound('Action', String(entry.id))
      refuseFinal(now)
      if (now.undoneBy !== entry.undoneBy) throw new NotDue()
    }
    const { kind } = entry
    const owner = kind.split('.')[0] ?? ''
    if (owner !== 'records') {
      const undoer = kernel.undoers.get(owner)
      if (!undoer) throw new Error(`Nobody can take back "${kind}"`)
      const direction = undoneBy === null ? 'undo' : 'redo'
      return onOneServer(baseId, async () => {
        await requireDue()
        await undoer(user, baseId, entry, direction, { silent: true, check: requireDue })
        // The change is complete; cancelling now would leave it unlogged.
        const work = currentWork()
        if (!work?.signal.aborted) work?.commit()
        const { tableId } = entry
        await engine.write(
          async (tx) => {
            await requireDue()
            const appended = await appendChange(tx, engine.dialect, {
              actorId: user.id,
              tableId,
              records: [],
              ...mark,
            })
            await finish(tx, engine.dialect, appended.id)
          },
          undefined,
          { isFollowUp: true },
        )
        return { applied: null, kind, records: entry.records, skipped: 0 }
      })
    }
    const changeId = undoneBy ?? entry.id
    const { tableId } = entry
    const fieldChanges = tableId === null ? undefined : await fieldChangesSince(engine, tableId, changeId)
    const asSet = setStep(entry, undoneBy, keepsChanged)
    if (asSet && fieldChanges && (await fitsSetWrite(entry, changeId, fieldChanges))) {
      const { count, skipped, ...applied } = await asSet(user, { ...mark, requireDue, fieldChanges })
      return { applied, kind, records: count, skipped }
    }
    let skipped = 0
    let records = 0
    const applied = await door.write(
      user,
      { baseId },
      {
        entry: { ...mark, tableId },
        finish,
        async plan(scope) {
          await requireDue()
          await requireOwnTable(entry)
          // Redo reverts the undo: its records have the values to restore.
          const logged = await recordsOf(engine, engine.dialect, changeId)
          const changed = keepsChanged ? await writtenSince(engine, entry.id, 'added') : []
          const kept = new Set(changed.map(recordKey))
          // Records that were deleted again since belong to the later deletion.
          const again = logged.some(({ after }) => after === null)
            ? await writtenSince(engine, changeId, 'deleted')
            : []
          const left = new Set([...kept, ...again.map(recordKey)])
          const former =
            tableId === null
              ? UNCHANGED_FIELDS
              : await formerFieldsNow(engine, await schema.loadWithKeys(tableId), changeId, fieldChanges)
          const reverted: LoggedRecord[] = []
          await forEachBreathing(logged, (record) => {
            if (left.size > 0 && left.has(recordKey(record))) return
            reverted.push(withPresentTitles(record, former))
          })
          const inverse = await invert(scope, reverted)
          const remaining = await dropStaleOperations(scope, inverse.operations)
          skipped = kept.size + inverse.skipped + remaining.skipped
          records = countRecords(inverse.operations, tableId)
          return remaining.operations
        },
      },
    )
    return { applied, kind, records: records || applied.count, skipped }
  }

  /**
   * Reverts a definition while no other server does so in the base. The write lease ends between the change and the entry of its undo:
   * another server would take it for due and revert it again, with what somebody has changed since.
   *
   * @throws BASE_BUSY
   */
  async function onOneServer<T>(baseId: string, work: () => Promise<T>): Promise<T> {
    const { claims } = kernel.meta.cluster
    const claim = `undo ${baseId}`
    const patienceMs = writePatienceMs()
    const since = performance.now()
    while (!(await claims.take(claim))) {
      if (patienceMs !== undefined && performance.now() - since > patienceMs) throw baseBusy(patienceMs)
      await Bun.sleep(CLAIM_AGAIN_MS)
      currentWork()?.signal.throwIfAborted()
    }
    try {
      return await work()
    } finally {
      await claims.release(claim).catch((error) => {
        // What is written stays written; without a connection there is no claim.
        kernel.log.error('the claim of an undo could not be released', error, { baseId })
      })
    }
  }

  /**
   * Changes of links are undone in tables in the trash, too, but not those that were made there: the table may have moved.
   *
   * @throws TABLE_NOT_FOUND
   */
  async function requireOwnTable({ tableId }: StoredEntry): Promise<void> {
    const own = tableId === null ? null : await schema.loadWithKeys(tableId)
    if (own && own.table.deletedAt !== null && !own.table.isJunction) await schema.load(own.table.id)
  }

  /** Set writes need the records in the database of the log, which connected databases are not. */
  async function fitsSetWrite(
    { tableId }: StoredEntry,
    changeId: number,
    fieldChanges: FieldChanges,
  ): Promise<boolean> {
    if (tableId === null) return false
    const model = await schema.loadWithKeys(tableId)
    return !isForeign(model) && fitsSet(formerFields(model, definitionsAt(fieldChanges)(changeId)))
  }

  /** How to undo or redo a large change as a set; null for other changes. */
  function setStep(entry: StoredEntry, undoneBy: number | null, keepsChanged: boolean) {
    const unlessChanged = (tableId: string, where: Where): Where => {
      if (!keepsChanged) return where
      return (model, dialect) => {
        const isChanged = isWrittenAfter(tableId, entry.id, dialect.logId(keyOf(model)))
        return sql`${where(model, dialect)} and not ${isChanged}`
      }
    }
    const range = rangeOf(entry)
    if (range) {
      const where = unlessChanged(range.tableId, (model) => rangeCondition(model, range))
      return (user: UserActor, mark: SetEntry) =>
        undoneBy === null
          ? sets.deleteWhere(user, range.tableId, where, mark, { added: entry.id })
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
    // Redo reverts the undo, which lists the same records.
    if (entry.kind === 'records.rewind' || entry.kind === 'records.import') {
      const kept = keepsChanged && undoneBy === null
      return (user: UserActor, mark: SetEntry) =>
        sets.revertAll(user, tableId, undoneBy ?? entry.id, mark, { keepsChanged: kept })
    }
    const isDeletion = entry.kind === 'records.delete'
    if (!isDeletion && entry.kind !== 'records.restore') return null
    // Redo reverts the undo: records deleted by an undone restoration come back, and vice versa.
    const changeId = undoneBy ?? entry.id
    return (user: UserActor, mark: SetEntry) =>
      isDeletion === (undoneBy === null)
        ? sets.restoreFrom(user, tableId, changeId, mark)
        : sets.deleteWhere(
            user,
            tableId,
            unlessChanged(tableId, (model, dialect) => restoredBy(model, dialect, changeId)),
            mark,
          )
  }

  return { next, undo, redo, actions, deletedViews, deleteViewForever, openAction, describeAction, describe }
}

/** @throws CONFLICT for an entry that nobody can undo */
function refuseFinal({ kind, undoneBy }: StoredEntry): void {
  const purged = kind === 'view.delete' ? m.views_error_undo_purged : m.records_error_undo_purged
  if (undoneBy === FINAL) throw new AppError('CONFLICT', purged())
  if (undoneBy === FROM_ANOTHER_BASE) throw new AppError('CONFLICT', m.records_error_undo_imported())
}

const recordKey = ({ table_id, record_id }: Pick<LoggedRecord, 'table_id' | 'record_id'>): string =>
  `${table_id} ${record_id}`

/** Continues with the other entries of the action. Stops at a rejected one, which is the next to undo. */
async function runRest(
  first: Undone,
  others: readonly StoredEntry[],
  run: (other: StoredEntry) => Promise<Undone>,
): Promise<Undone> {
  let all = first
  for (const other of others) {
    try {
      all = combineSteps(all, await run(other))
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      break
    }
  }
  return all
}

/** Joins the entries of one action at the position of the latest, which is its `entry`. */
export function joinActions(
  entries: readonly StoredEntry[],
  described: readonly Action[],
): { entry: StoredEntry; action: Action }[] {
  const joined: { entry: StoredEntry; action: Action }[] = []
  const places = new Map<string, number>()
  entries.forEach((entry, index) => {
    const { actionId, actorId, undoneBy } = entry
    const action = described[index]
    if (!action) return
    const key = actionId === null ? null : `${actorId} ${actionId} ${undoneBy === null}`
    const at = key === null ? undefined : places.get(key)
    const known = at === undefined ? undefined : joined[at]
    if (at === undefined || !known) {
      if (key !== null) places.set(key, joined.length)
      joined.push({ entry, action })
      return
    }
    const main = known.action.kind.startsWith('records.') ? known.action : action
    joined[at] = {
      entry: known.entry,
      action: {
        ...main,
        id: known.action.id,
        further: known.action.further + 1,
        confirm: known.action.confirm ?? action.confirm,
      },
    }
  })
  return joined
}

/** Counts the records of the action’s table; linked records that change with them are not counted. */
const countRecords = (operations: readonly CheckedOperation[], tableId: string | null): number =>
  operations.filter((operation) => operation.tableId === tableId).reduce((sum, one) => sum + sizeOf(one), 0)

function sizeOf(operation: CheckedOperation): number {
  if ('rows' in operation) return operation.rows.length
  if ('places' in operation) return operation.places.length
  return 'ids' in operation ? operation.ids.length : 0
}

/** Combines two results; for several changes, clients reload the records. */
function combineSteps(first: Undone, second: Undone): Undone {
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
