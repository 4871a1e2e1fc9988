import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { ImportResult } from '../../src/core/csv/import-result.ts'
import { AppError } from '../../src/core/errors.ts'
import { forgetParts } from '../../src/db/change-log/removal.ts'
import type { Dialect, Engine, Statement } from '../../src/dialects/dialect.ts'
import { isStopping, type JobContext, type JobKind } from '../../src/jobs.ts'
import type { Kernel } from '../../src/kernel.ts'
import { m } from '../../src/messages.gen.ts'
import { isOutage } from '../../src/storage-full.ts'
import { tidyUp } from '../../src/tidy-up.ts'
import type { RecordsService } from '../records/index.ts'
import type { SchemaService } from '../schema/index.ts'
import type { ImportInput } from './job-input.ts'
import {
  type ImportColumn,
  type ImportPlan,
  isLinkColumn,
  LINKS_COLUMNS,
  linksTableOf,
  parentJobOf,
} from './plan.ts'
import { requireRows } from './row-records.ts'
import { createImportTargets, type TargetDeps } from './targets/index.ts'
import { runInThread } from './thread.ts'
import type { Uploads } from './uploads.ts'
import { readCounts } from './worker/counts.ts'

export const IMPORT_JOB = 'import'

interface Deps extends TargetDeps {
  kernel: TargetDeps['kernel'] & Pick<Kernel, 'config' | 'jobs'>
  schema: TargetDeps['schema'] & Pick<SchemaService, 'load' | 'place'>
  records: TargetDeps['records'] & Pick<RecordsService, 'attachments'>
  uploads: Uploads
  reportPath(jobId: string): string
  /** File with the counts of a job whose end is not stored yet. */
  countsPath(jobId: string): string
  /** File with the records of its rows, see `row-records.ts`. */
  rowsPath(jobId: string): string
}

