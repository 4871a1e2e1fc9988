import { detectEncoding } from '../../../../src/core/csv/detect.ts'
import { jsonProblem } from '../../../../src/core/fields/json.ts'
import type { ParentTable } from '../../../../src/core/imports/analysis.ts'
import { FileError } from '../../../../src/core/imports/file-error.ts'
import { type JsonFormat, MAX_JSON_COLUMNS, MAX_JSON_LEVELS } from '../../../../src/core/imports/format.ts'
import { singularOf } from '../../../../src/core/nouns.ts'
import { m } from '../../../../src/messages.gen.ts'
import { isWholeFile, readHead, requireKind } from '../file-head.ts'
import {
  AMBIGUOUS_NUMBER,
  type FoundTable,
  type ImportReader,
  type OpenTable,
  type RowBatch,
  type RowProblem,
} from '../reader.ts'
import { isObject, type JsonPath, pathKey, textOf, valueAt, visitCells } from './cells.ts'
import { findColumnTables, recordsOf, withoutPaths } from './column-tables.ts'
import { findMaps, parseBeginning } from './find-maps.ts'
import { createJsonScanner, type JsonHandlers, PAGE } from './scanner.ts'
import { elementsAt, sourceAt } from './source.ts'

/** Rows per batch of a table whose columns are in memory. */
const COLUMN_BATCH = 1000
/** Lists of objects that a file may offer. */
const MAX_TABLES = 200
const NO_PATH: JsonPath = []

/**
 * JSON and NDJSON. Every list of objects or of lists is a table; the values around the lists are a table of one row. A file that
 * is one list is one table. Lists of objects within records are offered as tables of their own.
 */
export const jsonReader: ImportReader<JsonFormat> = {
  kind: 'json',
  async tables(path, { table, nested = [], flatten = true, decimal = '.', header }) {
    await requireKind(path, 'json')
    let maps = (await isSequence(path)) ? [] : findMaps(parseBeginning(await headText(path)))
    let structure = await readStructure(path, { flatten, maps })
    // Those that begin further below are read as one record each.
    const later = findMaps(structure.outermost)
    if (later.length > 0) {
      maps = [...maps, ...later]
      structure = await readStructure(path, { flatten, maps })
    }
    const { tables, asides, dropped } = structure
    const found = [...tables.values()].filter((each) => each.count > 0 && each.columns.length > 0)
    const isMain = found.length === 0
    if (asides.columns.length > 0 && !tables.has('')) found.push(asides)
    const notes = dropped.notes()
    if (found.length === 0 && notes[0] !== undefined) throw new FileError(notes[0])
    const all = withLists(found, maps)
    const isChosen = ({ of }: ListedTable) =>
      table === undefined ||
      (pathKey(of.path) === pathKey(table) && levelsKey(of.nested) === levelsKey(nested))
    const names = all.map(({ of }) => [...of.path, ...of.nested.flat()])
    const titlesOfTables = all.map(({ of }) => titlesOf(of, structure, header))
    return all.flatMap((each, position): FoundTable<JsonFormat>[] => {
      if (!isChosen(each)) return []
      const { of, parent } = each
      const keys = names[position] ?? []
      const isTwice = names.filter((other) => other.at(-1) === keys.at(-1)).length > 1
      const isAside = of === asides
      const { columns, isTooWide } = of
      const format = {
        kind: 'json' as const,
        table: of.path,
        nested: of.nested,
        flatten,
        columns: columns.map(({ path: at }) => at),
        structured: columns.flatMap(({ content }, at) => (content === 'text' ? [] : [at])),
        ...(maps.length > 0 && { maps }),
        ...(of.isByColumn && { byColumn: true }),
        ...(header !== undefined && { header }),
        ...titlesOfTables[position],
        decimal,
      }
      return [
        {
          name: keys.slice(isTwice ? -2 : -1).join(' '),
          isHidden:
            (isAside && !isMain) ||
            parent !== null ||
            structure.titleTables.has(pathKey(of.path)) ||
            // What is beside the pages of an answer.
            (of.path.length === 0 && tables.has(pathKey([PAGE]))),
          format: isTooWide ? null : format,
          problem: isTooWide ? m.imports_error_columns({ max: MAX_JSON_COLUMNS }) : null,
          ...(notes.length > 0 && { notes }),
          ...(parent && table === undefined && { parent }),
        },
      ]
    })
  },
  async open(path, format): Promise<OpenTable> {
    await requireKind(path, 'json')
    const { nested = [] } = format
    const titles =
      format.titles ?? format.columns.map((at) => (at.length === 0 ? m.imports_json_value() : at.join('.')))
    const pointColumns = new Set<number>()
    const parents = [...format.table, ...nested.slice(0, -1).flat()]
    function titlesOf(): string[] {
      if (nested.length > 0) return [singularOf(parents.at(-1) ?? m.imports_json_parent()), ...titles]
      return isMap(format) ? [m.imports_json_key(), ...titles] : titles
    }
    return {
      titles: titlesOf(),
      encoding: await encodingOf(path),
      isDamaged: false,
      hasFixedWidth: true,
      size: Bun.file(path).size,
      pointColumns,
      rows: () => readRows(path, format, pointColumns),
    }
  },
}

