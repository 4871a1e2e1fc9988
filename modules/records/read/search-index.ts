import { withoutCaller } from '../../../src/caller.ts'
import type {
  Engine,
  IndexedTable,
  SearchIndexes,
  SearchIndexVersion,
} from '../../../src/dialects/dialect.ts'
import type { Log } from '../../../src/log.ts'
import type { TableModel } from '../../schema/index.ts'
import { columnName, isForeign, isKeyless } from '../table/index.ts'
import { indexedText, searchable } from './expression/conditions.ts'
import { type TableSearchIndex, wholeOf } from './expression/scope.ts'
import type { Opened } from './plan.ts'

/** Tables with fewer records are searched fast enough without an index. */
const MIN_RECORDS = 20_000
/** With more candidates, a page in the table’s order, or a read of all matches, is faster without the index. */
const MAX_PAGE_CANDIDATES = 20_000
const MAX_CANDIDATES = 200_000
/** Records indexed in one transaction, during which other writers wait. */
const FILL_ROWS = 1_000
/** From this many changed records on they are indexed; fewer are searched one by one. */
const REFRESH_FROM = 500
/** Interval at which a searched index looks for changed records. */
const REFRESH_EVERY_MS = 2_000

/** An index in use. */
interface Loaded {
  table: IndexedTable
  version: SearchIndexVersion
  index: TableSearchIndex
}

/**
 * Search indexes of large tables in bases' files. The first search of a table builds its index in the background, and
 * searches without it until it is complete. A field that the index does not hold is searched as without an index, and the
 * next search builds a new index that holds it.
 */
