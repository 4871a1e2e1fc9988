import { isComputed } from '../../../src/core/fields/field.ts'
import type { Field } from '../../../src/core/model.ts'
import { isForeign } from '../table/index.ts'
import { wholeOf } from './expression/scope.ts'
import { LINKED_FROM, MANY_CELLS, MAX_COUNTED_TABLES, SCAN_FROM } from './limits.ts'
import { countRecords, type PagePlan } from './plan.ts'
import type { Opened, PlanContext } from './plan-context.ts'
import type { RowCounts } from './row-counts.ts'

/** Decides which reads run in a worker thread, by the sizes of the tables that they touch. */
export function createWork(counts: RowCounts) {
  /** How many records the table holds. */
  const total = ({ engine, context, model }: Opened): Promise<number> => {
    const count = () => countAll(engine, { ...context, model: wholeOf(context) })
    // Others write to a connected database as well, and tell nobody here.
    return isForeign(wholeOf(context)) ? count() : counts.get(model.table.id, count)
  }

  async function countAll(engine: Opened['engine'], context: PlanContext): Promise<number> {
    const statement = engine.dialect.render(
      countRecords({ ...context, view: null, narrow: undefined }, {}).query,
    )
    const [row] = await engine.all<{ count: number }>(statement, { scan: true })
    return Number(row?.count ?? 0)
  }

  /** True where the work grows with a table that is large enough for a worker thread to pay. */
  const isScan = async (opened: Opened): Promise<boolean> =>
    isForeign(wholeOf(opened.context)) || !counts.isKept || (await total(opened)) >= SCAN_FROM

  /** True where the cells of these fields may read many linked records, however small the table itself is. */
  async function isWide({ engine, context }: Opened, fields: Field[]): Promise<boolean> {
    if (context.models.size < 2 || !fields.some(isComputed)) return false
    if (isForeign(wholeOf(context)) || !counts.isKept || context.models.size > MAX_COUNTED_TABLES) return true
    const { table } = wholeOf(context)
    for (const model of context.models.values()) {
      if (model.table.id === table.id) continue
      if (isForeign(model)) return true
      const count = () => countAll(engine, { ...context, model })
      if ((await counts.get(model.table.id, count)) >= LINKED_FROM) return true
    }
    return false
  }

  /** True for a page that is to be read in a worker thread. */
  const isHeavy = async (opened: Opened, { query: { fields, limit }, grows }: PagePlan): Promise<boolean> =>
    fields.filter(isComputed).length * limit > MANY_CELLS ||
    (grows && (await isScan(opened))) ||
    (await isWide(opened, fields))

  return { total, isScan, isWide, isHeavy }
}