/** What a JSON file holds. */
interface Structure {
  tables: Map<string, Columns>
  /** The values around the tables, as one record. */
  asides: Columns
  outermost: Record<string, unknown>
  dropped: DroppedValues
  /** By table: the first of its lists, if it has the titles of the others. */
  firstTitles: ReadonlyMap<string, string[] | null>
  /** By table of objects that may describe the columns of another: their names, in order. */
  columnNames: ReadonlyMap<string, string[]>
  /** The tables whose objects give their names to the columns of another. */
  titleTables: Set<string>
}

/** Keys of lists with the titles of a table beside it: of pandas, Socrata and Google. */
const TITLE_KEYS = /^(?:columns?|headers?|fields?|names?|titles?|labels?|(?:column|field)_?names?)$/i

/** The values that are too long to be imported. */
interface DroppedValues {
  add(path: JsonPath, line: number): void
  notes(): string[]
  problems(): RowProblem[]
}

/** Values that are named; more are counted. */
const MAX_NAMED = 20

function createDroppedValues(): DroppedValues {
  const named: { key: string; line: number }[] = []
  let count = 0
  const more = () => count - named.length
  return {
    add(path, line) {
      count++
      if (named.length < MAX_NAMED) named.push({ key: path.join('.').slice(0, 200), line })
    },
    notes: () => [
      ...named.map((each) => m.imports_json_dropped(each)),
      ...(more() > 0 ? [m.imports_json_dropped_more({ count: more() })] : []),
    ],
    problems: () => [
      ...named.map(({ key, line }) => ({
        row: 1,
        column: key,
        value: '',
        reason: m.imports_json_dropped({ key, line }),
      })),
      ...(more() > 0
        ? [{ row: 1, column: '', value: '', reason: m.imports_json_dropped_more({ count: more() }) }]
        : []),
    ],
  }
}

async function readStructure(
  path: string,
  { flatten, maps }: Pick<JsonFormat, 'flatten'> & { maps: readonly JsonPath[] },
): Promise<Structure> {
  const tables = new Map<string, Columns>()
  const limit = { tables: MAX_TABLES }
  const asides = createColumns(NO_PATH, flatten, limit)
  const outermost: Record<string, unknown> = Object.create(null)
  let current = createColumns(NO_PATH, flatten, limit)
  const dropped = createDroppedValues()
  const firstTitles = new Map<string, string[] | null>()
  const columnNames = new Map<string, string[]>()
  const handlers: JsonHandlers = {
    openTable(at) {
      const known = tables.get(pathKey(at))
      current = known ?? createColumns(at, flatten, limit)
      if (!known && tables.size === MAX_TABLES)
        throw new FileError(m.imports_error_json_tables({ max: MAX_TABLES }))
      tables.set(pathKey(at), current)
      return true
    },
    record(value) {
      // Records without a list around them: one per line, or one value for the file.
      if (tables.size === 0) tables.set('', current)
      const isFirst = current.count === 0
      current.add(value)
      const key = pathKey(current.path)
      if (isFirst) firstTitles.set(key, titlesIn(value))
      else if (!Array.isArray(value) || value.length > (firstTitles.get(key)?.length ?? 0))
        firstTitles.set(key, null)
      if (TITLE_KEYS.test(current.path.at(-1) ?? '')) noteColumn(key, value)
    },
    aside: (at, value) => setValue(outermost, at, value),
    dropped: dropped.add,
  }
  function noteColumn(key: string, value: unknown): void {
    const names = columnNames.get(key) ?? []
    columnNames.set(key, names)
    const name = isObject(value) ? (value.name ?? value.title ?? value.label) : undefined
    if (names.length < MAX_JSON_COLUMNS) names.push(typeof name === 'string' ? name : '')
  }
  for await (const _ of scan(path, handlers, maps));
  const besideLists = new Set(
    [...tables.values()].flatMap(({ path: at, areLists }) => (areLists ? [pathKey(at.slice(0, -1))] : [])),
  )
  const byColumn = findColumnTables(outermost, (at) => besideLists.has(pathKey(at)))
  for (const at of byColumn) {
    const table = createColumns(at, flatten, limit)
    table.isByColumn = true
    for (const record of recordsOf(at.length === 0 ? outermost : valueAt(outermost, at))) table.add(record)
    tables.set(pathKey(at), table)
  }
  const rest = withoutPaths(outermost, byColumn)
  if (byColumn.length === 0 || Object.keys(rest).length > 0) asides.add(rest)
  return { tables, asides, outermost, dropped, firstTitles, columnNames, titleTables: new Set() }
}

