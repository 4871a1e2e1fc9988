import { type SQL, sql } from 'drizzle-orm'
import type { Actor } from '../../../src/core/actor.ts'
import type { AppliedChange, Values } from '../../../src/core/changes.ts'
import { toStored } from '../../../src/core/dates.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import type { RecordId } from '../../../src/core/model.ts'
import type { WorkKind } from '../../../src/core/work.ts'
import {
  beginSetEntry,
  endSetEntry,
  LAST_ENTRY_ID,
  logRows,
  selectDeletedIds,
  unknownEffects,
} from '../../../src/db/change-log.ts'
import type { Engine, QueryDialect } from '../../../src/dialects/dialect.ts'
import type { Kernel } from '../../../src/kernel.ts'
import type { OpenWork } from '../../../src/works.ts'
import type { TableModel } from '../../schema/index.ts'
import {
  type LinkSchema,
  planSetCascade,
  planSetRestore,
  restoreStatements,
  type SetCascade,
} from '../links/index.ts'
import type { TouchRecords } from '../read/index.ts'
import { fieldNamed, planRevert, type Reverted, snapshot } from '../rows/index.ts'
import { columnOf, readRecords, requireAll, wholeSecond } from '../table/index.ts'
import { type Attempt, explainViolation } from './explain-conflict.ts'
import { findRepeated, type Repeated } from './repeated-change.ts'

/** The log entry of a set write; records and values follow from the set. */
export interface SetEntry {
  kind: string
  undoes?: number
  redoes?: number
  /** The sender’s id for the change, so that a repeated one is written once. */
  clientId?: string
}

/** The result of a set write, which counts its records without listing them. */
export interface SetApplied extends AppliedChange {
  count: number
  /** Values that were skipped because someone changed them since. */
  skipped: number
}

interface Plan {
  /** Detail of the log entry. */
  detail?: unknown
  /** Logs the records, and writes them. */
  log: SQL
  write: SQL
  /** Statements on other tables, between the two or after both. */
  between?: SetCascade
  after?: SetCascade
  skipped?: number
  /** Values given to all records. */
  given?: Values
}

interface Deps {
  kernel: Pick<Kernel, 'sources' | 'events' | 'works'>
  schema: LinkSchema
  touch: TouchRecords
}

/** Detail of a set update: the fields that it wrote. */
export interface SetDetail {
  fields: string[]
}

/** Returns `where …` for the table as it is when the write begins. */
export type Where = (model: TableModel, dialect: QueryDialect) => SQL

/**
 * Writes to all records of a condition as a set, in a worker thread: the cost grows with the table, but its rows do
 * not pass through this process. The log keeps each record’s values before and after, as for single writes, so undo
 * and history work the same.
 */
