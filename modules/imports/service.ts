import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { nowMs } from '../../src/clock.ts'
import type { Actor, UserActor } from '../../src/core/actor.ts'
import { decodeUri } from '../../src/core/decode-uri.ts'
import { AppError, badRequest, notFound } from '../../src/core/errors.ts'
import { type DateFormat, withOtherOrder } from '../../src/core/fields/date-text.ts'
import { type CreationMoment, startValue } from '../../src/core/fields/default-value.ts'
import type { DetectedField } from '../../src/core/fields/detect.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { type FieldTypeName, fieldType } from '../../src/core/fields/index.ts'
import { linkOf } from '../../src/core/fields/link-options.ts'
import { defaultPeople } from '../../src/core/fields/people.ts'
import {
  findsRecords,
  hasCurrency,
  holdsAddresses,
  holdsFiles,
  holdsPeople,
  isFilledByImport,
  isImportable,
  takesPlainNumbers,
  withPeople,
} from '../../src/core/fields/traits.ts'
import { createId } from '../../src/core/ids.ts'
import type { Analysis, AnalysisMessage, TableAnalysis } from '../../src/core/imports/analysis.ts'
import type { ImportTargetFacts } from '../../src/core/imports/draft.ts'
import { FileError } from '../../src/core/imports/file-error.ts'
import { ForeignFileError } from '../../src/core/imports/file-kind.ts'
import type { ChosenFormat, FileKind, ImportFormat } from '../../src/core/imports/format.ts'
import type { Field, Person } from '../../src/core/model.ts'
import { requireStoredNames } from '../../src/db/names-of-records.ts'
import { createHttpClient } from '../../src/http.ts'
import { createJobStore } from '../../src/jobs/job-store.ts'
import { hasEnded, type Job } from '../../src/jobs.ts'
import type { Kernel } from '../../src/kernel.ts'
import { m } from '../../src/messages.gen.ts'
import { type AuthService, forbidden, requireUser } from '../auth/index.ts'
import type { BasesService } from '../bases/index.ts'
import { isForeign, type RecordsService, VISITOR } from '../records/index.ts'
import type { SchemaService, TableModel } from '../schema/index.ts'
import { runAnalysis } from './analysis/run-analysis.ts'
import { readColumnOptions } from './column-options.ts'
import { createImportJob, IMPORT_JOB } from './import-job.ts'
import { type AnalysisInput, type StartInput, startInput } from './input.ts'
import { type ImportInput, isPreview } from './job-input.ts'
import { type ColumnLink, createLinkJob, LINK_JOB, type LinkInput } from './link-job.ts'
import { createMissingNames, createTableMatcher } from './match-names.ts'
import { createNestedTables } from './nested-tables.ts'
import { createNewTables } from './new-tables.ts'
import {
  type Constant,
  type ImportColumn,
  isLinkColumn,
  linkColumnName,
  parentJobOf,
  RECORD_ID_COLUMN,
  toImportLink,
} from './plan.ts'
import { readReport } from './read-report.ts'
import { kindOfFile, requireKind, unclearEncoding } from './readers/index.ts'
import { NEW_COLUMN, refusalOf, requireConnectedTable } from './targets/connected.ts'
import { toNamedRecords } from './targets/connected-import.ts'
import { createUploads, type Upload } from './uploads.ts'

const FETCH_TIMEOUT_MS = 10 * 60_000
/** Size up to which an analysis reads all rows unless told otherwise: a few seconds. */
const READ_ALL_BYTES = 50_000_000
/** Tables of a file that an error lists. */
const MAX_NAMED = 20
/** Reports are deleted after this time. */
const REPORT_KEPT_MS = 7 * 86_400_000
const CLEAN_EVERY_MS = 3_600_000

export type ImportsService = ReturnType<typeof createImportsService>