/** The titles of a table of lists: those beside it, or its first list. @param header false if a person says that the first has none */
function titlesOf(
  { path, nested, columns, count, areLists }: Columns,
  structure: Structure,
  header: boolean | undefined,
): Pick<JsonFormat, 'titles' | 'header'> | undefined {
  const first = structure.firstTitles.get(pathKey(path))
  if (nested.length > 0 || !areLists) return undefined
  const beside = header === true ? null : titlesBeside(path, columns.length, structure)
  if (beside) return { titles: beside, header: false }
  return first && count > 1 && header !== false ? { titles: first } : undefined
}

/** Titles for so many columns in a list of texts beside the table, or in the names of objects anywhere in the file. */
function titlesBeside(path: JsonPath, width: number, structure: Structure): string[] | null {
  if (path.length === 0) return null
  const around = path.length === 1 ? structure.outermost : valueAt(structure.outermost, path.slice(0, -1))
  for (const [key, value] of isObject(around) ? Object.entries(around) : []) {
    const titles = TITLE_KEYS.test(key) ? titlesIn(value) : null
    if (titles?.length === width) return titles
  }
  for (const [key, names] of structure.columnNames) {
    const titles = titlesIn(names)
    if (titles?.length !== width) continue
    structure.titleTables.add(key)
    return titles
  }
  return null
}

/** The titles that a list has as the first of several lists: different texts, none of them empty. */
function titlesIn(value: unknown): string[] | null {
  if (!Array.isArray(value) || value.length === 0) return null
  const texts = value.filter((item): item is string => typeof item === 'string' && item.trim() !== '')
  return texts.length === value.length && new Set(texts).size === texts.length ? texts : null
}

/** True if the records of a table are the values of an object, whose keys are the first column. */
const isMap = ({ table, nested = [], maps = [] }: Pick<JsonFormat, 'table' | 'nested' | 'maps'>): boolean =>
  nested.length === 0 && maps.some((path) => pathKey(path) === pathKey(table))

/** A table, and where it is listed. */
interface ListedTable {
  of: Columns
  parent: ParentTable | null
}

/** The tables, each followed by those of the lists in its records. */
function withLists(tables: readonly Columns[], maps: readonly JsonPath[]): ListedTable[] {
  const all: ListedTable[] = []
  function list(of: Columns, parent: ParentTable | null): void {
    const table = all.push({ of, parent }) - 1
    // A nested table begins with the number of its parent, a map with its keys.
    const shift = of.nested.length > 0 || isMap({ table: of.path, maps: [...maps] }) ? 1 : 0
    for (const [column, { content, list: inner }] of of.columns.entries()) {
      if (content === 'objects' && inner && inner.columns.length > 0)
        list(inner, { table, column: column + shift })
    }
  }
  for (const each of tables) list(each, null)
  return all
}

const levelsKey = (nested: readonly JsonPath[]): string => nested.map(pathKey).join('\u0001')

