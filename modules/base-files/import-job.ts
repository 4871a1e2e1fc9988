import type { UserActor } from '../../src/core/actor.ts'
import { REACTIONS, splitComment } from '../../src/core/comments.ts'
import { AppError, badRequest } from '../../src/core/errors.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import { isExclusiveLink, linkOf } from '../../src/core/fields/link-options.ts'
import { idsIn, joinIds, ME } from '../../src/core/fields/people.ts'
import { isForeignKey, isRecordId, isSecret, showsPeople } from '../../src/core/fields/traits.ts'
import { createId } from '../../src/core/ids.ts'
import { parseJsonText } from '../../src/core/json-text.ts'
import { mentionOf, replaceMentions } from '../../src/core/mentions.ts'
import type { Person } from '../../src/core/model.ts'
import type { MetaStatement } from '../../src/db/meta.ts'
import { columnKindOf, type StoredTable } from '../../src/db/move/store.ts'
import type { FileValue } from '../../src/db/sheaf-files/index.ts'
import type { Engine, Statement } from '../../src/dialects/dialect.ts'
import type { JobContext, JobKind } from '../../src/jobs.ts'
import type { Kernel } from '../../src/kernel.ts'
import { m } from '../../src/messages.gen.ts'
import { isStorageFull } from '../../src/storage-full.ts'
import { type Remote, withThread } from '../../src/thread-calls.ts'
import type { AuthService } from '../auth/index.ts'
import type { BasesService } from '../bases/index.ts'
import type { CommentRow, CommentsService, ReactionRow } from '../comments/index.ts'
import type { ImportsService } from '../imports/index.ts'
import type { RecordsService } from '../records/index.ts'
import type { DefinedRows, SchemaService } from '../schema/index.ts'
import { rowsOfDefinedViews, type ViewDefinition, type ViewRows, type ViewsService } from '../views/index.ts'
import type { FillColumn, LeftOut } from './cell-reader.ts'
import {
  type FileField,
  type FileTable,
  fieldFromFile,
  tableFromFile,
  viewFieldFromFile,
  viewFromFile,
} from './definitions.ts'
import { pathsIn } from './export-job.ts'
import type { HistoryField, HistoryFill } from './history.ts'
import type { FillPlan, ReadMain, ReadThread } from './read-worker.ts'

export const FILE_IMPORT_JOB = 'base-file-import'

export interface FileImportInput {
  actor: UserActor
  /** An upload of the actor, or a path of this server's disk. */
  file: { uploadId: string } | { path: string }
  fileName: string
  newBaseId: string
  withHistory: boolean
}

/** The result of an import. */
export interface FileImported {
  id: string
  title: string
  tables: number
  rows: number
  attachments: number
  comments: number
  /** Entries of the history. */
  changes: number
  /** People whom the file names and who have no account here, at most 100. */
  unknownPeople: string[]
  /** Values that did not fit their fields, by field, at most 100. */
  leftOut: LeftOut[]
}

interface Deps {
  kernel: Pick<Kernel, 'sources' | 'events' | 'log'>
  auth: Pick<AuthService, 'peopleByEmail'>
  bases: Pick<BasesService, 'copies' | 'require'>
  schema: Pick<SchemaService, 'copiedRows' | 'definedRows'>
  views: Pick<ViewsService, 'insertForCopy'>
  records: Pick<RecordsService, 'attachments'>
  comments: Pick<CommentsService, 'rows'>
  imports: Pick<ImportsService, 'upload' | 'held'>
}

type Thread = Remote<ReadThread>
type FileRow = Record<string, FileValue>

/** Most rows that are read of each table of definitions. */
const MAX_ROWS = {
  sheaf_base: 100,
  sheaf_tables: 3_000,
  sheaf_fields: 100_000,
  sheaf_views: 100_000,
  sheaf_view_fields: 1_000_000,
  sheaf_people: 100_000,
  sheaf_attachments: 1_000_000,
  sheaf_comments: 1_000_000,
  sheaf_comment_reactions: 1_000_000,
} as const
const MAX_REPORTED = 100
/** Longest name of an author. */
const MAX_NAME = 200