/** Imports of files as jobs. */
export function createImportsService(
  kernel: Kernel,
  auth: Pick<AuthService, 'access'>,
  bases: Pick<BasesService, 'require'>,
  schema: SchemaService,
  records: Pick<
    RecordsService,
    'people' | 'openLink' | 'attachments' | 'apply' | 'open' | 'page' | 'findByValues' | 'readStored'
  >,
) {
  const { access } = auth
  const uploads = createUploads(kernel)
  const http = createHttpClient(kernel.config)
  const jobs = createJobsAccess(kernel, access)
  const storedJobs = createJobStore(kernel.meta)
  const reports = join(kernel.config.dataDir, 'reports')
  mkdirSync(reports, { recursive: true, mode: 0o700 })
  const reportPath = (jobId: string) => join(reports, `${jobId}.csv`)
  const countsPath = (jobId: string) => join(reports, `${jobId}.counts.json`)
  const rowsPath = (jobId: string) => join(reports, `${jobId}.rows`)
  kernel.jobs.register(
    IMPORT_JOB,
    createImportJob({ kernel, schema, records, access, uploads, reportPath, countsPath, rowsPath }),
  )
  kernel.jobs.register(LINK_JOB, createLinkJob({ kernel, schema, records, reportPath, rowsPath }))
  // The file of a cancelled or failed import stays for a day, so that it can be started again.
  kernel.events.on('job.changed', ({ id, kind, status }) => {
    if (!hasEnded(status)) return
    if (kind === IMPORT_JOB)
      forgetCounts(id).catch((error) => kernel.log.error('an import could not be tidied up', error))
    uploads.release(id).catch((error) => kernel.log.error('an upload could not be released', error))
  })
  setInterval(() => {
    clean().catch((error) => kernel.log.error('cleaning up failed', error))
  }, CLEAN_EVERY_MS).unref()

  /** Removes the counts of an import once its end is stored. */
  async function forgetCounts(jobId: string): Promise<void> {
    const stored = await storedJobs.find(jobId)
    if (stored === null || hasEnded(stored.status)) rmSync(countsPath(jobId), { force: true })
  }

  async function clean(): Promise<void> {
    await uploads.clean()
    for (const name of readdirSync(reports)) {
      const path = join(reports, name)
      const modified = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
      if (modified < Date.now() - REPORT_KEPT_MS) rmSync(path, { force: true })
    }
  }

  /**
   * Starts an import of an uploaded file into a new or existing table.
   * @throws BASE_NOT_FOUND, TABLE_NOT_FOUND, FIELD_NOT_FOUND, NOT_FOUND for the upload; PERMISSION_DENIED below
   * editor, for a new table below creator; DUPLICATE_ALIAS for a title in use; BAD_REQUEST for a read-only
   * field and for a file of another kind
   */
  async function start(actor: Actor, input: StartInput): Promise<{ jobId: string }> {
    const [started] = await startAll(actor, [input])
    if (!started) throw new Error('No import was started')
    return started
  }

  /**
   * Starts imports of several tables, such as the sheets of a workbook, or of none of them.
   * @returns the jobs, in the order of the tables, and at last the one that links their columns, if there are any
   * @throws as `start`; jobs that were started before are cancelled
   */
  async function startAll(actor: Actor, inputs: StartInput[]): Promise<{ jobId: string }[]> {
    const prepared: PreparedImport[] = []
    for (const input of inputs) prepared.push({ id: createId('job'), job: await prepare(actor, input) })
    const links = await prepareLinks(inputs, prepared)
    const linkJobId = createId('job')
    if (links || prepared.length > 1) {
      for (const { job } of prepared) job.group = linkJobId
      if (links) links.group = linkJobId
    }
    // All hold their file before the first job ends and discards it.
    for (const { id, job } of prepared) await uploads.hold(id, job.uploadId)
    const waiting = new Set(prepared)
    try {
      // The jobs of a base run one after the other, so that records are there before rows name them.
      for (const each of inOrderOfLinks(prepared)) {
        const { id, job } = each
        await kernel.jobs.start(IMPORT_JOB, { id, userId: job.actor.id, baseId: job.baseId, input: job })
        waiting.delete(each)
      }
      if (links) {
        const { actor: user, baseId } = links
        await kernel.jobs.start(LINK_JOB, { id: linkJobId, userId: user.id, baseId, input: links })
      }
    } catch (error) {
      for (const each of prepared)
        await (waiting.has(each) ? uploads.release(each.id) : kernel.jobs.cancel(each.id))
      throw error
    }
    const ids = [...prepared.map(({ id }) => id), ...(links ? [linkJobId] : [])]
    return ids.map((jobId) => ({ jobId }))
  }

  /**
   * The links between tables of one call, and to existing tables; null for none.
   * @throws BAD_REQUEST for a display field, for a position without a table, for tables of connected databases and those without
   * stored names, and for a column whose link field leads to another table
   */
  async function prepareLinks(
    inputs: readonly StartInput[],
    prepared: readonly PreparedImport[],
  ): Promise<LinkInput | null> {
    const [first] = prepared
    if (!first) return null
    const links: ColumnLink[] = []
    for (const [at, { columns, preview }] of inputs.entries()) {
      const own = prepared[at]
      if (!own) continue
      for (const { index, link } of columns) {
        if (!link) continue
        const { target } = own.job
        if (preview && !isPreviewOfParent(own, link, prepared)) {
          // The records that rows belong to are not there before the import.
          own.job.columns = own.job.columns.filter((each) => each.index !== index)
          continue
        }
        const column = own.job.columns.find((each) => each.index === index)
        if (!column) throw new Error(`Column ${index} is not imported`)
        const isDisplayed = ({ id, isDisplay }: Field) => id === column.fieldId && isDisplay
        if (target.kind === 'new' && target.prepared.fields.some(isDisplayed))
          throw badRequest(m.imports_error_link_display_field())
        const imported = 'table' in link.to ? prepared[link.to.table] : undefined
        if (target.kind === 'connected' || imported?.job.target.kind === 'connected') {
          linkConnected(own, column, link.by === 'row' ? imported : undefined)
          continue
        }
        const isKnown = imported !== undefined && imported !== own && imported.job.baseId === own.job.baseId
        const isNamed = link.by === 'name' && ('tableId' in link.to || imported === own)
        if ((!isKnown && !isNamed) || (imported && isPreview(imported.job) !== preview))
          throw badRequest(m.imports_error_link_target())
        const isNew = imported?.job.target.kind === 'new'
        const relatedTableId = 'tableId' in link.to ? link.to.tableId : tableIdOf(imported ?? own)
        if (!isNew && link.by === 'name') await requireNames(own.job.baseId, relatedTableId)
        const rowsOf = link.by === 'row' && imported && !isNew ? imported.id : undefined
        if (rowsOf && imported) imported.job.keepsRows = true
        if (target.kind === 'new') {
          const { by, missing } = link
          const tableId = tableIdOf(own)
          links.push({ tableId, fieldId: column.fieldId, relatedTableId, by, missing, rowsOf })
        } else if (column.link?.related.tableId === relatedTableId) {
          column.link = { ...column.link, rowsOf }
        } else throw badRequest(m.imports_error_link_other_table({ field: column.title }))
      }
    }
    if (prepared.some((each) => parentsOf(each, prepared).has(each)))
      throw badRequest(m.imports_error_link_target())
    const rowsOf = prepared.flatMap(({ id, job }) => (job.keepsRows ? id : []))
    const { actor, baseId, fileName, timeZone } = first.job
    const jobIds = prepared.map(({ id }) => id)
    return links.length === 0 && rowsOf.length === 0
      ? null
      : { actor, baseId, fileName, jobIds, links, rowsOf, timeZone }
  }

  /** True for a preview of a list whose records are previewed in the same call. */
  function isPreviewOfParent(
    own: PreparedImport,
    { to, by }: NonNullable<StartInput['columns'][number]['link']>,
    prepared: readonly PreparedImport[],
  ): boolean {
    const parent = 'table' in to ? prepared[to.table] : undefined
    const isOfHome = ({ job }: PreparedImport) => job.target.kind === 'append' && isPreview(job)
    return by === 'row' && parent !== undefined && parent !== own && isOfHome(own) && isOfHome(parent)
  }

  /**
   * Makes a column of a new table of a connected database a link to the records of another new one, by a foreign key.
   * @throws BAD_REQUEST for other tables, and for the display field
   */
  function linkConnected(
    own: PreparedImport,
    column: ImportColumn,
    parent: PreparedImport | undefined,
  ): void {
    const { target } = own.job
    const related = parent?.job.target
    if (target.kind !== 'connected' || related?.kind !== 'connected' || !target.create || !related.create)
      throw badRequest(m.imports_error_link_connected())
    if (parent === undefined || parent === own || parent.job.baseId !== own.job.baseId)
      throw badRequest(m.imports_error_link_target())
    if (target.create.sourceId !== related.create.sourceId) throw badRequest(m.imports_error_link_connected())
    const { fieldId } = column
    if (target.create.prepared.fields.some(({ id, isDisplay }) => id === fieldId && isDisplay))
      throw badRequest(m.imports_error_link_display_field())
    parent.job.keepsRows = true
    target.create = { ...target.create, link: { fieldId, relatedTableId: related.tableId } }
    Object.assign(column, { type: 'LongText', options: {}, connected: undefined, rowsOf: parent.id })
  }

  const tableIdOf = ({ job: { target } }: PreparedImport): string =>
    target.kind === 'new' ? target.prepared.tableId : target.tableId

  /** @throws TABLE_NOT_FOUND; BAD_REQUEST for a table whose records have no stored names */
  async function requireNames(baseId: string, tableId: string): Promise<void> {
    const model = await schema.load(tableId)
    if (model.table.baseId !== baseId) throw notFound('Table', tableId)
    if (isForeign(model)) throw badRequest(m.imports_error_link_connected())
    requireStoredNames(model)
  }

  /** Checks an import before its job starts. @throws as `start` */
  async function prepare(actor: Actor, input: StartInput): Promise<ImportInput> {
    const { id: baseId } = await bases.require(input.baseId)
    const model = input.tableId === undefined ? null : await schema.load(input.tableId)
    if (model && model.table.baseId !== baseId) throw notFound('Table', model.table.id)
    await access.authorize(actor, model ? 'import.append' : 'import.create', baseId)
    if (model && input.update) await access.authorize(actor, 'record.update', baseId)
    if (model && isForeign(model)) await requireConnectedTable(schema, model)
    const user = requireUser(actor)
    const { fileName, path } = await uploads.get(user.id, input.uploadId)
    await requireFileKind(path, input.format.kind)
    const { width, timeZone, uploadId } = input
    const made = { ms: nowMs(), timeZone }
    const context = { userId: user.id, members: await records.people(actor, baseId), made }
    const goal = model
      ? await appendTo(actor, model, input, context)
      : await newTable(user, baseId, input, context)
    const format = forColumns(input.format, goal.columns)
    return { actor: user, baseId, uploadId, fileName, format, width, timeZone, ...goal }
  }

  async function newTable(
    user: UserActor,
    baseId: string,
    { table, columns, sourceId }: StartInput,
    context: ImportContext,
  ) {
    if (!table) throw badRequest(m.imports_error_no_table())
    for (const { type, title, options } of table.fields) {
      requireFillable(type, title)
      readColumnOptions(title, type, options)
    }
    if (sourceId !== undefined) await requireConnectable(baseId, sourceId, table.fields)
    const prepared = await schema.prepareTable(user, baseId, table)
    const fields = prepared.fields.filter((field) => !field.isSystem && !field.isPrimaryKey)
    if (sourceId !== undefined) {
      const filled = columns.map(
        (column, at): ImportColumn => ({
          ...toColumn(column, fields[at], true, context),
          column: `sheaf_column_${column.index}`,
          connected: { databaseType: NEW_COLUMN, keepsToTypes: true },
        }),
      )
      const create = { sourceId, prepared }
      return { columns: filled, target: { kind: 'connected' as const, tableId: prepared.tableId, create } }
    }
    const filled = columns.map((column, at) => toColumn(column, fields[at], true, context))
    return { columns: filled, target: { kind: 'new' as const, prepared } }
  }

  /** @throws BAD_REQUEST for a database that takes no new table, and for types that refer to what Sheaf stores */
  async function requireConnectable(
    baseId: string,
    sourceId: string,
    fields: readonly { type: FieldTypeName }[],
  ): Promise<void> {
    await schema.requireWritableSource(baseId, sourceId)
    const own = fields.find((field) => holdsFiles(field) || holdsPeople(field))
    if (own) throw badRequest(m.schema_error_own_tables_only({ type: fieldType(own.type).label() }))
  }

  async function appendTo(actor: Actor, model: TableModel, input: StartInput, context: ImportContext) {
    const unlinked = input.columns.find(({ fieldId = '', missing }) => {
      const field = model.field(fieldId)
      return missing === 'create' && field && !linkOf(field)
    })
    if (unlinked) throw badRequest(m.imports_error_create_without_link())
    if (isForeign(model)) return appendToConnected(actor, model, input, context)
    const { columns, update, preview } = input
    const keys = new Set(update?.keys)
    const filled: ImportColumn[] = []
    for (const given of columns) {
      const { fieldId = '', link } = given
      const field = model.field(fieldId)
      if (!field) throw notFound('Field', fieldId)
      if (link && !linkOf(field)) throw badRequest(m.imports_error_link_other_table({ field: field.title }))
      if (keys.has(field.id)) requireKey(field)
      if (keys.has(field.id) && field.isPrimaryKey) {
        const column = toColumn(given, field, false, context)
        filled.push({ ...column, column: RECORD_ID_COLUMN, required: false, isRecordId: true })
        continue
      }
      const isLink = linkOf(field) !== null
      // Links are allowed even if hidden, as the other end of a table's link to itself.
      if (!isLink && (field.isSystem || field.isPrimaryKey)) throw cannotFill(field.title)
      if (!isLink) requireFillable(field.type, field.title)
      const column = toColumn(given, field, false, context)
      filled.push(isLink ? await toLinkColumn(actor, model, column, { given, context }) : column)
    }
    const addsRecords = update?.mode !== 'update'
    const [missing] = addsRecords ? requiredFields(model, filled, context) : []
    if (missing) throw requiredWithoutColumn(missing)
    const constants = defaultsOf(model, filled, context)
    const { id: tableId } = model.table
    const target = { kind: 'append' as const, tableId, constants, update, isPreview: preview }
    return { columns: filled, target }
  }

  /**
   * Checks that names in a link column may create the records that they name.
   * @returns the defaults of the new records
   * @throws PERMISSION_DENIED; BAD_REQUEST if a record of the linked table needs more than its name
   */
  async function prepareCreation(
    actor: Actor,
    relatedTableId: string,
    context: ImportContext,
  ): Promise<NonNullable<ImportColumn['creates']>> {
    const related = await schema.load(relatedTableId)
    const { table, displayField } = related
    await access.authorize(actor, 'record.create', table.baseId)
    if (isForeign(related)) await requireConnectedTable(schema, related)
    const named = [{ fieldId: displayField.id }]
    const [missing] = isForeign(related)
      ? requiredFieldsOfConnected(related, named, context)
      : requiredFields(related, named, context)
    if (missing)
      throw badRequest(m.imports_error_create_required({ table: table.title, field: missing.title }))
    if (displayField.readOnlyReason !== null || !isFilledByImport(displayField))
      throw badRequest(m.imports_error_create_read_only({ table: table.title, field: displayField.title }))
    return { constants: defaultsOf(related, named, context) }
  }

  /** As `appendTo`, for a table of a connected database. */
  async function appendToConnected(
    actor: Actor,
    model: TableModel,
    { columns, update, preview }: StartInput,
    context: ImportContext,
  ) {
    const { dialect } = await schema.engineOf(model.table)
    const filled: ImportColumn[] = []
    for (const given of columns) {
      const { fieldId = '', index } = given
      const field = model.field(fieldId)
      if (!field) throw notFound('Field', fieldId)
      const isKey = update?.keys.includes(field.id) ?? false
      if (isKey) requireKey(field)
      if (!isFilledByImport(field) && !(isKey && field.isPrimaryKey)) throw cannotFill(field.title)
      const column = { ...toColumn(given, field, false, context), column: `sheaf_column_${index}` }
      const link = linkOf(field)
      if (link) {
        toNamedRecords(await records.openLink(model, field.id), context.members)
        // The key that holds the link tells whether a record needs it.
        const required = link.holdsKey && model.field(link.keyFieldId ?? '')?.required === true
        const creates =
          given.missing === 'create' ? await prepareCreation(actor, link.relatedTableId, context) : undefined
        filled.push({ ...column, type: 'LongText', options: {}, required, fallback: null, creates })
        continue
      }
      const { keepsToTypes } = dialect.foreign
      const connected = { databaseType: field.databaseType ?? '', keepsToTypes }
      filled.push({ ...column, connected, required: column.required && isFilledByImport(field) })
    }
    const [missing] = update?.mode === 'update' ? [] : requiredFieldsOfConnected(model, filled, context)
    if (missing) throw requiredWithoutColumn(missing)
    const { id: tableId } = model.table
    return { columns: filled, target: { kind: 'connected' as const, tableId, update, isPreview: preview } }
  }

  /** @throws BAD_REQUEST for a broken link, or if its records cannot be found by name, unless cells have their rows */
  async function toLinkColumn(
    actor: Actor,
    model: TableModel,
    column: ImportColumn,
    { given, context }: { given: StartInput['columns'][number]; context: ImportContext },
  ): Promise<ImportColumn> {
    const open = await records.openLink(model, column.fieldId)
    const link = toImportLink(open, context.members, context.made.timeZone)
    if (!given.link) requireStoredNames(link.related)
    // A row of the file that was not imported is no name.
    const creates =
      given.missing === 'create' && !given.link
        ? await prepareCreation(actor, link.related.tableId, context)
        : undefined
    // Only the child needs its link: the other side has no key.
    const required = column.required && link.storedIn.at === 'own'
    return { ...column, column: linkColumnName(column.index), required, fallback: null, link, creates }
  }

  /**
   * Receives a file and starts its import; its columns fill the fields of the same titles.
   * @returns its job, with `nested` followed by those of the lists in its records and of their links
   * @throws as `start`; BAD_REQUEST if no column has the title of a field, a key has no column, or lists cannot be linked
   */
  async function importFile(
    actor: Actor,
    request: FileImport,
    name: string,
    body: () => AsyncIterable<Uint8Array>,
  ): Promise<Job[]> {
    const model = await schema.load(request.tableId)
    await access.authorize(actor, 'import.append', model.table.baseId)
    const { uploadId } = await uploads.receive(requireUser(actor).id, name, body())
    try {
      return await startFromFile(actor, model, { uploadId, fileName: name }, request)
    } catch (error) {
      await uploads.discard(uploadId)
      throw error
    }
  }

  async function startFromFile(
    actor: Actor,
    model: TableModel,
    file: { uploadId: string; fileName: string },
    {
      tableId,
      chosen,
      table: name,
      nested,
      monthFirst,
      yearFirst,
      buddhistYears,
      update,
      preview,
      missing,
      timeZone,
    }: FileImport,
  ): Promise<Job[]> {
    const { uploadId } = file
    const { analysis, position, tables } = await tableOfFile(actor, uploadId, name, {
      // Another table of the sheet would be left out without a word.
      range: null,
      // Objects in the file fill JSON fields as a whole.
      ...(model.fields.some(({ type }) => fieldType(type).storage === 'json') && { flatten: false }),
      ...chosen,
    })
    if (preview && !update && !nested && missing !== 'create')
      throw badRequest(m.imports_error_preview_without_update())
    if (isForeign(model)) await requireConnectedTable(schema, model)
    const byTitle = new Map(model.fields.map((field) => [field.title.trim().toLowerCase(), field]))
    const fieldOf = (title: string) => model.field(title.trim()) ?? byTitle.get(title.trim().toLowerCase())
    const keys = update?.keys.map((key) => {
      const field = fieldOf(key)
      if (!field) throw notFound('Field', key.trim().slice(0, 64))
      return field.id
    })
    const lists = nested
      ? await nestedTables.propose(actor, model, { analysis, position, tables, fileName: file.fileName })
      : null
    const taken = new Set<string>()
    const columns = analysis.fields.flatMap((detected, index) => {
      if (lists?.linkedColumns.has(index)) return []
      const field = fieldOf(detected.title)
      const isFillable =
        field &&
        (keys?.includes(field.id) ||
          isFilledByImport(field) ||
          // A broken link is refused, not left out.
          (linkOf(field) !== null && !field.isSystem && field.readOnlyReason === null))
      if (!isFillable || taken.has(field.id)) return []
      taken.add(field.id)
      const { decimal, isBuddhist, monthLanguage, isPast } = detected
      const column = {
        index,
        fieldId: field.id,
        decimal,
        dateFormat: dateFormatOf(detected, field, monthFirst),
        isBuddhist: buddhistYears ?? isBuddhist,
        yearFirst: isYearFirst(detected, field, { yearFirst, monthFirst }),
        monthLanguage,
        isPast,
      }
      return [linkOf(field) ? { ...column, missing } : column]
    })
    if (columns.length === 0) throw badRequest(m.imports_error_no_column())
    const input = startInput.safeParse({
      baseId: model.table.baseId,
      tableId,
      uploadId,
      format: analysis.format,
      width: analysis.fields.length,
      columns,
      update: update && { ...update, keys },
      preview,
      timeZone,
    })
    if (!input.success) throw badRequest(input.error.issues[0]?.message ?? '')
    const { baseId } = model.table
    const others = lists?.inputs({ baseId, uploadId, timeZone, preview }) ?? []
    const started = await startAll(actor, [input.data, ...others])
    return Promise.all(started.map(({ jobId }) => jobs.get(actor, jobId)))
  }

  /**
   * A table of an upload, and all of its tables.
   * @param name of the sheet or list; default: the first one that is not hidden
   * @throws BAD_REQUEST for a file that cannot be read, and if it has no such table
   */
  async function tableOfFile(
    actor: Actor,
    uploadId: string,
    name: string | undefined,
    chosen: ChosenFormat,
  ): Promise<{ analysis: Analysis; position: number; tables: TableAnalysis[] }> {
    const { signal } = new AbortController()
    for await (const message of await analyse(actor, uploadId, { chosen }, signal)) {
      if (message.type === 'progress') continue
      if (message.type === 'failed') throw badRequest(message.message)
      const named = (table: TableAnalysis) => table.name.toLowerCase() === name?.trim().toLowerCase()
      const tables = message.tables.filter(({ analysis, problem }) => analysis !== null || problem !== null)
      const found =
        name === undefined ? (tables.find(({ isHidden }) => !isHidden) ?? tables[0]) : tables.find(named)
      if (found?.problem) throw badRequest(found.problem)
      if (found?.analysis) {
        const problem = unclearEncoding(found.analysis.encodings ?? [])
        if (problem) throw badRequest(problem)
        return { analysis: found.analysis, position: message.tables.indexOf(found), tables: message.tables }
      }
      if (name === undefined) throw badRequest(m.imports_error_empty_file())
      // Text files and lists of records have no names for their one table.
      if (tables.every((table) => table.name === ''))
        throw badRequest(m.imports_error_unnamed_table({ name }))
      const names = tables.map((table) => `“${table.name}”`).slice(0, MAX_NAMED)
      throw badRequest(m.imports_error_no_such_table({ name, names: names.join(', ') }))
    }
    throw badRequest(m.imports_error_analysis_failed())
  }

  /** As `analyse` of the service. */
  async function analyse(
    actor: Actor,
    uploadId: string,
    { readAll, ...input }: AnalysisInput,
    signal: AbortSignal,
  ): Promise<AsyncGenerator<AnalysisMessage>> {
    const { path, size } = await uploads.get(requireUser(actor).id, uploadId)
    const request = { ...input, path, readAll: readAll ?? size <= READ_ALL_BYTES }
    return runAnalysis(request, { signal, log: kernel.log })
  }

  /**
   * What an import into a table has to know before it is set up.
   *
   * @throws TABLE_NOT_FOUND; PERMISSION_DENIED below editor; DATABASE_UNREACHABLE
   */
  async function target(actor: Actor, tableId: string): Promise<ImportTargetFacts> {
    const model = await schema.load(tableId)
    await access.authorize(actor, 'import.append', model.table.baseId)
    if (!isForeign(model)) return { refusal: null, keepsToTypes: false }
    const { dialect } = await schema.engineOf(model.table)
    return { refusal: await refusalOf(schema, model), keepsToTypes: dialect.foreign.keepsToTypes }
  }

  /** @throws JOB_NOT_FOUND, also for other people's jobs */
  async function reportOf(actor: Actor, jobId: string): Promise<{ path: string; job: Job }> {
    const user = requireUser(actor)
    const job = await kernel.jobs.find(jobId)
    if (job?.userId !== user.id || !hasReport(job)) throw notFound('Job', jobId.slice(0, 64))
    return { path: reportPath(job.id), job }
  }

  const matchTables = createTableMatcher({ kernel, auth, schema })
  const nestedTables = createNestedTables({ schema })
  const upload = (actor: Actor, uploadId: string): Promise<Upload & { path: string }> =>
    uploads.get(requireUser(actor).id, uploadId)

  return {
    start,
    startAll,
    target,
    importFile,
    newTables: createNewTables({ schema, upload, analyse, startAll, matchTables, jobs }),
    missingNames: createMissingNames({ auth, schema, records }),
    matchTables,
    jobs,
    /** Jobs of a base, newest first. @throws BASE_NOT_FOUND */
    async jobsOf(actor: Actor, baseId: string, kind?: string): Promise<Job[]> {
      const base = await bases.require(baseId)
      if (actor.kind === 'share') throw forbidden(m.bases_error_members_only())
      return jobs.ofBase(actor, base.id, kind)
    },

    /** Stores an uploaded file until its import. @throws PAYLOAD_TOO_LARGE */
    receive: (actor: Actor, name: string, body: AsyncIterable<Uint8Array>): Promise<Upload> =>
      uploads.receive(requireUser(actor).id, name, body),

    /** Begins an upload that arrives in parts. @throws as `Uploads.begin` */
    beginUpload: (actor: Actor, name: string, size: number): Promise<Upload> =>
      uploads.begin(requireUser(actor).id, name, size),

    /** Appends a part to an upload. @throws as `Uploads.append` */
    appendUpload: (
      actor: Actor,
      uploadId: string,
      part: { offset: number; body: AsyncIterable<Uint8Array> },
    ) => uploads.append(requireUser(actor).id, uploadId, part),

    /** How much of an upload has arrived. @throws NOT_FOUND */
    receivedUpload: (actor: Actor, uploadId: string) => uploads.received(requireUser(actor).id, uploadId),

    /**
     * Downloads a file and stores it like an upload.
     * @throws as `HttpClient.get`; BAD_REQUEST for a file that cannot be imported
     */
    async fetchUrl(actor: Actor, url: string): Promise<Upload> {
      const user = requireUser(actor)
      const limits = { maxBytes: kernel.config.importMaxBytes, timeoutMs: FETCH_TIMEOUT_MS }
      const answer = await http.get(url, limits)
      const upload = await uploads.receive(user.id, nameOf(answer.url, answer.headers), answer.body)
      try {
        const { path } = await uploads.get(user.id, upload.uploadId)
        await requireFetchedFile(path, answer.url)
      } catch (error) {
        await uploads.discard(upload.uploadId)
        throw error
      }
      return upload
    },

    /** Keeps an upload while a job of another module reads it, and deletes it afterwards. */
    held: { hold: uploads.hold, release: uploads.release, discard: uploads.discard },

    /** The actor's own upload, for the preview. @throws NOT_FOUND */
    upload,

    /**
     * Finds the tables of the actor's own upload, with types and sample rows, in a thread.
     * @param signal ends the work
     * @throws NOT_FOUND
     */
    analyse,

    /** The CSV report of refused rows and cells. @throws JOB_NOT_FOUND, also for other people's jobs */
    async report(actor: Actor, jobId: string): Promise<{ path: string; fileName: string }> {
      const { path, job } = await reportOf(actor, jobId)
      if (!(await Bun.file(path).exists())) throw notFound('Job', jobId)
      return { path, fileName: reportName(job) }
    },

    /** Lines of that report; none if everything was imported. @throws JOB_NOT_FOUND, also for other people's jobs */
    async reportLines(actor: Actor, jobId: string, page: { limit: number; offset: number }) {
      const { path } = await reportOf(actor, jobId)
      return (await Bun.file(path).exists()) ? readReport(path, page) : { lines: [], isLast: true }
    },

    clean,
  }
}