async function* readRows(
  path: string,
  format: JsonFormat,
  pointColumns: Set<number>,
): AsyncGenerator<RowBatch> {
  const { table, nested = [], flatten, columns, written = [], structured = [], maps, titles } = format
  const positions = new Map(columns.map((at, index) => [pathKey(at), index]))
  const outermost: Record<string, unknown> = Object.create(null)
  /** Of nested tables, the first column is the number of the parent's row; of maps, the key. */
  const shift = nested.length > 0 || isMap(format) ? 1 : 0
  const counts = [0, ...nested.map(() => 0)]
  let rows: string[][] = []
  let isList = false
  const isTitled = titles !== undefined && format.header !== false
  let hasTitles = isTitled
  const dropped = createDroppedValues()

  function add(value: unknown, source: string | null, parent: number | string): void {
    const cells: string[] = new Array(columns.length + shift).fill('')
    if (shift > 0) cells[0] = String(parent)
    visitCells(value, flatten, (key, cell) => {
      const index = positions.get(key)
      if (index === undefined) return
      const text = textOf(cell)
      cells[index + shift] = text
      if (typeof cell === 'number' && AMBIGUOUS_NUMBER.test(text)) pointColumns.add(index + shift)
    })
    for (const index of written) {
      const at = columns[index - shift]
      if (at) cells[index] = jsonText(value, at, source, structured.includes(index - shift))
    }
    rows.push(cells)
  }

  /** Adds the records of the table in a value, which is a record of an outer one at levels above the last. */
  function walk(value: unknown, source: string | null, level: number, key = ''): void {
    const parent = level === 0 ? key : (counts[level - 1] ?? 0)
    counts[level] = (counts[level] ?? 0) + 1
    const list = nested[level]
    if (list === undefined) {
      add(value, source, parent)
      return
    }
    const items = valueAt(value, list)
    if (!Array.isArray(items)) return
    const sources = source === null || written.length === 0 ? [] : elementsAt(source, list)
    for (const [at, item] of items.entries()) if (isObject(item)) walk(item, sources[at] ?? null, level + 1)
  }

  const handlers: JsonHandlers = {
    openTable(at) {
      isList = true
      return !format.byColumn && pathKey(at) === pathKey(table)
    },
    record(value, source, key) {
      if (hasTitles) hasTitles = false
      else walk(value, source, 0, key)
    },
    aside: (at, value) => setValue(outermost, at, value),
    dropped: dropped.add,
  }
  const count = () => (counts[nested.length] ?? 0) + (isTitled ? 1 : 0)
  for await (const { done } of scan(path, handlers, maps)) {
    if (rows.length === 0) continue
    yield { rows, firstRow: count() - rows.length + 1, problems: [], done }
    rows = []
  }
  if (format.byColumn) {
    const object = table.length === 0 ? outermost : valueAt(outermost, table)
    for (const record of recordsOf(object)) {
      walk(record, null, 0)
      if (rows.length < COLUMN_BATCH) continue
      yield { rows, firstRow: count() - rows.length + 1, problems: [], done: Bun.file(path).size }
      rows = []
    }
  }
  const hasAsides = table.length === 0 && counts[0] === 0 && !(isList && Object.keys(outermost).length === 0)
  if (hasAsides) walk(outermost, null, 0)
  const problems = dropped.problems()
  if (rows.length > 0 || problems.length > 0)
    yield { rows, firstRow: count() - rows.length + 1, problems, done: Bun.file(path).size }
}

/**
 * The cell of a JSON field. A string is JSON text in a column of strings, as some programs write it, and otherwise a JSON
 * string.
 */
