import { createHash } from 'node:crypto'
import { nowIso } from '../../src/clock.ts'
import type { UserActor } from '../../src/core/actor.ts'
import { badRequest } from '../../src/core/errors.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import { linkOf } from '../../src/core/fields/link-options.ts'
import { idsIn, joinIds, ME } from '../../src/core/fields/people.ts'
import { holdsFiles, isRecordId, isSecret, showsPeople } from '../../src/core/fields/traits.ts'
import { mentionsIn } from '../../src/core/mentions.ts'
import type { Person } from '../../src/core/model.ts'
import { fileNames, PART_BYTES } from '../../src/db/sheaf-files/index.ts'
import type { JobContext, JobKind } from '../../src/jobs.ts'
import type { Kernel } from '../../src/kernel.ts'
import { m } from '../../src/messages.gen.ts'
import { type Remote, withThread } from '../../src/thread-calls.ts'
import { VERSION } from '../../src/version.ts'
import type { AuthService } from '../auth/index.ts'
import type { BasesService } from '../bases/index.ts'
import type { CommentsService } from '../comments/index.ts'
import type { RecordsService } from '../records/index.ts'
import type { SchemaRows, SchemaService } from '../schema/index.ts'
import type { ViewsService } from '../views/index.ts'
import { fieldToFile, tableToFile, viewFieldToFile, viewToFile } from './definitions.ts'
import type { HistoryPlan } from './history.ts'
import type { RecordColumn, RecordTablePlan, WriteMain, WriteThread } from './write-worker.ts'

export const FILE_EXPORT_JOB = 'base-file-export'

/** What a file has besides tables, views and records. */
export interface FileOptions {
  withAttachments: boolean
  withComments: boolean
  withHistory: boolean
}

export interface FileExportInput {
  actor: UserActor
  baseId: string
  /** Name of the file. */
  title: string
  options: FileOptions
}

interface Deps {
  kernel: Pick<Kernel, 'sources'>
  auth: Pick<AuthService, 'people'>
  bases: Pick<BasesService, 'require' | 'enter' | 'sourcesOf'>
  schema: Pick<SchemaService, 'copiedRows'>
  views: Pick<ViewsService, 'rowsForCopy'>
  records: Pick<RecordsService, 'attachments' | 'exports'>
  comments: Pick<CommentsService, 'rows'>
}

type Thread = Remote<WriteThread>
type FieldRow = SchemaRows['fields'][number]
type TableRow = SchemaRows['tables'][number]

const COMMENTS_PER_PAGE = 500

export type WriteFile = ReturnType<typeof createWriteFile>