/** An import that is checked, and the id of its job. */
interface PreparedImport {
  id: string
  job: ImportInput
}

/**
 * The imports, with those first whose rows others belong to, or whose tables others link to by name; in the given order within a
 * circle of names.
 */
function inOrderOfLinks(prepared: readonly PreparedImport[]): PreparedImport[] {
  const ordered = new Set<PreparedImport>()
  const visiting = new Set<PreparedImport>()
  function visit(each: PreparedImport): void {
    if (visiting.has(each)) return
    visiting.add(each)
    const named = each.job.columns.filter(isLinkColumn).filter(({ link }) => !link.rowsOf)
    const related = new Set(named.map(({ link }) => link.related.tableId))
    for (const parent of parentsOf(each, prepared)) visit(parent)
    for (const other of prepared) {
      const { target } = other.job
      const isBelow = parentsOf(other, prepared).has(each)
      if (target.kind === 'append' && related.has(target.tableId) && !isBelow) visit(other)
    }
    ordered.add(each)
  }
  for (const each of prepared) visit(each)
  // A circle of names may have put them before those.
  return [...new Set([...ordered].flatMap((each) => [...[...parentsOf(each, prepared)].reverse(), each]))]
}

/** The imports whose rows those of an import belong to, from the nearest one up. */
function parentsOf(each: PreparedImport, prepared: readonly PreparedImport[]): Set<PreparedImport> {
  const parents = new Set<PreparedImport>()
  const parentOf = ({ job }: PreparedImport) =>
    prepared.find(({ id }) => job.columns.some((column) => parentJobOf(column) === id))
  for (let next = parentOf(each); next && !parents.has(next); next = parentOf(next)) parents.add(next)
  return parents
}

