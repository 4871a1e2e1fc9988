import type { Actor } from '../../../src/core/actor.ts'
import type { GroupKey } from '../../../src/core/query.ts'
import type { AuthService } from '../../auth/index.ts'
import { type Opened, type PagePlan, type PageQuery, takeRecordKey } from '../read/index.ts'
import type { RecordsService } from '../service.ts'
import { type LinkedCounts, readNested } from './nested.ts'
import { hasNested, invalidOffset, readListParameters } from './parameters.ts'
import {
  createPresenterFor,
  type PageInfo,
  type Presenter,
  pageInfo,
  type Row,
  visibleFields,
} from './present.ts'

export interface RestList {
  list: Row[]
  pageInfo: PageInfo
}

/** A list among others of one answer. */
interface OneOfLists {
  /** Limits the list to a group, which a query string cannot express. */
  group?: GroupKey
  linked: LinkedCounts
}

/** Lists of records for REST: pages of the reader, keyed by title. */
export function createRestLists(records: RecordsService, auth: Pick<AuthService, 'people'>) {
  /** Presenters by plan; null if the rows need no change. */
  const presenters = new WeakMap<PagePlan, Presenter | null>()

  const presenterFor = createPresenterFor(records, auth)

  /**
   * @param search the raw query string
   * @throws TABLE_NOT_FOUND, VIEW_NOT_FOUND, FIELD_NOT_FOUND, INVALID_OFFSET_VALUE, 422 for an invalid `where`
   */
  async function list(
    actor: Actor,
    tableId: string,
    search: string,
    viewId?: string,
    { group, linked }: OneOfLists = { linked: new Map() },
  ): Promise<RestList> {
    const opened = await records.open(actor, tableId, viewId)
    const text = group ? null : `rest ${search}`
    const plan = records.plan(opened, text, () => ({
      ...readPageQuery(opened, search),
      ...(group && { group: [group] }),
    }))
    if (!hasNested(search)) return run(opened, plan)
    const nested = () =>
      readNested(
        { records, presenterFor },
        actor,
        opened,
        plan.query.fields,
        new URLSearchParams(search),
        linked,
      )
    return run(opened, plan, nested)
  }

  /** Checks that the actor may read the records, before a body is read. @throws as `records.open` */
  async function enter(actor: Actor, tableId: string, viewId?: string): Promise<void> {
    await records.open(actor, tableId, viewId)
  }

  /** Lists the records of an opened table, such as that of a link. @throws INVALID_OFFSET_VALUE */
  const listOpened = (opened: Opened, query: Omit<PageQuery, 'shape'>): Promise<RestList> =>
    run(
      opened,
      records.plan(opened, null, () => ({ ...query, shape: { kind: 'titled', withKey: false } })),
    )

  /** @param nested reads linked records for rows with keys */
  async function run(
    opened: Opened,
    plan: PagePlan,
    nested?: () => ReturnType<typeof readNested>,
  ): Promise<RestList> {
    const { limit, offset, group } = plan.query
    const [totalRows, rows] = await Promise.all([
      records.countPlanned(opened, plan),
      records.titled(opened, plan),
    ])
    // The lists of groups are paged together, so one may end before another.
    if (!group && offset > 0 && offset >= totalRows) throw invalidOffset(offset)
    const keys = nested ? rows.map((row) => takeRecordKey(row)) : []
    await presenterOfPlan(opened, plan)?.(rows)
    const fill = await nested?.()
    await fill?.(rows, keys)
    return { list: rows, pageInfo: pageInfo(totalRows, limit, offset) }
  }

  function presenterOfPlan({ context }: Opened, plan: PagePlan): Presenter | null {
    const known = presenters.get(plan)
    if (known !== undefined) return known
    const presenter = presenterFor(plan.query.fields, context)
    presenters.set(plan, presenter)
    return presenter
  }

  return { enter, list, listOpened }
}

/** Parses a list’s query string into a page query. @throws as `readListParameters` */
function readPageQuery({ model, context }: Opened, search: string): PageQuery {
  const { fields, ...query } = readListParameters(model, new URLSearchParams(search))
  return {
    ...query,
    fields: visibleFields(model, context.view, fields),
    shape: { kind: 'titled', withKey: hasNested(search) },
  }
}

export type RestLists = ReturnType<typeof createRestLists>
