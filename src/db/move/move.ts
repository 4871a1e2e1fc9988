import { createHash } from 'node:crypto'
import { fieldType, isFieldTypeName } from '../../core/fields/index.ts'
import { createId } from '../../core/ids.ts'
import type { Installation, MetadataKinds, MoveState } from './installation.ts'
import { keyPositions, type StoredRow, type StoredTable, type TableStore } from './store.ts'

/** What was moved. */
export interface MoveSummary {
  bases: number
  tables: number
  rows: number
  /** SHA-256 over the canonical texts of all cells, which were compared one by one. */
  checksum: string
}

/** Tables that every home has from the start. */
const isBuiltIn = (name: string): boolean => name.startsWith('sheaf_')

/** Changes a row of the metadata on its way. */
type Adapt = (table: StoredTable, row: StoredRow) => StoredRow

/**
 * Copies an installation to an empty one of another engine and compares every cell. The source is unusable from the
 * start, so that nothing changes meanwhile; the target becomes usable in one transaction at the end. Interrupted at
 * any point, the same call goes on after the last row that was stored.
 *
 * @param tell receives a line of progress
 * @returns null if an earlier call had moved everything, and only the source was not marked yet
 * @throws Error that says why it cannot begin, or which cell differs
 */
export async function move(
  from: Installation,
  to: Installation,
  tell: (line: string) => void,
): Promise<MoveSummary | null> {
  const finished = await begin(from, to)
  const markMoved = () => from.setState({ ...finished, role: 'source', peer: to.label })
  const total: MoveSummary = { bases: 0, tables: 0, rows: 0, checksum: '' }
  // Interrupted after its last step; servers may use the target since.
  if ((await to.state())?.state === 'moved') {
    await markMoved()
    return null
  }
  const kinds = (await from.kinds()) ?? (await to.kinds())
  const source = await from.metadata(kinds)
  const checksum = createHash('sha256')
  const count = (rows: number, sum: string) => {
    total.tables++
    total.rows += rows
    checksum.update(sum)
  }
  try {
    const { bases, hasTextIds } = await readBases(source)
    for (const base of bases) {
      total.bases++
      const home = await from.home(base.id, hasTextIds)
      if (home === null && base.tableNames.size > 0) {
        throw new Error(`The data of base “${base.title}” (${base.id}) is missing from ${from.label}`)
      }
      await to.createHome(base.id)
      const copy = await to.home(base.id, hasTextIds)
      if (home === null || copy === null) continue
      try {
        const tables = (await home.tables()).filter(
          ({ name }) => isBuiltIn(name) || base.tableNames.has(name),
        )
        for (const table of tables)
          await copyTable(home, copy, table, (rows) => tell(`  ${base.title}: ${table.name}, ${rows} rows`))
        let rows = 0
        for (const table of tables) {
          const compared = await compare(home, copy, table)
          count(compared.rows, compared.checksum)
          rows += compared.rows
        }
        tell(`${base.title}: ${tables.length} tables with ${rows} rows copied and compared`)
      } finally {
        await Promise.all([home.close(), copy.close()])
      }
    }
    await moveMetadata(source, to, kinds, finished, count)
  } finally {
    await source.close()
  }
  await markMoved()
  return { ...total, checksum: checksum.digest('hex') }
}

/**
 * Checks that both sides may begin, or go on with, this move, and marks them.
 *
 * @returns the state of the target after the move
 */
