import type { SQL } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { FilterMoment } from '../../../src/core/filters/index.ts'
import type { View } from '../../../src/core/model.ts'
import type { QueryDialect } from '../../../src/dialects/dialect.ts'
import { cacheTally } from '../../../src/metrics/cache-tally.ts'
import type { TableModel } from '../../schema/index.ts'
import { isSame } from './expression/fragments.ts'
import type { Models, ReadContext } from './expression/scope.ts'

/** Least recently used plans are dropped beyond this. */
const MAX_PLANS = 2_000
/** Longer queries are not cached, so that strangers cannot fill the memory. */
const MAX_KEY_LENGTH = 4_000

interface Entry {
  model: TableModel
  models: Models
  view: View | null
  indexes: PlanContext['indexes']
  dialect: QueryDialect
  plan: unknown
}

/** The table that a query reads, with the tables it reaches, the view it is read through, the reader and the time. */
export interface PlanContext extends ReadContext {
  view: View | null
  /** Limits the records, e.g. to those linked to one record (`links/candidates.ts`); absent: all. */
  narrow?: SQL
  /** Puts the records that meet this condition first. */
  leading?: SQL
  /** Absent: each query is compiled for itself. */
  plans?: PlanCache
}

/**
 * Returns the compiled form of a query, from the cache if possible.
 *
 * @param key identifies the query among those of its table and view; null bypasses the cache
 * @param compile must read the moment from the context it gets, not from the caller's
 */
export type PlanCache = <P>(
  context: PlanContext,
  key: string | null,
  compile: (context: PlanContext) => P,
) => P

/**
 * Caches compiled queries and their parts until the table, a table it reaches, or the view changes. Plans that depend
 * on the current time, the person asking or the names of people are not cached.
 */
export function createPlanCache(): PlanCache {
  const entries = new LRUCache<string, Entry>({ max: MAX_PLANS })
  const tally = cacheTally('plans')

  return (context, key, compile) => {
    const { model, models, view, dialect, indexes } = context
    // A narrowed table shows the links of one record, which are rarely read twice.
    if (key === null || key.length > MAX_KEY_LENGTH || context.narrow || context.leading) {
      return compile(context)
    }
    const fullKey = `${model.table.id}\n${view?.id ?? ''}\n${readerKey(context)}\n${key}`
    const entry = entries.get(fullKey)
    const isCurrent =
      entry?.model === model && entry.view === view && entry.dialect === dialect && entry.indexes === indexes
    if (isCurrent && isSame(entry.models, models)) {
      tally.hits++
      return entry.plan as ReturnType<typeof compile>
    }
    tally.misses++
    const { watched, isCacheable } = watchMoment(context)
    const plan = compile(watched)
    if (isCacheable()) entries.set(fullKey, { model, models, view, dialect, indexes, plan })
    return plan
  }
}

/** Compiles a query, through the context's plan cache if it has one. */
export const compiled: PlanCache = (context, key, compile) =>
  context.plans ? context.plans(context, key, compile) : compile(context)

/** Visitors of a link see less of a table than members do; a search uses the index that there is. */
const readerKey = ({ visitor, moment, searchIndex }: PlanContext): string =>
  `${visitor?.shareId ?? ''} ${moment.timeZone ?? ''} ${searchIndex?.generation ?? ''} ${searchIndex?.search ?? ''} ${searchIndex?.filter ?? ''}`

/** The context with moments that record whether anything but the time zone (part of the key) was read from them. */
function watchMoment(context: PlanContext): { watched: PlanContext; isCacheable(): boolean } {
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
  return { watched, isCacheable: () => !isRead }
}