/** An import of a file into the fields that its columns name. */
export interface FileImport {
  tableId: string
  /** Format options that are not detected. */
  chosen: ChosenFormat
  /** Name of a sheet or list; undefined: the first one. */
  table: string | undefined
  /** Whether lists of objects in its records are imported as well, linked to them. */
  nested: boolean
  /** Order of day and month in columns that do not tell it; undefined: that of the field. */
  monthFirst: boolean | undefined
  /** Whether `24/3/13` is 13 March 2024 in columns that can be read so; undefined: as detected, or as the format of the field. */
  yearFirst: boolean | undefined
  /** Whether years of days from 2400 to 2700 are Buddhist; undefined: as detected. */
  buddhistYears: boolean | undefined
  /** As `StartInput.update`, with titles or ids of fields. */
  update: StartInput['update']
  preview: boolean
  /** For all link columns, as in `StartInput.columns`. */
  missing: StartInput['columns'][number]['missing']
  timeZone: string | undefined
}

/** The notation of the dates in a column; undefined if that of the field decides. */
function dateFormatOf(
  { type, options, confidence, orders }: DetectedField,
  field: Field,
  monthFirst: boolean | undefined,
): DateFormat | undefined {
  if (fieldType(type).filters !== 'date') return undefined
  const found = options.format as DateFormat
  // Years that are first have four digits by then, which every format takes.
  const shortFormat = orders?.includes('day') ? 'DD/MM/YYYY' : 'MM/DD/YYYY'
  const format = orders && found.startsWith('YYYY') ? shortFormat : found
  if (!confidence.ambiguous) return format
  if (monthFirst === undefined) return orders && !tellsOrder(field) ? format : undefined
  return format.startsWith(monthFirst ? 'MM' : 'DD') ? format : (withOtherOrder(format) ?? format)
}