/** The function that writes a base into one file. Stored values are those of one moment. */
export function createWriteFile(deps: Deps) {
  const { kernel, bases, schema, views, records } = deps

  /** @param path where no file is */
  return async function write(
    path: string,
    input: Pick<FileExportInput, 'actor' | 'baseId' | 'options'>,
    context: Pick<JobContext, 'signal' | 'report'>,
  ): Promise<void> {
    const { baseId, actor, options } = input
    const base = await bases.require(baseId)
    const { tables, fields } = await readSchema(baseId)
    const rows = await views.rowsForCopy(
      tables.map(({ id }) => id),
      true,
    )
    const people = createPeople(deps.auth)
    const plans = planTables(tables, fields)
    const pages = plans.map((plan) => computedPages(actor, plan))
    const main: WriteMain = {
      computed: async (tableAt) => {
        const next = await pages[tableAt]?.next()
        return next && !next.done ? next.value : null
      },
      people: people.namesOf,
      async progress(done) {
        context.signal.throwIfAborted()
        context.report({ done, total: null, unit: 'rows' })
      },
    }
    await withThread<WriteThread, void>('modules/base-files/write-worker.ts', main, async (thread) => {
      try {
        await thread.create(path)
        const { location } = await kernel.sources.engine(baseId)
        const lastIds = await thread.writeRecords(location, plans.map(toThread))
        await thread.insert(
          'sheaf_tables',
          plans.map(({ table, fileTable }, at) => tableToFile(table, fileTable, lastIds[at] ?? null)),
        )
        for (const { columns } of plans) {
          const definitions = await Promise.all(
            columns.map(async ({ field, name, isDerived }) =>
              fieldToFile(await people.inDefault(field), { fileColumn: name, isDerived }),
            ),
          )
          await thread.insert('sheaf_fields', definitions)
        }
        const owners = rows.views.map(({ ownedBy, createdBy }) => ownedBy ?? createdBy)
        const names = new Map(await people.namesOf(owners.filter((id) => id !== null)))
        await thread.insert(
          'sheaf_views',
          rows.views.map((view, at) => viewToFile(view, names.get(owners[at] ?? '') ?? null)),
        )
        const known = new Set(fields.map(({ id }) => id))
        await thread.insert(
          'sheaf_view_fields',
          rows.lines.filter(({ fieldId }) => known.has(fieldId)).map(viewFieldToFile),
        )
        await thread.writePlaces(
          location,
          rows.views.map(({ id }) => id),
        )
        const pictures = rows.views.flatMap(({ options }) => pathsIn(options))
        if (options.withHistory) await thread.writeHistory(location, historyPlan({ tables, fields }))
        if (options.withAttachments) {
          const named = new Set([...(await thread.storedFiles()), ...pictures])
          await writeAttachments(thread, baseId, [...named], context)
        }
        if (options.withComments) await writeComments(thread, baseId, tables, people, context)
        await thread.insert('sheaf_people', people.rows())
        const facts = {
          sheaf_version: VERSION,
          title: base.title,
          description: base.description,
          meta: JSON.stringify(base.meta),
          exported_at: nowIso(),
          contents: JSON.stringify(options),
        }
        await thread.insert('sheaf_base', Object.entries(facts))
        context.signal.throwIfAborted()
        await thread.finish()
      } finally {
        await thread.close()
        for (const each of pages) await each.return(undefined)
      }
    })
  }

  /** The tables in the base's own database, without links to tables that are not in the file. */
  async function readSchema(baseId: string): Promise<SchemaRows> {
    const all = await schema.copiedRows.rowsOf(baseId, [])
    const sources = (await bases.sourcesOf([baseId])).get(baseId) ?? []
    const own = new Set(sources.filter(({ isOwn }) => isOwn).map(({ id }) => id))
    const tables = all.tables.filter(({ sourceId }) => own.has(sourceId)).sort((a, b) => a.order - b.order)
    const ids = new Set(tables.map(({ id }) => id))
    const inFile = all.fields.filter((field) => {
      const link = linkOf(field)
      return ids.has(field.tableId) && (link === null || ids.has(link.relatedTableId))
    })
    const fieldIds = new Set(inFile.map(({ id }) => id))
    const fields = inFile.map((field) => {
      const link = linkOf(field)
      const isOneSided = link?.inverseFieldId && !fieldIds.has(link.inverseFieldId)
      return isOneSided ? { ...field, options: { ...field.options, inverseFieldId: null } } : field
    })
    return { tables, fields }
  }

  /** Computed values of a table by ascending record id; none if it has no computed field. */
  async function* computedPages(
    actor: UserActor,
    { table, columns }: TablePlan,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const key = columns.find(({ field }) => field.isPrimaryKey)?.field
    const derived = columns.filter(({ isDerived }) => isDerived)
    if (!key || derived.length === 0) return
    const { pages } = await records.exports.contentOf(actor, {
      query: { tableId: table.id, sorts: [{ fieldId: key.id, direction: 'asc' }], timeZone: 'UTC' },
      fieldIds: [key.id, ...derived.map(({ field }) => field.id)],
    })
    for await (const { pieces } of pages({ name: 'ndjson' })) for (const { bytes } of pieces) yield bytes
  }

  async function writeAttachments(
    thread: Thread,
    baseId: string,
    paths: readonly string[],
    { signal }: Pick<JobContext, 'signal'>,
  ): Promise<void> {
    for (const [at, path] of paths.entries()) {
      signal.throwIfAborted()
      const found = await records.attachments.findIn(baseId, path)
      if (!found) continue
      const { title, mimetype, size } = found.row
      const name = `part of ${at}`
      const hash = createHash('sha256')
      let part = 0
      for (let from = 0; from < found.file.size; from += PART_BYTES) {
        const to = Math.min(found.file.size, from + PART_BYTES)
        const bytes = new Uint8Array(await new Response(found.file.read(from, to)).arrayBuffer())
        if (bytes.length !== to - from) throw badRequest(m.base_files_error_attachment({ file: title }))
        hash.update(bytes)
        await thread.addPart(name, part++, bytes)
      }
      const content = hash.digest('hex')
      await thread.renameContent(name, content)
      await thread.insert('sheaf_attachments', [[path, title, mimetype, size, content]])
    }
  }

  async function writeComments(
    thread: Thread,
    baseId: string,
    tables: readonly TableRow[],
    people: People,
    { signal }: Pick<JobContext, 'signal'>,
  ): Promise<void> {
    const inFile = new Set(tables.map(({ id }) => id))
    for (let after = ''; ; ) {
      signal.throwIfAborted()
      const page = await deps.comments.rows.page(baseId, after, COMMENTS_PER_PAGE)
      const kept = page.filter(({ tableId }) => inFile.has(tableId))
      const reactions = await deps.comments.rows.reactions(kept.map(({ id }) => id))
      const names = new Map(
        await people.namesOf([
          ...kept.flatMap(({ createdBy, resolvedBy, text }) => [
            createdBy,
            ...(resolvedBy === null ? [] : [resolvedBy]),
            ...mentionsIn(text),
          ]),
          ...reactions.map(({ userId }) => userId),
        ]),
      )
      await thread.insert(
        'sheaf_comments',
        kept.map((row) => [
          row.id,
          row.tableId,
          /^\d+$/.test(row.recordId) ? BigInt(row.recordId) : row.recordId,
          row.fieldId,
          row.parentId,
          row.text,
          row.authorName === null ? (names.get(row.createdBy) ?? null) : null,
          row.authorName,
          row.createdAt,
          row.updatedAt,
          row.resolvedBy === null ? null : (names.get(row.resolvedBy) ?? null),
          row.resolvedAt,
        ]),
      )
      await thread.insert(
        'sheaf_comment_reactions',
        reactions.flatMap((row) => {
          const author = names.get(row.userId)
          return author === undefined ? [] : [[row.commentId, author, row.emoji, row.createdAt]]
        }),
      )
      const last = page.at(-1)
      if (!last || page.length < COMMENTS_PER_PAGE) return
      after = last.id
    }
  }
}

