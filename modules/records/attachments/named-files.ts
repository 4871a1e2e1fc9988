import { LOG_TEXTS } from '../../../src/db/change-log.ts'
import type { Engine, Statement } from '../../../src/dialects/dialect.ts'

/** Rows of one statement: what they hold is looked through on the thread that answers. */
const ROWS_AT_ONCE = 2_000
/** A file's path as cells, log entries and views name it; keys hold no other characters (see `isKey`). */
const PATH = /download\/[A-Za-z0-9_./-]+/g
/** Types of columns that can hold a path, in the engines that homes lie in. */
const TEXT = /^(text|varchar|character varying|json|longtext)/i

/**
 * The paths of files that a base's home names: in the cells of its tables, those in the trash and columns that a type
 * change has replaced included, and in the change log with the deleted records. Any text that looks like a path counts,
 * so a file is rather kept than lost. Reads in portions, as scans that take turns with others.
 *
 * @param tableNames the tables of the home, in the database's words
 */
export async function namedFiles(engine: Engine, tableNames: readonly string[]): Promise<Set<string>> {
  const named = new Set<string>()
  for (const tableName of tableNames) await readTable(engine, tableName, named)
  await readLog(engine, named)
  return named
}

/** Adds the paths that a text names. */
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
  /** The primary key: each page goes on behind the one before. */
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