async function begin(from: Installation, to: Installation): Promise<MoveState> {
  const [ours, theirs] = [await from.state(), await to.state()]
  if (ours?.role === 'source' && ours.state === 'moved')
    throw new Error(`${capitalized(from.label)} was moved to ${ours.peer} already (${ours.at})`)
  if (ours?.role === 'target' && ours.state === 'moving')
    throw new Error(`${capitalized(from.label)} is the target of an unfinished move from ${ours.peer}`)
  if (theirs?.role === 'source')
    throw new Error(
      `${capitalized(to.label)} holds the data that was moved to ${theirs.peer} (${theirs.at}): ` +
        'remove it first with “sheaf move --remove-source”',
    )
  const isResumed = ours?.role === 'source'
  if (theirs && !(isResumed && theirs.id === ours.id))
    throw new Error(`${capitalized(to.label)} is the target of another move, from ${theirs.peer}`)
  if (!theirs && !(await to.isEmpty()))
    throw new Error(`${capitalized(to.label)} has data already: move into an empty place`)
  if (!isResumed && (await from.isEmpty())) throw new Error(`${capitalized(from.label)} has no data to move`)

  const id = isResumed ? ours.id : createId('job')
  const at = new Date().toISOString()
  const finished: MoveState = { id, role: 'target', state: 'moved', peer: from.label, at }
  if (!isResumed) await from.setState({ id, role: 'source', state: 'moving', peer: to.label, at })
  if (!theirs) await to.setState({ ...finished, state: 'moving' })
  return finished
}

/**
 * Cancels an unfinished move: removes what was copied, and makes the source usable again.
 *
 * @throws Error if there is none
 */
export async function cancelMove(from: Installation, to: Installation): Promise<void> {
  const [ours, theirs] = [await from.state(), await to.state()]
  if (
    ours?.role !== 'source' ||
    ours.state !== 'moving' ||
    (theirs?.id === ours.id && theirs.state === 'moved')
  )
    throw new Error('There is no unfinished move to cancel')
  if (theirs?.id === ours.id) await to.remove(await baseIdsOf(from, to))
  await from.setState(null)
}

/** Permanently removes the source of a completed move. @throws Error if there is none */
export async function removeSource(from: Installation, to: Installation): Promise<void> {
  const [ours, theirs] = [await from.state(), await to.state()]
  if (ours?.role !== 'source' || ours.state !== 'moved' || theirs?.id !== ours.id || theirs.state !== 'moved')
    throw new Error(`${capitalized(from.label)} is not the source of a completed move to ${to.label}`)
  await from.remove(await baseIdsOf(from, to))
}

async function baseIdsOf(from: Installation, to: Installation): Promise<string[]> {
  const store = await from.metadata((await from.kinds()) ?? (await to.kinds()))
  try {
    return (await readBases(store)).bases.map(({ id }) => id)
  } finally {
    await store.close()
  }
}

/** Adds the rows that the copy lacks, then its indexes. */
async function copyTable(
  source: TableStore,
  target: TableStore,
  table: StoredTable,
  tell: (rows: number) => void,
): Promise<void> {
  if (!isBuiltIn(table.name)) await target.create(table)
  let [rows, toldAt] = [0, Date.now()]
  for await (const batch of source.rows(table, await target.lastKey(table))) {
    await target.insert(table, batch)
    rows += batch.length
    if (Date.now() - toldAt < TELL_EVERY_MS) continue
    toldAt = Date.now()
    tell(rows)
  }
  await target.complete(isBuiltIn(table.name) ? { ...table, indexes: [] } : table)
}

const TELL_EVERY_MS = 2_000

/** All metadata, in one transaction that is only committed if every cell is the same. */
async function moveMetadata(
  source: TableStore,
  to: Installation,
  kinds: MetadataKinds | null,
  state: MoveState,
  count: (rows: number, checksum: string) => void,
): Promise<void> {
  const adapt = toClient(to.client)
  await to.writeMetadata(kinds, state, async (target) => {
    const known = await target.tables()
    const found = new Map((await source.tables()).map((table) => [table.name, table]))
    // In the order of the target, whose foreign keys are checked at once.
    for (const { name } of known) {
      const table = found.get(name)
      if (!table) continue
      for await (const batch of source.rows(table))
        await target.insert(
          table,
          batch.map((row) => adapt(table, row)),
        )
      await target.complete({ ...table, indexes: [] })
      const compared = await compare(source, target, table, adapt)
      count(compared.rows, compared.checksum)
    }
  })
}

