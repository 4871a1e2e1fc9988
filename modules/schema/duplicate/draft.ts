import { type SQL, sql } from 'drizzle-orm'
import { toStored } from '../../../src/core/dates.ts'
import { isForeignKey } from '../../../src/core/fields/traits.ts'
import type { Field, Table } from '../../../src/core/model.ts'
import type { NotCopiedPart } from '../../../src/core/table-copies.ts'
import { columnNameOf } from '../../../src/db/column-values.ts'
import type { Engine, Statement } from '../../../src/dialects/dialect.ts'
import type { ScriptContext } from '../change/index.ts'
import { pairIndexes } from '../links/index.ts'
import { columnOf, type TableModel } from '../model/index.ts'

/** A requested copy of a table. */
export interface TableCopy {
  tableId: string
  newTableId: string
  /** Gets a suffix if it is in use by then. */
  title: string
  withData: boolean
  /** False copies only the default view. */
  withViews: boolean
  /**
   * In a connected database: the name that the copy has there in the end, which tells what a killed process has left. Absent
   * in jobs of earlier versions.
   */
  name?: string | undefined
}

/** A copied table, and what belongs to the original and could not be copied. */
export interface CopiedTable {
  table: Table
  notCopied: NotCopiedPart[]
}

/** Range of ids per statement; progress and cancellation happen between statements. */
const IDS_PER_STATEMENT = 20_000
/** Most statements per table, for ids that are far apart. */
const MAX_STATEMENTS = 200

/** The statements of a copy, see `createCopyDraft`. */
export type CopyDraft = ReturnType<typeof createCopyDraft>

/** Collects the statements that copy tables and columns in batches of records, to be run in one transaction. */
export function createCopyDraft(
  { engine, now }: ScriptContext,
  { actorId, withData }: { actorId: string | null; withData: boolean },
) {
  const { dialect } = engine
  const script: Statement[] = []
  let rows = 0
  const stored = toStored(Date.parse(now))
  const at = dialect.encode('datetime')?.(stored) ?? stored
  /** Copied records are created now, by the actor. */
  const stamps = new Map<string, SQL>([
    ['created_at', sql`${at}`],
    ['created_by', sql`${actorId}`],
    ['updated_at', sql`null`],
    ['updated_by', sql`null`],
  ])

  async function batchesOf(model: TableModel): Promise<SQL[]> {
    const { conditions, count } = await idRangesOf(engine, model)
    rows += count
    return conditions
  }

  return {
    script,
    get rows() {
      return rows
    },

    /**
     * Copies a table, with the same column names and record ids.
     *
     * @param pair the key columns of a junction table
     */
    async addTable(from: TableModel, table: Table, fields: Field[], pair?: [string, string]): Promise<void> {
      const name = table.tableName
      script.push(...dialect.createTable(name, fields.flatMap(columnOf)))
      if (withData) {
        const columns = fields.map(({ columnName }) => columnName).filter((column) => column !== '')
        const stamped = columns.filter((column) => stamps.has(column))
        const copied = columns.filter((column) => !stamps.has(column))
        for (const where of await batchesOf(from)) {
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
      // Creating indexes after the data sorts them only once.
      script.push(
        ...(pair
          ? pairIndexes(dialect, name, pair)
          : [
              ...dialect.createIndex(name, ['nc_order', columnNameOf(from.primaryKey)]),
              ...fields.flatMap((field) => keyIndex(name, field)),
            ]),
        ...fields
          .filter((field) => field.unique)
          .flatMap((field) => dialect.createUniqueIndex(name, [field.columnName])),
      )
    },

    /** Copies a column within its table. */
    async addColumn(model: TableModel, from: string, field: Field, withValues = withData): Promise<void> {
      const name = model.table.tableName
      script.push(...columnOf(field).flatMap((column) => dialect.addColumn(name, column)))
      if (withValues) {
        const [source, target] = [sql.identifier(from), sql.identifier(field.columnName)]
        for (const where of await batchesOf(model)) {
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

/** Conditions that split a table's records into ranges of ids, and the number of records. */
async function idRangesOf(engine: Engine, model: TableModel): Promise<{ conditions: SQL[]; count: number }> {
  const id = sql.identifier(columnNameOf(model.primaryKey))
  const [found] = await engine.all<{ low: number | null; high: number | null; count: number }>(
    engine.dialect.render(
      sql`select min(${id}) as low, max(${id}) as high, count(*) as count from ${tableOf(model)}`,
    ),
    { scan: true },
  )
  if (!found || found.low === null || found.high === null) return { conditions: [], count: 0 }
  const [low, high] = [Number(found.low), Number(found.high)]
  const step = Math.max(IDS_PER_STATEMENT, Math.ceil((high - low + 1) / MAX_STATEMENTS))
  const conditions: SQL[] = []
  for (let from = low; from <= high; from += step) {
    conditions.push(sql`${id} >= ${from} and ${id} < ${from + step}`)
  }
  return { conditions, count: Number(found.count) }
}

const tableOf = (model: TableModel): SQL => sql`${sql.identifier(model.table.tableName)}`
