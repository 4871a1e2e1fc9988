import { sql } from 'drizzle-orm'
import type { RecordId } from '../../../src/core/model.ts'
import { type ColumnValue, pagesOf } from '../../../src/db/column-values.ts'
import {
  type FoundNames,
  type NamedRecords,
  readNames,
  recordsByName,
  unnamedRecords,
} from '../../../src/db/names-of-records.ts'
import { createSpillMap, type SpillMap } from '../../../src/db/spill-map.ts'
import type { Dialect, Statement } from '../../../src/dialects/dialect.ts'
import { m } from '../../../src/messages.gen.ts'
import {
  type Append,
  type ImportPlan,
  LINKS_COLUMNS,
  type LinkColumn,
  linksTableOf,
  ROW_COLUMN,
  stagedRows,
  UPDATE_COLUMNS,
} from '../plan.ts'
import { recordsOfRows } from '../row-records.ts'
import { missingValue, rowSkipped } from './convert.ts'
import { type AddRecords, type Creation, createMissing } from './create-missing.ts'
import type { FinishTools } from './fill.ts'

/** Limit of names listed in one report line. */
const MAX_LISTED = 5

/**
 * Resolves the names in link columns to records and collects them in the links table, page by page. Unknown
 * names are reported and left out; rows without a required link are removed. A cell with unknown names leaves the
 * links of an existing record as they are.
 * @returns resolves some columns, and counts the rows removed
 */
export function createLinkResolver(plan: ImportPlan, how: Append, tools: FinishTools, append: AddRecords) {
  let seq = 0
  return async (columns: readonly LinkColumn[]): Promise<number> => {
    let refused = 0
    for (const column of columns) {
      const create = how.creates[plan.columns.indexOf(column)]
      const creation = create && { create, append }
      refused += await resolveLinkColumn(plan, column, tools, { creation, nextSeq: () => ++seq })
    }
    return refused
  }
}

async function resolveLinkColumn(
  plan: ImportPlan,
  column: LinkColumn,
  tools: FinishTools,
  { creation, nextSeq }: Pick<Targets, 'nextSeq'> & { creation: Creation | undefined },
): Promise<number> {
  const { tx, dialect } = tools
  const isScarce = column.required && column.link.kind === 'oo'
  const taken = isScarce ? await takenTargets(column, { tx, dialect }) : null
  try {
    const known = await namesFor(plan, column, tools)
    try {
      if (!creation) return await resolveCells(plan, column, tools, { names: known, taken, nextSeq })
      const names = await createMissing(plan, column, tools, { ...creation, names: known })
      try {
        return await resolveCells(plan, column, tools, { names, taken, nextSeq })
      } finally {
        names.close()
      }
    } finally {
      known.close()
    }
  } finally {
    taken?.close()
  }
}

/** What the cells of a column refer to. */
interface Targets {
  names: FoundNames
  /** Linked records that are not free for others; null if each may have any number of links. */
  taken: SpillMap<RecordId | null> | null
  nextSeq: () => number
}