/** First and longest pause before a base is removed again: 13 seconds in all. */
const REMOVAL_PAUSE_MS = 50
const MAX_REMOVAL_PAUSE_MS = 6_400

/** Opens a file as a new base, which becomes visible when it is complete. */
export function createFileImportJob(deps: Deps): JobKind<FileImportInput> {
  const { kernel, bases, schema, views, records, comments, imports } = deps

  async function read(
    thread: Thread,
    { actor, newBaseId: baseId, withHistory }: FileImportInput,
    { signal, report }: JobContext,
  ): Promise<FileImported> {
    const rowsOf = (table: keyof typeof MAX_ROWS) => thread.definitions(table, MAX_ROWS[table])
    const facts = new Map((await rowsOf('sheaf_base')).map(({ key, value }) => [key, value]))
    const title = await bases.copies.freeTitle(titleOf(facts.get('title')))
    const people = await matchPeople(actor, await rowsOf('sheaf_people'))
    const tables = (await rowsOf('sheaf_tables')).map(tableFromFile)
    const fields = (await rowsOf('sheaf_fields')).map(fieldFromFile)
    const viewDefinitions = (await rowsOf('sheaf_views')).map((row) =>
      viewFromFile(row, people.byName.get(String(row.owner)) ?? null),
    )
    const viewFields = (await rowsOf('sheaf_view_fields')).map(viewFieldFromFile)

    const { sourceId } = await bases.copies.beginEmpty(actor, {
      baseId,
      title,
      description: typeof facts.get('description') === 'string' ? String(facts.get('description')) : null,
      meta: baseMeta(facts.get('meta')),
    })
    const newViews = new Map(viewDefinitions.map(({ id }) => [id, createId('view')]))
    const defined = await schema.definedRows(
      { baseId, sourceId, known: newViews },
      tables.map(({ definition }) => definition),
      fields.map(({ definition }) => withLocalPeople(definition, people.byName)),
    )
    const viewRows = rowsOfDefinedViews(viewDefinitions, viewFields, {
      ids: defined.ids,
      models: defined.models,
      ownerId: actor.id,
    })
    const files = await readAttachments(thread, { actor, baseId }, await rowsOf('sheaf_attachments'), signal)
    const engine = await kernel.sources.engine(baseId)
    const filled = await engine.exclusively(async () => {
      const done = await thread.fill(engine.location, planFill(defined, tables, fields), people.byName, files)
      await thread.fillPlaces(engine.location, placesOf(viewDefinitions, defined))
      const history = withHistory
        ? await thread.fillHistory(
            engine.location,
            planHistory(defined, { tables, fields, views: viewDefinitions }),
            people.byName,
            files,
          )
        : { entries: 0, leftOut: [] }
      return { ...done, leftOut: [...done.leftOut, ...history.leftOut], changes: history.entries }
    })
    signal.throwIfAborted()
    await engine.writeScript(danglingLinks(engine, defined))
    const discussion = readComments(
      { rows: await rowsOf('sheaf_comments'), reactions: await rowsOf('sheaf_comment_reactions') },
      { actor, baseId, defined, people },
    )
    signal.throwIfAborted()
    report({ done: filled.rows, total: filled.rows })
    await bases.copies.finish(actor, baseId, [
      ...schema.copiedRows.insertRows(defined),
      ...views.insertForCopy(withLocalFiles(viewRows, files)),
      ...discussion.statements,
    ])
    kernel.events.emit('schema.changed', { baseId, tableId: null, version: 0 })
    return {
      id: baseId,
      title,
      tables: tables.filter(({ definition }) => !definition.isJunction).length,
      rows: filled.rows,
      attachments: files.size,
      comments: discussion.count,
      changes: filled.changes,
      unknownPeople: people.unknown.slice(0, MAX_REPORTED),
      leftOut: filled.leftOut.slice(0, MAX_REPORTED),
    }
  }

  /** Finds the people of the file here by their e-mail addresses, among those whom the importer may know. */
  async function matchPeople(actor: UserActor, rows: readonly FileRow[]): Promise<FilePeople> {
    const names = rows.map(({ id }) => String(id))
    const found = new Map<string, Person>()
    for (const person of await deps.auth.peopleByEmail(actor, names))
      found.set(person.email.toLowerCase(), person)
    const local = (name: string) => found.get(name.toLowerCase())?.id
    return {
      byName: new Map(names.flatMap((name) => (local(name) ? [[name, local(name) ?? '']] : []))),
      byUserId: new Map(
        rows.flatMap(({ id, user_id: userId }) => {
          const known = local(String(id))
          return known ? [[String(userId), known]] : []
        }),
      ),
      shownNames: new Map(rows.map(({ id, name }) => [String(id), String(name ?? id)])),
      unknown: names.filter((name) => !local(name)),
    }
  }

  /** Stores the attachments anew. Returns their paths by those in the file. */
  async function readAttachments(
    thread: Thread,
    { actor, baseId }: { actor: UserActor; baseId: string },
    rows: readonly FileRow[],
    signal: AbortSignal,
  ): Promise<Map<string, string>> {
    const paths = new Map<string, string>()
    for (const { path, title, content } of rows) {
      signal.throwIfAborted()
      await thread.openContent(String(content))
      const body = (async function* () {
        for (;;) {
          const part = await thread.nextPart()
          if (part === null) return
          yield part
        }
      })()
      const row = await records.attachments.keepIn(baseId, actor.id, { name: String(title), body })
      paths.set(String(path), row.path)
    }
    return paths
  }

  function readComments(
    { rows, reactions }: { rows: readonly FileRow[]; reactions: readonly FileRow[] },
    { actor, baseId, defined, people }: CommentContext,
  ): { statements: MetaStatement[]; count: number } {
    const ids = new Map(rows.map(({ id }) => [String(id), createId('comment')]))
    const userOf = (name: FileValue | undefined) => people.byName.get(String(name)) ?? null
    const kept = rows.flatMap((row): CommentRow[] => {
      const tableId = defined.ids.get(String(row.table_id))
      const times = [row.updated_at, row.resolved_at]
      if (!tableId || typeof row.record_id !== 'bigint' || typeof row.text !== 'string') return []
      if (!isTime(row.created_at) || !times.every((time) => time === null || isTime(time))) return []
      const author = userOf(row.author)
      const name =
        typeof row.author_name === 'string' ? row.author_name : people.shownNames.get(String(row.author))
      const text = replaceMentions(row.text, (userId, label) => {
        const known = people.byUserId.get(userId)
        return known ? mentionOf(known) : label === '' ? '@?' : `@${label}`
      })
      const resolvedBy = row.resolved_by === null ? null : (userOf(row.resolved_by) ?? actor.id)
      const id = ids.get(String(row.id)) ?? ''
      const [first = '', ...more] = splitComment(text)
      const comment: CommentRow = {
        id,
        baseId,
        tableId,
        recordId: String(row.record_id),
        fieldId: defined.ids.get(String(row.field_id)) ?? null,
        parentId: ids.get(String(row.parent_id)) ?? null,
        text: first,
        createdBy: author ?? actor.id,
        authorName: author === null ? shownName(name) : null,
        createdAt: String(row.created_at),
        updatedAt: row.updated_at === null ? null : String(row.updated_at),
        resolvedBy: row.resolved_at === null ? null : resolvedBy,
        resolvedAt: resolvedBy === null || row.resolved_at === null ? null : String(row.resolved_at),
      }
      // The other parts of a long one are replies.
      const parts = more.map((part, at) => ({
        ...comment,
        id: createId('comment'),
        parentId: comment.parentId ?? id,
        text: part,
        createdAt: new Date(Date.parse(comment.createdAt) + at + 1).toISOString(),
        resolvedBy: null,
        resolvedAt: null,
      }))
      return [comment, ...parts]
    })
    // One level deep, within one record.
    const byId = new Map(kept.map((row) => [row.id, row]))
    const threads = kept.filter(({ parentId, recordId, tableId }) => {
      if (parentId === null) return true
      const parent = byId.get(parentId)
      return parent?.parentId === null && parent.recordId === recordId && parent.tableId === tableId
    })
    const stored = new Set(threads.map(({ id }) => id))
    const known: readonly string[] = REACTIONS
    const reacted = new Map(
      reactions.flatMap((row): [string, ReactionRow][] => {
        const commentId = ids.get(String(row.comment_id)) ?? ''
        const userId = userOf(row.author)
        const emoji = String(row.emoji)
        if (!stored.has(commentId) || userId === null || !known.includes(emoji)) return []
        if (!isTime(row.created_at)) return []
        const reaction = { commentId, userId, emoji, createdAt: String(row.created_at) }
        return [[`${commentId} ${userId} ${emoji}`, reaction]]
      }),
    )
    return { statements: comments.rows.insertAll(threads, [...reacted.values()]), count: threads.length }
  }

  /** Removes what there is of the base. A full disk has room again as soon as the base's file is closed everywhere. */
  async function abandon({ newBaseId }: FileImportInput): Promise<void> {
    for (let pauseMs = REMOVAL_PAUSE_MS; ; pauseMs *= 2) {
      try {
        await bases.copies.abandon(newBaseId)
        await records.attachments.abandonBase(newBaseId)
        return
      } catch (error) {
        if (!isStorageFull(error) || pauseMs > MAX_REMOVAL_PAUSE_MS) {
          kernel.log.error('an import that was not completed could not be removed', error, {
            baseId: newBaseId,
          })
          return
        }
        await Bun.sleep(pauseMs)
      }
    }
  }

  async function discard(jobId: string, uploadId: string): Promise<void> {
    await imports.held.release(jobId)
    await imports.held.discard(uploadId).catch((error) => {
      kernel.log.error('an imported file could not be removed', error)
    })
  }

  return {
    async run(input, context) {
      const { file } = input
      const path = 'path' in file ? file.path : (await imports.upload(input.actor, file.uploadId)).path
      context.report({ done: 0, total: null, unit: 'rows' })
      const main: ReadMain = {
        async progress(done) {
          context.signal.throwIfAborted()
          context.report({ done, total: null })
        },
      }
      let hasBegun = false
      try {
        const result = await withThread<ReadThread, FileImported>(
          'modules/base-files/read-worker.ts',
          main,
          async (thread) => {
            await thread.open(path)
            hasBegun = true
            try {
              return await read(thread, input, context)
            } finally {
              await thread.close()
            }
          },
        )
        if ('uploadId' in file) await discard(context.jobId, file.uploadId)
        return result
      } catch (error) {
        if (hasBegun) await abandon(input)
        throw error
      }
    },
    async recover(input) {
      const found = await bases.require(input.newBaseId).catch((error) => {
        if (error instanceof AppError) return null
        throw error
      })
      if (!found) {
        await abandon(input)
        return null
      }
      const { id, title } = found
      const counts = {
        tables: 0,
        rows: 0,
        attachments: 0,
        comments: 0,
        changes: 0,
        unknownPeople: [],
        leftOut: [],
      }
      return { result: { id, title, ...counts } satisfies FileImported }
    },
  }
}