/** Whether the first of the short parts of days is the year. Where the column does not tell it, the choice or the field does. */
function isYearFirst(
  { yearFirst, orders }: DetectedField,
  field: Field,
  chosen: Pick<FileImport, 'yearFirst' | 'monthFirst'>,
): boolean {
  if (orders === undefined) return yearFirst === true
  if (chosen.yearFirst !== undefined) return chosen.yearFirst
  return yearFirst === true && chosen.monthFirst === undefined && !tellsOrder(field)
}

/** True for a field that shows the day or the month first. */
const tellsOrder = ({ options }: Field): boolean => /^(?:DD|MM)\W/.test(String(options.format ?? ''))

/** @throws BAD_REQUEST naming the kind of a file that cannot be imported; for a web page, it says what to do instead */
async function requireFetchedFile(path: string, { host }: URL): Promise<void> {
  try {
    await kindOfFile(path)
  } catch (error) {
    if (!(error instanceof FileError)) throw error
    const isPage = error instanceof ForeignFileError && error.isPage
    throw badRequest(isPage ? m.imports_error_url_page({ host }) : error.message)
  }
}

/** @throws BAD_REQUEST naming the kind of a file that cannot be imported, or that is not of the expected kind */
async function requireFileKind(path: string, expected: FileKind): Promise<void> {
  try {
    await requireKind(path, expected)
  } catch (error) {
    if (error instanceof FileError) throw badRequest(error.message)
    throw error
  }
}

