import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { UserActor } from '../../src/core/actor.ts'
import type { ImportResult } from '../../src/core/csv/import-result.ts'
import { toStored } from '../../src/core/dates.ts'
import { AppError } from '../../src/core/errors.ts'
import { autoNumber } from '../../src/core/fields/auto-number.ts'
import { type Choice, withChoices } from '../../src/core/fields/choices.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import { numbersRecords } from '../../src/core/fields/traits.ts'
import type { ImportFormat } from '../../src/core/imports/format.ts'
import type { Field } from '../../src/core/model.ts'
import { listImports } from '../../src/db/change-log.ts'
import type { Dialect, Engine, Statement } from '../../src/dialects/dialect.ts'
import { type JobContext, type JobKind, ServerStopping } from '../../src/jobs.ts'
import type { Kernel } from '../../src/kernel.ts'
import { m } from '../../src/messages.gen.ts'
import type { RecordsService } from '../records/index.ts'
import type { PreparedTable, SchemaService, TableModel } from '../schema/index.ts'
import {
  type ImportColumn,
  type ImportOutcome,
  type ImportPlan,
  isLinkColumn,
  isSameLink,
  isUpdate,
  LINKS_COLUMNS,
  type LinkColumn,
  linksTableOf,
  ROW_COLUMN,
  stampsOf,
  tablesOf,
  toImportLink,
  UPDATE_COLUMNS,
  type UpdateOptions,
} from './plan.ts'
import { runInThread } from './thread.ts'
import type { Uploads } from './uploads.ts'

export const IMPORT_JOB = 'import'

/** Input of an import's job. */
export interface ImportInput {
  /** May name stored files that they can read. */
  actor: UserActor
  baseId: string
  uploadId: string
  fileName: string
  format: ImportFormat
  width: number
  columns: ImportColumn[]
  timeZone: string
  target:
    | { kind: 'new'; prepared: PreparedTable }
    /** `constants`: defaults of the fields without a column in the file. */
    | {
        kind: 'append'
        tableId: string
        constants: { column: string; value: string | number | boolean }[]
        /** Set if rows may change existing records; `keys` are fields. */
        update?: UpdateOptions & { keys: string[]; isPreview: boolean }
      }
}

interface Deps {
  kernel: Pick<Kernel, 'sources' | 'events' | 'log' | 'config'>
  schema: Pick<SchemaService, 'load' | 'publishTable' | 'hasTable'>
  records: Pick<RecordsService, 'openLink' | 'attachments'>
  uploads: Uploads
  reportPath(jobId: string): string
}

