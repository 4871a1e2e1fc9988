import { type SQL, sql } from 'drizzle-orm'
import type { UserActor } from '../../src/core/actor.ts'
import type { AppliedChange, Values } from '../../src/core/changes.ts'
import { toStored } from '../../src/core/dates.ts'
import type { Engine, Statement } from '../../src/dialects/dialect.ts'
import type { Kernel } from '../../src/kernel.ts'
import type { TableModel } from '../schema/index.ts'
import { columnName, columnOf, wholeSecond } from './columns.ts'
import type { RowCounts } from './row-counts.ts'
import { fieldNamed } from './write.ts'

/** The log's line of a set write; the records and their values follow from the set. */
export interface SetEntry {
  kind: string
  undoes?: number
  redoes?: number
}

export interface SetWriteDeps {
  kernel: Pick<Kernel, 'sources' | 'events'>
  counts: RowCounts
}

/** The line that the same script has just appended: the write lease keeps every other writer out. */
const LAST_ID = sql`(select max(id) from sheaf_changes)`

/**
 * Writes over all records of a condition as a set, in a worker thread: what it costs grows with the
 * table, and nothing of it passes through this process's memory. The log keeps every record's
 * values before and after, as it does for single writes, so undo and history need no second way.
 */
export function createSetWrites({ kernel, counts }: SetWriteDeps) {
  /** Deletes the records for which `where` (`where …`) holds, keeping every value of them in the log. */
  async function deleteWhere(
    actor: UserActor,
    model: TableModel,
    where: SQL,
    entry: SetEntry,
  ): Promise<AppliedChange> {
    const before = snapshot(model)
    return run(actor, model, entry, (engine) => [
      sql`insert into sheaf_change_records (change_id, table_id, record_id, before, after)
        select ${LAST_ID}, ${model.table.id}, ${columnOf(model.primaryKey)}, ${engine.dialect.jsonObject(before)}, null
        from ${tableOf(model)} ${where}`,
      sql`delete from ${tableOf(model)} ${where}`,
    ])
  }

  /** Gives the same values to all records for which `where` holds. */
  async function updateWhere(
    actor: UserActor,
    model: TableModel,
    where: SQL,
    values: Values,
    entry: SetEntry,
  ): Promise<AppliedChange> {
    const all: Values = {
      ...values,
      [fieldNamed(model, 'updated_at').id]: toStored(wholeSecond()),
      [fieldNamed(model, 'updated_by').id]: actor.id,
    }
    const fields = model.fields.filter((field) => field.id in all)
    const before = fields.map((field) => ({ key: field.id, column: columnOf(field) }))
    const assignments = fields.map((field) => sql`${columnOf(field)} = ${all[field.id] ?? null}`)
    return run(actor, model, entry, (engine) => [
      sql`insert into sheaf_change_records (change_id, table_id, record_id, before, after)
        select ${LAST_ID}, ${model.table.id}, ${columnOf(model.primaryKey)},
          ${engine.dialect.jsonObject(before)}, ${JSON.stringify(all)}
        from ${tableOf(model)} ${where}`,
      sql`update ${tableOf(model)} set ${sql.join(assignments, sql`, `)} ${where}`,
    ])
  }

  /** Puts back all records that the change `changeId` deleted from the table. */
  async function restoreFrom(
    actor: UserActor,
    model: TableModel,
    changeId: number,
    entry: SetEntry,
  ): Promise<AppliedChange> {
    return run(actor, model, entry, (engine) => {
      const columns = snapshot(model)
      const names = columns.map(({ column }) => column)
      const values = columns.map(({ key }) => engine.dialect.jsonValue(sql`before`, key))
      const logged = sql`from sheaf_change_records where change_id = ${changeId} and table_id = ${model.table.id}
        and after is null and record_id not in (select ${columnOf(model.primaryKey)} from ${tableOf(model)})`
      return [
        sql`insert into sheaf_change_records (change_id, table_id, record_id, before, after)
          select ${LAST_ID}, table_id, record_id, null, before ${logged}`,
        sql`insert into ${tableOf(model)} (${sql.join(names, sql`, `)}) select ${sql.join(values, sql`, `)} ${logged}`,
      ]
    })
  }

  async function run(
    actor: UserActor,
    model: TableModel,
    entry: SetEntry,
    statements: (engine: Engine) => [log: SQL, write: SQL],
  ): Promise<AppliedChange> {
    const { baseId, id: tableId } = model.table
    const engine = kernel.sources.engine(baseId)
    const at = new Date().toISOString()
    const [log, write] = statements(engine)
    const original = entry.undoes ?? entry.redoes
    const script: SQL[] = [
      sql`insert into sheaf_changes (at, actor_id, kind, table_id, records, undoes, redoes)
        values (${at}, ${actor.id}, ${entry.kind}, ${tableId}, 0, ${entry.undoes ?? null}, ${entry.redoes ?? null})`,
      log,
      write,
      sql`update sheaf_changes set records = (select count(*) from sheaf_change_records where change_id = ${LAST_ID})
        where id = ${LAST_ID}`,
      ...(original === undefined
        ? []
        : [
            sql`update sheaf_changes set undone_by = ${entry.undoes ? LAST_ID : null} where id = ${original}`,
          ]),
    ]
    await engine.writeScript(script.map((statement): Statement => engine.dialect.render(statement)))
    counts.forget(tableId)
    const [last] = await engine.all<{ id: number }>({
      sql: 'select max(id) as id from sheaf_changes',
      params: [],
    })
    const applied: AppliedChange = {
      id: last?.id ?? 0,
      baseId,
      actorId: actor.id,
      at,
      records: [],
      truncated: true,
      tableIds: [tableId],
    }
    kernel.events.emit('records.changed', applied)
    return applied
  }

  return { deleteWhere, updateWhere, restoreFrom }
}

export type SetWrites = ReturnType<typeof createSetWrites>

const tableOf = (model: TableModel): SQL => sql`${sql.identifier(model.table.tableName)}`

/** Every column that a live field has for itself, by the field's id. */
function snapshot(model: TableModel): { key: string; column: SQL }[] {
  return model.fields
    .filter((field) => columnName(field) === field.columnName)
    .map((field) => ({ key: field.id, column: columnOf(field) }))
}
