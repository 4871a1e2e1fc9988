import { sql } from 'drizzle-orm'
import type { Actor, UserActor } from '../../src/core/actor.ts'
import type { AppliedChange, Values } from '../../src/core/changes.ts'
import { AppError } from '../../src/core/errors.ts'
import type { RecordId } from '../../src/core/model.ts'
import { appendChange, type StoredEntry, toEntry } from '../../src/db/change-log.ts'
import type { Dialect, Engine, Transaction } from '../../src/dialects/dialect.ts'
import type { Kernel } from '../../src/kernel.ts'
import type { AuthService } from '../auth/index.ts'
import type { SchemaService } from '../schema/index.ts'
import type { CheckedOperation, Door, Written } from './door.ts'
import { rangeCondition, rangeOf } from './range.ts'
import { readCurrent } from './read-current.ts'
import type { SetWrites } from './set-write.ts'

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
  schema: Pick<SchemaService, 'load'>
  door: Door
  sets: SetWrites
}

interface LoggedRecord {
  table_id: string
  record_id: RecordId
  before: string | null
  after: string | null
}

/**
 * Undo and redo of a person's own actions in a base, from the log: so they survive a reload. Each is
 * a change of its own, in the log as any other; a new action ends what could be redone.
 */
export function createUndo({ kernel, auth, schema, door, sets }: Deps) {
  /** Takes back the actor's latest action that stands. @throws PERMISSION_DENIED below editor */
  async function undo(actor: Actor, baseId: string): Promise<Undone> {
    const { user, engine } = await enter(actor, baseId)
    const entry = await findUndoable(engine, user.id)
    return entry ? step(user, baseId, engine, entry, 'undo') : NOTHING
  }

  /** Does again what the actor took back last. @throws PERMISSION_DENIED below editor */
  async function redo(actor: Actor, baseId: string): Promise<Undone> {
    const { user, engine } = await enter(actor, baseId)
    const found = await findRedoable(engine, user.id)
    return found ? step(user, baseId, engine, found.entry, 'redo', found.undoneBy) : NOTHING
  }

  async function enter(actor: Actor, baseId: string): Promise<{ user: UserActor; engine: Engine }> {
    await auth.access.authorize(actor, 'record.undo', baseId)
    if (actor.kind !== 'user')
      throw new AppError('AUTHENTICATION_REQUIRED', 'Authentication required - Invalid token')
    return { user: actor, engine: kernel.sources.engine(baseId) }
  }

  async function step(
    user: UserActor,
    baseId: string,
    engine: Engine,
    entry: StoredEntry,
    direction: 'undo' | 'redo',
    undoneBy?: number,
  ): Promise<Undone> {
    const mark =
      direction === 'undo' ? { kind: 'undo', undoes: entry.id } : { kind: 'redo', redoes: entry.id }
    const finish = (tx: Transaction, dialect: Dialect, entryId: number) =>
      tx
        .run(
          dialect.render(
            sql`update sheaf_changes set undone_by = ${direction === 'undo' ? entryId : null} where id = ${entry.id}`,
          ),
        )
        .then(() => undefined)
    const owner = entry.kind.split('.')[0] ?? ''
    if (owner !== 'records') {
      const undoer = kernel.undoers.get(owner)
      if (!undoer) throw new Error(`Nobody can take back "${entry.kind}"`)
      await undoer(user, baseId, entry, direction)
      await engine.write(async (tx) => {
        const appended = await appendChange(tx, engine.dialect, {
          actorId: user.id,
          tableId: entry.tableId,
          records: [],
          ...mark,
        })
        await finish(tx, engine.dialect, appended.id)
      })
      return { applied: null, kind: entry.kind, records: entry.records, skipped: 0 }
    }
    // A change that added many records is one range in the log, and goes and comes back as a set.
    const range = rangeOf(entry)
    if (range) {
      const model = await schema.load(range.tableId)
      const applied =
        undoneBy === undefined
          ? await sets.deleteWhere(user, model, rangeCondition(model, range), mark)
          : await sets.restoreFrom(user, model, undoneBy, mark)
      return { applied, kind: entry.kind, records: entry.records, skipped: 0 }
    }
    // Redo is the undo of the undo: its records tell what to put back.
    const logged = await readLogged(engine, undoneBy ?? entry.id)
    const { operations, skipped } = await invert(engine, logged)
    const applied: Written = await door.write(user, { baseId, operations }, { entry: mark, finish })
    return {
      applied,
      kind: entry.kind,
      records: applied.truncated ? entry.records : applied.records.length,
      skipped,
    }
  }

  /** Operations that bring back the "before" of each record, where its "after" still stands. */
  async function invert(
    engine: Engine,
    logged: LoggedRecord[],
  ): Promise<{ operations: CheckedOperation[]; skipped: number }> {
    const operations: CheckedOperation[] = []
    let skipped = 0
    for (const [tableId, records] of Map.groupBy(logged, (record) => record.table_id)) {
      const model = await schema.load(tableId)
      const current = await readCurrent(
        engine,
        model,
        records.map((record) => record.record_id),
      )
      const gone: RecordId[] = []
      const back: { id: RecordId; values: Values }[] = []
      const changed: { id: RecordId; values: Values }[] = []
      for (const record of records) {
        const before: Values | null = record.before === null ? null : JSON.parse(record.before)
        const after: Values | null = record.after === null ? null : JSON.parse(record.after)
        const now = current.get(String(record.record_id))
        if (before === null) {
          if (now) gone.push(record.record_id)
        } else if (after === null) {
          if (!now) back.push({ id: record.record_id, values: before })
        } else if (now) {
          const values: Values = {}
          for (const [fieldId, value] of Object.entries(before)) {
            const field = model.field(fieldId)
            // Who wrote last and when is written anew; only a record's place is put back with its values.
            if (!field || (field.isSystem && field.columnName !== 'nc_order')) continue
            if (now[fieldId] === after[fieldId]) values[fieldId] = value
            else skipped++
          }
          if (Object.keys(values).length > 0) changed.push({ id: record.record_id, values })
        }
      }
      if (gone.length > 0) operations.push({ kind: 'delete', tableId, ids: gone })
      if (back.length > 0) operations.push({ kind: 'restore', tableId, rows: back })
      if (changed.length > 0) operations.push({ kind: 'update', tableId, rows: changed })
    }
    return { operations, skipped }
  }

  return { undo, redo }
}

