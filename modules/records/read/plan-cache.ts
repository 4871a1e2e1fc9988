import { LRUCache } from 'lru-cache'
import type { FilterMoment } from '../../../src/core/filters/index.ts'
import type { View } from '../../../src/core/model.ts'
import type { QueryDialect } from '../../../src/dialects/dialect.ts'
import type { TableModel } from '../../schema/index.ts'
import { isSame } from './expression/fragments.ts'
import type { Models } from './expression/scope.ts'
import type { PlanContext } from './plan.ts'

/** Plans that are kept in memory, the least used ones dropped first. */
const MAX_PLANS = 1_000
/** Longer queries are planned anew each time, so that what strangers send cannot fill the memory. */
const MAX_KEY_LENGTH = 4_000

interface Kept {
  model: TableModel
  models: Models
  view: View | null
  dialect: QueryDialect
  plan: unknown
}

/**
 * Keeps what queries were compiled to, filters included, for as long as the table, the tables that it reaches, and the
 * view stay at the same version. Not kept: what depends on the present, on who asks, or on the names of people.
 */
export function createPlanCache() {
  const kept = new LRUCache<string, Kept>({ max: MAX_PLANS })

  /**
   * The plan of a query from memory, else a fresh one.
   *
   * @param text tells the query from all others of its table and view; null: a query that is not kept
   * @param compile must read whatever depends on the moment from the context that it is given
   */
  return function planOf<P>(
    context: PlanContext,
    text: string | null,
    compile: (context: PlanContext) => P,
  ): P {
    const { model, models, view, dialect } = context
    // A narrowed table shows the links of one record: nobody asks for the same again soon.
    if (text === null || text.length > MAX_KEY_LENGTH || context.narrow || context.leading) {
      return compile(context)
    }
    const key = `${model.table.id}\n${view?.id ?? ''}\n${readerOf(context)}\n${text}`
    const known = kept.get(key)
    const isCurrent = known?.model === model && known.view === view && known.dialect === dialect
    if (isCurrent && isSame(known.models, models)) return known.plan as P
    const { watched, isLasting } = watchMoment(context)
    const plan = compile(watched)
    if (isLasting()) kept.set(key, { model, models, view, dialect, plan })
    return plan
  }
}

/** Visitors are told less of the very same table than its members are. */
const readerOf = ({ visitor, moment }: PlanContext): string =>
  `${visitor?.shareId ?? ''} ${moment.timeZone ?? ''}`

/** The context with moments that note whether anything but the time zone, a part of the key, was read of them. */
function watchMoment(context: PlanContext): { watched: PlanContext; isLasting(): boolean } {
  let isRead = false
  const watch = (moment: FilterMoment): FilterMoment => ({
    timeZone: moment.timeZone,
    get now() {
      isRead = true
      return moment.now
    },
    get actorId() {
      isRead = true
      return moment.actorId
    },
    get people() {
      isRead = true
      return moment.people
    },
  })
  const { moment, ownMoment } = context
  const watched = { ...context, moment: watch(moment), ownMoment: ownMoment && watch(ownMoment) }
  return { watched, isLasting: () => !isRead }
}