/**
 * Lets the reader of a JSON file keep the cells of JSON fields as they are written, and that of a workbook give plain numbers to
 * number fields, also in columns with several currencies. Currency fields get the currency of each cell, and refuse others; fields of web
 * addresses get those of links.
 */
function forColumns(format: ImportFormat, columns: readonly ImportColumn[]): ImportFormat {
  if (format.kind === 'excel') {
    const plain = new Set(columns.filter(takesPlainNumbers).map(({ index }) => index))
    const checked = columns.filter(hasCurrency).map(({ index }) => index)
    const amounts = new Set([...(format.amounts ?? []).filter((at) => !plain.has(at)), ...checked])
    const urls = columns.filter(holdsAddresses).map(({ index }) => index)
    const addresses = new Set([...(format.addresses ?? []), ...urls])
    return { ...format, amounts: [...amounts], addresses: [...addresses] }
  }
  if (format.kind !== 'json') return format
  const written = columns.filter(({ type }) => fieldType(type).storage === 'json').map(({ index }) => index)
  return { ...format, written }
}

/** @throws BAD_REQUEST for a field whose values do not identify a record */
function requireKey(field: Field): void {
  if (!findsRecords(field)) throw badRequest(m.imports_error_not_a_key({ field: field.title }))
}

const cannotFill = (title: string) => badRequest(m.imports_error_field_read_only({ field: title }))