/** The job of an import: the rows of a file are staged in the base's home, and from there the target takes them. */
export function createImportJob({
  kernel,
  schema,
  records,
  access,
  uploads,
  reportPath,
  countsPath,
  rowsPath,
}: Deps): JobKind<ImportInput> {
  const stagingOf = (jobId: string) => `sheaf_import_${jobId}`
  const targetOf = createImportTargets({ kernel, schema, records, access })

  async function run(
    input: ImportInput,
    { jobId, userId, isResumed, signal, report, remembered, remember, awayFor }: JobContext,
  ): Promise<ImportResult> {
    const startedAt = performance.now()
    const engine = await kernel.sources.engine(input.baseId)
    const staging = stagingOf(jobId)
    const kind = targetOf(input)
    async function open() {
      // Cancelled while it waited to go on: perhaps with many others, which would all start a thread.
      signal.throwIfAborted()
      const { path } = await uploads.get(userId, input.uploadId)
      const target = await kind.open(input, {
        jobId,
        home: engine,
        staging,
        signal,
        remembered,
        remember,
        awayFor,
        reportPath: reportPath(jobId),
        rowsPath,
        progress: (done, total) => report({ done, total, unit: 'rows' }),
      })
      return { path, target }
    }
    const { path, target } = await open().catch(async (error) => {
      // It was cancelled, the table was moved or deleted, or the file has lost its end.
      if (isResumed && !isStopping(signal) && !isOutage(error)) await removeStaging(engine, jobId)
      await rm(reportPath(jobId), { force: true })
      throw error
    })
    const { format, columns, width, timeZone } = input
    const plan: ImportPlan = {
      ...target.plan,
      jobId,
      actorId: userId,
      path,
      location: engine.location,
      reportPath: reportPath(jobId),
      countsPath: countsPath(jobId),
      ...(input.keepsRows && { rowsPath: rowsPath(jobId) }),
      rowPathsOf: Object.fromEntries(parentsOf(input).map((id) => [id, rowsPath(id)])),
      staging,
      maxFiles: kernel.config.attachmentMaxCount,
      stagedUpTo: 0,
      format,
      columns,
      width,
      timeZone,
    }
    let isStagingKept = false
    try {
      for (const id of parentsOf(input)) await requireRows(kernel.jobs, id)
      const staged = isResumed ? await findStaged(engine, plan) : null
      if (staged === null) {
        await engine.write(async (tx) => {
          for (const statement of engine.dialect.createTable(staging, target.stagingColumns))
            await tx.run(statement)
          for (const statement of linksTable(engine.dialect, staging, columns)) await tx.run(statement)
        })
      }
      const outcome = await runInThread(
        { ...plan, stagedUpTo: staged ?? 0 },
        {
          engine,
          signal,
          progress: (done, total) =>
            report({ done: target.isFilledByThread ? done : 0, total, unit: 'rows' }),
          verify: target.verify,
          files: (paths) => records.attachments.claimKnown(input.actor, input.baseId, paths),
          refusedBy: (indexes) => kernel.events.emit('indexes.refused', indexes),
        },
      )
      if (target.isFilledByThread) report({ done: outcome.rows, total: outcome.rows })
      const completed = await target.complete(outcome)
      await uploads.release(jobId)
      // The import that follows a preview reads the file again.
      if (!completed.outcome.update?.isPreview) await logFailure(uploads.discard(input.uploadId))
      const { choices: _choices, links = [], ...counts } = completed.outcome
      return {
        ...counts,
        ...(links.length > 0 && { links }),
        tableId: completed.tableId,
        title: completed.title,
        isNewTable: kind.tableOf(input).isNewTable,
        fileName: input.fileName,
        seconds: Math.round((performance.now() - startedAt) / 100) / 10,
      }
    } catch (error) {
      isStagingKept = target.keepsStaging(error)
      await rm(reportPath(jobId), { force: true })
      throw error
    } finally {
      // When the server stops, the staged rows wait for the next run.
      if (!isStopping(signal) && !isStagingKept) await removeStaging(engine, jobId)
    }
  }

  /**
   * The error of an import whose table was deleted or moved since an earlier run: it tells where the table is, and how many rows
   * are there. Other errors stay as they are.
   */
  async function explainGone(error: unknown, input: ImportInput, jobId: string): Promise<unknown> {
    if (!(error instanceof AppError) || error.code !== 'TABLE_NOT_FOUND') return error
    const { fileName, actor } = input
    const counted = await countedText(input, jobId)
    const place = await schema.place(actor, targetOf(input).tableOf(input).tableId).catch((refusal) => {
      // It has been moved to a base that the person may not open.
      if (refusal instanceof AppError) return undefined
      throw refusal
    })
    const named = { file: fileName, counted }
    if (place === null) return new AppError('TABLE_NOT_FOUND', m.imports_error_gone_deleted(named))
    if (place === undefined) return new AppError('TABLE_NOT_FOUND', m.imports_error_gone_moved(named))
    const { title: table, baseTitle: base } = place
    return new AppError('TABLE_NOT_FOUND', m.imports_error_gone_moved_to({ ...named, table, base }))
  }

  /** How many rows earlier runs of an import have written. */
  async function countedText(input: ImportInput, jobId: string): Promise<string> {
    const rows = (await targetOf(input).findFinished(input, jobId, false)) ?? 0
    return rows === 0 ? m.imports_error_gone_nothing() : m.imports_error_gone_rows({ rows })
  }

  /**
   * The number of the last row that an interrupted run has staged: rows are staged in order, each chunk as a whole. Null
   * without usable rows; the staging table is gone then.
   */
  async function findStaged(engine: Engine, plan: ImportPlan): Promise<number | null> {
    const { dialect } = engine
    const { staging, rowColumn, finish } = plan
    if ((await engine.all(dialect.listColumns(staging))).length === 0) return null
    // Indexed, but not published as a table yet: the last moment of an import.
    const indexes = await engine.all<{ name: string }>(dialect.listIndexes(staging))
    const indexSql = finish.kind === 'index' ? dialect.createIndex(staging, finish.columns) : []
    if (indexes.some(({ name }) => indexSql.some(({ sql }) => sql.includes(dialect.quote(name))))) {
      await dropStaging(engine, staging)
      return null
    }
    const [last] = await engine.all<{ n: number | null }>(
      { sql: `select max(${dialect.quote(rowColumn)}) as n from ${dialect.quote(staging)}`, params: [] },
      { scan: true },
    )
    return Number(last?.n ?? 0)
  }

  const removeStaging = (engine: Engine, jobId: string): Promise<void> =>
    tidyUp(
      () => dropStaging(engine, stagingOf(jobId)),
      (error) => kernel.log.error('the staging table of an import could not be removed', error, { jobId }),
    )

  /** Logs failed cleanup: the records are saved. */
  async function logFailure(work: Promise<unknown>): Promise<void> {
    await work.catch((error) => kernel.log.error('an import could not be tidied up', error))
  }

  return {
    after: parentsOf,
    async run(input, context) {
      try {
        return await run(input, context)
      } catch (error) {
        throw context.isResumed ? await explainGone(error, input, context.jobId) : error
      }
    },
    resumes: true,
    // Removes its staging table.
    completes: true,
    // Other imports of the same file may discard it.
    hold: ({ uploadId }, { id }) => uploads.hold(id, uploadId),
    async recover(input, job) {
      if (!(await kernel.sources.exists(input.baseId))) return null
      const engine = await kernel.sources.engine(input.baseId)
      const target = targetOf(input)
      const hasUpload = await uploads.isThere(job.userId, input.uploadId)
      const rows = await target.findFinished(input, job.id, hasUpload)
      if (rows === null) await dropUnpublished(engine, input, stagingOf(job.id))
      if (rows === null && hasUpload) return 'resume'
      await dropStaging(engine, stagingOf(job.id))
      if (rows === null) {
        await rm(reportPath(job.id), { force: true })
        await rm(countsPath(job.id), { force: true })
        return null
      }
      await uploads.release(job.id)
      await uploads.discard(input.uploadId)
      const counted = readCounts(countsPath(job.id)) ?? {
        rowsRefused: 0,
        cellsRefused: 0,
        // The report file shows that there were problems.
        problems: existsSync(reportPath(job.id)) ? 1 : 0,
        samples: [],
        encoding: '',
      }
      const { fileName } = input
      return { result: { ...counted, rows, seconds: 0, ...target.tableOf(input), fileName, changeId: null } }
    },
    async giveUp(input, { id, reason }) {
      await removeStaging(await kernel.sources.engine(input.baseId), id)
      for (const path of [reportPath(id), countsPath(id)]) await rm(path, { force: true })
      return m.imports_error_given_up({ reason, counted: await countedText(input, id) })
    },
  }
}

