import * as z from 'zod/mini'
import { badRequest } from '../../../src/core/errors.ts'
import { parseDuration } from '../../../src/core/fields/duration.ts'
import { FileError } from '../../../src/core/imports/file-error.ts'
import { m } from '../../../src/messages.gen.ts'
import { parseJsonInTurns } from '../../../src/parse-json.ts'
import { type Archive, openArchive } from '../../imports/index.ts'
import { type SourceConnection, type SourceContext, sourceNote } from '../source.ts'
import { type BaserowFields, createBaserowFields, fieldKey } from './baserow-fields.ts'
import {
  type BaserowField,
  type BaserowRow,
  type BaserowTable,
  baserowRows,
  type ExportedDatabase,
  type ExportedView,
  exportedDatabase,
  exportManifest,
} from './baserow-types.ts'
import { toTable } from './baserow-views.ts'
import { isRecord } from './value-types.ts'

const PAGE_SIZE = 500
const MAX_MANIFEST_BYTES = 16 * 1024 ** 2
/** A database is one JSON value, which is read as a whole. */
const MAX_DATABASE_BYTES = 100 * 1024 ** 2

export const baserowExportCredentials = z.strictObject({
  /** A `.zip` file, uploaded like the files of other imports. */
  uploadId: z.string().check(z.regex(/^[a-z0-9]{20}$/)),
})

/**
 * The export of a workspace of Baserow: an archive with `manifest.json`, which names a JSON file for each database, and the files of
 * cells by their names. Values of computed fields, people of the workspace and comments are not in it.
 */
export function openBaserowExport(
  { uploadId }: z.output<typeof baserowExportCredentials>,
  { upload }: SourceContext,
): SourceConnection {
  let opened: Promise<Archive> | null = null
  let known: {
    fields: BaserowFields
    tables: ReadonlyMap<string, { table: BaserowTable; rows: unknown[] }>
  } | null = null

  const archive = () => {
    opened ??= upload(uploadId).then(({ path }) =>
      explained(() => openArchive(path), m.base_imports_error_baserow_export),
    )
    return opened
  }

  async function read<T>(name: string, maxBytes: number, schema: z.ZodMiniType<T>): Promise<T> {
    const file = await archive()
    if (!file.has(name)) throw badRequest(m.base_imports_error_baserow_export())
    if (file.unpackedSize(name) > maxBytes)
      throw badRequest(m.base_imports_error_export_size({ megabytes: Math.round(maxBytes / 1024 ** 2) }))
    const text = await explained(() => file.text(name, maxBytes), m.base_imports_error_baserow_export)
    const parsed = schema.safeParse(await parsedJson(text))
    if (!parsed.success) throw badRequest(m.base_imports_error_baserow_export())
    return parsed.data
  }

  const databases = async () => {
    const { applications } = await read('manifest.json', MAX_MANIFEST_BYTES, exportManifest)
    return applications.database?.items ?? []
  }

  async function* readFile(name: string): AsyncGenerator<Uint8Array> {
    const file = await archive()
    if (!file.has(name)) throw badRequest(m.base_imports_reason_file_missing())
    const chunks = file.read(name)
    for (;;) {
      const { done, value } = await explained(() => chunks.next(), m.base_imports_reason_file_missing)
      if (done) return
      yield value
    }
  }

  return {
    async bases() {
      return (await databases()).map(({ id, name }) => ({ id: String(id), title: name }))
    },

    async describe(databaseId) {
      const item = (await databases()).find(({ id }) => String(id) === databaseId)
      if (!item) throw badRequest(m.base_imports_error_baserow_database())
      const path = typeof item.files.schema === 'string' ? item.files.schema : (item.files.data?.file ?? '')
      const database = await read(path, MAX_DATABASE_BYTES, exportedDatabase)
      const tables = database.tables.map((table) => ({ table: toApiTable(table), rows: table.rows }))
      const described = tables.map(({ table }) => table)
      const fields = createBaserowFields(described, {
        members: new Map(),
        readFile,
        hasComputedValues: false,
      })
      known = { fields, tables: new Map(tables.map((entry) => [String(entry.table.id), entry])) }
      return {
        title: item.name,
        tables: described.map((table) => toTable(table, fields)),
        problems: [m.base_imports_note_baserow_export(), m.base_imports_note_baserow()].map((one) =>
          sourceNote(one),
        ),
      }
    },

    async records(_databaseId, { id }, cursor) {
      const entry = known?.tables.get(id)
      if (!known || !entry) throw badRequest(m.base_imports_error_table_gone())
      const { fields } = known
      const { table, rows } = entry
      const from = Number(cursor ?? 0)
      const page = baserowRows.safeParse({ results: rows.slice(from, from + PAGE_SIZE) })
      if (!page.success) throw badRequest(m.base_imports_error_baserow_export())
      const records = page.data.results.map((row) => ({
        ...fields.toRecord(table, toApiRow(table, row)),
        createdAt: typeof row.created_on === 'string' ? row.created_on : null,
        comments: 0,
      }))
      const next = from + PAGE_SIZE
      return { records, next: next < rows.length ? String(next) : null }
    },

    comments: null,
    close: () => void opened?.then((file) => file.close()).catch(() => undefined),
  }
}

