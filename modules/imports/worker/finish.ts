import { type SQL, sql } from 'drizzle-orm'
import type { RecordId } from '../../../src/core/model.ts'
import { appendChange } from '../../../src/db/change-log.ts'
import { type ColumnValue, pagesOf } from '../../../src/db/column-values.ts'
import {
  type NamedRecords,
  type RecordNames,
  readNames,
  recordsByName,
  unnamedRecords,
} from '../../../src/db/names-of-records.ts'
import type { Dialect, Statement, Transaction } from '../../../src/dialects/dialect.ts'
import { m } from '../../../src/messages.gen.ts'
import {
  type ImportFinish,
  type ImportPlan,
  isLinkColumn,
  LINKS_COLUMNS,
  type LinkColumn,
  linksTableOf,
  ROW_COLUMN,
} from '../plan.ts'
import { missingValue, rowSkipped } from './convert.ts'
import type { ImportTools } from './fill.ts'
import { groupLinks, newKeys, resolveLinkIds, writeKeys, writePairs } from './write-links.ts'

/** Rows moved between two checks for cancellation. */
const MOVE_ROWS = 20_000

type Append = Extract<ImportFinish, { kind: 'append' }>

export interface Finished {
  rows: number
  rowsRefused: number
  changeId: number | null
}

/** Completes a filled staging table; see `ImportFinish`. */
export async function finish(
  plan: ImportPlan,
  staged: number,
  { writer, ...tools }: ImportTools,
): Promise<Finished> {
  const { finish: how } = plan
  return tools.mainThread.withLease(async () => {
    const finished = await writer.write(async (tx) => {
      if (how.kind === 'append') return append(plan, how, { tx, dialect: writer.dialect, ...tools })
      for (const statement of writer.dialect.createIndex(plan.staging, how.columns)) await tx.run(statement)
      return { rows: staged, rowsRefused: 0, changeId: null }
    })
    // Under the lease: otherwise the next writer on the main thread would do it.
    writer.checkpoint()
    return finished
  })
}

interface AppendTools extends Omit<ImportTools, 'writer'> {
  tx: Transaction
  dialect: Dialect
}

/** Moves the staged rows and their links to the table and logs them, in the caller's transaction. */
async function append(plan: ImportPlan, how: Append, tools: AppendTools): Promise<Finished> {
  const { tx, dialect, mainThread } = tools
  const rowsRefused = await refuseRows(plan, how, tools)
  const target = sql.identifier(how.target)
  const staging = sql.identifier(plan.staging)
  const row = sql.identifier(ROW_COLUMN)
  const order = sql.identifier(how.orderColumn)
  const one = async <T>(query: SQL) => (await tx.all<{ n: T }>(dialect.render(query)))[0]?.n ?? null
  const lastOrder = (await one<number>(sql`select max(${order}) as n from ${target}`)) ?? 0
  const last = (await one<number>(sql`select max(${row}) as n from ${staging}`)) ?? 0
  const rows = (await one<number>(sql`select count(*) as n from ${staging}`)) ?? 0
  if (rows === 0) return { rows, rowsRefused, changeId: null }
  const [from = 1] = await dialect.allocateIds(tx, how.target, rows)
  const entry = await appendChange(tx, dialect, {
    actorId: plan.actorId,
    kind: 'records.import',
    tableId: how.tableId,
    records: [],
    recordCount: rows,
    detail: { tableId: how.tableId, from, to: from + rows - 1, jobId: plan.jobId },
  })
  const groups = groupLinks(plan)
  const hasLinks = plan.columns.some(isLinkColumn)
  if (hasLinks) await resolveLinkIds(plan, groups, tools, { firstId: from })
  await writeKeys(plan, groups, tools, entry.id)
  const columns = plan.columns.filter((column) => !isLinkColumn(column)).map(({ column }) => column)
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
          into: sql`${target}`,
          columns: names.map((name) => sql`${sql.identifier(name)}`),
          constants: how.constants.map(({ value }) => sql`${value}`),
          values,
          source: sql`from (select *, ${from + moved - 1} + row_number() over (order by ${row}) as new_id from ${staging}
          where ${row} > ${after} and ${row} <= ${after + MOVE_ROWS}) as staged order by ${row}`,
        }),
      ),
    )
    moved += changes
    mainThread.progress(moved, moved)
  }
  await writePairs(plan, groups, tools)
  return { rows, rowsRefused, changeId: entry.id }
}

/**
 * Resolves links and removes rows that break a rule. The order matters: rows without a required link must not
 * count as duplicates, and a duplicate must not take the only partner of a one-to-one link. Required links
 * first: removed rows cannot be linked to.
 */
async function refuseRows(plan: ImportPlan, how: Append, tools: AppendTools): Promise<number> {
  const resolveLinks = createLinkResolver(plan, tools)
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

/** Removes rows whose unique value is in the table or earlier in the file. */
async function refuseDuplicates(
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
    const isDuplicate = sql`${value} is not null and (
      exists (select 1 from ${target} t where t.${value} = ${staging}.${value})
      or ${row} not in (select min(${row}) from ${staging} group by ${value}))`
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
      deleteSql(dialect, plan.staging),
      duplicates.map(({ n }) => [n]),
    )
    refused += duplicates.length
  }
  return refused
}