function requireFillable(type: FieldTypeName, title: string): void {
  if (!isImportable(type)) throw cannotFill(title)
}

/** The fields of a connected table that a new record needs and nothing fills. */
function requiredFieldsOfConnected(
  model: TableModel,
  filled: readonly Pick<ImportColumn, 'fieldId'>[],
  context: ImportContext,
): Field[] {
  const given = new Set(filled.map(({ fieldId }) => fieldId))
  for (const { fieldId } of filled) {
    const field = model.field(fieldId)
    const link = field && linkOf(field)
    if (link?.holdsKey && link.keyFieldId) given.add(link.keyFieldId)
  }
  return model.fields.filter(
    (field) =>
      field.required &&
      isFilledByImport(field) &&
      !given.has(field.id) &&
      fallbackOf(field, context) === null,
  )
}

/** The fields and links of a base's own table that a new record needs and nothing fills. */
const requiredFields = (
  { fields }: TableModel,
  filled: readonly Pick<ImportColumn, 'fieldId'>[],
  context: ImportContext,
): Field[] =>
  fields.filter(
    (field) =>
      field.required &&
      !filled.some(({ fieldId }) => fieldId === field.id) &&
      (linkOf(field) ? linkOf(field)?.holdsKey : hasDefault(field) && fallbackOf(field, context) === null),
  )

