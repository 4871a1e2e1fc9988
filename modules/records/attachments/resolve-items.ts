import type { Actor } from '../../../src/core/actor.ts'
import type { Values } from '../../../src/core/changes.ts'
import { AppError } from '../../../src/core/errors.ts'
import { type AttachmentItem, readItems, writeAttachments } from '../../../src/core/fields/attachment-item.ts'
import { typeByName } from '../../../src/core/fields/attachment-kinds.ts'
import { holdsFiles } from '../../../src/core/fields/traits.ts'
import { parseJsonOrNull } from '../../../src/core/json-text.ts'
import type { Field } from '../../../src/core/model.ts'
import { LOG_TEXTS } from '../../../src/db/change-log/tables.ts'
import type { Engine, Statement } from '../../../src/dialects/dialect.ts'
import { m } from '../../../src/messages.gen.ts'
import type { TableModel } from '../../schema/index.ts'
import { perModel } from '../table/index.ts'
import type { FileRow, Files } from './files.ts'

/** A table’s attachment fields; most have none. */
const fileFields = perModel((model) => model.fields.filter(holdsFiles))

interface Found {
  values: Values
  field: Field
  items: AttachmentItem[]
}

/** Resolves the files that values name, in place. @throws BAD_REQUEST for files that the actor may not name */
export type ResolveItems = (
  actor: Actor,
  baseId: string,
  writes: readonly { model: TableModel; values: Values }[],
) => Promise<void>

/**
 * Checks the files that values name before they are written: a cell may only name files that the actor may read, and
 * takes their type and size from the server's records. Text that is not a list of files is left to the field's check.
 */
export function createItemResolver(files: Files, maxCount: number): ResolveItems {
  return async (actor, baseId, writes) => {
    const found = writes.flatMap(({ model, values }) => findItems(model, values))
    if (found.length === 0) return
    for (const { field, items } of found) refuseTooMany(field, items, maxCount)
    const paths = new Set(found.flatMap(({ items }) => items.flatMap(({ path }) => path ?? [])))
    const known = paths.size === 0 ? new Map() : await files.claim(actor, baseId, [...paths])
    for (const { values, field, items } of found) {
      values[field.id] = writeAttachments(items.map((item) => withFacts(item, known)))
    }
  }
}

function findItems(model: TableModel, values: Values): Found[] {
  return fileFields(model).flatMap((field) => {
    const input: unknown = values[field.id]
    const items = readItems(typeof input === 'string' ? parse(input) : input)
    return typeof items === 'string' || items.length === 0 ? [] : [{ values, field, items }]
  })
}

function parse(text: string): unknown {
  return text.trimStart().startsWith('[') ? parseJsonOrNull(text) : null
}

/** Users choose the name; type and size come from the server’s records. */
function withFacts(item: AttachmentItem, known: ReadonlyMap<string, FileRow>): AttachmentItem {
  const row = item.path === undefined ? undefined : known.get(item.path)
  if (!row) return { ...item, mimetype: item.mimetype || typeByName(item.title) }
  const { mimetype, size, width, height } = row
  return { ...item, mimetype, size, width: width ?? undefined, height: height ?? undefined }
}

function refuseTooMany(field: Field, items: AttachmentItem[], maxCount: number): void {
  if (typeof field.options.maxCount === 'number' || items.length <= maxCount) return
  const message = m.records_error_too_many_files({ field: field.title, max: maxCount, count: items.length })
  throw new AppError('BAD_REQUEST', message, { fieldId: field.id, field: field.title }, 'msg')
}

/** Rows per statement: their text is searched on the main thread. */
const ROWS_AT_ONCE = 2_000
/** A file’s path in cells, log entries and views; keys contain no other characters (see `isKey`). */
const PATH = /download\/[A-Za-z0-9_./-]+/g
/** Column types that can hold a path, in the engines of homes. */
const TEXT = /^(text|varchar|character varying|json|longtext)/i

/**
 * The paths of all files that a base’s home refers to: in cells, including tables in the trash and columns replaced
 * by a type change, and in the change log. Any text that looks like a path counts, to keep a file rather than lose
 * it. Reads in pages, as scans that yield to others.
 *
 * @param tableNames the tables of the home, by their names in the database
 */
export async function namedFiles(engine: Engine, tableNames: readonly string[]): Promise<Set<string>> {
  const named = new Set<string>()
  for (const tableName of tableNames) await readTable(engine, tableName, named)
  await readLog(engine, named)
  return named
}

/** Adds the paths in a text. */
export function addPaths(named: Set<string>, text: unknown): void {
  if (typeof text !== 'string') return
  for (const [path] of text.matchAll(PATH)) named.add(path)
}

async function readTable(engine: Engine, tableName: string, named: Set<string>): Promise<void> {
  const { dialect } = engine
  const columns = await engine.all<{ name: string; type: string }>(dialect.listColumns(tableName))
  const texts = columns.filter(({ type }) => TEXT.test(type)).map(({ name }) => dialect.quote(name))
  if (texts.length === 0 || !columns.some(({ name }) => name === 'id')) return
  await readPages(engine, {
    key: ['id'],
    columns: texts,
    table: dialect.quote(tableName),
    named,
  })
}

async function readLog(engine: Engine, named: Set<string>): Promise<void> {
  for (const texts of LOG_TEXTS) await readPages(engine, { ...texts, named })
}

interface Pages {
  /** The primary key, by which pages continue. */
  key: string[]
  columns: string[]
  table: string
  named: Set<string>
}

async function readPages(engine: Engine, { key, columns, table, named }: Pages): Promise<void> {
  const { placeholder, quote } = engine.dialect
  const keys = key.map(quote)
  const texts = columns.map((column) => `cast(${column} as text)`)
  const holdsPath = texts.map((text) => `${text} like '%download/%'`).join(' or ')
  let last: unknown[] | null = null
  for (;;) {
    const after: string =
      last === null
        ? ''
        : `and (${keys.join(', ')}) > (${last.map((_, index) => placeholder(index)).join(', ')})`
    const page: Statement = {
      sql: `select ${[...keys, ...texts].join(', ')} from ${table} where (${holdsPath}) ${after}
        order by ${keys.join(', ')} limit ${ROWS_AT_ONCE}`,
      params: last ?? [],
    }
    const rows: unknown[][] = await engine.values(page, { scan: true })
    for (const row of rows) for (const text of row.slice(key.length)) addPaths(named, text)
    const end = rows.at(-1)
    if (end === undefined || rows.length < ROWS_AT_ONCE) return
    last = end.slice(0, key.length)
  }
}
