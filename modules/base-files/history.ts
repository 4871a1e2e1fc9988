import type { Values } from '../../src/core/changes.ts'
import { readAttachments } from '../../src/core/fields/attachment-item.ts'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import { fieldType } from '../../src/core/fields/index.ts'
import { idsIn, joinIds } from '../../src/core/fields/people.ts'
import { parseJsonText } from '../../src/core/json-text.ts'
import { FROM_ANOTHER_BASE, NO_TABLE } from '../../src/db/change-log/entry.ts'
import { KINDS_FROM_ANOTHER_BASE } from '../../src/db/change-log/foreign.ts'
import { CHANGE_RECORDS_TABLE, CHANGES_TABLE } from '../../src/db/change-log/tables.ts'
import type { ColumnKind, StoredRow, StoredTable, TableStore } from '../../src/db/move/store.ts'
import type { FileValue, MetaTable, SheafFileReader } from '../../src/db/sheaf-files/index.ts'
import { createReader, type FillColumn, type LeftOut, note } from './cell-reader.ts'

/*
 * The change log of a base in a file: `sheaf_history` has the entries, `sheaf_history_records` the values of each touched
 * record before and after. For the two worker threads.
 */

/** What the history of a file has. */
export interface HistoryPlan {
  /** Tables whose changes are written. */
  tableIds: string[]
  /** Ids of the fields whose values are people, stored files, and secrets, which are left out. */
  people: string[]
  files: string[]
  secrets: string[]
}

interface WriteHistory {
  insert(table: MetaTable, rows: FileValue[][]): void
  /** How the file names these people, by user id. */
  namesOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** Called with the paths of stored files. */
  onFile(path: string): void
  onRows(count: number): Promise<void>
}

/** Copies the change log of a home into a file, in its order. */
export async function writeHistory(home: TableStore, plan: HistoryPlan, to: WriteHistory): Promise<void> {
  const tables = await home.tables()
  const [entries, lines] = [CHANGES_TABLE, CHANGE_RECORDS_TABLE].map((name) => {
    const table = tables.find((each) => each.name === name)
    if (!table) throw new Error(`${home.name} has no change log`)
    return table
  })
  if (!entries || !lines) return
  const inFile = new Set(plan.tableIds)
  const entryOf = namedBy(entries)
  for await (const batch of home.rows(entries)) {
    const read = batch.map(entryOf)
    const names = await to.namesOf(read.flatMap(({ actor_id: actorId }) => actorId ?? []))
    const rows = read
      .filter(({ table_id: tableId }) => tableId == null || tableId === NO_TABLE || inFile.has(tableId))
      .map(({ id, at, actor_id: actorId, kind, table_id: tableId, records, detail }) => [
        BigInt(id ?? 0),
        at ?? '',
        names.get(actorId ?? '') ?? null,
        kind ?? '',
        tableId ?? null,
        BigInt(records ?? 0),
        ...rangeIn(kind ?? '', detail ?? null),
      ])
    to.insert('sheaf_history', rows)
    await to.onRows(0)
  }
  const lineOf = namedBy(lines)
  const special = new Map<string, 'people' | 'files' | 'secrets'>()
  for (const kind of ['people', 'files', 'secrets'] as const)
    for (const fieldId of plan[kind]) special.set(fieldId, kind)
  for await (const batch of home.rows(lines)) {
    const read = batch.map(lineOf).filter(({ table_id: tableId }) => inFile.has(tableId ?? ''))
    const values = read.map(({ before, after }) => [before ?? null, after ?? null].map(parse))
    const ids = values.flat().flatMap((each) => peopleIn(each, plan.people))
    const names = await to.namesOf(ids)
    const written = (each: Values | null): string | null => {
      if (each === null) return null
      const kept: Values = {}
      for (const [fieldId, value] of Object.entries(each)) {
        const kind = special.get(fieldId)
        if (kind === 'secrets') continue
        if (kind === 'files') for (const { path } of readAttachments(value)) if (path) to.onFile(path)
        kept[fieldId] = kind === 'people' ? joinIds(idsIn(value).map((id) => names.get(id) ?? id)) : value
      }
      return JSON.stringify(kept)
    }
    to.insert(
      'sheaf_history_records',
      read.map(({ change_id: changeId, table_id: tableId, record_id: recordId }, at) => [
        BigInt(changeId ?? 0),
        tableId ?? '',
        BigInt(recordId ?? 0),
        written(values[at]?.[0] ?? null),
        written(values[at]?.[1] ?? null),
      ]),
    )
    await to.onRows(read.length)
  }
}