interface FilePeople {
  /** User ids by how cells name the person. */
  byName: ReadonlyMap<string, string>
  /** User ids here by those at the Sheaf that wrote the file, which mentions have. */
  byUserId: ReadonlyMap<string, string>
  shownNames: ReadonlyMap<string, string>
  /** How the file names people without an account here. */
  unknown: string[]
}

interface CommentContext {
  actor: UserActor
  baseId: string
  defined: DefinedRows
  people: FilePeople
}

const isTime = (value: FileValue | undefined): boolean =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/.test(value)

/** The name of an author without an account here. */
const shownName = (name: string | undefined): string =>
  name
    ?.normalize('NFC')
    .replace(/\p{Cc}/gu, ' ')
    .trim()
    .slice(0, MAX_NAME)
    .toWellFormed() || m.base_files_unknown_person()

const titleOf = (value: FileValue | undefined): string => {
  const title =
    typeof value === 'string'
      ? value
          .normalize('NFC')
          .replace(/\p{Cc}/gu, ' ')
          .trim()
      : ''
  if (title === '' || title.length > 255 || !title.isWellFormed())
    throw badRequest(m.base_files_error_damaged())
  return title
}

/** Icon and colours of a base. */
function baseMeta(value: FileValue | undefined): Record<string, unknown> {
  if (typeof value !== 'string' || value.length > 10_000) return {}
  try {
    const read = parseJsonText(value)
    return typeof read === 'object' && read !== null && !Array.isArray(read)
      ? (read as Record<string, unknown>)
      : {}
  } catch (error) {
    if (error instanceof SyntaxError) return {}
    throw error
  }
}

