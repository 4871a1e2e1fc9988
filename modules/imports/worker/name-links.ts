import { sql } from 'drizzle-orm'
import type { RecordId } from '../../../src/core/model.ts'
import { type ColumnValue, pagesOf } from '../../../src/db/column-values.ts'
import {
  type NamedRecords,
  type RecordNames,
  readNames,
  recordsByName,
  unnamedRecords,
} from '../../../src/db/names-of-records.ts'
import type { Dialect, Statement, Transaction } from '../../../src/dialects/dialect.ts'
import { type ImportPlan, LINKS_COLUMNS, type LinkColumn, linksTableOf, ROW_COLUMN } from '../plan.ts'
import { type Converter, leftOut, REQUIRED } from './convert.ts'
import type { Link } from './link.ts'
import type { Report } from './report.ts'

/** Names of one cell that a report lists. */
const MAX_LISTED = 5

interface Tools {
  tx: Transaction
  dialect: Dialect
  converter: Pick<Converter, 'refuse'>
  report: Report
  link: Link
}

/**
 * Makes what finds the records that the staged rows name and lists them in the links table, a page of rows at a time.
 * What is not found is reported and leaves its cell empty; where the link is required, the row is left out.
 *
 * @returns a function of the columns to go through, which says how many rows were left out
 */
export function createNameLinks(plan: ImportPlan, tools: Tools) {
  let place = 0
  return async (columns: readonly LinkColumn[]): Promise<number> => {
    let refused = 0
    for (const column of columns) refused += await nameColumn(plan, column, tools, () => ++place)
    return refused
  }
}

async function nameColumn(
  plan: ImportPlan,
  column: LinkColumn,
  { tx, dialect, converter, report, link: host }: Tools,
  nextPlace: () => number,
): Promise<number> {
  const { link, index, title, required } = column
  const read = (statement: Statement) => tx.all<ColumnValue>(statement)
  const names = await namesFor(plan, column, { dialect, read })
  const held = required && link.kind === 'oo' ? await heldTargets(column, { tx, dialect }) : null
  const insert = insertSql(dialect, plan.staging)
  let refused = 0
  const cells = { type: 'LongText' as const, columnName: column.column }
  for await (const page of pagesOf({ dialect }, stagedRows(plan), cells, read)) {
    host.check()
    const links: unknown[][] = []
    const gone: unknown[][] = []
    for (const { id: row, value } of page) {
      const text = String(value ?? '')
      const named = readNames(text, link, names)
      const ids = named.ids.filter((id) => !held?.has(id))
      for (const id of ids) {
        links.push([nextPlace(), index, row, null, id])
        held?.add(id)
      }
      const reason = problemOf(named, ids.length, column)
      if (required && ids.length === 0) {
        gone.push([row])
        const why = reason === null ? REQUIRED : leftOut(reason)
        report.add({ row: Number(row), column: title, value: text, reason: why })
      } else if (reason !== null) {
        converter.refuse(Number(row), title, text, reason)
      }
    }
    await tx.runMany(insert, links)
    await tx.runMany(
      `delete from ${dialect.quote(plan.staging)} where ${dialect.quote(ROW_COLUMN)} = ${dialect.placeholder(0)}`,
      gone,
    )
    refused += gone.length
  }
  return refused
}

/** Why not all that a cell names is linked; null where it is. */
function problemOf(
  { ids, missing, isTooMany }: NamedRecords,
  linked: number,
  { title, link }: LinkColumn,
): string | null {
  if (isTooMany) return `"${title}" allows one linked record, but the cell names several`
  if (linked < ids.length) return 'The record is already linked to another record that requires it'
  if (missing.length === 0) return null
  const listed = missing.slice(0, MAX_LISTED).map((name) => `"${name}"`)
  const rest = missing.length > MAX_LISTED ? `, and ${missing.length - MAX_LISTED} more` : ''
  return `No record in "${link.related.table.title}" is named ${listed.join(', ')}${rest}`
}

/**
 * The records that a column's cells may mean. In a link of a table with itself rows of the file come after the
 * records that are there, by the negative of their number; a required link is to one that is there.
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

/** The records that have a partner by a one-to-one link which their partner must keep. */
async function heldTargets(
  { link: { kept } }: LinkColumn,
  { tx, dialect }: Pick<Tools, 'tx' | 'dialect'>,
): Promise<Set<RecordId>> {
  if (kept.in === 'pairs') return new Set()
  const key = sql.identifier(kept.keyColumn)
  const rows = await tx.all<{ id: RecordId }>(
    dialect.render(
      sql`select ${key} as ${sql.identifier('id')} from ${sql.identifier(kept.tableName)} where ${key} is not null`,
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
