import { type SQL, sql } from 'drizzle-orm'
import type { AddedLinks, UpdateResult } from '../../../src/core/csv/import-result.ts'
import { appendChange } from '../../../src/db/change-log/append.ts'
import { PLACES_TABLE } from '../../../src/db/view-places.ts'
import { m } from '../../../src/messages.gen.ts'
import {
  type Append,
  type ImportPlan,
  isLinkColumn,
  linksTableOf,
  ROW_COLUMN,
  UPDATE_COLUMNS,
} from '../plan.ts'
import { rowSkipped } from './convert.ts'
import type { FinishTools } from './fill.ts'
import { createLinkResolver, deleteRowSql } from './resolve-names.ts'
import { groupLinks, type LinkGroups, newKeys, resolveLinkIds, writeKeys, writePairs } from './write-links.ts'

/** Rows moved between two checks for cancellation. */
export const MOVE_ROWS = 20_000

export interface Finished {
  rows: number
  rowsRefused: number
  changeId: number | null
  /** Id of the first added record, which the others follow in the order of their rows; absent for updates and without records. */
  firstId?: number
  update?: UpdateResult
  /** Of the columns with rows of other imports. */
  links?: AddedLinks[]
}

/** A result without rows of existing records. */
const ONLY_ADDED = {
  changed: 0,
  unchanged: 0,
  skipped: 0,
  withoutKey: 0,
  repeated: 0,
  ambiguous: 0,
  unknown: 0,
  changes: [],
}

/** The last position in the table's own order and in those of its views, which share its numbers. */
export async function lastPosition(
  { target, tableId, orderColumn }: Append,
  { tx, dialect }: Pick<FinishTools, 'tx' | 'dialect'>,
): Promise<number> {
  const [row] = await tx.all<{ last: number | null; placed: number | null }>(
    dialect.render(sql`select max(${sql.identifier(orderColumn)}) as last,
        (select max(place) from ${sql.raw(PLACES_TABLE)} where table_id = ${tableId}) as placed
      from ${sql.identifier(target)}`),
  )
  return Math.max(Number(row?.last ?? 0), Number(row?.placed ?? 0))
}

/** Moves the staged rows and their links to the table and logs them, in the caller's transaction. */
export async function append(plan: ImportPlan, how: Append, tools: FinishTools): Promise<Finished> {
  const { tx, dialect } = tools
  const rowsRefused = await refuseRows(plan, how, tools)
  const staging = sql.identifier(plan.staging)
  const row = sql.identifier(ROW_COLUMN)
  const one = async <T>(query: SQL) => (await tx.all<{ n: T }>(dialect.render(query)))[0]?.n ?? null
  const lastOrder = await lastPosition(how, tools)
  const last = (await one<number>(sql`select max(${row}) as n from ${staging}`)) ?? 0
  const rows = Number((await one<number>(sql`select count(*) as n from ${staging}`)) ?? 0)
  const links: AddedLinks[] = []
  for (const column of plan.columns.filter(isLinkColumn)) {
    if (!column.link.rowsOf) continue
    const count =
      await one<number>(sql`select count(*) as n from ${sql.identifier(linksTableOf(plan.staging))} as l
      join ${staging} as s on s.${row} = l.row where l.link = ${column.index}`)
    links.push({ field: column.title, related: column.link.related.table.title, count: Number(count ?? 0) })
  }
  if (how.isPreview)
    return {
      rows,
      rowsRefused,
      changeId: null,
      update: { ...ONLY_ADDED, isPreview: true, added: rows },
      links,
    }
  if (rows === 0) return { rows, rowsRefused, changeId: null }
  const [from = 1] = await dialect.allocateIds(tx, how.target, rows)
  const entry = await appendChange(tx, dialect, {
    actorId: plan.actorId,
    actionId: plan.jobId,
    kind: 'records.import',
    tableId: how.tableId,
    records: [],
    recordCount: rows,
    detail: { tableId: how.tableId, from, to: from + rows - 1, jobId: plan.jobId },
  })
  const groups = groupLinks(plan)
  const hasLinks = plan.columns.some(isLinkColumn)
  if (hasLinks) {
    const numbered = sql`select ${row} as at, ${from - 1} + row_number() over (order by ${row}) as id from ${staging}`
    await resolveLinkIds(plan, groups, tools, numbered)
  }
  await writeKeys(plan, groups, tools, entry.id)
  await insertRows(plan, how, tools, {
    groups,
    last,
    lastOrder,
    select: (
      after,
      moved,
    ) => sql`select *, ${from + moved - 1} + row_number() over (order by ${row}) as new_id
      from ${staging} where ${row} > ${after} and ${row} <= ${after + MOVE_ROWS}`,
  })
  await writePairs(plan, groups, tools)
  return { rows, rowsRefused, changeId: entry.id, firstId: from, links }
}