/** The field with people of its default value who have an account here. */
function withLocalPeople<F extends FileField['definition']>(
  field: F,
  people: ReadonlyMap<string, string>,
): F {
  if (!showsPeople(field) || field.defaultValue === null) return field
  const names = idsIn(field.defaultValue)
  const ids = names.flatMap((name) => (name === ME ? ME : (people.get(name) ?? [])))
  return { ...field, defaultValue: joinIds(ids) }
}

/** Views with the new paths of their pictures. */
const withLocalFiles = ({ views, lines }: ViewRows, files: ReadonlyMap<string, string>): ViewRows => ({
  lines,
  views: views.map((view) => {
    let text = JSON.stringify(view.options)
    for (const path of pathsIn(view.options)) text = text.replaceAll(path, files.get(path) ?? path)
    return { ...view, options: JSON.parse(text) }
  }),
})

/** The tables to be created and filled. */
function planFill(
  { tables, fields, ids }: DefinedRows,
  fileTables: readonly FileTable[],
  fileFields: readonly FileField[],
): FillPlan[] {
  const columnOf = new Map(
    fileFields.map(({ definition, fileColumn }) => [ids.get(definition.id), fileColumn]),
  )
  const pairs = new Map(
    fields.flatMap((field) => {
      const junction = linkOf(field)?.junction
      return junction ? [[junction.tableId, [junction.ownFieldId, junction.relatedFieldId]]] : []
    }),
  )
  return fileTables.map(({ definition, fileTable, lastId }) => {
    const table = tables.find(({ id }) => id === ids.get(definition.id))
    if (!table) throw new Error(`The table ${definition.title} has no row`)
    const own = fields.filter(({ tableId, columnName }) => tableId === table.id && columnName !== '')
    const nameOf = (fieldId: string) => own.find(({ id }) => id === fieldId)?.columnName ?? ''
    const key = own.find(isRecordId)?.columnName ?? ''
    const [first, second] = pairs.get(table.id) ?? []
    const target: StoredTable = {
      name: table.tableName,
      columns: own.map((field) => ({
        name: field.columnName,
        kind: columnKindOf(field),
        isIdentity: isRecordId(field),
        isRequired: false,
        defaultText: null,
      })),
      key: [key],
      indexes: [
        ...(first !== undefined && second !== undefined
          ? [
              { columns: [nameOf(first), nameOf(second)], isUnique: true },
              { columns: [nameOf(second)], isUnique: false },
            ]
          : [
              { columns: ['nc_order', key], isUnique: false },
              ...own
                .filter(isForeignKey)
                .map(({ columnName }) => ({ columns: [columnName], isUnique: false })),
            ]),
        ...own
          .filter(({ unique }) => unique)
          .map(({ columnName }) => ({ columns: [columnName], isUnique: true })),
      ],
      lastId,
    }
    const columns = own.map(
      ({ id, title, type, options }): FillColumn => ({
        title,
        fileColumn: columnOf.get(id) ?? null,
        type,
        options,
      }),
    )
    if (columns.find(isRecordId)?.fileColumn == null) throw badRequest(m.base_files_error_damaged())
    // One-to-one links have no unique index.
    const singleKeys = fields.flatMap((field) => {
      const link = field.tableId === table.id ? linkOf(field) : null
      return link?.holdsKey && isExclusiveLink(link) ? [[nameOf(link.keyFieldId ?? '')]] : []
    })
    const distinct = [
      ...target.indexes.flatMap((index) => (index.isUnique ? [index.columns] : [])),
      ...singleKeys,
    ]
    return { fileTable, target, columns, distinct, isJunction: table.isJunction }
  })
}