/** The job of an import. Its records become visible in its last step. */
export function createImportJob({
  kernel,
  schema,
  records,
  uploads,
  reportPath,
}: Deps): JobKind<ImportInput> {
  const stagingOf = (jobId: string) => `sheaf_import_${jobId}`

  async function run(
    input: ImportInput,
    { jobId, userId, isResumed, signal, report }: JobContext,
  ): Promise<ImportResult> {
    const startedAt = performance.now()
    const engine = await kernel.sources.engine(input.baseId)
    const { path } = await uploads.get(userId, input.uploadId)
    const staging = stagingOf(jobId)
    const model = input.target.kind === 'append' ? await schema.load(input.target.tableId) : null
    const plan = planOf(input, { jobId, actorId: userId, path, location: engine.location }, model)
    try {
      const columns =
        input.target.kind === 'new'
          ? input.target.prepared.columns
          : stagingColumns(input.columns, model, isUpdate(plan))
      const staged = isResumed ? await findStaged(engine, plan) : null
      if (staged === null) {
        await engine.write(async (tx) => {
          for (const statement of engine.dialect.createTable(staging, columns)) await tx.run(statement)
          for (const statement of linksTable(engine.dialect, staging, input.columns)) await tx.run(statement)
        })
      }
      const outcome = await runInThread(
        { ...plan, stagedUpTo: staged ?? 0 },
        {
          engine,
          signal,
          progress: (done, total) => report({ done, total, unit: 'rows' }),
          async verify() {
            if (model) await requireUnchanged(await schema.load(model.table.id), input.columns)
          },
          files: (paths) => records.attachments.claimKnown(input.actor, input.baseId, paths),
        },
      )
      report({ done: outcome.rows, total: outcome.rows })
      // A new table can still be cancelled here; appended records are saved already. A server that stops waits for it.
      if (model === null && !isStopping(signal)) signal.throwIfAborted()
      const { id: tableId, title } = await publish(input, outcome, { staging, userId, model })
      await uploads.release(jobId)
      // The import that follows a preview reads the file again.
      if (!outcome.update?.isPreview) await logFailure(uploads.discard(input.uploadId))
      const { choices: _choices, ...counts } = outcome
      return {
        ...counts,
        tableId,
        title,
        isNewTable: model === null,
        fileName: input.fileName,
        seconds: Math.round((performance.now() - startedAt) / 100) / 10,
      }
    } catch (error) {
      await rm(reportPath(jobId), { force: true })
      throw error
    } finally {
      // When the server stops, the staged rows wait for the next run.
      if (!isStopping(signal)) await logFailure(dropStaging(engine, staging))
    }
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

  /** Logs failed cleanup: the records are saved. */
  async function logFailure(work: Promise<unknown>): Promise<void> {
    await work.catch((error) => kernel.log.error('an import could not be tidied up', error))
  }

  function planOf(
    { format, width, columns, timeZone, target }: ImportInput,
    file: Pick<ImportPlan, 'jobId' | 'actorId' | 'path' | 'location'>,
    model: TableModel | null,
  ): ImportPlan {
    const system = [
      { column: 'created_at', value: toStored(Date.now()) },
      { column: 'created_by', value: file.actorId },
    ]
    const common = {
      ...file,
      reportPath: reportPath(file.jobId),
      staging: stagingOf(file.jobId),
      maxFiles: kernel.config.attachmentMaxCount,
      stagedUpTo: 0,
      format,
      columns,
      width,
      timeZone,
    }
    if (target.kind === 'new') {
      const key = target.prepared.fields.find((field) => field.isPrimaryKey)?.columnName ?? 'id'
      const finish = { kind: 'index' as const, columns: ['nc_order', key] }
      return { ...common, constants: system, rowColumn: 'nc_order', finish }
    }
    if (!model) throw new Error('Choose the table to import into')
    const unique = model.fields.filter(
      (field) => field.unique && columns.some(({ fieldId }) => fieldId === field.id),
    )
    const finish = {
      kind: 'append' as const,
      target: model.table.tableName,
      tableId: model.table.id,
      keyColumn: model.primaryKey.columnName,
      orderColumn: 'nc_order',
      constants: [...system, ...target.constants],
      numbered: model.fields
        .filter(numbersRecords)
        .map(({ columnName, options }) => ({ column: columnName, ...autoNumber.options.parse(options) })),
      unique: unique.map(({ columnName, title }) => ({ column: columnName, title })),
      update: target.update && {
        ...target.update,
        keys: target.update.keys.map((fieldId) => columns.findIndex((column) => column.fieldId === fieldId)),
        stamps: stampsOf(model),
      },
    }
    return { ...common, constants: [], rowColumn: ROW_COLUMN, finish }
  }

  /** Publishes the filled staging table as the new table, or announces the appended records. */
  async function publish(
    input: ImportInput,
    outcome: ImportOutcome,
    { staging, userId, model }: { staging: string; userId: string; model: TableModel | null },
  ): Promise<{ id: string; title: string }> {
    const { target, baseId } = input
    if (target.kind === 'new') {
      const fields = fieldsWithChoices(target.prepared.fields, outcome.choices)
      return schema.publishTable(
        input.actor,
        { ...target.prepared, fields },
        { staging, imported: outcome.rows },
      )
    }
    if (!model) throw new Error('Choose the table to import into')
    if (outcome.changeId !== null) {
      kernel.events.emit('records.changed', {
        id: outcome.changeId,
        baseId,
        actorId: userId,
        at: new Date().toISOString(),
        records: [],
        truncated: true,
        tableIds: tablesTouched(target.tableId, input.columns),
      })
    }
    return model.table
  }

  /** @throws CONFLICT if a field that is being filled was changed or deleted */
  async function requireUnchanged(model: TableModel, columns: ImportColumn[]): Promise<void> {
    for (const column of columns) {
      const field = model.field(column.fieldId)
      const isStored = column.isRecordId ? field?.isPrimaryKey : field?.columnName === column.column
      const isSame = isLinkColumn(column)
        ? field !== undefined && (await isSameAsNow(model, column))
        : isStored && field?.type === column.type
      if (isSame) continue
      throw new AppError('CONFLICT', m.imports_error_field_changed({ field: column.title }))
    }
  }

  /** False for a link that is broken or leads to other records by now. */
  async function isSameAsNow(model: TableModel, { fieldId, link }: LinkColumn): Promise<boolean> {
    try {
      return isSameLink(link, toImportLink(await records.openLink(model, fieldId), []))
    } catch (error) {
      if (error instanceof AppError) return false
      throw error
    }
  }

  return {
    run,
    resumes: true,
    async recover(input, job) {
      if (!(await kernel.sources.exists(input.baseId))) return null
      const engine = await kernel.sources.engine(input.baseId)
      const rows = await findFinished(input, job.id)
      if (rows === null && (await uploads.isThere(job.userId, input.uploadId))) {
        await uploads.hold(job.id, input.uploadId)
        return 'resume'
      }
      await dropStaging(engine, stagingOf(job.id))
      if (rows === null) {
        await rm(reportPath(job.id), { force: true })
        return null
      }
      await uploads.discard(input.uploadId)
      const { target, fileName } = input
      const isNewTable = target.kind === 'new'
      const tableId = isNewTable ? target.prepared.tableId : target.tableId
      // The counts are lost with the process, but the report file shows that there were problems.
      const problems = existsSync(reportPath(job.id)) ? 1 : 0
      const counts = { rows, rowsRefused: 0, cellsRefused: 0, problems, samples: [], seconds: 0 }
      const title = isNewTable ? target.prepared.title : ''
      return { result: { ...counts, tableId, title, isNewTable, fileName, encoding: '', changeId: null } }
    },
  }

  /** Number of imported records if the last step was done before the server stopped; else null. */
  async function findFinished({ baseId, target }: ImportInput, jobId: string): Promise<number | null> {
    const engine = await kernel.sources.engine(baseId)
    if (target.kind === 'new') {
      if (!(await schema.hasTable(target.prepared.tableId))) return null
      const { table } = await schema.load(target.prepared.tableId)
      const name = engine.dialect.quote(table.tableName)
      const [row] = await engine.all<{ n: number }>({ sql: `select count(*) as n from ${name}`, params: [] })
      return row?.n ?? 0
    }
    const imports = await listImports(engine, target.tableId)
    const finished = imports.find(({ detail }) => (detail as { jobId?: string } | null)?.jobId === jobId)
    return finished?.records ?? null
  }
}

/** The table and those that hold or show its links. */
const tablesTouched = (tableId: string, columns: ImportColumn[]): string[] => [
  ...new Set([tableId, ...columns.filter(isLinkColumn).flatMap(({ link }) => tablesOf(link))]),
]

const isStopping = (signal: AbortSignal): boolean => signal.reason instanceof ServerStopping

const PLAIN = { required: false, defaultValue: null }

const UPDATE_STAGING = [
  { name: UPDATE_COLUMNS.id, storage: 'integer' as const, ...PLAIN },
  { name: UPDATE_COLUMNS.state, storage: 'integer' as const, ...PLAIN },
  { name: UPDATE_COLUMNS.kept, storage: 'longText' as const, ...PLAIN },
]

/** Columns of the staging table for an import into an existing table. */
function stagingColumns(columns: ImportColumn[], model: TableModel | null, isUpdate: boolean) {
  const storageOf = (fieldId: string) => fieldType(model?.field(fieldId)?.type ?? '').storage
  return [
    { name: ROW_COLUMN, storage: 'id' as const, ...PLAIN },
    ...columns.map(({ column, fieldId, isRecordId }) => ({
      name: column,
      // Only the row's number is the staging table's own key.
      storage: isRecordId ? ('integer' as const) : storageOf(fieldId),
      ...PLAIN,
    })),
    ...(isUpdate ? UPDATE_STAGING : []),
  ]
}

/** Creates the table that collects the links of the rows, if a column has any. */
function linksTable(dialect: Dialect, staging: string, columns: ImportColumn[]): Statement[] {
  if (!columns.some(isLinkColumn)) return []
  const integers = LINKS_COLUMNS.map((column) => ({ name: column, storage: 'integer' as const, ...PLAIN }))
  return dialect.createTable(linksTableOf(staging), integers)
}

/** The fields with the choices that their cells have beside those of the select fields. */
export const fieldsWithChoices = (fields: readonly Field[], foundIn: ImportOutcome['choices']): Field[] =>
  fields.map((field) => {
    const found = foundIn[field.id]
    if (found === undefined) return field
    // Selects are stored as text, so the values stay as they are.
    if (found === null) return { ...field, type: 'SingleLineText' as const, options: {} }
    const choices = withChoices((field.options.choices ?? []) as Choice[], found)
    return { ...field, options: { ...field.options, choices } }
  })

/** Drops the staging tables of an import, if they exist. */
export async function dropStaging(engine: Engine, staging: string): Promise<void> {
  for (const name of [staging, linksTableOf(staging)]) {
    await engine.writeScript(engine.dialect.dropTable(name))
  }
}
