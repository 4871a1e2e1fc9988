import { sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { Actor } from '../../../src/core/actor.ts'
import { allOf, type Filter } from '../../../src/core/filters/index.ts'
import type { Field, View } from '../../../src/core/model.ts'
import type { Statement } from '../../../src/dialects/dialect.ts'
import type { AuthService } from '../../auth/index.ts'
import type { TableModel } from '../../schema/index.ts'
import { pageQuery } from '../plan.ts'
import type { Opened } from '../read.ts'
import type { RecordsService } from '../service.ts'
import { invalidOffset, type ListParameters, readListParameters } from './parameters.ts'
import { defaultFields, type PageInfo, pageInfo, presenterOf, titledColumns } from './present.ts'

type Row = Record<string, unknown>

/** A planned list, kept for the next call with the same query string on the same version of the table. */
interface Plan {
  model: TableModel
  view: View | null
  parameters: ListParameters
  statement: Statement
  fields: Field[]
  grows: boolean
}

/** Query strings whose plans are kept. */
const KEPT_PLANS = 1_000

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
    const { parameters, fields, statement } = plan
    const { limit, offset } = parameters
    const scan = plan.grows && (await records.isScan(opened))
    const [rows, totalRows] = await Promise.all([
      opened.engine.all<Row>(statement, { scan }),
      records.countOpened(opened, { filter: parameters.filter }),
    ])
    if (offset > 0 && offset >= totalRows) throw invalidOffset(offset)
    await presenterOf(fields, auth.people)?.(rows)
    return { list: rows, pageInfo: pageInfo(totalRows, limit, offset) }
  }

  function planOf(opened: Opened, search: string): Plan {
    const { model, context } = opened
    const key = `${model.table.id}\n${context.view?.id ?? ''}\n${search}`
    const kept = plans.get(key)
    if (kept && kept.model === model && kept.view === context.view) return kept
    const plan = makePlan(opened, new URLSearchParams(search), null)
    // A filter may count from today, so its plan is good for this call only.
    if (!plan.parameters.filter && !context.view?.filter && !plan.parameters.shuffle) plans.set(key, plan)
    return plan
  }

  return { list }
}

export type RestLists = ReturnType<typeof createRestLists>

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
    fields,
    statement: engine.dialect.render(planned.query),
    grows: isFiltered || isSorted || parameters.shuffle || offset > 5_000,
  }
}

/** Through a view only what the view shows may be seen, even where more is asked for. */
function visibleFields(model: TableModel, view: View | null, asked: Field[] | null): Field[] {
  if (view === null) return asked ?? defaultFields(model)
  const hidden = new Set(view.fields.filter((field) => !field.show).map((field) => field.fieldId))
  const isVisible = (field: Field) => field.isPrimaryKey || (!field.isSystem && !hidden.has(field.id))
  return (asked ?? model.fields).filter(isVisible)
}
