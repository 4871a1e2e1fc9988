import { detectEncoding } from '../../../../src/core/csv/detect.ts'
import { FileError } from '../../../../src/core/imports/file-error.ts'
import { type JsonFormat, MAX_JSON_COLUMNS } from '../../../../src/core/imports/format.ts'
import { m } from '../../../../src/messages.gen.ts'
import { isWholeFile, readHead, requireKind } from '../file-head.ts'
import type { FoundTable, ImportReader, OpenTable, RowBatch } from '../reader.ts'
import { cellsOf, type JsonPath, pathKey } from './cells.ts'
import { createJsonScanner, type JsonHandlers } from './scanner.ts'

/** Lists of objects that a file may offer. */
const MAX_TABLES = 200
const NO_PATH: JsonPath = []

/**
 * JSON and NDJSON. Every list of objects is a table; the values around the lists are a table of one row. A file that
 * is one list is one table.
 */
export const jsonReader: ImportReader<JsonFormat> = {
  kind: 'json',
  async tables(path, { table, flatten = true, decimal = '.' }) {
    await requireKind(path, 'json')
    const tables = new Map<string, Columns>()
    const asides = createColumns(NO_PATH)
    let current = createColumns(NO_PATH)
    const outermost: Record<string, unknown> = {}
    const handlers: JsonHandlers = {
      openTable(at) {
        const known = tables.get(pathKey(at))
        current = known ?? createColumns(at)
        if (!known && tables.size === MAX_TABLES)
          throw new FileError(m.imports_error_json_tables({ max: MAX_TABLES }))
        tables.set(pathKey(at), current)
        return true
      },
      record(value) {
        // Records without a list around them: one per line, or one value for the file.
        if (tables.size === 0) tables.set('', current)
        current.count++
        for (const { path: at } of cellsOf(value, flatten)) current.add(at)
      },
      aside: (at, value) => setValue(outermost, at, value),
    }
    for await (const _ of scan(path, handlers));
    for (const { path: at } of cellsOf(outermost, flatten)) asides.add(at)
    const found = [...tables.values()].filter(({ count, columns }) => count > 0 && columns.length > 0)
    const isMain = found.length === 0
    if (asides.columns.length > 0 && !tables.has('')) found.push({ ...asides, count: 1 })
    return found
      .filter((each) => table === undefined || pathKey(each.path) === pathKey(table))
      .map(({ path: at, columns, isTooWide }): FoundTable<JsonFormat> => {
        const isAside = at.length === 0 && !tables.has('')
        const isTwice = found.filter((each) => each.path.at(-1) === at.at(-1)).length > 1
        const name = at.slice(isTwice ? -2 : -1).join(' ')
        const problem = isTooWide ? m.imports_error_columns({ max: MAX_JSON_COLUMNS }) : null
        const format = { kind: 'json' as const, table: at, flatten, columns, decimal }
        return { name, isHidden: isAside && !isMain, format: isTooWide ? null : format, problem }
      })
  },
  async open(path, format): Promise<OpenTable> {
    await requireKind(path, 'json')
    return {
      titles: format.columns.map((at) => (at.length === 0 ? m.imports_json_value() : at.join('.'))),
      encoding: await encodingOf(path),
      isDamaged: false,
      hasFixedWidth: true,
      size: Bun.file(path).size,
      rows: () => readRows(path, format),
    }
  },
}

async function* readRows(path: string, { table, flatten, columns }: JsonFormat): AsyncGenerator<RowBatch> {
  const positions = new Map(columns.map((at, index) => [pathKey(at), index]))
  const outermost: Record<string, unknown> = {}
  let rows: string[][] = []
  let count = 0
  let isList = false
  function add(value: unknown): void {
    const cells: string[] = new Array(columns.length).fill('')
    for (const { path: at, text } of cellsOf(value, flatten)) {
      const index = positions.get(pathKey(at))
      if (index !== undefined) cells[index] = text
    }
    rows.push(cells)
    count++
  }
  const handlers: JsonHandlers = {
    openTable(at) {
      isList = true
      return pathKey(at) === pathKey(table)
    },
    record: add,
    aside: (at, value) => setValue(outermost, at, value),
  }
  for await (const { done } of scan(path, handlers)) {
    if (rows.length === 0) continue
    yield { rows, firstRow: count - rows.length + 1, problems: [], done }
    rows = []
  }
  if (table.length > 0 || count > 0 || (isList && Object.keys(outermost).length === 0)) return
  add(outermost)
  yield { rows, firstRow: 1, problems: [], done: Bun.file(path).size }
}

/** Reads a file through a scanner; yields after each chunk. */
async function* scan(path: string, handlers: JsonHandlers): AsyncGenerator<{ done: number }> {
  const decoder = new TextDecoder(await encodingOf(path))
  const scanner = createJsonScanner(await isSequence(path), handlers)
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

/** True for a file with a record per line: a second value follows the first. */
async function isSequence(path: string): Promise<boolean> {
  const text = new TextDecoder(await encodingOf(path)).decode(await readHead(path))
  let values = 0
  let isBroken = false
  const scanner = createJsonScanner(true, {
    openTable: () => false,
    record: () => {
      values++
    },
    aside: () => {},
  })
  try {
    scanner.push(text)
    if (isWholeFile(path)) scanner.end()
  } catch (error) {
    // Reported when the whole file is read.
    if (!(error instanceof FileError)) throw error
    isBroken = true
  }
  return values > 1 || (values === 1 && isBroken)
}

/** Columns of a table, in the order in which its records name them. */
interface Columns {
  path: JsonPath
  columns: JsonPath[]
  isTooWide: boolean
  /** Records. */
  count: number
  add(path: JsonPath): void
}

function createColumns(path: JsonPath): Columns {
  const known = new Set<string>()
  const table: Columns = {
    path,
    columns: [],
    isTooWide: false,
    count: 0,
    add(at) {
      const key = pathKey(at)
      if (known.has(key)) return
      if (known.size === MAX_JSON_COLUMNS) table.isTooWide = true
      else {
        known.add(key)
        table.columns.push(at)
      }
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