/** How logged values become those of the new base, by the ids of the file. Secrets are left out. */
function planHistory(
  defined: DefinedRows,
  file: { tables: readonly FileTable[]; fields: readonly FileField[]; views: readonly ViewDefinition[] },
): HistoryFill {
  const { fields, ids } = defined
  const byId = new Map(fields.map((field) => [field.id, field]))
  const known = file.fields.flatMap(({ definition }): [string, HistoryField][] => {
    const field = byId.get(ids.get(definition.id) ?? '')
    const isLogged = field && (field.columnName !== '' || fieldType(field.type).computed === 'link')
    if (!isLogged || isSecret(field)) return []
    const { id, tableId, title, type, options } = field
    const column = { title, fileColumn: definition.id, type, options }
    return [[definition.id, { fieldId: id, tableId, kind: columnKindOf({ type }), column }]]
  })
  const tables = file.tables.map(({ definition: { id } }) => [id, ids.get(id) ?? ''] as const)
  return { tables: new Map(tables), fields: new Map(known), views: placesOf(file.views, defined) }
}

const placesOf = (
  definitions: readonly { id: string; tableId: string }[],
  { ids }: DefinedRows,
): Map<string, { viewId: string; tableId: string }> =>
  new Map(
    definitions.map(({ id, tableId }) => [
      id,
      { viewId: ids.get(id) ?? '', tableId: ids.get(tableId) ?? '' },
    ]),
  )

