import { type SQL, sql } from 'drizzle-orm'
import type { UserActor } from '../../src/core/actor.ts'
import type { AppliedChange, Values } from '../../src/core/changes.ts'
import { toStored } from '../../src/core/dates.ts'
import type { StorageKind } from '../../src/core/fields/field-type.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import type { Engine } from '../../src/dialects/dialect.ts'
import type { Kernel } from '../../src/kernel.ts'
import type { SchemaService, TableModel } from '../schema/index.ts'
import { columnName, columnOf, wholeSecond } from './columns.ts'
import { explainViolation } from './explain.ts'
import type { RowCounts } from './row-counts.ts'
import { planRevert, type Reverted } from './set-revert.ts'
import { fieldNamed, RAW_PREFIX } from './write.ts'

/** The log's line of a set write; the records and their values follow from the set. */
export interface SetEntry {
  kind: string
  undoes?: number
  redoes?: number
}

/** What a set write answers: its records are too many to list, but not to count. */
export interface SetApplied extends AppliedChange {
  count: number
  /** Values that were left as they are, because someone has changed them since. */
  skipped: number
}

interface Plan {
  /** What the line keeps beside the records. */
  detail?: unknown
  /** Lists the records under the line, and writes them. */
  log: SQL
  write: SQL
  skipped?: number
}

interface Deps {
  kernel: Pick<Kernel, 'sources' | 'events'>
  schema: Pick<SchemaService, 'load'>
  counts: RowCounts
}

/** What the line of a set update keeps: the fields that all its records were given values for. */
export interface SetDetail {
  fields: string[]
}

/** Which records are meant: `where …` on the table as it is when the write begins. */
export type Where = (model: TableModel) => SQL

/** The line that the same script has just appended: the write lease keeps every other writer out. */
const LAST_ID = sql`(select max(id) from sheaf_changes)`

/**
 * Writes over all records of a condition as a set, in a worker thread: what it costs grows with the
 * table, and nothing of it passes through this process's memory. The log keeps every record's
 * values before and after, as it does for single writes, so undo and history need no second way.
 */
