import { createHash } from 'node:crypto'
import { fieldType, isFieldTypeName } from '../../core/fields/index.ts'
import type { HomeClient } from '../sources.ts'
import { type Installation, isHomeClient, type MetadataKinds } from './installation.ts'
import { keyPositions, type StoredRow, type StoredTable, type TableStore } from './store.ts'

/** Tables that every home has from the start. */
const isBuiltIn = (name: string): boolean => name.startsWith('sheaf_')

/** Changes a row of the metadata on its way. */
export type Adapt = (table: StoredTable, row: StoredRow) => StoredRow

/** The tables and rows that were compared, and one checksum over all their cells. */
export interface Tally {
  tables: number
  rows: number
  add(compared: Compared): void
  /** SHA-256 over the canonical texts of all cells, which were compared one by one. */
  checksum(): string
}

/** What comparing a table has found equal. */
interface Compared {
  rows: number
  checksum: string
}

export function createTally(): Tally {
  const hash = createHash('sha256')
  const tally: Tally = {
    tables: 0,
    rows: 0,
    add({ rows, checksum }) {
      tally.tables++
      tally.rows += rows
      hash.update(checksum)
    },
    checksum: () => hash.copy().digest('hex'),
  }
  return tally
}

/**
 * Copies the home of a base to the other installation and compares every cell. A copy that is there already is
 * continued after its last row.
 *
 * @param tally null: cells are not compared, as the source has no order
 * @param tell receives a line of progress
 * @param check called before each write; throws if it may not go on
 * @throws Error if the home is missing, or naming a cell that differs
 */
export async function copyHome(
  base: MovedBase,
  from: Pick<Installation, 'home' | 'label'>,
  to: Pick<Installation, 'home' | 'createHome'>,
  tally: Tally | null,
  tell: (line: string) => void,
  check: () => Promise<unknown> = async () => {},
): Promise<void> {
  await check()
  const home = await from.home(base.id, base.hasTextIds)
  if (home === null && base.tableNames.size > 0) {
    throw new Error(`The data of base “${base.title}” (${base.id}) is missing from ${from.label}`)
  }
  await to.createHome(base.id)
  const copy = await to.home(base.id, base.hasTextIds)
  if (home === null || copy === null) return
  try {
    const tables = (await home.tables()).filter(({ name }) => isBuiltIn(name) || base.tableNames.has(name))
    for (const table of tables) {
      const tellRows = (rows: number) => tell(`  ${base.title}: ${table.name}, ${rows} rows`)
      await copyTable(home, copy, table, { tell: tellRows, check })
    }
    if (tally === null) return
    const before = tally.rows
    for (const table of tables) tally.add(await compare(home, copy, table))
    tell(`${base.title}: ${tables.length} tables with ${tally.rows - before} rows copied and compared`)
  } finally {
    await Promise.all([home.close(), copy.close()])
  }
}

/** Adds the rows that the copy lacks, then its indexes. */
async function copyTable(
  source: TableStore,
  target: TableStore,
  table: StoredTable,
  { tell, check }: { tell: (rows: number) => void; check: () => Promise<unknown> },
): Promise<void> {
  if (!isBuiltIn(table.name)) await target.create(table)
  let [rows, toldAt] = [0, Date.now()]
  for await (const batch of source.rows(table, await target.lastKey(table))) {
    await check()
    await target.insert(table, batch)
    rows += batch.length
    if (Date.now() - toldAt < TELL_EVERY_MS) continue
    toldAt = Date.now()
    tell(rows)
  }
  await target.complete(isBuiltIn(table.name) ? { ...table, indexes: [] } : table)
}

const TELL_EVERY_MS = 2_000

/** Reads both copies of a table in the same order and compares each cell. @throws Error naming a cell that differs */
export async function compare(
  source: TableStore,
  target: TableStore,
  table: StoredTable,
  adapt: Adapt = (_table, row) => row,
): Promise<Compared> {
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

export async function* rowsOf(store: TableStore, table: StoredTable): AsyncGenerator<StoredRow, void> {
  for await (const batch of store.rows(table)) yield* batch
}

/** A base as the metadata describe it. */
export interface MovedBase {
  id: string
  title: string
  home: HomeClient
  /** Tables in its home, including those in the trash. */
  tableNames: Set<string>
  /** True if the ids of a table's records are texts. */
  hasTextIds(tableId: string): boolean
}

/** All bases of an installation, including those in the trash. */
export async function readBases(
  installation: Installation,
  kinds: MetadataKinds | null,
): Promise<MovedBase[]> {
  const metadata = await installation.metadata(kinds)
  try {
    return await readBasesIn(metadata)
  } finally {
    await metadata.close()
  }
}

/** As `readBases`, of open metadata. */
export async function readBasesIn(metadata: TableStore): Promise<MovedBase[]> {
  const tables = await metadata.tables()
  async function read(name: string): Promise<Record<string, string | null>[]> {
    const table = tables.find((each) => each.name === name)
    if (!table) throw new Error(`${metadata.name} has no table ${name}`)
    const rows: Record<string, string | null>[] = []
    for await (const row of rowsOf(metadata, table))
      rows.push(Object.fromEntries(table.columns.map((column, index) => [column.name, row[index] ?? null])))
    return rows
  }
  const keys = new Map<string, string[]>()
  for (const row of await read('fields')) {
    if (row.is_primary_key !== 'true') continue
    keys.set(row.table_id ?? '', [...(keys.get(row.table_id ?? '') ?? []), row.type ?? ''])
  }
  const isNumber = (type: string | undefined) =>
    type !== undefined && isFieldTypeName(type) && ['id', 'integer'].includes(fieldType(type).storage)
  function hasTextIds(tableId: string): boolean {
    const types = keys.get(tableId)
    return types !== undefined && (types.length !== 1 || !isNumber(types[0]))
  }
  const own = (await read('sources')).filter((row) => row.is_own === 'true')
  const tablesOf = Map.groupBy(await read('tables'), (row) => row.source_id)
  const bases = new Map((await read('bases')).map((row) => [row.id, row.title]))
  return own.flatMap(({ id, base_id: baseId, client }): MovedBase[] => {
    const title = bases.get(baseId ?? null)
    if (!baseId || title === undefined || !isHomeClient(client)) return []
    const tableNames = new Set(tablesOf.get(id ?? null)?.map((row) => row.table_name ?? ''))
    return [{ id: baseId, title: title ?? '', home: client, tableNames, hasTextIds }]
  })
}