/** A base's own source names the engine that its home is on. */
const toClient =
  (client: string): Adapt =>
  (table, row) => {
    if (table.name !== 'sources') return row
    const at = (name: string) => table.columns.findIndex((column) => column.name === name)
    return row[at('is_own')] === 'true' ? row.with(at('client'), client) : row
  }

/** Reads both copies of a table in the same order and compares each cell. @throws Error naming a cell that differs */
async function compare(
  source: TableStore,
  target: TableStore,
  table: StoredTable,
  adapt: Adapt = (_table, row) => row,
): Promise<{ rows: number; checksum: string }> {
  const checksum = createHash('sha256').update(
    JSON.stringify([table.name, table.columns.map(({ name }) => name)]),
  )
  const [ours, theirs] = [rowsOf(source, table), rowsOf(target, table)]
  for (let rows = 0; ; rows++) {
    const [expected, found] = [await ours.next(), await theirs.next()]
    if (expected.done && found.done) return { rows, checksum: checksum.digest('hex') }
    if (expected.done || found.done) {
      const [more, less] = expected.done ? [target, source] : [source, target]
      throw new Error(`${table.name} has more than ${rows} rows in ${more.name}, but not in ${less.name}`)
    }
    const row = adapt(table, expected.value)
    const at = row.findIndex((text, index) => text !== found.value[index])
    if (at >= 0) {
      const key = keyPositions(table).map((position) => row[position])
      throw new Error(
        `${table.name}.${table.columns[at]?.name} of row ${key.join(', ')} is ${JSON.stringify(row[at])} in ` +
          `${source.name}, but ${JSON.stringify(found.value[at])} in ${target.name}`,
      )
    }
    checksum.update(JSON.stringify(row))
  }
}

async function* rowsOf(store: TableStore, table: StoredTable): AsyncGenerator<StoredRow, void> {
  for await (const batch of store.rows(table)) yield* batch
}

interface MovedBase {
  id: string
  title: string
  /** Tables in its home, including those in the trash. */
  tableNames: Set<string>
}

/** The bases with their tables, and whether records of a table have texts as ids. */
async function readBases(
  metadata: TableStore,
): Promise<{ bases: MovedBase[]; hasTextIds: (tableId: string) => boolean }> {
  const tables = await metadata.tables()
  async function read(name: string): Promise<Record<string, string | null>[]> {
    const table = tables.find((each) => each.name === name)
    if (!table) throw new Error(`${metadata.name} has no table ${name}`)
    const rows: Record<string, string | null>[] = []
    for await (const row of rowsOf(metadata, table))
      rows.push(Object.fromEntries(table.columns.map((column, index) => [column.name, row[index] ?? null])))
    return rows
  }
  const sources = await read('sources')
  const own = new Map(sources.filter((row) => row.is_own === 'true').map((row) => [row.id, row.base_id]))
  const bases = (await read('bases')).map(
    ({ id, title }): MovedBase => ({ id: id ?? '', title: title ?? '', tableNames: new Set() }),
  )
  const byId = new Map(bases.map((base) => [base.id, base]))
  for (const row of await read('tables')) {
    const baseId = own.get(row.source_id ?? '')
    if (baseId) byId.get(baseId)?.tableNames.add(row.table_name ?? '')
  }
  const keys = new Map<string, string[]>()
  for (const row of await read('fields')) {
    if (row.is_primary_key !== 'true') continue
    keys.set(row.table_id ?? '', [...(keys.get(row.table_id ?? '') ?? []), row.type ?? ''])
  }
  const isNumber = (type: string | undefined) =>
    type !== undefined && isFieldTypeName(type) && ['id', 'integer'].includes(fieldType(type).storage)
  return {
    bases,
    hasTextIds: (tableId) => {
      const types = keys.get(tableId)
      return types !== undefined && (types.length !== 1 || !isNumber(types[0]))
    },
  }
}

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