function jsonText(record: unknown, path: JsonPath, source: string | null, isStructured: boolean): string {
  const value = valueAt(record, path)
  if (value === null || value === undefined) return ''
  if (typeof value === 'string' && !isStructured && /^\s*[{[]/.test(value) && jsonProblem(value) === null)
    return value
  return (source === null ? null : sourceAt(source, path)) ?? JSON.stringify(value)
}

/** Reads a file through a scanner; yields after each chunk. */
async function* scan(
  path: string,
  handlers: JsonHandlers,
  maps: readonly JsonPath[] = [],
): AsyncGenerator<{ done: number }> {
  const decoder = new TextDecoder(await encodingOf(path))
  const scanner = createJsonScanner(await isSequence(path), handlers, maps)
  let done = 0
  for await (const chunk of Bun.file(path).stream()) {
    done += chunk.byteLength
    scanner.push(decoder.decode(chunk, { stream: true }))
    yield { done }
  }
  scanner.push(decoder.decode())
  scanner.end()
  yield { done }
}

const encodingOf = async (path: string) => detectEncoding(await readHead(path), isWholeFile(path))

const headText = async (path: string) => new TextDecoder(await encodingOf(path)).decode(await readHead(path))

/** True for a file with a record per line: a second value follows the first, or begins to. */
async function isSequence(path: string): Promise<boolean> {
  const text = await headText(path)
  let values = 0
  let isBroken = false
  let hasMore = false
  const scanner = createJsonScanner(true, {
    openTable: () => false,
    record: (_, source) => {
      if (values === 0) hasMore = /[^\s,]/.test(text.slice(text.indexOf(source) + source.length))
      values++
    },
    aside: () => {},
    dropped: () => {},
  })
  try {
    scanner.push(text)
    if (isWholeFile(path)) scanner.end()
  } catch (error) {
    // Reported when the whole file is read.
    if (!(error instanceof FileError)) throw error
    isBroken = true
  }
  return values > 1 || (values === 1 && (isBroken || hasMore))
}

/** A column of a table. */
interface Column {
  path: JsonPath
  /** What its cells hold, apart from null and empty lists. */
  content: 'nothing' | 'objects' | 'structure' | 'text'
  /** The table of its lists of objects. */
  list: Columns | null
}

/** Columns of a table, in the order in which its records name them. */
interface Columns {
  path: JsonPath
  nested: JsonPath[]
  columns: Column[]
  isTooWide: boolean
  /** Records. */
  count: number
  /** True if all records are lists. */
  areLists: boolean
  /** True if the records are read from an object with the columns. */
  isByColumn: boolean
  /** Adds the columns of a record. */
  add(record: unknown): void
}

/** @param limit number of further nested tables */
function createColumns(
  path: JsonPath,
  flatten: boolean,
  limit: { tables: number },
  nested: JsonPath[] = [],
): Columns {
  const known = new Map<string, Column>()

  function visit(key: string, value: unknown, parent: JsonPath | null, name: string): void {
    let column = known.get(key)
    if (!column) {
      if (known.size === MAX_JSON_COLUMNS) {
        table.isTooWide = true
        return
      }
      column = { path: parent === null ? [] : [...parent, name], content: 'nothing', list: null }
      known.set(key, column)
      table.columns.push(column)
    }
    if (column.content !== 'structure' && value !== null) note(column, value)
  }

  function note(column: Column, value: unknown): void {
    if (typeof value !== 'object') {
      // Beside lists, a text is a JSON string.
      column.content = column.content === 'objects' ? 'structure' : column.content
      if (column.content === 'nothing') column.content = 'text'
      return
    }
    const items = Array.isArray(value) ? value : null
    if (items?.length === 0) return
    const isNested = items?.every(isObject) && nested.length < MAX_JSON_LEVELS
    if (!isNested || column.content === 'text' || (!column.list && limit.tables === 0)) {
      column.content = 'structure'
      return
    }
    column.content = 'objects'
    if (!column.list) limit.tables--
    column.list ??= createColumns(path, flatten, limit, [...nested, column.path])
    for (const item of items ?? []) column.list.add(item)
  }

  const table: Columns = {
    path,
    nested,
    columns: [],
    isTooWide: false,
    count: 0,
    areLists: true,
    isByColumn: false,
    add(record) {
      table.count++
      if (!Array.isArray(record)) table.areLists = false
      visitCells(record, flatten, visit)
    },
  }
  return table
}

/** Puts a value into nested objects without prototypes. */
function setValue(root: Record<string, unknown>, path: JsonPath, value: unknown): void {
  let object = root
  for (const key of path.slice(0, -1)) {
    const inner = (Object.hasOwn(object, key) ? object[key] : undefined) ?? Object.create(null)
    object[key] = inner
    object = inner as Record<string, unknown>
  }
  object[path.at(-1) ?? ''] = value
}