/** Statements that remove links to records that the file does not have. */
function danglingLinks({ dialect }: Engine, { tables, fields }: DefinedRows): Statement[] {
  const tableOf = new Map(tables.map((table) => [table.id, table]))
  const fieldOf = new Map(fields.map((field) => [field.id, field]))
  const keyOf = (tableId: string) => {
    const key = fields.find((field) => field.tableId === tableId && field.isPrimaryKey)
    return `select ${dialect.quote(key?.columnName ?? '')} from ${dialect.quote(tableOf.get(tableId)?.tableName ?? '')}`
  }
  return fields.flatMap((field): Statement[] => {
    const link = linkOf(field)
    if (!link) return []
    const holder = link.holdsKey ? field.tableId : link.relatedTableId
    const parent = link.holdsKey ? link.relatedTableId : field.tableId
    const own = [
      [link.keyFieldId, holder, parent],
      [link.junction?.ownFieldId, link.junction?.tableId, field.tableId],
      [link.junction?.relatedFieldId, link.junction?.tableId, link.relatedTableId],
    ]
    return own.flatMap(([keyId, tableId, parentId]): Statement[] => {
      const column = fieldOf.get(keyId ?? '')?.columnName
      const table = tableOf.get(tableId ?? '')
      if (column === undefined || !table || parentId == null) return []
      const isLost = `where ${dialect.quote(column)} is not null and ${dialect.quote(column)} not in (${keyOf(parentId)})`
      const name = dialect.quote(table.tableName)
      return [
        {
          sql: table.isJunction
            ? `delete from ${name} ${isLost}`
            : `update ${name} set ${dialect.quote(column)} = null ${isLost}`,
          params: [],
        },
      ]
    })
  })
}
