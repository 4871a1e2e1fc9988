import { createReadStream, existsSync, renameSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { type SQL, sql } from 'drizzle-orm'
import { AppError } from '../../src/core/errors.ts'
import type { RecordId } from '../../src/core/model.ts'
import { type PagedTable, pagesOf } from '../../src/db/column-values.ts'
import type { FoundNames, ReadValues } from '../../src/db/names-of-records.ts'
import { createSpillMap } from '../../src/db/spill-map.ts'
import type { Dialect, Transaction } from '../../src/dialects/dialect.ts'
import type { Jobs } from '../../src/jobs.ts'
import { m } from '../../src/messages.gen.ts'
import { type ImportPlan, isPreviewed, ROW_COLUMN, UPDATE_COLUMNS } from './plan.ts'

/*
 * Which record each row of a file has become, for the rows of other tables of the file that belong to it: a line with both for
 * each row. Written before the import is committed, so that a server that starts again finds it.
 */

/** With the number of a row, the id of a record that the import of a preview would add: no record has such a number. */
const PREVIEWED = 2 ** 52

/** Rows read from the staging table, and ids looked up, at a time. */
const PAGE = 5000

/**
 * Writes the records of the staged rows, in the transaction that adds or changes them.
 * @param firstId of the added records, in the order of their rows; undefined if the staging table has the ids
 */
export async function keepRowRecords(
  { staging, rowsPath, finish }: Pick<ImportPlan, 'staging' | 'rowsPath' | 'finish'>,
  firstId: number | undefined,
  { tx, dialect }: { tx: Transaction; dialect: Dialect },
): Promise<void> {
  if (rowsPath === undefined) return
  const row = sql.identifier(ROW_COLUMN)
  const found: SQL = firstId === undefined ? sql`${sql.identifier(UPDATE_COLUMNS.id)}` : sql`${row}`
  const isPreview = isPreviewed({ finish })
  const added = sql`${PREVIEWED} + ${row}`
  const id = !isPreview ? found : firstId === undefined ? sql`coalesce(${found}, ${added})` : added
  let next = firstId ?? 0
  await writeRowRecords(rowsPath, async (last) => {
    const rows = await tx.all<RowRecord>(
      dialect.render(sql`select ${row} as ${sql.identifier('row')}, ${id} as ${sql.identifier('id')}
        from ${sql.identifier(staging)} where ${row} > ${last} and ${id} is not null order by ${row} limit ${PAGE}`),
    )
    return firstId === undefined || isPreview ? rows : rows.map((each) => ({ row: each.row, id: next++ }))
  })
}

/** A row of a file and its record. */
interface RowRecord {
  row: number
  id: RecordId
}

/**
 * Writes the records of rows, as one step.
 * @param pageAfter gives the next ones after a row; none at the end
 */
export async function writeRowRecords(
  rowsPath: string,
  pageAfter: (last: number) => Promise<RowRecord[]>,
): Promise<void> {
  const file = await open(`${rowsPath}.part`, 'w', 0o600)
  try {
    for (let last = 0; ; ) {
      const rows = await pageAfter(last)
      if (rows.length === 0) break
      await file.appendFile(rows.map((each) => `${each.row} ${each.id}\n`).join(''))
      last = Number(rows.at(-1)?.row ?? last)
    }
    await file.sync()
  } finally {
    await file.close()
  }
  renameSync(`${rowsPath}.part`, rowsPath)
}

/**
 * Checks that the import with these rows has ended well: a run that was interrupted may have written the file without its records.
 * @throws CONFLICT if it has not
 */
export async function requireRows(jobs: Pick<Jobs, 'find'>, jobId: string): Promise<void> {
  const job = await jobs.find(jobId)
  if (job?.status !== 'completed') throw new AppError('CONFLICT', m.imports_error_parent_missing())
}

/**
 * Finds the records of a table by the numbers of their rows, those left out that were deleted since. In a preview, rows that would
 * add a record have one that is not there.
 * @throws CONFLICT if the file of the rows is gone
 */
export async function recordsOfRows(
  engine: { dialect: Dialect },
  related: PagedTable,
  rowsPath: string,
  read: ReadValues,
): Promise<FoundNames> {
  if (!existsSync(rowsPath)) throw new AppError('CONFLICT', m.imports_error_parent_missing())
  const rowOf = createSpillMap<string>()
  const byRow = createSpillMap<RecordId>()
  try {
    for await (const line of createInterface({ input: createReadStream(rowsPath), crlfDelay: Infinity })) {
      const [row = '', id = ''] = line.split(' ')
      if (Number(id) > PREVIEWED) byRow.set(row, Number(id))
      else if (id !== '') rowOf.set(id, row)
    }
    const key = related.primaryKey
    for await (const page of pagesOf(engine, related, key, read)) {
      for (const { id } of page) {
        const row = rowOf.get(String(id))
        if (row !== undefined) byRow.set(row, id)
      }
    }
  } catch (error) {
    byRow.close()
    throw error
  } finally {
    rowOf.close()
  }
  return { find: (row) => byRow.get(row.trim()), close: byRow.close }
}