const namedBy =
  ({ columns }: StoredTable) =>
  (row: StoredRow): Record<string, string | null> =>
    Object.fromEntries(columns.map(({ name }, at) => [name, row[at] ?? null]))

const parse = (json: string | null): Values | null => (json === null ? null : (JSON.parse(json) as Values))

const peopleIn = (values: Values | null, fieldIds: readonly string[]): string[] =>
  values === null ? [] : fieldIds.flatMap((id) => idsIn(values[id] ?? null))

/** Kinds of entries that may have a range of record ids. */
const ADDING: ReadonlySet<string> = new Set(['records.insert', 'records.import'])

/** The ids of the records that an entry added as a range. */
function rangeIn(kind: string, detail: string | null): [FileValue, FileValue] {
  if (!ADDING.has(kind) || detail === null) return [null, null]
  const { from, to } = JSON.parse(detail) as { from?: unknown; to?: unknown }
  return typeof from === 'number' && typeof to === 'number' ? [BigInt(from), BigInt(to)] : [null, null]
}

/** How the history of a file becomes that of a new base. */
export interface HistoryFill {
  /** New table ids by those of the file. */
  tables: ReadonlyMap<string, string>
  /** By the file's field ids; fields whose values are not imported are missing. */
  fields: ReadonlyMap<string, HistoryField>
  /** New view ids with their tables, by the file's view ids. */
  views: ReadonlyMap<string, { viewId: string; tableId: string }>
}

/** A field of the new base, whose logged values are imported. */
export interface HistoryField {
  fieldId: string
  tableId: string
  column: FillColumn
  kind: ColumnKind
}

interface FillHistory {
  people: ReadonlyMap<string, string>
  files: ReadonlyMap<string, string>
  leftOut: LeftOut[]
  onRows(count: number): Promise<void>
}

const ENTRY_COLUMNS = [
  'id',
  'at',
  'author',
  'kind',
  'table_id',
  'records',
  'first_record_id',
  'last_record_id',
]
const LINE_COLUMNS = ['change_id', 'table_id', 'record_id', 'before', 'after']
/** Longest JSON of a record's values. */
const MAX_VALUES = 20_000_000

/**
 * Copies the history of a file into the empty log of a home. Every value is read by its field. The entries are part of
 * records' histories, and cannot be undone. Returns the number of entries.
 */