/** The imports whose rows those of an import belong to. */
const parentsOf = ({ columns }: ImportInput): string[] =>
  columns.flatMap((column) => parentJobOf(column) ?? [])

/** Creates the table that collects the links of the rows, if a column has any. */
function linksTable(dialect: Dialect, staging: string, columns: ImportColumn[]): Statement[] {
  if (!columns.some(isLinkColumn)) return []
  const integers = LINKS_COLUMNS.map((column) => ({
    name: column,
    storage: 'integer' as const,
    required: false,
    defaultValue: null,
  }))
  return dialect.createTable(linksTableOf(staging), integers)
}

/**
 * Drops the new table of an import if its home has it and the metadata does not: a killed server has renamed the staging
 * table then, whose index keeps its name, and appended an entry to the log.
 */
async function dropUnpublished(engine: Engine, { target }: ImportInput, staging: string): Promise<void> {
  if (target.kind !== 'new') return
  const { dialect } = engine
  for (const { name } of await engine.all<{ name: string }>(dialect.listTablesIndexedAs(`${staging}__`))) {
    if (name === staging) continue
    await engine.writeScript(dialect.dropTable(name))
    await forgetParts(engine, { tableIds: [target.prepared.tableId], fieldIds: [] })
  }
}

/** Drops the staging tables of an import, if they exist. */
export async function dropStaging(engine: Engine, staging: string): Promise<void> {
  for (const name of [staging, linksTableOf(staging)]) {
    await engine.writeScript(engine.dialect.dropTable(name))
  }
}
