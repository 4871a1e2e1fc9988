import { eq } from 'drizzle-orm'
import { detectEncoding } from '../../src/core/csv/detect.ts'
import type { CsvFormat } from '../../src/core/csv/format.ts'
import type { ImportResult } from '../../src/core/csv/import-result.ts'
import type { CellValue, FieldOptions } from '../../src/core/fields/field-type.ts'
import type { FieldTypeName } from '../../src/core/fields/index.ts'
import type { AnalysisMessage, TableAnalysis } from '../../src/core/imports/analysis.ts'
import { type DraftTarget, draftColumns, toStartInput } from '../../src/core/imports/draft.ts'
import type { ChosenFormat, ImportFormat } from '../../src/core/imports/format.ts'
import type { Base } from '../../src/core/model.ts'
import { defineJobsTable } from '../../src/db/jobs-table.ts'
import { hasEnded } from '../../src/jobs.ts'
import { createTestApp, type TestApp, type TestUser } from '../support/app.ts'
import { createTrpcClient, type TrpcClient } from '../support/client.ts'
import { createBase } from '../support/factories.ts'
import { until } from '../support/until.ts'

/** Where a server is and who asks: tests that start one in another process have no more. */
export interface Door {
  url: string
  token: string
}

export const doorOf = (app: TestApp, user: TestUser): Door => ({ url: app.url, token: user.token })

/** An app with a base, and its owner. */
export async function openImports(): Promise<{ app: TestApp; owner: TestUser; base: Base; door: Door }> {
  const app = await createTestApp()
  const owner = await app.signUp()
  return { app, owner, base: await createBase(app, owner), door: doorOf(app, owner) }
}

/** Sends a file as the browser does; gives the answer as it is. */
export const postUpload = ({ url, token }: Door, body: BodyInit, name = 'people.csv'): Promise<Response> =>
  fetch(`${url}/api/internal/uploads?name=${encodeURIComponent(name)}`, {
    method: 'POST',
    headers: { 'xc-auth': token, 'content-type': 'application/octet-stream' },
    body,
  })

/** Sends a file and gives its id. */
export async function upload(door: Door, body: BodyInit, name?: string): Promise<string> {
  const answer = await postUpload(door, body, name)
  if (!answer.ok) throw new Error(`upload: ${answer.status} ${await answer.text()}`)
  const { uploadId } = (await answer.json()) as { uploadId: string }
  return uploadId
}

/** A field that a column of the file fills; the n-th column unless `index` says another. */
export interface Column {
  title: string
  type?: FieldTypeName
  options?: FieldOptions
  index?: number
}

export interface NewTableImport {
  title?: string
  columns: Column[]
  format?: Partial<CsvFormat>
  /** The format of a file that is no CSV. */
  otherFormat?: ImportFormat
  width?: number
  timeZone?: string
}

/** Starts an import of a file into a new table. */
export async function startImport(
  door: Door,
  baseId: string,
  body: BodyInit,
  how: NewTableImport,
): Promise<string> {
  const { title = 'People', columns, format, otherFormat, width = columns.length, timeZone } = how
  const { jobId } = await createTrpcClient(door.url, door.token).imports.start.mutate({
    baseId,
    uploadId: await upload(door, body),
    format: otherFormat ?? formatOf(body, format),
    width,
    timeZone,
    columns: columns.map(({ index }, at) => ({ index: index ?? at })),
    table: {
      title,
      fields: columns.map(({ title, type = 'SingleLineText', options }) => ({ title, type, options })),
    },
  })
  return jobId
}

export const formatOf = (body: BodyInit, format: Partial<CsvFormat> = {}): CsvFormat => ({
  kind: 'csv',
  delimiter: ',',
  quote: '"',
  header: true,
  guarded: false,
  decimal: '.',
  encoding: body instanceof Uint8Array ? detectEncoding(body, true) : 'utf-8',
  ...format,
})

interface AnalysisOptions {
  chosen?: ChosenFormat
  readAll?: boolean
}

/** Starts an analysis as the browser does; gives the answer as it is. */
export const postAnalysis = (
  { url, token }: Door,
  uploadId: string,
  options: AnalysisOptions,
  signal?: AbortSignal,
): Promise<Response> =>
  fetch(`${url}/api/internal/uploads/${uploadId}/analysis`, {
    method: 'POST',
    headers: { 'xc-auth': token, 'content-type': 'application/json' },
    body: JSON.stringify(options),
    signal,
  })

/** Lets the server find the tables of an upload. @throws Error with the message of a failure */
export async function analyse(
  door: Door,
  uploadId: string,
  options: AnalysisOptions = {},
): Promise<TableAnalysis[]> {
  const answer = await postAnalysis(door, uploadId, options)
  const text = (await answer.text()).trim()
  if (!answer.ok) throw new Error(`analysis: ${answer.status} ${text}`)
  const last = JSON.parse(text.split('\n').at(-1) ?? '') as AnalysisMessage
  if (last.type !== 'done') throw new Error(last.type === 'failed' ? last.message : 'The analysis has no end')
  return last.tables
}

