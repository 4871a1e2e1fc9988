import type { TablePerformance } from '../../src/core/performance.ts'
import { isAutomaticIndex } from '../../src/dialects/automatic-index.ts'
import type { Kernel } from '../../src/kernel.ts'
import type { TestTable } from '../records/support.ts'
import type { TrpcClient } from '../support/client.ts'
import { until } from '../support/until.ts'

/** Records in a table large enough for automatic indexes. */
export const RECORDS = 6_000

type Filled = Pick<TestTable, 'schema' | 'field'>

/** Fills a table with records of the fields Name (40 texts) and Num (distinct numbers), past the write door. */
export async function fillTable(
  kernel: Pick<Kernel, 'sources' | 'events'>,
  { schema, field }: Filled,
  records = RECORDS,
): Promise<void> {
  const { id: tableId, baseId, tableName } = schema.table
  const engine = await kernel.sources.engine(baseId)
  const { quote } = engine.dialect
  const [text, num] = ['Name', 'Num'].map((title) => quote(field(title).columnName))
  const isFile = engine.location.client === 'sqlite3'
  const numbers = isFile
    ? `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${records}) `
    : ''
  const from = isFile ? 'n' : `generate_series(1, ${records}) as n(i)`
  await engine.writeScript([
    {
      sql: `insert into ${quote(tableName)} (${quote('nc_order')}, ${text}, ${num})
        ${numbers}select i, 'name ' || (i % 40), (i * 7919) % ${records} from ${from}`,
      params: [],
    },
  ])
  kernel.events.emit('records.changed', {
    id: 1,
    baseId,
    actorId: null,
    at: '',
    records: [],
    truncated: true,
    tableIds: [tableId],
  })
}

/** How a table is read, asked again where its records were not counted within half a second, as on a busy machine. */
export async function performanceOf(
  trpc: Pick<TrpcClient, 'indexes'>,
  tableId: string,
): Promise<TablePerformance> {
  let found: TablePerformance | undefined
  await until(async () => {
    found = await trpc.indexes.performance.query({ tableId })
    return found.records !== null && found.views.every(({ matches }) => matches !== null)
  }, 'The number of records of all views')
  return found!
}

/** Names of the indexes for reads that exist in the database of a table. */
export async function indexNames(
  kernel: Pick<Kernel, 'sources'>,
  { schema }: Pick<TestTable, 'schema'>,
): Promise<string[]> {
  const engine = await kernel.sources.engine(schema.table.baseId)
  const found = await engine.all<{ name: string }>(engine.dialect.listIndexes(schema.table.tableName))
  return found.map(({ name }) => name).filter(isAutomaticIndex)
}
