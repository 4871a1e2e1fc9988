import { sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { Actor } from '../../../src/core/actor.ts'
import { allOf, type Filter } from '../../../src/core/filters/index.ts'
import type { View } from '../../../src/core/model.ts'
import type { Statement } from '../../../src/dialects/dialect.ts'
import type { AuthService } from '../../auth/index.ts'
import type { TableModel } from '../../schema/index.ts'
import { pageQuery } from '../plan.ts'
import type { Opened } from '../read.ts'
import type { RecordsService } from '../service.ts'
import { invalidOffset, type ListParameters, readListParameters } from './parameters.ts'
import { type PageInfo, pageInfo, presenterOf, titledColumns, visibleFields } from './present.ts'

type Row = Record<string, unknown>

/** A planned list, kept for the next call with the same query string on the same version of the table. */
interface Plan {
  model: TableModel
  view: View | null
  parameters: ListParameters
  statement: Statement
  /** Turns rows into answers, where they are not yet. */
  present: ReturnType<typeof presenterOf>
  isFiltered: boolean
  /** True where its cost grows with the table. */
  grows: boolean
}

/** Query strings whose plans are kept. */
const KEPT_PLANS = 1_000
/** Longer ones are planned anew each time: what strangers send must not fill the memory. */
const KEPT_LENGTH = 1_000

export interface RestList {
  list: Row[]
  pageInfo: PageInfo
}

/** Lists of records as REST clients ask for them: rows keyed by title, straight from the engine. */
export function createRestLists(records: RecordsService, auth: Pick<AuthService, 'people'>) {
  const plans = new LRUCache<string, Plan>({ max: KEPT_PLANS })

  /**
   * @param search the raw query string
   * @param narrow a filter of the server's own, beside that of the query string
   * @throws TABLE_NOT_FOUND, VIEW_NOT_FOUND, FIELD_NOT_FOUND, INVALID_OFFSET_VALUE, 422 for a bad `where`
   */
  async function list(
    actor: Actor,
    tableId: string,
    search: string,
    viewId?: string,
    narrow: Filter | null = null,
  ): Promise<RestList> {
    const opened = await records.open(actor, tableId, viewId)
    const plan = narrow ? makePlan(opened, new URLSearchParams(search), narrow) : planOf(opened, search)
    const { limit, offset, filter } = plan.parameters
    const scan = plan.grows && (await records.isScan(opened))
    const counting = plan.isFiltered ? records.countOpened(opened, { filter }) : records.total(opened)
    const [totalRows, rows] = await Promise.all([counting, opened.engine.all<Row>(plan.statement, { scan })])
    if (offset > 0 && offset >= totalRows) throw invalidOffset(offset)
    await plan.present?.(rows)
    return { list: rows, pageInfo: pageInfo(totalRows, limit, offset) }
  }

  function planOf(opened: Opened, search: string): Plan {
    const { model, context } = opened
    const key = `${model.table.id}\n${context.view?.id ?? ''}\n${search}`
    const kept = plans.get(key)
    if (kept && kept.model === model && kept.view === context.view) return kept
    const plan = makePlan(opened, new URLSearchParams(search), null)
    // A filter may count from today, so its plan is good for this call only.
    const isLasting = !plan.isFiltered && !plan.parameters.shuffle && key.length <= KEPT_LENGTH
    if (isLasting) plans.set(key, plan)
    return plan
  }

  function makePlan({ model, context, engine }: Opened, query: URLSearchParams, narrow: Filter | null): Plan {
    const given = readListParameters(model, query)
    const parameters = { ...given, filter: allOf([given.filter, narrow]) }
    const fields = visibleFields(model, context.view, parameters.fields)
    const { filter, sorts, limit, offset } = parameters
    const planned = pageQuery(
      context,
      { tableId: model.table.id, filter, sorts, limit, offset },
      titledColumns(fields),
      {
        withId: false,
        orderBy: parameters.shuffle ? sql`random()` : undefined,
      },
    )
    const { isFiltered, isSorted } = planned.selected
    return {
      model,
      view: context.view,
      parameters,
      isFiltered,
      present: presenterOf(fields, auth.people),
      statement: engine.dialect.render(planned.query),
      grows: isFiltered || isSorted || parameters.shuffle || offset > 5_000,
    }
  }

  return { list }
}

export type RestLists = ReturnType<typeof createRestLists>