export function createSetWrites({ kernel, schema, touch }: Deps) {
  /**
   * Deletes the records and logs all their values.
   *
   * @param options `added`: the change that added the records, if it is undone: links that it replaced are restored.
   *   `ids`: records that must exist.
   * @throws RECORD_NOT_FOUND naming the `ids` that do not exist
   */
  function deleteWhere(
    actor: Actor,
    tableId: string,
    where: Where,
    entry: SetEntry,
    { added, ids }: { added?: number; ids?: RecordId[] } = {},
  ): Promise<SetApplied> {
    return run(actor, tableId, entry, async (model, engine) => {
      const { dialect } = engine
      if (ids) requireAll(ids, await readRecords({ tx: engine, dialect, model }, ids, []))
      const condition = where(model, dialect)
      const columns = await snapshot(model, engine)
      const id = dialect.logId(columnOf(model.primaryKey))
      const stamp = (table: TableModel) => stampOf(table, actor)
      return {
        log: logRows(dialect, {
          changeId: LAST_ENTRY_ID,
          tableId: sql`${tableId}`,
          recordId: id,
          before: dialect.jsonObject(columns),
          after: sql`null`,
          source: sql`from ${tableOf(model)} ${condition}`,
        }),
        between: await planSetCascade(
          { engine, schema, model, newId: LAST_ENTRY_ID, stampOf: stamp, undone: added },
          condition,
        ),
        // Selected by the log, as records without their links may not meet the condition any more.
        write: sql`delete from ${tableOf(model)} where ${id} in (${selectDeletedIds(LAST_ENTRY_ID, model.table.id)})`,
      }
    })
  }

  /** Writes the same values to all records. */
  function updateWhere(
    actor: Actor,
    tableId: string,
    where: Where,
    values: (model: TableModel) => Values,
    entry: SetEntry,
  ): Promise<SetApplied> {
    return run(actor, tableId, entry, async (model, engine) => {
      const given = values(model)
      if (Object.keys(given).length === 0) return null
      const after: Values = { ...given, ...stampOf(model, actor) }
      const fields = model.fields.filter((field) => field.id in after)
      const before = fields.map((field) => ({
        key: field.id,
        column: columnOf(field),
        storage: fieldType(field.type).storage,
      }))
      const { dialect } = engine
      const condition = where(model, dialect)
      const assignments = fields.map((field) => sql`${columnOf(field)} = ${after[field.id] ?? null}`)
      return {
        given,
        detail: { fields: Object.keys(given) } satisfies SetDetail,
        log: logRows(dialect, {
          changeId: LAST_ENTRY_ID,
          tableId: sql`${tableId}`,
          recordId: dialect.logId(columnOf(model.primaryKey)),
          before: dialect.jsonObject(before),
          after: sql`${JSON.stringify(after)}`,
          source: sql`from ${tableOf(model)} ${condition}`,
        }),
        write: sql`update ${tableOf(model)} set ${sql.join(assignments, sql`, `)} ${dialect.whereSelected({
          table: tableOf(model),
          key: columnOf(model.primaryKey),
          where: condition,
        })}`,
      }
    })
  }

  /** Restores the values before a change that wrote the same fields of its records. */
  function revert(actor: Actor, tableId: string, change: Reverted, entry: SetEntry): Promise<SetApplied> {
    return run(actor, tableId, entry, async (model, engine) => {
      const { log, update, skipped } = planRevert(model, engine, change, stampOf(model, actor), LAST_ENTRY_ID)
      const [changed] = await engine.all<{ n: number }>(engine.dialect.render(skipped), { scan: true })
      return { log, write: update, skipped: changed?.n ?? 0 }
    })
  }

  /** Restores all records that the change `changeId` deleted from the table. */
  function restoreFrom(
    actor: Actor,
    tableId: string,
    changeId: number,
    entry: SetEntry,
  ): Promise<SetApplied> {
    return run(actor, tableId, entry, async (model, engine) => {
      const stamp = (table: TableModel) => stampOf(table, actor)
      const context = { engine, schema, changeId, newId: LAST_ENTRY_ID, stampOf: stamp }
      const statements = restoreStatements(context, model, await snapshot(model, engine))
      return { ...statements, after: await planSetRestore(context, model) }
    })
  }

  async function run(
    actor: Actor,
    tableId: string,
    { kind, undoes, redoes, clientId }: SetEntry,
    plan: (model: TableModel, engine: Engine) => Promise<Plan | null>,
  ): Promise<SetApplied> {
    const known = await schema.load(tableId)
    const { baseId } = known.table
    const engine = await kernel.sources.engine(baseId)
    const at = new Date().toISOString()
    const actorId = actorIdOf(actor)
    const actionId = actor.kind === 'user' ? actor.actionId : undefined
    let repeated: Repeated | null = null
    let skipped = 0
    const tableIds = new Set([tableId])
    const attempts: Attempt[] = []
    // Planned inside the lease, so that no schema change comes between plan and write.
    const script = async () => {
      if (clientId && actorId) {
        repeated = await findRepeated(
          { tx: engine, dialect: engine.dialect, load: schema.loadWithKeys },
          actorId,
          clientId,
        )
        if (repeated) return []
      }
      const planned = await plan(await schema.load(tableId), engine)
      if (!planned) return []
      skipped = planned.skipped ?? 0
      const { between, after, given } = planned
      // Two rows with the same values explain a unique violation among the records themselves.
      if (given) attempts.push({ tableId, rows: [{ values: given }, { values: given }] })
      for (const id of [...(between?.tableIds ?? []), ...(after?.tableIds ?? [])]) tableIds.add(id)
      const { detail } = planned
      const statements = [
        ...beginSetEntry({ at, actorId, kind, tableId, undoes, redoes, detail, clientId, actionId }),
        planned.log,
        ...(between?.statements ?? []),
        planned.write,
        ...(after?.statements ?? []),
        ...endSetEntry({ undoes, redoes }),
      ]
      return statements.map((statement) => engine.dialect.render(statement))
    }
    const work = { kind: workKindOf(kind), baseId, table: known.table }
    const [, line, logged] = await kernel.works
      .follow(actor, work, (open) => engine.writeScript(script, watchOfSet(open)))
      .catch(async (error) => {
        throw await explainViolation(error, engine, [known], attempts)
      })
    const again = repeated as Repeated | null
    if (again) {
      const { entry, count, tableIds: touched } = again
      const answer = { id: entry.id, baseId, clientId, actorId, at: entry.at }
      return { ...answer, records: [], truncated: true, tableIds: touched, count, skipped: 0 }
    }
    touch(unknownEffects(tableIds))
    const count = logged?.changes ?? 0
    const applied: AppliedChange = {
      id: Number(line?.rows[0]?.id ?? 0),
      baseId,
      clientId,
      actorId,
      at,
      records: [],
      truncated: true,
      tableIds: [...tableIds],
    }
    if (count > 0) kernel.events.emit('records.changed', applied)
    return { ...applied, count, skipped }
  }

  return { deleteWhere, updateWhere, restoreFrom, revert }
}

export type SetWrites = ReturnType<typeof createSetWrites>

/** The fields for the time and author of the last change. */
const stampOf = (model: TableModel, actor: Actor): Values => ({
  [fieldNamed(model, 'updated_at').id]: toStored(wholeSecond()),
  [fieldNamed(model, 'updated_by').id]: actorIdOf(actor),
})

/** Reports progress: a set write reports its log entry first, then a log row per record, then the records. */
function watchOfSet(work: OpenWork): OpenWork {
  let isKnown = false
  return {
    ...work,
    progress(rows) {
      if (rows <= 1) return
      if (!isKnown) work.expect(2 * rows - 1, rows - 1)
      isKnown = true
      work.progress(rows)
    },
  }
}

/** `records.delete` is `delete`; `undo` and `redo` stay. */
const workKindOf = (kind: string): WorkKind => kind.replace('records.', '') as WorkKind

/** Null for visitors of public links. */
const actorIdOf = (actor: Actor): string | null => (actor.kind === 'user' ? actor.id : null)

const tableOf = (model: TableModel): SQL => sql`${sql.identifier(model.table.tableName)}`