async function findUndoable(engine: Engine, actorId: string): Promise<StoredEntry | null> {
  const [row] = await engine.all<Parameters<typeof toEntry>[0]>({
    sql: `select id, at, actor_id, kind, table_id, records, undoes, detail from sheaf_changes
      where actor_id = ? and undone_by is null and undoes is null and redoes is null order by id desc limit 1`,
    params: [actorId],
  })
  return row ? toEntry(row) : null
}

async function findRedoable(
  engine: Engine,
  actorId: string,
): Promise<{ entry: StoredEntry; undoneBy: number } | null> {
  const [row] = await engine.all<Parameters<typeof toEntry>[0] & { undone_by: number }>({
    sql: `select id, at, actor_id, kind, table_id, records, undoes, detail, undone_by from sheaf_changes
      where actor_id = ? and undone_by is not null and undone_by > coalesce(
        (select max(id) from sheaf_changes where actor_id = ? and undoes is null and redoes is null), 0)
      order by undone_by desc limit 1`,
    params: [actorId, actorId],
  })
  return row ? { entry: toEntry(row), undoneBy: row.undone_by } : null
}

async function readLogged(engine: Engine, changeId: number): Promise<LoggedRecord[]> {
  return engine.all<LoggedRecord>({
    sql: 'select table_id, record_id, before, after from sheaf_change_records where change_id = ?',
    params: [changeId],
  })
}
