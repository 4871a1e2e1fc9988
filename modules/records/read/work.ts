import type { TableModel } from '../../schema/index.ts'
import { isForeign } from '../table/index.ts'
import { wholeOf } from './expression/scope.ts'
import { countRecords, type Opened, type PagePlan, SCAN_FROM } from './plan.ts'
import type { PlanContext } from './plan-cache.ts'
import type { RowCounts } from './row-counts.ts'

/**
 * From this many characters of SQL on, evaluated for all records together, a read of a smaller table runs in a worker
 * thread as well. In SQLite these are some 6,000 searches in a text, which take a millisecond for short texts and 100 for
 * long ones: one in each of 5,000 records stays on the fast path. The SQL of a filter is as long as its work: each
 * condition, formula and rollup adds to it, and a list of values adds little.
 */
const MANY_EVALUATED = 3_000_000

/** If a linked table has this many records, one cell may read all of them: such pages run in a worker. */
const LINKED_FROM = 20_000

/** With more linked tables, the sizes are not checked and the page runs in a worker. */
const MAX_COUNTED_TABLES = 50

/** From this many computed cells on, a page is read in a worker thread: about two milliseconds of work. */
const MANY_CELLS = 2_000

/** Decides which reads run in a worker thread, by the size of the tables involved. */
export function createWork(counts: RowCounts) {
  /** The number of records of the table. */
  const total = ({ engine, context }: Opened): Promise<number> =>
    countAll(engine, { ...context, model: wholeOf(context) })

  function countAll(engine: Opened['engine'], context: PlanContext): Promise<number> {
    const { query } = countRecords({ ...context, view: null, narrow: undefined }, {})
    return counts.get(engine, context.model, query)
  }

  /**
   * True if a read that grows with the table should run in a worker.
   *
   * @param perRecord SQL that it evaluates for each record, if it filters or sorts
   */
  async function isScan(opened: Opened, perRecord = ''): Promise<boolean> {
    const { context } = opened
    if (isForeign(wholeOf(context)) || counts.isQueried) return true
    const records = await total(opened)
    if (records >= SCAN_FROM || records * perRecord.length >= MANY_EVALUATED) return true
    const linked = linkedTables(context).filter(({ table }) =>
      perRecord.includes(context.dialect.quote(table.tableName)),
    )
    return hasLarge(opened, linked)
  }

  /** True if computed cells may read many linked records, even in a small table. */
  async function isWide(opened: Opened, hasComputed: boolean): Promise<boolean> {
    const { context } = opened
    if (context.models.size < 2 || !hasComputed) return false
    if (isForeign(wholeOf(context)) || counts.isQueried) return true
    return hasLarge(opened, linkedTables(context))
  }

  const linkedTables = (context: PlanContext): TableModel[] =>
    [...context.models.values()].filter(({ table }) => table.id !== wholeOf(context).table.id)

  async function hasLarge({ engine, context }: Opened, linked: TableModel[]): Promise<boolean> {
    if (linked.length > MAX_COUNTED_TABLES) return true
    for (const model of linked) {
      if (isForeign(model) || (await countAll(engine, { ...context, model })) >= LINKED_FROM) return true
    }
    return false
  }

  /** True for a page to be read in a worker thread. */
  const isHeavy = async (
    opened: Opened,
    { query, grows, perRecord, computedFields }: Omit<PagePlan, 'count'>,
  ): Promise<boolean> =>
    computedFields * query.limit > MANY_CELLS ||
    (grows && (await isScan(opened, perRecord))) ||
    (await isWide(opened, computedFields > 0))

  return { total, isScan, isWide, isHeavy }
}