/** @throws BAD_REQUEST with the reason for an archive that cannot be read */
async function explained<T>(work: () => Promise<T>, reason: () => string): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof FileError) throw badRequest(reason())
    throw error
  }
}

async function parsedJson(text: string): Promise<unknown> {
  try {
    return await parseJsonInTurns(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw badRequest(m.base_imports_error_baserow_export())
    throw error
  }
}

type ExportedTable = ExportedDatabase['tables'][number]

/** A table as the API describes it. */
const toApiTable = ({ id, name, fields, views }: ExportedTable): BaserowTable => ({
  id,
  name,
  fields: fields.toSorted((a, b) => Number(a.order ?? 0) - Number(b.order ?? 0)),
  views: views.toSorted((a, b) => (a.order ?? 0) - (b.order ?? 0)).map(toApiView),
})

function toApiView({ field_options: options, ...view }: ExportedView): BaserowTable['views'][number] {
  const {
    filters,
    sortings,
    group_bys: groups,
    single_select_field_id,
    card_cover_image_field_id,
    date_field_id,
  } = view
  const levels = (list: ExportedView['sortings']) =>
    list?.map(({ field_id, order }) => ({ field: field_id, order }))
  return {
    view: {
      ...view,
      filters: filters?.map(({ field_id, ...filter }) => ({ ...filter, field: field_id })),
      sortings: levels(sortings),
      group_bys: levels(groups),
      single_select_field: single_select_field_id,
      card_cover_image_field: card_cover_image_field_id,
      date_field: date_field_id,
    },
    fieldOptions: Object.fromEntries((options ?? []).map(({ field_id, ...own }) => [String(field_id), own])),
  }
}

const emailOf = (value: unknown) => (typeof value === 'string' ? { email: value } : null)

/** Values of an export by the forms of the API, where they differ. */
const VALUES: Record<string, (value: unknown, field: BaserowField, row: BaserowRow) => unknown> = {
  boolean: (value) => value === true || value === 'true',
  duration: (value) => (typeof value === 'string' ? seconds(value) : value),
  single_select: choiceOf,
  ai: (value, field) => (field.ai_output_type === 'choice' ? choiceOf(value, field) : value),
  multiple_select: (value, field) => (Array.isArray(value) ? value.map((id) => choiceOf(id, field)) : null),
  link_row: (value) => (Array.isArray(value) ? value.map((id) => ({ id })) : null),
  multiple_collaborators: (value) => (Array.isArray(value) ? value.map(emailOf) : null),
  created_by: (value, _field, row) => emailOf(value ?? row.created_by),
  last_modified_by: (value, _field, row) => emailOf(value ?? row.last_modified_by),
  created_on: (value, _field, row) => value ?? row.created_on,
  last_modified: (value, _field, row) => value ?? row.updated_on,
}

function toApiRow({ fields }: BaserowTable, row: BaserowRow): BaserowRow {
  const own: BaserowRow = { id: row.id }
  for (const field of fields) {
    const key = fieldKey(field.id)
    own[key] = VALUES[field.type]?.(row[key], field, row) ?? row[key]
  }
  return own
}

/** An option by its id. */
function choiceOf(id: unknown, { select_options: options }: BaserowField): unknown {
  return (
    (Array.isArray(options) ? options : []).find((option) => isRecord(option) && option.id === id) ?? null
  )
}

/** `1 day, 2:03:04` in seconds; null if it is something else. */
function seconds(text: string): number | null {
  const [, days = '0', clock = ''] = /^(?:(\d{1,6}) days?, )?(\S{1,40})$/.exec(text) ?? []
  const rest = parseDuration(clock, 'h:mm:ss')
  return rest === null ? null : Number(days) * 86_400 + rest
}