/** Types of a table's columns by their titles. */
export const typesOf = ({ analysis }: TableAnalysis): Record<string, FieldTypeName> =>
  Object.fromEntries((analysis?.fields ?? []).map(({ title, type }) => [title, type]))

let unnamed = 0

/** Imports tables of an upload as new ones, as the dialog does when nothing is changed there. */
export async function importTables(
  door: Door,
  baseId: string,
  uploadId: string,
  tables: readonly TableAnalysis[],
): Promise<{ result: ImportResult; rows: Record<string, CellValue>[]; report: string[] }[]> {
  const inputs = tables.map(({ name, analysis }) => {
    if (!analysis) throw new Error(`${name} has no rows`)
    const target: DraftTarget = { kind: 'new', title: name || `Imported ${++unnamed}` }
    const input = toStartInput({ baseId, uploadId, analysis }, draftColumns(analysis, target), target)
    return { ...input, timeZone: 'UTC' }
  })
  const jobs = await createTrpcClient(door.url, door.token).imports.startAll.mutate(inputs)
  return Promise.all(
    jobs.map(async ({ jobId }) => {
      const result = resultOf(await ended(door, jobId))
      return { result, rows: await rowsOf(door, result.tableId), report: await reportOf(door, jobId) }
    }),
  )
}

/** A job as the web app sees it. */
export type JobAnswer = Awaited<ReturnType<TrpcClient['jobs']['get']['query']>>

/** Waits until a job has ended, and gives it. */
export async function ended({ url, token }: Door, jobId: string, timeoutMs?: number): Promise<JobAnswer> {
  const client = createTrpcClient(url, token)
  let job = await client.jobs.get.query({ jobId })
  const isOver = async () => {
    job = await client.jobs.get.query({ jobId })
    return hasEnded(job.status)
  }
  await until(isOver, `The end of the job ${jobId}`, timeoutMs)
  return job
}

/** Imports a file into a new table and gives the result. @throws Error where the job did not complete */
export async function importNew(
  door: Door,
  baseId: string,
  body: BodyInit,
  how: NewTableImport,
): Promise<ImportResult> {
  return resultOf(await ended(door, await startImport(door, baseId, body, how)))
}

/**
 * Lets a server find an import that has been interrupted too often without coming further, with its staging table.
 *
 * @param jobId an import that has ended
 * @param uploadId its file
 * @param id of the job that the server finds
 */
export async function giveUp(
  { kernel }: TestApp,
  jobId: string,
  uploadId: string,
  id = jobId,
): Promise<void> {
  const jobs = kernel.meta.tables(defineJobsTable)
  const [row] = await kernel.meta.db.select().from(jobs).where(eq(jobs.id, jobId))
  if (!row) throw new Error(`There is no job ${jobId}`)
  const home = await kernel.sources.engine(row.baseId ?? '')
  await home.writeScript([{ sql: `create table "sheaf_import_${id}" (a integer)`, params: [] }])
  const progress = { done: 1, total: 1, unit: 'rows' as const, restarts: 5, furthest: 1, fruitless: 5 }
  const input = { ...(row.input as object), uploadId }
  await kernel.meta.db.delete(jobs).where(eq(jobs.id, id))
  await kernel.meta.db.insert(jobs).values({ ...row, id, status: 'active', progress, input, result: null })
  await kernel.jobs.recover()
}

export function resultOf(job: JobAnswer): ImportResult {
  if (job.status !== 'completed') throw new Error(`The job is ${job.status}: ${job.error}`)
  return job.result as ImportResult
}

/** All values of a table, by the titles of its own fields, in its order; up to a thousand records. */
export async function rowsOf({ url, token }: Door, tableId: string): Promise<Record<string, CellValue>[]> {
  const client = createTrpcClient(url, token)
  const { fields } = await client.schema.table.query({ tableId })
  const shown = fields.filter((field) => !field.isSystem && !field.isPrimaryKey)
  const page = await client.records.list.query({
    query: { tableId, fieldIds: shown.map(({ id }) => id), limit: 1000, offset: 0 },
  })
  return page.rows.map((row) => Object.fromEntries(shown.map(({ title }, at) => [title, row[at] ?? null])))
}

/** The lines of an import's report, without the header. */
export async function reportOf({ url, token }: Door, jobId: string): Promise<string[]> {
  const answer = await fetch(`${url}/api/internal/jobs/${jobId}/report`, { headers: { 'xc-auth': token } })
  if (!answer.ok) return []
  const lines = (await answer.text()).trim().split('\r\n')
  return lines.slice(1)
}
