import { sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { Actor } from '../../../src/core/actor.ts'
import { isComputed } from '../../../src/core/fields/result.ts'
import type { Field, RecordId, View } from '../../../src/core/model.ts'
import type { GroupKey } from '../../../src/core/query.ts'
import type { Statement } from '../../../src/dialects/dialect.ts'
import type { AuthService } from '../../auth/index.ts'
import type { TableModel } from '../../schema/index.ts'
import { withFiles } from '../attachments/index.ts'
import {
  fragmentsOf,
  isHeavy,
  isSame,
  keyOf,
  type Models,
  type Opened,
  pageQuery,
  wholeOf,
} from '../read/index.ts'
import type { RecordsService } from '../service.ts'
import { titledColumns } from './columns.ts'
import { hasNested, type PresenterFor, readNested } from './nested.ts'
import { invalidOffset, type ListParameters, readListParameters } from './parameters.ts'
import { type PageInfo, pageInfo, presenterOf, visibleFields } from './present.ts'
import { withComputed } from './present-computed.ts'
import { peopleFor } from './present-user.ts'

type Row = Record<string, unknown>

/** A planned list, kept for the next call with the same query string on the same version of the table. */
interface Plan {
  model: TableModel
  models: Models
  view: View | null
  parameters: ListParameters
  fields: Field[]
  statement: Statement
  /** Turns rows into answers, where they are not yet. */
  present: ReturnType<typeof presenterOf>
  isFiltered: boolean
  /** True for a plan that is good for one call: in no order, or with formulas that look at the clock. */
  isFleeting: boolean
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

  const presenterFor: PresenterFor = (fields, context) =>
    withFiles(
      fields,
      withComputed(fields, presenterOf(fields, peopleFor(auth.people, context)), context),
      records.attachments,
      context,
    )

  /**
   * @param search the raw query string
   * @param group only the records of this group, which no query string can name
   * @throws TABLE_NOT_FOUND, VIEW_NOT_FOUND, FIELD_NOT_FOUND, INVALID_OFFSET_VALUE, 422 for a bad `where`
   */
  async function list(
    actor: Actor,
    tableId: string,
    search: string,
    viewId?: string,
    group?: GroupKey,
  ): Promise<RestList> {
    const opened = await records.open(actor, tableId, viewId)
    const nested = hasNested(search)
    const plan = group ? makePlan(opened, search, group) : planOf(opened, search)
    const { limit, offset, filter } = plan.parameters
    const scan =
      isHeavy(plan.fields, limit) ||
      (plan.grows && (await records.isScan(opened))) ||
      (await records.isWide(opened, plan.fields))
    const selection = { filter, ...(group && { group: [group] }) }
    const counting = plan.isFiltered ? records.countOpened(opened, selection) : records.total(opened)
    const [totalRows, rows] = await Promise.all([counting, opened.engine.all<Row>(plan.statement, { scan })])
    if (offset > 0 && offset >= totalRows) throw invalidOffset(offset)
    const keys = nested ? rows.map((row) => takeKey(row)) : []
    await plan.present?.(rows)
    if (nested) {
      const query = new URLSearchParams(search)
      const fill = await readNested({ records, presenterFor }, actor, opened, plan.fields, query)
      await fill(rows, keys)
    }
    return { list: rows, pageInfo: pageInfo(totalRows, limit, offset) }
  }

  function planOf(opened: Opened, search: string): Plan {
    const { model, context } = opened
    // What members are told of people and files is not for visitors, who may read the very same table.
    const reader = context.visitor?.shareId ?? ''
    const key = `${model.table.id}\n${context.view?.id ?? ''}\n${reader}\n${search}`
    const kept = plans.get(key)
    const isCurrent = kept?.model === model && kept.view === context.view
    if (isCurrent && isSame(kept.models, context.models)) return kept
    const plan = makePlan(opened, search)
    // A filter may count from today, so its plan is good for this call only.
    const isLasting = !plan.isFiltered && !plan.isFleeting && key.length <= KEPT_LENGTH
    if (isLasting) plans.set(key, plan)
    return plan
  }

  function makePlan({ model, context, engine }: Opened, search: string, group?: GroupKey): Plan {
    const parameters = readListParameters(model, new URLSearchParams(search))
    const fields = visibleFields(model, context.view, parameters.fields)
    const { filter, sorts, limit, offset } = parameters
    const columns = titledColumns(context, fields)
    const planned = pageQuery(
      context,
      { tableId: model.table.id, filter, sorts, limit, offset, ...(group && { group: [group] }) },
      hasNested(search) ? [...columns, sql`${keyOf(model)} as ${sql.identifier(KEY)}`] : columns,
      {
        withId: false,
        isComputed: fields.some(isComputed),
        orderBy: parameters.shuffle ? sql`random()` : undefined,
      },
    )
    const { isFiltered, isSorted } = planned.selected
    const { isFleeting } = fragmentsOf(context)
    const own = wholeOf(context)
    const sorted = (sorts ?? context.view?.sorts ?? []).flatMap(({ fieldId }) => own.field(fieldId) ?? [])
    return {
      model,
      models: context.models,
      view: context.view,
      fields,
      parameters,
      isFiltered,
      isFleeting: parameters.shuffle || [...fields, ...sorted].some(isFleeting),
      present: presenterFor(fields, context),
      statement: engine.dialect.render(planned.query),
      grows: isFiltered || isSorted || parameters.shuffle || offset > 5_000,
    }
  }

  return { list }
}

/** Name of a helper column that no field can have: titles hold no control characters. */
const KEY = '~\u0001key'

function takeKey(row: Row): RecordId {
  const key = row[KEY] as RecordId
  delete row[KEY]
  return key
}

export type RestLists = ReturnType<typeof createRestLists>