export async function fillHistory(
  home: TableStore,
  file: SheafFileReader,
  plan: HistoryFill,
  { people, files, leftOut, onRows }: FillHistory,
): Promise<number> {
  const tables = await home.tables()
  const entryTable = tables.find(({ name }) => name === CHANGES_TABLE)
  const lineTable = tables.find(({ name }) => name === CHANGE_RECORDS_TABLE)
  if (!entryTable || !lineTable) throw new Error(`${home.name} has no change log`)
  /** Undefined for entries that are left out. */
  const tableOf = (id: FileValue | undefined): string | undefined =>
    id === NO_TABLE ? NO_TABLE : plan.tables.get(String(id))
  let last = 0n
  let count = 0
  for (const batch of file.rows('sheaf_history', ENTRY_COLUMNS, ['id'])) {
    const rows: StoredRow[] = []
    for (const values of batch) {
      const [id, at, author, kind, tableId, records, first, end] = values
      const newKind = KINDS_FROM_ANOTHER_BASE[String(kind)]
      const newTableId = tableOf(tableId)
      if (!isId(id) || id <= last || !isTime(at) || newKind === undefined || newTableId === undefined)
        continue
      last = id
      const isRange = ADDING.has(newKind) && isId(first) && isId(end) && first <= end
      rows.push(
        rowOf(entryTable, {
          id: String(id),
          at,
          actor_id: people.get(String(author)) ?? null,
          kind: newKind,
          table_id: newTableId,
          records: isRange ? String(end - first + 1n) : isId(records) ? String(records) : '0',
          undone_by: String(FROM_ANOTHER_BASE),
          detail: isRange ? JSON.stringify({ from: Number(first), to: Number(end) }) : null,
        }),
      )
    }
    if (rows.length > 0) await home.insert(entryTable, rows)
    count += rows.length
    await onRows(0)
  }
  const readers = new Map(
    [...plan.fields].map(([id, { fieldId, tableId, column, kind }]) => [
      id,
      { fieldId, tableId, read: createValueReader(column, kind, { people, files, leftOut }) },
    ]),
  )
  /** The values of a record of a table, under new ids; undefined for other JSON. */
  const read = (json: FileValue | undefined, tableId: string): string | null | undefined => {
    if (json === null) return null
    const values = typeof json === 'string' && json.length <= MAX_VALUES ? parseValues(json) : undefined
    if (values === undefined) return undefined
    const kept: Values = {}
    for (const [id, value] of Object.entries(values)) {
      if (id.startsWith('@')) {
        const view = plan.views.get(id.slice(1))
        const isPlace = value === null || (typeof value === 'number' && Number.isFinite(value))
        if (view?.tableId === tableId && isPlace) kept[`@${view.viewId}`] = value
        continue
      }
      const reader = readers.get(id)
      if (reader?.tableId !== tableId) continue
      const known = reader.read(value)
      if (known !== undefined) kept[reader.fieldId] = known
    }
    return JSON.stringify(kept)
  }
  const entryIds = idsOf(file, last)
  let entry = entryIds.next()
  for (const batch of file.rows('sheaf_history_records', LINE_COLUMNS, LINE_COLUMNS.slice(0, 3))) {
    const rows: StoredRow[] = []
    for (const [changeId, tableId, recordId, before, after] of batch) {
      if (!isId(changeId) || !isId(recordId)) continue
      while (!entry.done && entry.value < changeId) entry = entryIds.next()
      const newTableId = plan.tables.get(String(tableId))
      if (entry.done || entry.value !== changeId || newTableId === undefined) continue
      const [from, to] = [read(before, newTableId), read(after, newTableId)]
      if (from === undefined || to === undefined || (from === null && to === null)) continue
      rows.push(
        rowOf(lineTable, {
          change_id: String(changeId),
          table_id: newTableId,
          record_id: String(recordId),
          before: from,
          after: to,
        }),
      )
    }
    if (rows.length > 0) await home.insert(lineTable, rows)
    await onRows(batch.length)
  }
  await home.complete({ ...entryTable, lastId: last === 0n ? null : String(last) })
  return count

  /** The ids of the imported entries, in order: the same rules as above. */
  function* idsOf(source: SheafFileReader, until: bigint): Generator<bigint, void, undefined> {
    let previous = 0n
    for (const batch of source.rows('sheaf_history', ['id', 'at', 'kind', 'table_id'], ['id']))
      for (const [id, at, kind, tableId] of batch) {
        if (!isId(id) || id <= previous || id > until || !isTime(at)) continue
        if (KINDS_FROM_ANOTHER_BASE[String(kind)] === undefined || tableOf(tableId) === undefined) continue
        previous = id
        yield id
      }
  }
}

const rowOf = ({ columns }: StoredTable, values: Record<string, string | null>): StoredRow =>
  columns.map(({ name }) => values[name] ?? null)

const MAX_ID = BigInt(Number.MAX_SAFE_INTEGER)

const isId = (value: FileValue | undefined): value is bigint =>
  typeof value === 'bigint' && value > 0n && value <= MAX_ID

const isTime = (value: FileValue | undefined): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value)

function parseValues(json: string): Record<string, unknown> | undefined {
  try {
    const read = parseJsonText(json)
    return typeof read === 'object' && read !== null && !Array.isArray(read)
      ? (read as Record<string, unknown>)
      : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Reads logged values of a field; undefined for one that does not fit, which is reported. */
function createValueReader(
  column: FillColumn,
  kind: ColumnKind,
  { people, files, leftOut }: Pick<FillHistory, 'people' | 'files' | 'leftOut'>,
): (value: unknown) => CellValue | undefined {
  const report = (value: FileValue) => note(leftOut, 'sheaf_history_records', column.title, value)
  if (fieldType(column.type).computed === 'link') return linkMark
  const reader = createReader(column, kind, people, files, report)
  return (value) => {
    if (value === null) return null
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return undefined
    const text = reader.read(typeof value === 'boolean' ? BigInt(value) : value)
    if (text === null) return undefined
    if (kind === 'integer' || kind === 'real') return Number(text)
    return kind === 'boolean' ? text === 'true' : text
  }
}

/** The change of a link, `{"linked":[3],"unlinked":[]}`; undefined for other values. */
function linkMark(value: unknown): CellValue | undefined {
  const read = typeof value === 'string' ? parseValues(value) : undefined
  const [linked, unlinked] = [read?.linked, read?.unlinked]
  const areIds = (list: unknown): list is number[] =>
    Array.isArray(list) && list.every((id) => Number.isSafeInteger(id))
  return areIds(linked) && areIds(unlinked) ? JSON.stringify({ linked, unlinked }) : undefined
}