export function createSearchIndexes(log: Pick<Log, 'error'>) {
  /** By version of the table, because a change of its fields may replace columns. */
  const loaded = new WeakMap<TableModel, Promise<Loaded | null>>()
  /** Tables whose index is being built or refreshed, by id. */
  const busy = new Set<string>()
  const refreshedAt = new Map<string, number>()
  let isClosed = false
  /** Builds run one after the other. */
  let last: Promise<void> = Promise.resolve()

  /** The complete index of a table, or undefined. */
  async function of(engine: Engine, model: TableModel): Promise<TableSearchIndex | undefined> {
    return (await load(engine, model))?.index
  }

  function load(engine: Engine, model: TableModel): Promise<Loaded | null> {
    const known = loaded.get(model)
    if (known) return known
    const fresh = read(engine, model)
    loaded.set(model, fresh)
    fresh.catch(() => loaded.delete(model))
    return fresh
  }

  async function read(engine: Engine, model: TableModel): Promise<Loaded | null> {
    const indexes = engine.dialect.searchIndexes
    const table = tableOf(model)
    if (!indexes || !table || !(await hasList(engine, indexes))) return null
    const version = (await versionsOf(engine, indexes, table)).findLast(({ isComplete }) => isComplete)
    if (!version) return null
    const index: TableSearchIndex = {
      generation: version.generation,
      columns: new Set(version.columns),
      candidates(text) {
        const match = indexes.match(text)
        return match === null ? null : indexes.candidates(table, version.generation, match)
      },
      countCandidates(text, most) {
        const match = indexes.match(text)
        return match === null ? null : indexes.countCandidates(table, version.generation, match, most)
      },
    }
    return { table, version, index }
  }

  /**
   * The opened table, without its index if more candidates have to be checked than are worth it: a page of a frequent
   * text is read sooner in the order of the table, where it ends after the first matches.
   */
  async function fitting(opened: Opened, text: string, read: 'page' | 'whole'): Promise<Opened> {
    const { engine, context } = opened
    const most = read === 'page' ? MAX_PAGE_CANDIDATES : MAX_CANDIDATES
    const statement = context.searchIndex?.countCandidates(text, most + 1)
    if (!statement) return opened
    const [row] = await engine.all<{ n: number }>(statement, { scan: true })
    if ((row?.n ?? 0) <= most) return opened
    return { ...opened, context: { ...context, searchIndex: undefined } }
  }

  /** Builds or refreshes the index of a table that is being searched, if it is large enough, without waiting. */
  function want(opened: Opened, countRecords: () => Promise<number>): void {
    const { engine } = opened
    const model = wholeOf(opened.context)
    const indexes = engine.dialect.searchIndexes
    const { id } = model.table
    if (!indexes || isClosed || busy.has(id) || !tableOf(model)) return
    const isFresh = performance.now() - (refreshedAt.get(id) ?? Number.NEGATIVE_INFINITY) < REFRESH_EVERY_MS
    if (isFresh) return
    busy.add(id)
    const work = async () => {
      try {
        const current = await load(engine, model)
        const columns = columnsOf({ ...opened, model, context: { ...opened.context, model, view: null } })
        if (current && isSameSet(current.index.columns, columns)) await refresh(engine, indexes, current)
        else if (columns.length > 0 && (await countRecords()) >= MIN_RECORDS) {
          await build(engine, indexes, model, columns)
          loaded.delete(model)
        }
      } catch (error) {
        // The base may have been deleted, or the server is stopping.
        if (!isClosed) log.error('search index not built', error, { table: id })
      } finally {
        busy.delete(id)
        refreshedAt.set(id, performance.now())
      }
    }
    last = withoutCaller(() => last.then(work))
  }

  async function build(engine: Engine, indexes: SearchIndexes, model: TableModel, columns: string[]) {
    const table = tableOf(model)
    if (!table) return
    await engine.writeScript([indexes.prepare])
    const old = await versionsOf(engine, indexes, table)
    const all = await engine.all<{ name: string; generation: number; isLost: number }>(indexes.listAll)
    const lost = all.filter(({ isLost }) => isLost === 1)
    const inUse = old.findLast(({ isComplete }) => isComplete)
    const version = { generation: (old.at(-1)?.generation ?? 0) + 1, columns, isComplete: false }
    await engine.writeScript([
      ...lost.flatMap(({ name, generation }) => indexes.drop({ name, key: '' }, generation)),
      ...old.filter((each) => each !== inUse).flatMap(({ generation }) => indexes.drop(table, generation)),
      ...indexes.create(table, version),
    ])
    for (let after = 0; !isClosed; ) {
      const quoted = { name: engine.dialect.quote(table.name), key: engine.dialect.quote(table.key) }
      const [row] = await engine.all<{ upTo: number | null }>({
        sql: `select max(k) as "upTo" from (select ${quoted.key} as k from ${quoted.name} where ${quoted.key} > ?
          order by ${quoted.key} limit ${FILL_ROWS}) as page`,
        params: [after],
      })
      const upTo = row?.upTo ?? null
      if (upTo === null) {
        await engine.writeScript([indexes.complete(table, version.generation)])
        return
      }
      await engine.writeScript([indexes.fill(table, version, after, upTo)])
      after = upTo
    }
  }

  async function refresh(engine: Engine, indexes: SearchIndexes, { table, version }: Loaded): Promise<void> {
    const { generation } = version
    // Not dropped with the completion of this one, for searches that had begun.
    for (const old of await versionsOf(engine, indexes, table)) {
      if (old.generation < generation) await engine.writeScript(indexes.drop(table, old.generation))
    }
    while (!isClosed) {
      const [row] = await engine.all<{ waiting: number }>(
        indexes.countChanged(table, generation, REFRESH_FROM),
      )
      if ((row?.waiting ?? 0) < REFRESH_FROM) return
      await engine.writeScript(indexes.refresh(table, version, FILL_ROWS))
    }
  }

  return {
    of,
    fitting,
    want,
    /** Stops after the transaction that is running. */
    async close(): Promise<void> {
      isClosed = true
      await last
    },
  }
}

export type TableSearchIndexes = ReturnType<typeof createSearchIndexes>

/** The table with an integer key of its own, or null. */
function tableOf(model: TableModel): IndexedTable | null {
  if (isForeign(model) || isKeyless(model)) return null
  return { name: model.table.tableName, key: columnName(model.primaryKey) }
}

async function hasList(engine: Engine, indexes: SearchIndexes): Promise<boolean> {
  const [row] = await engine.all<{ n: number }>(indexes.hasList)
  return Number(row?.n ?? 0) > 0
}

async function versionsOf(
  engine: Engine,
  indexes: SearchIndexes,
  table: IndexedTable,
): Promise<SearchIndexVersion[]> {
  const rows = await engine.all<{ generation: number; columns: string; isComplete: number }>(
    indexes.list(table),
  )
  return rows.map(({ generation, columns, isComplete }) => ({
    generation,
    columns: JSON.parse(columns) as string[],
    isComplete: isComplete === 1,
  }))
}

const isSameSet = (left: ReadonlySet<string>, right: readonly string[]): boolean =>
  left.size === new Set(right).size && right.every((each) => left.has(each))

/** The SQL texts that an index of the table holds. */
const columnsOf = ({ context }: Opened): string[] =>
  searchable(context).flatMap((field) => indexedText(context, field) ?? [])