export function createSetWrites({ kernel, schema, counts }: Deps) {
  /** Deletes the records, keeping every value of them in the log. */
  function deleteWhere(
    actor: UserActor,
    tableId: string,
    where: Where,
    entry: SetEntry,
  ): Promise<SetApplied> {
    return run(actor, tableId, entry, async (model, engine) => {
      const columns = await snapshot(model, engine)
      return {
        log: sql`insert into sheaf_change_records (change_id, table_id, record_id, before, after)
          select ${LAST_ID}, ${tableId}, ${columnOf(model.primaryKey)}, ${engine.dialect.jsonObject(columns)}, null
          from ${tableOf(model)} ${where(model)}`,
        write: sql`delete from ${tableOf(model)} ${where(model)}`,
      }
    })
  }

  /** Gives the same values to all the records. */
  function updateWhere(
    actor: UserActor,
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
      const assignments = fields.map((field) => sql`${columnOf(field)} = ${after[field.id] ?? null}`)
      return {
        detail: { fields: Object.keys(given) } satisfies SetDetail,
        log: sql`insert into sheaf_change_records (change_id, table_id, record_id, before, after)
          select ${LAST_ID}, ${tableId}, ${columnOf(model.primaryKey)},
            ${engine.dialect.jsonObject(before)}, ${JSON.stringify(after)}
          from ${tableOf(model)} ${where(model)}`,
        write: sql`update ${tableOf(model)} set ${sql.join(assignments, sql`, `)} ${where(model)}`,
      }
    })
  }

  /** Brings back the values before a change that gave its records values for the same fields. */
  function revert(actor: UserActor, tableId: string, change: Reverted, entry: SetEntry): Promise<SetApplied> {
    return run(actor, tableId, entry, async (model, engine) => {
      const { log, update, skipped } = planRevert(model, engine, change, stampOf(model, actor), LAST_ID)
      const [changed] = await engine.all<{ n: number }>(engine.dialect.render(skipped), { scan: true })
      return { log, write: update, skipped: changed?.n ?? 0 }
    })
  }

  /** Puts back all records that the change `changeId` deleted from the table. */
  function restoreFrom(
    actor: UserActor,
    tableId: string,
    changeId: number,
    entry: SetEntry,
  ): Promise<SetApplied> {
    return run(actor, tableId, entry, async (model, engine) => {
      const columns = await snapshot(model, engine)
      const names = columns.map(({ column }) => column)
      // A field that was in the trash then may be back by now, or the other way round: a value stands under
      // the field's id or under its column's name.
      const fieldIds = new Map([...model.trashedColumns].map(([id, column]) => [column, id]))
      const loggedAs = (key: string) => engine.dialect.jsonValue(sql`before`, key)
      const values = columns.map(
        ({ key, name }) =>
          sql`coalesce(${loggedAs(fieldIds.get(name) ?? key)}, ${loggedAs(RAW_PREFIX + name)})`,
      )
      const logged = sql`from sheaf_change_records where change_id = ${changeId} and table_id = ${tableId}
        and after is null and record_id not in (select ${columnOf(model.primaryKey)} from ${tableOf(model)})`
      return {
        log: sql`insert into sheaf_change_records (change_id, table_id, record_id, before, after)
          select ${LAST_ID}, table_id, record_id, null, before ${logged}`,
        write: sql`insert into ${tableOf(model)} (${sql.join(names, sql`, `)}) select ${sql.join(values, sql`, `)} ${logged}`,
      }
    })
  }

  async function run(
    actor: UserActor,
    tableId: string,
    { kind, undoes, redoes }: SetEntry,
    plan: (model: TableModel, engine: Engine) => Promise<Plan | null>,
  ): Promise<SetApplied> {
    const known = await schema.load(tableId)
    const { baseId } = known.table
    const engine = kernel.sources.engine(baseId)
    const at = new Date().toISOString()
    const original = undoes ?? redoes
    let skipped = 0
    // Planned inside the lease: no schema change can come between the plan and the write.
    const script = async () => {
      const planned = await plan(await schema.load(tableId), engine)
      if (!planned) return []
      skipped = planned.skipped ?? 0
      const detail = planned.detail === undefined ? null : JSON.stringify(planned.detail)
      const statements = [
        sql`insert into sheaf_changes (at, actor_id, kind, table_id, records, undoes, redoes, detail)
          values (${at}, ${actor.id}, ${kind}, ${tableId}, 0, ${undoes ?? null}, ${redoes ?? null}, ${detail})`,
        planned.log,
        planned.write,
        sql`update sheaf_changes set records = (select count(*) from sheaf_change_records where change_id = ${LAST_ID})
          where id = ${LAST_ID}`,
        original === undefined
          ? sql`delete from sheaf_changes where id = ${LAST_ID} and records = 0`
          : sql`update sheaf_changes set undone_by = ${undoes ? LAST_ID : null} where id = ${original}`,
      ]
      return statements.map((statement) => engine.dialect.render(statement))
    }
    const [line, logged] = await engine.writeScript(script).catch((error) => {
      throw explainViolation(error, [known], engine.dialect)
    })
    counts.forget(tableId)
    const count = logged?.changes ?? 0
    const applied: AppliedChange = {
      ...{ id: line?.insertedId ?? 0, baseId, actorId: actor.id, at },
      ...{ records: [], truncated: true, tableIds: [tableId] },
    }
    if (count > 0) kernel.events.emit('records.changed', applied)
    return { ...applied, count, skipped }
  }

  return { deleteWhere, updateWhere, restoreFrom, revert }
}

export type SetWrites = ReturnType<typeof createSetWrites>

/** When and by whom, as every write of values says. */
const stampOf = (model: TableModel, actor: UserActor): Values => ({
  [fieldNamed(model, 'updated_at').id]: toStored(wholeSecond()),
  [fieldNamed(model, 'updated_by').id]: actor.id,
})

const tableOf = (model: TableModel): SQL => sql`${sql.identifier(model.table.tableName)}`

/** Every column of the table: by its field's id, or by its name where its field is in the trash. */
async function snapshot(
  model: TableModel,
  engine: Engine,
): Promise<{ key: string; name: string; column: SQL; storage: StorageKind | null }[]> {
  const fields = new Map(
    model.fields
      .filter((field) => columnName(field) === field.columnName)
      .map((field) => [field.columnName, field]),
  )
  const columns = await engine.all<{ name: string }>(engine.dialect.listColumns(model.table.tableName))
  return columns.map(({ name }) => {
    const field = fields.get(name)
    return {
      ...{ key: field?.id ?? RAW_PREFIX + name, name },
      column: sql`${sql.identifier(name)}`,
      storage: field ? fieldType(field.type).storage : null,
    }
  })
}
