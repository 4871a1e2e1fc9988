import { type SQL, sql } from 'drizzle-orm'
import type { BulkWriter } from '../../../src/db/bulk-writer.ts'
import { appendChange } from '../../../src/db/change-log.ts'
import type { Dialect, Transaction } from '../../../src/dialects/dialect.ts'
import { type ImportFinish, type ImportPlan, ROW_COLUMN } from '../plan.ts'
import type { Link } from './link.ts'
import type { Report } from './report.ts'

/** Rows moved between two looks at whether the import was cancelled. */
const MOVE_ROWS = 20_000

type Append = Extract<ImportFinish, { kind: 'append' }>

/** What became of the staged rows. */
export interface Finished {
  rows: number
  rowsRefused: number
  changeId: number | null
}

/** Completes a filled staging table; see `ImportFinish`. */
export async function finish(
  plan: ImportPlan,
  staged: number,
  { writer, report, link }: { writer: BulkWriter; report: Report; link: Link },
): Promise<Finished> {
  const { finish: how } = plan
  return link.withLease(async () => {
    const finished = await writer.write(async (tx) => {
      if (how.kind === 'append') return append(plan, how, { tx, dialect: writer.dialect, report, link })
      for (const statement of writer.dialect.createIndex(plan.staging, how.columns)) await tx.run(statement)
      return { rows: staged, rowsRefused: 0, changeId: null }
    })
    // Within the lease: the next writer, on the thread that answers requests, would have to do it.
    writer.checkpoint()
    return finished
  })
}

interface AppendTools {
  tx: Transaction
  dialect: Dialect
  report: Report
  link: Link
}

/** Moves the staged rows to their table and logs their range: all in the caller's transaction. */
async function append(plan: ImportPlan, how: Append, tools: AppendTools): Promise<Finished> {
  const { tx, dialect, link } = tools
  const rowsRefused = await refuseDoubles(plan, how, tools)
  const target = sql.identifier(how.target)
  const staging = sql.identifier(plan.staging)
  const row = sql.identifier(ROW_COLUMN)
  const order = sql.identifier(how.orderColumn)
  const columns = plan.columns.map(({ column }) => sql.identifier(column))
  const fixed = how.constants.map(({ column }) => sql.identifier(column))
  const numbers = how.numbered.map(({ column }) => sql.identifier(column))
  const names = [sql.identifier(how.keyColumn), ...fixed, order, ...numbers, ...columns]
  const one = async <T>(query: SQL) => (await tx.all<{ n: T }>(dialect.render(query)))[0]?.n ?? null
  const place = (await one<number>(sql`select max(${order}) as n from ${target}`)) ?? 0
  const last = (await one<number>(sql`select max(${row}) as n from ${staging}`)) ?? 0
  const staged = (await one<number>(sql`select count(*) as n from ${staging}`)) ?? 0
  const [from = 1] = await dialect.allocateIds(tx, how.target, staged)
  const valuesFrom = (id: number) => [
    sql`${id - 1} + row_number() over (order by ${row})`,
    ...how.constants.map(({ value }) => sql`${value}`),
    sql`cast(${place} as double precision) + ${row}`,
    ...how.numbered.map(({ behind }) => sql`${id - 1 - behind} + row_number() over (order by ${row})`),
    ...columns,
  ]
  let rows = 0
  for (let after = 0; after < last; after += MOVE_ROWS) {
    await link.breathe()
    const { changes } = await tx.run(
      dialect.render(sql`insert into ${target} (${sql.join(names, sql`, `)})
        select ${sql.join(valuesFrom(from + rows), sql`, `)} from ${staging}
        where ${row} > ${after} and ${row} <= ${after + MOVE_ROWS} order by ${row}`),
    )
    rows += changes
    link.progress(rows, rows)
  }
  if (rows === 0) return { rows, rowsRefused, changeId: null }
  const entry = await appendChange(tx, dialect, {
    actorId: plan.actorId,
    kind: 'records.import',
    tableId: how.tableId,
    records: [],
    recordCount: rows,
    detail: { tableId: how.tableId, from, to: from + rows - 1, jobId: plan.jobId },
  })
  return { rows, rowsRefused, changeId: entry.id }
}

/** Leaves out rows whose value in a unique column stands in the table already, or further up in the file. */
async function refuseDoubles(
  plan: ImportPlan,
  how: Append,
  { tx, dialect, report }: AppendTools,
): Promise<number> {
  const target = sql.identifier(how.target)
  const staging = sql.identifier(plan.staging)
  const row = sql.identifier(ROW_COLUMN)
  let refused = 0
  for (const { column, title } of how.unique) {
    const value = sql.identifier(column)
    const isDouble = sql`${value} is not null and (
      exists (select 1 from ${target} t where t.${value} = ${staging}.${value})
      or ${row} not in (select min(${row}) from ${staging} group by ${value}))`
    const doubles = await tx.all<{ n: number; v: unknown }>(
      dialect.render(
        sql`select ${row} as n, ${value} as v from ${staging} where ${isDouble} order by ${row}`,
      ),
    )
    for (const { n, v } of doubles) {
      report.add({
        row: n,
        column: title,
        value: String(v),
        reason: 'The value must be unique: the row was left out',
      })
    }
    await tx.runMany(
      `delete from ${dialect.quote(plan.staging)} where ${dialect.quote(ROW_COLUMN)} = ${dialect.placeholder(0)}`,
      doubles.map(({ n }) => [n]),
    )
    refused += doubles.length
  }
  return refused
}