/** Staged rows to insert as new records. */
interface NewRows {
  groups: LinkGroups
  /** Highest number of a staged row. */
  last: number
  /** Order of the table's last record. */
  lastOrder: number
  /** Selects the rows from `after` on with their `new_id`; `moved` have been inserted before. */
  select(after: number, moved: number): SQL
}

/** Inserts staged rows into the table, in the order of the file. */
export async function insertRows(
  plan: ImportPlan,
  how: Append,
  { tx, dialect, mainThread }: FinishTools,
  { groups, last, lastOrder, select }: NewRows,
): Promise<void> {
  const row = sql.identifier(ROW_COLUMN)
  const columns = plan.columns
    .filter((column) => !isLinkColumn(column) && !column.isRecordId)
    .map(({ column }) => column)
  const keys = newKeys({ staging: plan.staging, tableName: how.target }, groups, sql`staged.new_id`)
  const names = [
    ...how.constants.map(({ column }) => column),
    how.keyColumn,
    how.orderColumn,
    ...[...how.numbered, ...keys].map(({ column }) => column),
    ...columns,
  ]
  const values = [
    sql`staged.new_id`,
    sql`cast(${lastOrder} as double precision) + ${row}`,
    ...how.numbered.map(({ behind }) => sql`staged.new_id - ${behind}`),
    ...keys.map(({ value }) => value),
    ...columns.map((column) => sql`${sql.identifier(column)}`),
  ]
  let moved = 0
  for (let after = 0; after < last; after += MOVE_ROWS) {
    await mainThread.yieldNow()
    const { changes } = await tx.run(
      dialect.render(
        dialect.insertSelected({
          into: sql`${sql.identifier(how.target)}`,
          columns: names.map((name) => sql`${sql.identifier(name)}`),
          constants: how.constants.map(({ value }) => sql`${value}`),
          values,
          source: sql`from (${select(after, moved)}) as staged order by ${row}`,
        }),
      ),
    )
    moved += changes
    mainThread.progress(moved, moved)
  }
}

/**
 * Resolves links and removes rows that break a rule. The order matters: rows without a required link must not
 * count as duplicates, and a duplicate must not take the only partner of a one-to-one link. Required links
 * first: removed rows cannot be linked to.
 */
export async function refuseRows(plan: ImportPlan, how: Append, tools: FinishTools): Promise<number> {
  const resolveLinks = createLinkResolver(plan, how, tools, append)
  const columns = plan.columns.filter(isLinkColumn)
  const required = columns.filter((column) => column.required)
  const before = required.filter(({ link }) => link.kind !== 'oo')
  const after = required.filter(({ link }) => link.kind === 'oo')
  return (
    (await resolveLinks(before)) +
    (await refuseDuplicates(plan, how, tools)) +
    (await resolveLinks(after)) +
    (await resolveLinks(columns.filter((column) => !column.required)))
  )
}

/**
 * Removes rows whose unique value is in the table or earlier in the file. A row that changes a record may have the
 * value of this record.
 */
async function refuseDuplicates(
  plan: ImportPlan,
  how: Append,
  { tx, dialect, report }: FinishTools,
): Promise<number> {
  const target = sql.identifier(how.target)
  const staging = sql.identifier(plan.staging)
  const row = sql.identifier(ROW_COLUMN)
  const isOther = how.update
    ? sql`and t.${sql.identifier(how.keyColumn)} <> coalesce(${staging}.${sql.identifier(UPDATE_COLUMNS.id)}, 0)`
    : sql``
  let refused = 0
  for (const { column, title } of how.unique) {
    const value = sql.identifier(column)
    const isInTable = sql`${value} is not null
      and exists (select 1 from ${target} t where t.${value} = ${staging}.${value} ${isOther})`
    // Looked for among the remaining rows: one that is not imported takes no value.
    const isRepeated = sql`${value} is not null
      and ${row} not in (select min(${row}) from ${staging} group by ${value})`
    for (const isDuplicate of [isInTable, isRepeated]) {
      const duplicates = await tx.all<{ n: number; v: unknown }>(
        dialect.render(
          sql`select ${row} as n, ${value} as v from ${staging} where ${isDuplicate} order by ${row}`,
        ),
      )
      for (const { n, v } of duplicates) {
        report.add({
          row: n,
          column: title,
          value: String(v),
          reason: rowSkipped(m.imports_report_duplicate()),
        })
      }
      await tx.runMany(
        deleteRowSql(dialect, plan.staging),
        duplicates.map(({ n }) => [n]),
      )
      refused += duplicates.length
    }
  }
  return refused
}