/** The defaults of the fields without a column. */
function defaultsOf(
  { fields }: TableModel,
  filled: readonly Pick<ImportColumn, 'fieldId'>[],
  context: ImportContext,
): Constant[] {
  return fields.flatMap((field) => {
    if (!hasDefault(field) || filled.some(({ fieldId }) => fieldId === field.id)) return []
    const value = fallbackOf(field, context)
    return value === null ? [] : [{ column: field.columnName, value }]
  })
}

const hasDefault = ({ isSystem, isPrimaryKey, type }: Field): boolean =>
  !isSystem && !isPrimaryKey && isImportable(type)

const requiredWithoutColumn = ({ id, title }: Field): AppError =>
  new AppError('REQUIRED_FIELD_MISSING', m.imports_error_required_field({ field: title }), {
    fieldId: id,
    field: title,
  })

/** The importing user, the time of the import, and people that names may refer to. */
interface ImportContext {
  userId: string
  members: Person[]
  made: CreationMoment
}

function fallbackOf(field: Field, { userId, members, made }: ImportContext): CellValue {
  if (holdsPeople(field))
    return defaultPeople(field.defaultValue, userId, new Set(members.map(({ id }) => id)))
  return startValue(field, made)
}

function toColumn(
  { index, decimal, dateFormat, isBuddhist, yearFirst, monthLanguage, isPast }: StartInput['columns'][number],
  field: Field | undefined,
  grows: boolean,
  context: ImportContext,
): ImportColumn {
  if (!field) throw new Error('A column has no field')
  const { id: fieldId, title, columnName: column, type, required } = field
  const options = withPeople(type, field.options, context.members)
  return {
    index,
    decimal,
    dateFormat: fieldType(type).filters === 'date' ? dateFormat : undefined,
    isBuddhist,
    yearFirst,
    monthLanguage,
    isPast,
    fieldId,
    title,
    column,
    type,
    options,
    required,
    fallback: fallbackOf(field, context),
    grows,
  }
}

/** The file name in the response, else the last part of the address. */
function nameOf(url: URL, headers: Headers): string {
  const given = /filename="?([^";]+)"?/i.exec(headers.get('content-disposition') ?? '')?.[1]
  const last = url.pathname.split('/').findLast((part) => part !== '')
  return given ?? decodeUri(last ?? url.hostname)
}

const hasReport = ({ kind }: Job): boolean => kind === IMPORT_JOB || kind === LINK_JOB

function reportName(job: Job): string {
  const result = job.result as { fileName?: string } | null
  const name = (result?.fileName ?? job.subject ?? 'import')
    .replace(/\.[^.]*$/, '')
    .replace(/[^\p{L}\p{N} ._-]/gu, '_')
  return `${name} - not imported.csv`
}

/** Jobs that a person may see: their own, and those of their bases, some of these without their results. */
function createJobsAccess({ jobs }: Pick<Kernel, 'jobs'>, access: AuthService['access']) {
  const seesResult = (actor: Actor, { kind, userId }: Job): boolean =>
    !jobs.hasPrivateResult(kind) || userId === VISITOR || (actor.kind === 'user' && actor.id === userId)
  const seenBy = (actor: Actor, job: Job): Job => (seesResult(actor, job) ? job : { ...job, result: null })

  /** @throws JOB_NOT_FOUND, also for jobs that the actor may not see */
  async function get(actor: Actor, jobId: string): Promise<Job> {
    return seenBy(actor, await find(actor, jobId))
  }

  async function find(actor: Actor, jobId: string): Promise<Job> {
    const job = await jobs.find(jobId)
    if (!job) throw notFound('Job', jobId.slice(0, 64))
    if (actor.kind === 'user' && job.userId === actor.id) return job
    // Started by a visitor: the random id is the key.
    if (job.userId === VISITOR) return job
    // A member's job may reveal people and files that the link does not show.
    if (actor.kind === 'share') throw notFound('Job', job.id)
    if (job.baseId === null || (await access.baseRole(actor, job.baseId)) === null)
      throw notFound('Job', job.id)
    await access.authorize(actor, 'base.read', job.baseId)
    return job
  }

  return {
    get,
    /** Whether the actor may follow a job with its result. */
    async maySeeResult(actor: Actor, jobId: string): Promise<boolean> {
      try {
        return seesResult(actor, await find(actor, jobId))
      } catch (error) {
        if (error instanceof AppError) return false
        throw error
      }
    },
    /**
     * Cancels the actor's own job, or any job of a base that they may change.
     * @param withGroup cancels the jobs that were started with it as well
     */
    async cancel(actor: Actor, jobId: string, withGroup = false): Promise<void> {
      const job = await get(actor, jobId)
      const isOwn = actor.kind === 'user' && job.userId === actor.id
      if (!isOwn) await access.authorize(actor, 'import.create', job.baseId ?? '')
      const others = withGroup && job.group !== null ? await jobs.inGroup(job.group) : []
      // Those that wait come first, so that none begins because another has ended.
      for (const { id, userId, baseId } of others)
        if (id !== job.id && userId === job.userId && baseId === job.baseId) await jobs.cancel(id)
      await jobs.cancel(job.id)
    },
    /**
     * The actor's unfinished jobs, to be shown again after a reload.
     * @param pageAgeMs leaves out newer jobs, which the page started itself
     */
    async unfinished(actor: Actor, pageAgeMs = 0): Promise<Job[]> {
      const openedAt = new Date(nowMs() - pageAgeMs).toISOString()
      const own = await jobs.list({ userId: requireUser(actor).id, unfinished: true })
      return own.filter(({ createdAt }) => createdAt <= openedAt)
    },
    /** Jobs of a base, newest first. */
    async ofBase(actor: Actor, baseId: string, kind?: string): Promise<Job[]> {
      await access.authorize(actor, 'base.read', baseId)
      return (await jobs.list({ baseId, kind })).map((job) => seenBy(actor, job))
    },
  }
}