/** The job that exports a base. */
export function createFileExportJob(
  { bases, records }: Pick<Deps, 'bases' | 'records'>,
  write: WriteFile,
): JobKind<FileExportInput> {
  return {
    async run(input, context) {
      const { actor, baseId, title } = input
      context.report({ done: 0, total: null, unit: 'rows' })
      return records.exports.keepWritten(actor, { name: title, type: 'sheaf' }, async (path) => {
        await write(path, input, context)
        // Rights may have been taken away since the file was asked for.
        await bases.enter(actor, 'base.export', baseId)
      })
    },
    hasPrivateResult: true,
    // The unfinished file is among the incoming ones, which are deleted at startup.
    recover: async () => null,
  }
}

/** A table with its columns in the file. */
interface TablePlan {
  table: TableRow
  fileTable: string
  columns: PlannedColumn[]
}

interface PlannedColumn {
  field: FieldRow
  /** Name in the file; null for fields without values. */
  name: string | null
  /** True for values that are computed and only for people to read. */
  isDerived: boolean
}

function planTables(tables: readonly TableRow[], fields: readonly FieldRow[]): TablePlan[] {
  const names = fileNames(tables.map(({ title }) => title))
  const byTable = Map.groupBy(fields, ({ tableId }) => tableId)
  return tables.map((table, at) => {
    // The record id first, then in the order of the table.
    const own = (byTable.get(table.id) ?? []).toSorted(
      (a, b) => Number(b.isPrimaryKey) - Number(a.isPrimaryKey) || a.order - b.order,
    )
    const shown = own.filter((field) => !isSecret(field) && fieldType(field.type).computed !== 'button')
    const columnNames = fileNames(shown.map(({ title }) => title))
    const columns = own.map((field): PlannedColumn => {
      const position = shown.indexOf(field)
      return {
        field,
        name: columnNames[position] ?? null,
        isDerived: position >= 0 && field.columnName === '',
      }
    })
    return { table, fileTable: names[at] ?? '', columns }
  })
}

const DECLARED: Record<string, RecordColumn['declaredType']> = {
  id: 'integer',
  integer: 'integer',
  boolean: 'integer',
  real: 'real',
}

const toThread = ({ table, fileTable, columns }: TablePlan): RecordTablePlan => ({
  tableName: table.tableName,
  fileTable,
  columns: columns.flatMap(({ field, name, isDerived }): RecordColumn[] => {
    if (name === null) return []
    const { storage } = fieldType(field.type)
    const holds = showsPeople(field) ? 'people' : holdsFiles(field) ? 'files' : undefined
    return [
      {
        name,
        title: field.title,
        from: isDerived ? null : field.columnName,
        declaredType: isDerived ? '' : isRecordId(field) ? 'integer' : (DECLARED[storage] ?? 'text'),
        ...(holds && { holds }),
      },
    ]
  }),
})

type People = ReturnType<typeof createPeople>

/** The people whom a file names: by e-mail address, or by id if the account is gone. */
function createPeople(auth: Pick<AuthService, 'people'>) {
  const known = new Map<string, Person>()

  async function namesOf(ids: readonly string[]): Promise<[string, string][]> {
    const unknown = [...new Set(ids)].filter((id) => !known.has(id))
    for (let from = 0; from < unknown.length; from += 500)
      for (const person of await auth.people(unknown.slice(from, from + 500))) known.set(person.id, person)
    return ids.map((id) => [id, known.get(id)?.email ?? id])
  }

  return {
    namesOf,
    /** The field with the people of its default value as the file names them. */
    async inDefault(field: FieldRow): Promise<FieldRow> {
      if (!showsPeople(field) || field.defaultValue === null) return field
      const ids = idsIn(field.defaultValue)
      const names = new Map(await namesOf(ids.filter((id) => id !== ME)))
      return { ...field, defaultValue: joinIds(ids.map((id) => names.get(id) ?? id)) }
    },
    rows: () => [...known.values()].map(({ id, email, displayName }) => [email, displayName, id]),
  }
}

/** What the history has of these tables. */
const historyPlan = ({ tables, fields }: SchemaRows): HistoryPlan => {
  const idsOf = (matches: (field: FieldRow) => boolean) => fields.filter(matches).map(({ id }) => id)
  return {
    tableIds: tables.map(({ id }) => id),
    people: idsOf(showsPeople),
    files: idsOf(holdsFiles),
    secrets: idsOf(isSecret),
  }
}

/** The paths of stored files anywhere in the options of a view. */
export const pathsIn = (options: object | null): string[] => [
  ...new Set(JSON.stringify(options ?? {}).match(/\bdownload\/[A-Za-z0-9_./-]{1,690}/g)),
]
