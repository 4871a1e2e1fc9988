import { type SQL, sql } from 'drizzle-orm'
import { toStored } from '../../../src/core/dates.ts'
import { isForeignKey } from '../../../src/core/fields/traits.ts'
import type { Field, Table } from '../../../src/core/model.ts'
import { columnNameOf } from '../../../src/db/column-values.ts'
import type { Engine, Statement } from '../../../src/dialects/dialect.ts'
import type { ScriptContext } from '../change/index.ts'
import { pairIndexes } from '../links/index.ts'
import { columnOf, type TableModel } from '../model/index.ts'

/** Ids in one statement: between two of them the copy tells how far it is, and may be stopped. */
const IDS_PER_STATEMENT = 20_000
/** Statements for one table at most, however far apart its ids are. */
const MAX_PARTS = 200

/** Who copies, and whether records go along. */
interface Given {
  actorId: string | null
  withData: boolean
}

/** What a copy writes in the base's home, piece by piece. */
export type CopyDraft = ReturnType<typeof createCopyDraft>

/**
 * Collects the statements of a copy. Each takes a stretch of the records, and all of them are one
 * transaction: the copy is the table as it is at one moment.
 */
export function createCopyDraft({ engine, now }: ScriptContext, { actorId, withData }: Given) {
  const { dialect } = engine
  const script: Statement[] = []
  let rows = 0
  const stored = toStored(Date.parse(now))
  const at = dialect.encode('datetime')?.(stored) ?? stored
  /** A record that is copied is new: made now, by whoever copies it. */
  const stamps = new Map<string, SQL>([
    ['created_at', sql`${at}`],
    ['created_by', sql`${actorId}`],
    ['updated_at', sql`null`],
    ['updated_by', sql`null`],
  ])

  async function stretches(model: TableModel): Promise<SQL[]> {
    const found = await stretchesOf(engine, model)
    rows += found.count
    return found.conditions
  }

  return {
    script,
    get rows() {
      return rows
    },

    /** A table like another one, its records under the same ids. Columns have the same names in both. */
    async addTable(from: TableModel, table: Table, fields: Field[], pair?: [string, string]): Promise<void> {
      const name = table.tableName
      script.push(...dialect.createTable(name, fields.flatMap(columnOf)))
      if (withData) {
        const columns = fields.map(({ columnName }) => columnName).filter((column) => column !== '')
        const stamped = columns.filter((column) => stamps.has(column))
        const copied = columns.filter((column) => !stamps.has(column))
        for (const where of await stretches(from)) {
          script.push(
            dialect.render(
              dialect.insertSelected({
                into: sql`${sql.identifier(name)}`,
                columns: [...stamped, ...copied].map((column) => sql`${sql.identifier(column)}`),
                constants: stamped.map((column) => stamps.get(column) ?? sql`null`),
                values: copied.map((column) => sql`${sql.identifier(column)}`),
                source: sql`from ${tableOf(from)} where ${where}`,
              }),
            ),
          )
        }
        script.push(...dialect.continueIds(name, from.table.tableName))
      }
      // Made at the end, an index is sorted once and not kept sorted all the way.
      script.push(
        ...dialect.createIndex(name, ['nc_order', columnNameOf(from.primaryKey)]),
        ...(pair ? pairIndexes(dialect, name, ...pair) : fields.flatMap((field) => keyIndex(name, field))),
        ...fields
          .filter((field) => field.unique)
          .flatMap((field) => dialect.createUniqueIndex(name, field.columnName)),
      )
    },

    /** A column beside another one of the same table, with its values. */
    async addColumn(model: TableModel, from: string, field: Field, withValues = withData): Promise<void> {
      const name = model.table.tableName
      script.push(...columnOf(field).flatMap((column) => dialect.addColumn(name, column)))
      if (withValues) {
        const [source, target] = [sql.identifier(from), sql.identifier(field.columnName)]
        for (const where of await stretches(model)) {
          script.push(
            dialect.render(
              sql`update ${tableOf(model)} set ${target} = ${source} where ${where} and ${source} is not null`,
            ),
          )
        }
      }
      script.push(...keyIndex(name, field))
    },
  }

  function keyIndex(table: string, field: Field): Statement[] {
    return isForeignKey(field) ? dialect.createIndex(table, [field.columnName]) : []
  }
}

/** Conditions that part a table's records by their ids, and how many records there are. */
async function stretchesOf(engine: Engine, model: TableModel): Promise<{ conditions: SQL[]; count: number }> {
  const id = sql.identifier(columnNameOf(model.primaryKey))
  const [found] = await engine.all<{ low: number | null; high: number | null; count: number }>(
    engine.dialect.render(
      sql`select min(${id}) as low, max(${id}) as high, count(*) as count from ${tableOf(model)}`,
    ),
    { scan: true },
  )
  if (!found || found.low === null || found.high === null) return { conditions: [], count: 0 }
  const [low, high] = [Number(found.low), Number(found.high)]
  const step = Math.max(IDS_PER_STATEMENT, Math.ceil((high - low + 1) / MAX_PARTS))
  const conditions: SQL[] = []
  for (let from = low; from <= high; from += step) {
    conditions.push(sql`${id} >= ${from} and ${id} < ${from + step}`)
  }
  return { conditions, count: Number(found.count) }
}

const tableOf = (model: TableModel): SQL => sql`${sql.identifier(model.table.tableName)}`
