import { rm } from 'node:fs/promises'
import { sql } from 'drizzle-orm'
import type { UserActor } from '../../src/core/actor.ts'
import type { Values } from '../../src/core/changes.ts'
import { AppError } from '../../src/core/errors.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import { linkOf } from '../../src/core/fields/link-options.ts'
import { formatValue } from '../../src/core/fields/read.ts'
import { fieldInZone } from '../../src/core/fields/traits.ts'
import type { LinkedColumn, LinkResult } from '../../src/core/imports/link-result.ts'
import type { Field, RecordId } from '../../src/core/model.ts'
import { type ColumnValue, columnNameOf, pagesOf, type ValueSource } from '../../src/db/column-values.ts'
import {
  type FoundNames,
  type NamedRecords,
  namesInZone,
  type ReadValues,
  type RecordNames,
  readNames,
  recordsByUniqueName,
  type UniqueNames,
} from '../../src/db/names-of-records.ts'
import { createSpillMap, type SpillMap } from '../../src/db/spill-map.ts'
import type { Engine } from '../../src/dialects/dialect.ts'
import { hasEnded, type JobContext, type JobKind } from '../../src/jobs.ts'
import type { Kernel } from '../../src/kernel.ts'
import { m } from '../../src/messages.gen.ts'
import type { RecordsService } from '../records/index.ts'
import type { LoadNames, SchemaService, TableModel } from '../schema/index.ts'
import { recordsOfRows, requireRows } from './row-records.ts'
import { createReport, type Report } from './worker/report.ts'
import { listNames, unknownRecords } from './worker/resolve-names.ts'

export const LINK_JOB = 'import-links'

/** A column of a new table that becomes a link once both tables are there. */
export interface ColumnLink {
  tableId: string
  fieldId: string
  relatedTableId: string
  /**
   * How a value finds its record: by the text of the display field, or by the number of the record's row in the file, which
   * the order of a new table is.
   */
  by: 'name' | 'row'
  /** Whether names without a record create one, or are only reported. */
  missing: 'create' | 'report'
  /** The job that imports the records of the rows, if they go to an existing table, whose order does not have the rows. */
  rowsOf?: string
}

/** Input of the job. */
export interface LinkInput {
  actor: UserActor
  baseId: string
  fileName: string
  /** Imports that the links wait for. */
  jobIds: string[]
  /** As those of the imports. */
  group?: string
  links: ColumnLink[]
  /** Those of the imports that keep the records of their rows until all links are there. */
  rowsOf?: string[]
  /** Of names that are a date and time. */
  timeZone: string
}

interface Deps {
  kernel: Pick<Kernel, 'sources' | 'events' | 'jobs'>
  schema: Pick<SchemaService, 'load' | 'hasTable' | 'linkValues'>
  records: Pick<RecordsService, 'apply'>
  reportPath(jobId: string): string
  rowsPath(jobId: string): string
}

/** Records created by one change. */
const CREATED_AT_ONCE = 2000
/** Values looked at between two turns of the event loop. */
const SEEN_AT_ONCE = 2000
/** How often a job of another server is looked at. */
const LOOK_EVERY_MS = 2000

/** A column with everything that its steps need. */
interface OpenColumn {
  own: TableModel
  field: Field
  related: TableModel
  link: ColumnLink
  engine: Engine
  read: ReadValues
  timeZone: string
  /** Called with the number of rows that have been looked at. */
  onRows(done: number): void
}

/**
 * The job that turns columns of imported tables into links, after the imports. Each column is one change of the schema, so
 * that a job that goes on after a restart finds which ones are links already; created records are found by their names.
 */