async function resolveCells(
  plan: ImportPlan,
  column: LinkColumn,
  { tx, dialect, converter, report, mainThread }: FinishTools,
  { names, taken, nextSeq }: Targets,
): Promise<number> {
  const { link, index, title, required } = column
  const read = (statement: Statement) => tx.all<ColumnValue>(statement)
  const insert = insertSql(dialect, plan.staging)
  const keep = keepSql(dialect, plan.staging, plan.columns.indexOf(column))
  let refused = 0
  const cells = { type: 'LongText' as const, columnName: column.column }
  for await (const page of pagesOf({ dialect }, stagedRows(plan), cells, read)) {
    mainThread.check()
    const links: unknown[][] = []
    const removed: unknown[][] = []
    const kept: unknown[][] = []
    const existing = await existingRecords(plan, page, { tx, dialect })
    for (const { id: row, value } of page) {
      const text = String(value ?? '')
      const named = readNames(text, link, names)
      const recordId = existing.get(Number(row))
      const isFree = (id: RecordId) => {
        const partner = taken?.get(String(id))
        return partner === undefined || (recordId !== undefined && partner === recordId)
      }
      const ids = named.ids.filter(isFree)
      const reason = problemOf(named, ids.length, column)
      if (recordId !== undefined && reason !== null) {
        kept.push([row])
        converter.refuse(Number(row), title, text, reason)
        continue
      }
      for (const id of ids) {
        links.push([nextSeq(), index, row, null, id])
        taken?.set(String(id), recordId ?? null)
      }
      if (required && ids.length === 0 && recordId === undefined) {
        removed.push([row])
        const why = reason === null ? missingValue() : rowSkipped(reason)
        report.add({ row: Number(row), column: title, value: text, reason: why })
      } else if (reason !== null) {
        converter.refuse(Number(row), title, text, reason)
      }
    }
    await tx.runMany(insert, links)
    if (kept.length > 0) await tx.runMany(keep, kept)
    await tx.runMany(deleteRowSql(dialect, plan.staging), removed)
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
  const table = link.related.table.title
  return link.rowsOf ? m.imports_report_parent_missing({ table }) : unknownRecords(table, missing)
}

/** Why a cell is not linked to records that are not in the table. */
export const unknownRecords = (table: string, missing: readonly string[]): string =>
  m.imports_report_unknown_records({ table, names: listNames(missing) })

/** The first names of a cell, in quotes, and how many more there are. */
export function listNames(all: readonly string[]): string {
  const names = all
    .slice(0, MAX_LISTED)
    .map((name) => `“${name}”`)
    .join(', ')
  const count = all.length - MAX_LISTED
  return count > 0 ? m.imports_report_names_and_more({ names, count }) : names
}

/**
 * Candidates for a column's names. A link of a table to itself may name rows of the file, as negative row
 * numbers, after existing records; a required link cannot.
 * @throws CONFLICT if they are rows of an import that has failed
 */
async function namesFor(
  plan: ImportPlan,
  { link, required }: LinkColumn,
  { tx, dialect }: Pick<FinishTools, 'tx' | 'dialect'>,
): Promise<FoundNames> {
  const read = (statement: Statement) => tx.all<ColumnValue>(statement)
  if (link.rowsOf) return recordsOfRows({ dialect }, link.related, plan.rowPathsOf?.[link.rowsOf] ?? '', read)
  const names = await recordsByName({ dialect }, link.related, read)
  const unnamed = await unnamedRecords({ dialect }, link.related, read)
  const { columnName } = link.related.displayField
  if (link.isSelf && !required && plan.columns.some(({ column }) => column === columnName)) {
    for await (const page of pagesOf({ dialect }, stagedRows(plan), link.related.displayField, read)) {
      for (const { id: row, value } of page) names.add(-Number(row), value)
    }
  }
  return {
    find: (name) => names.find(name) ?? unnamed.get(name.trim()),
    close() {
      names.close()
      unnamed.close()
    },
  }
}

/** The records that rows of a page change, by row. */
async function existingRecords(
  { staging, finish }: ImportPlan,
  page: readonly ColumnValue[],
  { tx, dialect }: Pick<FinishTools, 'tx' | 'dialect'>,
): Promise<ReadonlyMap<number, RecordId>> {
  if (finish.kind !== 'append' || !finish.update) return new Map()
  const [row, id] = [ROW_COLUMN, UPDATE_COLUMNS.id].map((name) => sql.identifier(name))
  const rows = await tx.all<{ row: number; id: RecordId }>(
    dialect.render(sql`select ${row} as ${sql.identifier('row')}, ${id} as ${sql.identifier('id')}
      from ${sql.identifier(staging)} where ${id} is not null
        and ${row} between ${page.at(0)?.id ?? 0} and ${page.at(-1)?.id ?? 0}`),
  )
  return new Map(rows.map((each) => [Number(each.row), each.id]))
}

/** Records that already have a partner which needs them, in a one-to-one link, each with that partner. */
async function takenTargets(
  { link: { storedIn } }: LinkColumn,
  { tx, dialect }: Pick<FinishTools, 'tx' | 'dialect'>,
): Promise<SpillMap<RecordId | null>> {
  const taken = createSpillMap<RecordId | null>()
  if (storedIn.at === 'pairs') return taken
  const { tableName, idColumn, keyColumn } = storedIn
  const partners = { table: { tableName }, primaryKey: { type: 'ID' as const, columnName: idColumn } }
  const key = { type: 'Number' as const, columnName: keyColumn }
  const read = (statement: Statement) => tx.all<ColumnValue>(statement)
  for await (const page of pagesOf({ dialect }, partners, key, read)) {
    for (const { id, value } of page) taken.set(String(value), id)
  }
  return taken
}

function insertSql({ quote, placeholder }: Dialect, staging: string): string {
  const marks = LINKS_COLUMNS.map((_, index) => placeholder(index)).join(', ')
  return `insert into ${quote(linksTableOf(staging))} (${LINKS_COLUMNS.map(quote).join(', ')}) values (${marks})`
}

/** Marks the cell of a staged row as refused, by the row's number. */
function keepSql({ quote, placeholder }: Dialect, staging: string, position: number): string {
  const kept = quote(UPDATE_COLUMNS.kept)
  return `update ${quote(staging)} set ${kept} = coalesce(${kept}, ',') || '${position},'
    where ${quote(ROW_COLUMN)} = ${placeholder(0)}`
}

/** Deletes a staged row by its number. */
export const deleteRowSql = ({ quote, placeholder }: Dialect, staging: string): string =>
  `delete from ${quote(staging)} where ${quote(ROW_COLUMN)} = ${placeholder(0)}`