/** Limit of names listed in one report line. */
const MAX_LISTED = 5

/**
 * Resolves the names in link columns to records and collects them in the links table, page by page. Unknown
 * names are reported and left out; rows without a required link are removed.
 * @returns resolves some columns, and counts the rows removed
 */
function createLinkResolver(plan: ImportPlan, tools: AppendTools) {
  let seq = 0
  return async (columns: readonly LinkColumn[]): Promise<number> => {
    let refused = 0
    for (const column of columns) refused += await resolveLinkColumn(plan, column, tools, () => ++seq)
    return refused
  }
}

async function resolveLinkColumn(
  plan: ImportPlan,
  column: LinkColumn,
  { tx, dialect, converter, report, mainThread }: AppendTools,
  nextSeq: () => number,
): Promise<number> {
  const { link, index, title, required } = column
  const read = (statement: Statement) => tx.all<ColumnValue>(statement)
  const names = await namesFor(plan, column, { dialect, read })
  const taken = required && link.kind === 'oo' ? await takenTargets(column, { tx, dialect }) : null
  const insert = insertSql(dialect, plan.staging)
  let refused = 0
  const cells = { type: 'LongText' as const, columnName: column.column }
  for await (const page of pagesOf({ dialect }, stagedRows(plan), cells, read)) {
    mainThread.check()
    const links: unknown[][] = []
    const removed: unknown[][] = []
    for (const { id: row, value } of page) {
      const text = String(value ?? '')
      const named = readNames(text, link, names)
      const ids = named.ids.filter((id) => !taken?.has(id))
      for (const id of ids) {
        links.push([nextSeq(), index, row, null, id])
        taken?.add(id)
      }
      const reason = problemOf(named, ids.length, column)
      if (required && ids.length === 0) {
        removed.push([row])
        const why = reason === null ? missingValue() : rowSkipped(reason)
        report.add({ row: Number(row), column: title, value: text, reason: why })
      } else if (reason !== null) {
        converter.refuse(Number(row), title, text, reason)
      }
    }
    await tx.runMany(insert, links)
    await tx.runMany(deleteSql(dialect, plan.staging), removed)
    refused += removed.length
  }
  return refused
}

/** The reason if some names of a cell are not linked, else null. */
function problemOf(
  { ids, missing, isTooMany }: NamedRecords,
  linked: number,
  { title, link }: LinkColumn,
): string | null {
  if (isTooMany) return m.imports_report_several_records({ field: title })
  if (linked < ids.length) return m.imports_report_already_linked()
  if (missing.length === 0) return null
  const listed = missing
    .slice(0, MAX_LISTED)
    .map((name) => `“${name}”`)
    .join(', ')
  const count = missing.length - MAX_LISTED
  const names = count > 0 ? m.imports_report_names_and_more({ names: listed, count }) : listed
  return m.imports_report_unknown_records({ table: link.related.table.title, names })
}

/**
 * Candidates for a column's names. A link of a table to itself may name rows of the file, as negative row
 * numbers, after existing records; a required link cannot.
 */
async function namesFor(
  plan: ImportPlan,
  { link, required }: LinkColumn,
  { dialect, read }: { dialect: Dialect; read: (statement: Statement) => Promise<ColumnValue[]> },
): Promise<Pick<RecordNames, 'find'>> {
  const names = await recordsByName({ dialect }, link.related, read)
  const unnamed = await unnamedRecords({ dialect }, link.related, read)
  const { columnName } = link.related.displayField
  if (link.isSelf && !required && plan.columns.some(({ column }) => column === columnName)) {
    for await (const page of pagesOf({ dialect }, stagedRows(plan), link.related.displayField, read)) {
      for (const { id: row, value } of page) names.add(-Number(row), value)
    }
  }
  return { find: (name) => names.find(name) ?? unnamed.get(name.trim()) }
}

/** Records that already have a partner which needs them, in a one-to-one link. */
async function takenTargets(
  { link: { storedIn } }: LinkColumn,
  { tx, dialect }: Pick<AppendTools, 'tx' | 'dialect'>,
): Promise<Set<RecordId>> {
  if (storedIn.at === 'pairs') return new Set()
  const key = sql.identifier(storedIn.keyColumn)
  const rows = await tx.all<{ id: RecordId }>(
    dialect.render(
      sql`select ${key} as ${sql.identifier('id')} from ${sql.identifier(storedIn.tableName)} where ${key} is not null`,
    ),
  )
  return new Set(rows.map(({ id }) => id))
}

const stagedRows = ({ staging }: ImportPlan) => ({
  table: { tableName: staging },
  primaryKey: { type: 'ID' as const, columnName: ROW_COLUMN },
})

function insertSql({ quote, placeholder }: Dialect, staging: string): string {
  const marks = LINKS_COLUMNS.map((_, index) => placeholder(index)).join(', ')
  return `insert into ${quote(linksTableOf(staging))} (${LINKS_COLUMNS.map(quote).join(', ')}) values (${marks})`
}

const deleteSql = ({ quote, placeholder }: Dialect, staging: string): string =>
  `delete from ${quote(staging)} where ${quote(ROW_COLUMN)} = ${placeholder(0)}`