export function createLinkJob({ kernel, schema, records, reportPath, rowsPath }: Deps): JobKind<LinkInput> {
  async function run(input: LinkInput, context: JobContext): Promise<LinkResult> {
    const result = await linkAll(input, context)
    // Otherwise imports that have not ended, and the next run, need them. They are deleted like old reports.
    for (const id of input.rowsOf ?? []) await rm(rowsPath(id), { force: true })
    return result
  }

  async function linkAll(input: LinkInput, { jobId, signal, report }: JobContext): Promise<LinkResult> {
    await Promise.all(input.jobIds.map((id) => waitFor(id, signal)))
    const problems = createReport(reportPath(jobId))
    const columns: LinkedColumn[] = []
    try {
      for (const link of input.links) {
        signal.throwIfAborted()
        const column = await linkColumn(input, link, problems, { signal, report })
        if (column) columns.push(column)
      }
    } catch (error) {
      problems.close()
      await rm(reportPath(jobId), { force: true })
      throw error
    }
    problems.close()
    return { columns, problems: problems.count, samples: problems.samples }
  }

  /** Waits for the end of a job, on any server. */
  async function waitFor(jobId: string, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const wake = () => resolve()
    const stop = kernel.events.on('job.changed', ({ id, status }) => {
      if (id === jobId && hasEnded(status)) wake()
    })
    signal.addEventListener('abort', wake)
    try {
      for (;;) {
        signal.throwIfAborted()
        const job = await kernel.jobs.find(jobId)
        if (!job || hasEnded(job.status)) return
        await Promise.race([promise, Bun.sleep(LOOK_EVERY_MS)])
      }
    } finally {
      stop()
      signal.removeEventListener('abort', wake)
    }
  }

  /** Links one column. Null if its table was not imported, or is gone. */
  async function linkColumn(
    input: LinkInput,
    link: ColumnLink,
    problems: Report,
    { signal, report }: Pick<JobContext, 'signal' | 'report'>,
  ): Promise<LinkedColumn | null> {
    if (!(await schema.hasTable(link.tableId))) return null
    const own = await schema.load(link.tableId)
    const field = own.field(link.fieldId)
    if (!field) return null
    const isThere = await schema.hasTable(link.relatedTableId)
    const { timeZone } = input
    const related = isThere ? namesInZone(await schema.load(link.relatedTableId), timeZone) : null
    const result: LinkedColumn = {
      tableId: own.table.id,
      table: own.table.title,
      field: field.title,
      related: related?.table.title ?? '',
      linked: 0,
      refused: 0,
      created: 0,
      problem: related ? null : m.imports_error_link_table_missing(),
    }
    // An interrupted run of the job has linked it.
    if (!related || linkOf(field)) return result
    try {
      const engine = await kernel.sources.engine(input.baseId)
      const read: ReadValues = (statement) => engine.all<ColumnValue>(statement, { scan: true })
      const column: OpenColumn = {
        own,
        field: fieldInZone(field, timeZone),
        related,
        link,
        engine,
        read,
        timeZone,
        onRows: (done) => report({ done }),
      }
      const { table } = result
      const total = await countRows(column)
      report({ done: 0, total, unit: 'rows', link: { table, related: result.related } })
      const counts = await (link.by === 'row'
        ? linkByRow(input.actor, column, problems)
        : linkByName(input.actor, column, problems, signal))
      return { ...result, ...counts }
    } catch (error) {
      // The column stays text, and the others are linked.
      if (!(error instanceof AppError)) throw error
      return { ...result, problem: error.message }
    }
  }

  async function linkByRow(actor: UserActor, column: OpenColumn, problems: Report) {
    const { engine, link, related } = column
    if (link.rowsOf) await requireRows(kernel.jobs, link.rowsOf)
    const load = (read: ReadValues) =>
      link.rowsOf ? recordsOfRows(engine, related, rowsPath(link.rowsOf), read) : recordsByRow(column, read)
    const names = await load(column.read)
    try {
      const counts = await reportMissing(column, false, names, problems)
      await convert(actor, column, false, load)
      return { ...counts, created: 0 }
    } finally {
      names.close()
    }
  }

  async function linkByName(actor: UserActor, column: OpenColumn, problems: Report, signal: AbortSignal) {
    const { related, engine, link, read } = column
    const names = await recordsByUniqueName(engine, related, read)
    const unknown = createSpillMap<null>()
    try {
      const isList = await lookThrough(column, names, unknown)
      const created =
        link.missing === 'create' ? await createMissing(actor, column, { names, unknown, isList }, signal) : 0
      signal.throwIfAborted()
      const counts = await reportMissing(column, isList, names, problems)
      // The conversion reads them again, in its transaction.
      names.close()
      await convert(actor, column, isList, (tx) => recordsByUniqueName(engine, related, tx))
      return { ...counts, created }
    } finally {
      names.close()
      unknown.close()
    }
  }

  const convert = (
    actor: UserActor,
    { field, related, timeZone }: OpenColumn,
    isList: boolean,
    names: LoadNames,
  ) =>
    schema.linkValues(
      actor,
      field.id,
      { kind: isList ? 'mm' : 'bt', relatedTableId: related.table.id, createInverse: true },
      { names, timeZone },
    )

  /**
   * Creates records for the names in unknown values that no record has, and adds them to `names`.
   * @returns their number
   */
  async function createMissing(
    actor: UserActor,
    { related: { displayField, table }, link }: OpenColumn,
    { names, unknown, isList }: { names: UniqueNames; unknown: SpillMap<null>; isList: boolean },
    signal: AbortSignal,
  ): Promise<number> {
    const { parse } = fieldType(displayField.type)
    const pending = new Map<string, Values>()
    let created = 0
    let seen = 0

    async function create(): Promise<void> {
      signal.throwIfAborted()
      if (pending.size === 0) return
      const rows = [...pending.values()].map((values) => ({ values }))
      const { inserted } = await records.apply(actor, {
        baseId: table.baseId,
        operations: [{ kind: 'insert', tableId: link.relatedTableId, rows }],
      })
      for (const [at, [name, values]] of [...pending].entries()) {
        const id = inserted[at]
        // A longer value may have been shortened or normalized by its field.
        if (id !== undefined) names.add(id, values[displayField.id] ?? name)
      }
      created += pending.size
      pending.clear()
    }

    for (const text of unknown.keys()) {
      const listed = isList ? readNames(text, LIST, names).missing : [text]
      for (const name of listed) {
        if (names.isAmbiguous(name) || names.find(name) !== undefined) continue
        const value = parse(name, displayField.options)
        if (value !== null) pending.set(name, { [displayField.id]: value })
        if (pending.size >= CREATED_AT_ONCE) await create()
      }
      if (++seen % SEEN_AT_ONCE === 0) await Bun.sleep(0)
    }
    await create()
    return created
  }

  return { run, isWaiting: true, resumes: true, recover: async () => 'resume' }
}

/**
 * Reads all values of a column once, and adds those to `unknown` that are no name of a record. A comma separates names if
 * that finds records: “Smith, John” is one name otherwise.
 *
 * @returns true if cells list several names
 */
async function lookThrough(
  { own, field, engine, read }: OpenColumn,
  names: UniqueNames,
  unknown: SpillMap<null>,
): Promise<boolean> {
  let isList = false
  for await (const page of pagesOf(engine, own, field, read)) {
    for (const { value } of page) {
      const text = formatValue(field, value).trim()
      if (text === '' || unknown.get(text) !== undefined || names.find(text) !== undefined) continue
      const { titles, missing } = readNames(text, LIST, names)
      isList ||= titles.length > 0 && titles.length + missing.length > 1
      isList ||= text.includes('\n') && !names.isAmbiguous(text)
      unknown.set(text, null)
    }
  }
  return isList
}

const LIST = { kind: 'mm' } as const
const SINGLE = { kind: 'bt' } as const

/** Counts the cells of a column, and reports those with names that are left out. */
async function reportMissing(
  column: OpenColumn,
  isList: boolean,
  names: Pick<RecordNames, 'find'> & Partial<Pick<UniqueNames, 'isAmbiguous'>>,
  problems: Report,
): Promise<Pick<LinkedColumn, 'linked' | 'refused'>> {
  const { own, field, engine, read } = column
  let [linked, refused, done] = [0, 0, 0]
  for await (const page of pagesOf(engine, own, field, read)) {
    done += page.length
    column.onRows(done)
    const found: { id: RecordId; text: string; named: NamedRecords }[] = []
    for (const { id, value } of page) {
      const text = formatValue(field, value)
      const named = readNames(text, isList ? LIST : SINGLE, names)
      if (named.missing.length > 0) found.push({ id, text, named })
      else if (named.ids.length > 0) linked++
    }
    if (found.length === 0) continue
    refused += found.length
    const rows = await rowsOf(
      column,
      found.map(({ id }) => id),
    )
    for (const { id, text, named } of found) {
      problems.add({
        row: rows.get(String(id)) ?? 0,
        column: `${own.table.title}: ${field.title}`,
        value: text,
        reason: reasonFor(column, named.missing, names.isAmbiguous),
      })
    }
  }
  return { linked, refused }
}

function reasonFor(
  { related, link }: OpenColumn,
  missing: readonly string[],
  isAmbiguous: UniqueNames['isAmbiguous'] = () => false,
): string {
  const table = related.table.title
  if (link.by === 'row') return m.imports_report_parent_missing({ table })
  return missing.every(isAmbiguous)
    ? m.imports_report_ambiguous_records({ table, names: listNames(missing) })
    : unknownRecords(table, missing)
}

async function countRows({ own, engine: { dialect }, read }: OpenColumn): Promise<number> {
  const table = sql.identifier(own.table.tableName)
  const [counted] = await read(dialect.render(sql`select 0 as id, count(*) as value from ${table}`))
  return Number(counted?.value ?? 0)
}

/** The numbers of records' rows in the file, by id. */
async function rowsOf({ own, engine }: OpenColumn, ids: RecordId[]): Promise<ReadonlyMap<string, number>> {
  const { dialect } = engine
  const id = sql.identifier(columnNameOf(own.primaryKey))
  const rows = await engine.all<{ id: RecordId; n: number }>(
    dialect.render(sql`select ${id} as ${sql.identifier('id')}, nc_order as ${sql.identifier('n')}
      from ${sql.identifier(own.table.tableName)} where ${dialect.inList(sql`${id}`, ids)}`),
    { scan: true },
  )
  return new Map(rows.map((row) => [String(row.id), Number(row.n)]))
}

/** Records of a new table by the numbers of their rows in the file. */
async function recordsByRow({ related, engine }: OpenColumn, read: ReadValues): Promise<FoundNames> {
  const byRow = createSpillMap<RecordId>()
  const order: ValueSource = { column: sql`nc_order`, decode: null }
  for await (const page of pagesOf(engine, related, related.primaryKey, read, order)) {
    for (const { id, value } of page) byRow.set(String(Number(value)), id)
  }
  return { find: (row) => byRow.get(String(Number(row))), close: byRow.close }
}
