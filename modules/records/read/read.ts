import { is, Placeholder, sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import { breathe } from '../../../src/breathe.ts'
import { withinTime } from '../../../src/caller.ts'
import { nowMs } from '../../../src/clock.ts'
import { type Actor, ANONYMOUS, actorIdOf, type ShareActor } from '../../../src/core/actor.ts'
import { positionKey } from '../../../src/core/changes.ts'
import { badRequest, notFound } from '../../../src/core/errors.ts'
import { isComputed } from '../../../src/core/fields/field.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { type FilterMoment, setOf } from '../../../src/core/filters/index.ts'
import type { Field, RecordId, RecordPage, View } from '../../../src/core/model.ts'
import type {
  IndexTerm,
  UnindexedFormula,
  ViewExplanation,
  ViewMeasurement,
} from '../../../src/core/performance.ts'
import type { GroupPage, GroupRequest, Query, Selection } from '../../../src/core/query.ts'
import { collectsAnswers, stacksOf, viewKind } from '../../../src/core/views/index.ts'
import { isAutomaticIndex } from '../../../src/dialects/automatic-index.ts'
import type { Engine, FilePage, QueryPlan, Statement } from '../../../src/dialects/dialect.ts'
import { m } from '../../../src/messages.gen.ts'
import type { WrittenPage } from '../../../src/record-files/index.ts'
import { defineSlot, type Registry } from '../../../src/registry.ts'
import { type AuthService, asPublicPerson, forbidden } from '../../auth/index.ts'
import { namesOnly, narrowModel, type SchemaReader, type TableModel } from '../../schema/index.ts'
import type { ViewsService } from '../../views/index.ts'
import { chunks, decodeRows, isForeign, isKeyless, keyOf, perModel } from '../table/index.ts'
import { filteredTexts } from './expression/filtered-texts.ts'
import { type CandidateUse, wholeOf } from './expression/scope.ts'
import type { CombinationPlan } from './groups/combinations.ts'
import { listGroups } from './groups/list-groups.ts'
import {
  bestTerms,
  termsOfCount,
  termsOfSummaries,
  unindexedFormulas,
  wantedForGroups,
} from './index-terms.ts'
import {
  countRecords,
  countUpTo,
  FEW_SHARE,
  hasOrderIndex,
  keysQuery,
  type Opened,
  type PagePlan,
  type PageQuery,
  planPage,
  positionsQuery,
  type RangedPage,
  recordsQuery,
  SCAN_FROM,
  type TitledRow,
  takeRecordKey,
  WALKED,
  wantedFields,
} from './plan.ts'
import { compiled, createPlanCache, type PlanContext } from './plan-cache.ts'
import type { CachedEngine, ResultCache } from './result-cache.ts'
import type { RowCounts } from './row-counts.ts'
import type { CandidateRead, TableSearchIndexes } from './search-index.ts'
import { summarize } from './summaries.ts'
import { countUpkeep, maintained, pageUpkeep } from './upkeep.ts'
import {
  type RecordVersion,
  takeVersions,
  VERSIONS,
  type VersionsRequest,
  versionsQuery,
} from './versions.ts'
import { createWork } from './work.ts'

/** A read whose cost grows with its table. */
export interface ObservedRead {
  model: TableModel
  /** The terms of the index that serves it best. */
  terms: IndexTerm[]
  ms: number
}

/** What is known of how many records a condition has is used for so long. */
const FEW_SELECTED_MS = 60_000
/** Counting whether few records match a page takes at most this time, or twice that of the page. */
const COUNT_FEW_MS = 50

/** From this part of a table on, a page is counted from its end: SQLite skips backwards at about half the speed. */
const FROM_END = 2 / 3

/** The automatic indexes, provided by app.ts from the indexes module. */
export interface AutomaticIndexes {
  /** The terms of each finished index of a table; the same list until it changes. */
  of(model: TableModel): Promise<readonly (readonly IndexTerm[])[]>
  observe(read: ObservedRead): void
  /** True for the time of a read that, if it is repeated, leads to an index. */
  isSlow(ms: number): boolean
  /**
   * Notes that a large table was searched: its search index is in use, or would be.
   *
   * @param ms time of a filter that looked for a text without the index
   */
  observeSearch(model: TableModel, ms?: number): void
}

export const AUTOMATIC_INDEXES = defineSlot<AutomaticIndexes>('records.automaticIndexes')

interface Deps {
  auth: Pick<AuthService, 'access' | 'peopleOf'>
  schema: Pick<SchemaReader, 'load' | 'loadReachable' | 'engineOf'>
  views: Pick<ViewsService, 'load' | 'hasIntactFilter'>
  counts: RowCounts
  results: ResultCache
  searchIndexes: Pick<TableSearchIndexes, 'of' | 'want' | 'decideFor' | 'decideForFilter' | 'mayBuildFor'>
  registry: Registry
}

/** A read that an index may serve. */
interface Observable
  extends Pick<PagePlan, 'bestIndex' | 'grows'>,
    Partial<Pick<PagePlan, 'bestIndexOfFew'>> {
  query: Pick<Query, 'filter' | 'recordIds'>
}

/** The records of a query, read by parts of its ids. */
interface RecordParts {
  /** Rows of values in the order of the ids and the fields. */
  rows(recordIds: readonly RecordId[]): Promise<CellValue[][]>
  /** True if the table is so large that its records should be written to a file by a worker. */
  isLarge(): Promise<boolean>
  /** Reads the same as it stands in a file, in a worker; null if the database has none, or the table is not its own. */
  written(): Promise<((page: Omit<FilePage, 'isWide'>) => Promise<WrittenPage>) | null>
}

export type Reader = ReturnType<typeof createReader>

/** The read door: every read of records passes here. */
export function createReader({ auth, schema, views, counts, results, searchIndexes, registry }: Deps) {
  const plans = createPlanCache()
  const work = createWork(counts)
  /** Plans of pages that were not complete among the first records of their table. */
  const incomplete = new WeakSet<PagePlan>()
  /** Whether few records met a condition, by the terms of its index. */
  const fewSelected = new LRUCache<string, boolean>({ max: 2_000, ttl: FEW_SELECTED_MS })
  /** Plans with the search index, by the plan without it, and by how they ask the index. */
  const asked = new WeakMap<PagePlan, { generation: number; plans: Map<CandidateUse, PagePlan> }>()

  /**
   * Opens a table for reading, through a view if one is named. A visitor of a view’s link gets the table as that view
   * shows it.
   *
   * @throws TABLE_NOT_FOUND, VIEW_NOT_FOUND (also for a view of another table); PERMISSION_DENIED; FORBIDDEN by a
   *   link to something else, or to a view of whose filter a part is gone
   */
  async function open(actor: Actor, tableId: string, viewId?: string, timeZone?: string): Promise<Opened> {
    if (actor.kind === 'share' && actor.grant.kind === 'view') {
      return openShared(actor, await sharedView(actor, tableId, viewId), timeZone)
    }
    const model = await schema.load(tableId)
    const view = viewId === undefined ? null : await loadView(tableId, viewId)
    await auth.access.authorize(actor, 'record.list', model.table.baseId)
    return openWhole(actor, model, view, timeZone)
  }

  /** Opens a table to follow up on its changes, without an access check. @throws TABLE_NOT_FOUND */
  const openForFollowUp = async (tableId: string): Promise<Opened> =>
    openWhole(ANONYMOUS, await schema.load(tableId), null, undefined)

  async function openWhole(
    actor: Actor,
    model: TableModel,
    view: View | null,
    timeZone: string | undefined,
  ): Promise<Opened> {
    const { id, baseId } = model.table
    const models = await schema.loadReachable(id)
    const engine = await schema.engineOf(model.table)
    const visitor = actor.kind === 'share' ? actor : undefined
    const people = showsPeople(model) ? await auth.peopleOf(baseId) : []
    const moment: FilterMoment = {
      now: new Date(nowMs()),
      timeZone,
      actorId: actorIdOf(actor),
      people,
    }
    const searchIndex = await searchIndexes.of(engine, model, models)
    const indexes = await registry.get(AUTOMATIC_INDEXES).of(model)
    const { dialect } = engine
    const context = { model, models, view, indexes, dialect, moment, visitor, plans, searchIndex }
    if (!visitor) return { engine, model, context }
    // The view’s own conditions on people use all data of people.
    const visible = { ...moment, people: people.map(asPublicPerson) }
    return { engine, model, context: { ...context, moment: visible, ownMoment: moment } }
  }

  /** The view of a share link. @throws as `open` */
  async function sharedView({ grant }: ShareActor, tableId: string, viewId?: string): Promise<View> {
    if (grant.kind !== 'view') throw forbidden(m.records_error_link_without_records())
    const view = await views.load(grant.viewId)
    if (view.tableId !== tableId) throw notFound('Table', tableId.slice(0, 64))
    if (viewId !== undefined && view.id !== viewId) throw notFound('View', viewId.slice(0, 64))
    return view
  }

  async function openShared(actor: Actor, view: View, timeZone?: string): Promise<Opened> {
    // Forms do not show records.
    if (collectsAnswers(view)) throw forbidden(m.records_error_link_without_records())
    // Filtered records must not become public because a field was deleted or is broken.
    if (!views.hasIntactFilter(view)) {
      throw forbidden(
        stacksOf(view) ? m.records_error_stacks_by_deleted() : m.records_error_filters_by_deleted(),
      )
    }
    return openNarrowed(actor, view, timeZone)
  }

  async function openNarrowed(actor: Actor, view: View, timeZone?: string): Promise<Opened> {
    const opened = await openWhole(actor, await schema.load(view.tableId), view, timeZone)
    return narrowed(opened, narrowModel(opened.model, view))
  }

  /**
   * The table of a shared form, limited to its questions; not for reading records.
   *
   * @throws as `open`; FORBIDDEN by a link to anything but a form
   */
  async function openForm(actor: ShareActor, tableId: string): Promise<Opened & { view: View }> {
    const view = await sharedView(actor, tableId)
    if (!collectsAnswers(view)) throw forbidden(m.records_error_link_without_form())
    return { ...(await openNarrowed(actor, view)), view }
  }

  /**
   * The related table of a link that a visitor sees: only the names of its records, through the view that limits the
   * link, if any.
   */
  async function openNames(
    actor: ShareActor,
    tableId: string,
    viewId: string | null,
    timeZone?: string,
  ): Promise<Opened> {
    const model = await schema.load(tableId)
    const view = viewId === null ? null : await loadView(tableId, viewId)
    return narrowed(await openWhole(actor, model, view, timeZone), namesOnly(model))
  }

  const narrowed = ({ engine, model: whole, context }: Opened, model: TableModel): Opened => ({
    engine,
    model,
    context: { ...context, model, whole },
  })

  async function loadView(tableId: string, viewId: string): Promise<View> {
    const view = await views.load(viewId)
    if (view.tableId !== tableId) throw notFound('View', viewId)
    return view
  }

  /**
   * A page of records, in one statement.
   *
   * @throws FIELD_NOT_FOUND, INVALID_FILTER, FILTER_VERIFICATION_FAILED; BAD_REQUEST past `MAX_PAGE`
   */
  async function list(actor: Actor, query: Query): Promise<RecordPage> {
    if (query.limit > MAX_PAGE) throw badRequest(m.records_error_page_size({ max: MAX_PAGE }))
    const opened = await open(actor, query.tableId, query.viewId, query.timeZone)
    const ordered = await withOrder(opened, query)
    const fields = wantedFields(opened.model, query.fieldIds)
    const { rows, ids } = await page(opened, ordered, fields)
    const more = ordered.orderViewId === undefined ? [] : [positionKey(ordered.orderViewId)]
    return { fieldIds: [...fields.map((field) => field.id), ...more], ids, rows, offset: query.offset }
  }

  /**
   * Checks that the query’s manual order may be read: a visitor may only name the view of the link. Tables of
   * connected databases have no manual order and use that of their keys.
   *
   * @throws VIEW_NOT_FOUND; BAD_REQUEST for a view of a kind without such an order
   */
  async function withOrder({ context }: Opened, query: Query): Promise<Query> {
    const { tableId, orderViewId } = query
    if (orderViewId === undefined) return query
    if (context.whole && context.view?.id !== orderViewId) throw notFound('View', orderViewId.slice(0, 64))
    const view = await loadView(tableId, orderViewId)
    if (!viewKind(view.kind).hasManualOrder)
      throw badRequest(m.records_error_no_manual_order({ view: view.title }))
    return isForeign(wholeOf(context)) ? { ...query, orderViewId: undefined } : query
  }

  /**
   * The compiled plan of a page, from the cache if possible.
   *
   * @param text identifies the query among those of its table and view; null: not cached
   * @param query called if there is no cached plan
   * @throws as `select`
   */
  const plan = ({ context }: Opened, text: string | null, query: () => PageQuery): PagePlan =>
    compiled(context, text, (watched) => planMaintained(watched, query()))

  function planMaintained(context: PlanContext, query: PageQuery): PagePlan {
    const planned = planPage(context, query)
    const { page, amongFirst } = planned
    const maintainedPage = (statement: Statement) =>
      maintained(statement, () => pageUpkeep(context, query, statement))
    return {
      ...planned,
      page: maintainedPage(page),
      amongFirst: amongFirst && maintainedPage(amongFirst),
      ranged: planned.ranged && {
        ...planned.ranged,
        byRange: maintainedPage(planned.ranged.byRange),
      },
      count: countStatement(context, query),
    }
  }

  /** The table with its search index if the index makes a plan of it faster, with the plan that asks it. */
  async function byIndex(
    opened: Opened,
    plan: PagePlan,
    read: () => CandidateRead,
  ): Promise<{ opened: Opened; plan: PagePlan }> {
    const { query } = plan
    const asking = await filtered(opened, query, read)
    if (asking === opened) return { opened, plan }
    const { generation = 0, filter = null } = asking.context.searchIndex ?? {}
    const known = asked.get(plan)
    const plans = known?.generation === generation ? known.plans : new Map<CandidateUse, PagePlan>()
    if (plans !== known?.plans) asked.set(plan, { generation, plans })
    // The same plan for the same use, as results are cached by their statements.
    const replanned = plans.get(filter) ?? planMaintained(asking.context, query)
    plans.set(filter, replanned)
    return { opened: asking, plan: replanned }
  }

  /** The records of a plan as titled objects. */
  async function titled(given: Opened, planned: PagePlan): Promise<TitledRow[]> {
    const { opened, plan } = await byIndex(given, planned, () => extentOf(given, planned.query))
    const scan = await work.isHeavy(opened, plan)
    return observedPage(opened, plan, scan, (page) => engineOf(opened, plan).all<TitledRow>(page, { scan }))
  }

  /** How many matches a page reads: a sort without an index reads all. */
  function extentOf({ context }: Opened, query: PageQuery | Query): CandidateRead {
    const sorts = [...(query.groups ?? []), ...(query.sorts ?? context.view?.sorts ?? [])]
    const isOrdered = sorts.length === 0 || hasOrderIndex(context, query)
    return isOrdered ? { first: query.offset + query.limit } : 'all'
  }

  /** Reads a page by the shortest way: among the first records of the table, or counted from its start or its end. */
  async function shortestWay<T>(
    opened: Opened,
    plan: PagePlan,
    read: (page: Statement) => Promise<T[]>,
  ): Promise<T[]> {
    const { query, page, fromEnd, amongFirst, ranged } = plan
    if (ranged) return rangedWay(opened, plan, ranged, read)
    if (amongFirst && (await isSoonFull(opened, plan))) {
      const rows = await read(amongFirst)
      if (rows.length === query.limit) return rows
      incomplete.add(plan)
    }
    if (!fromEnd) return read(page)
    const { model } = opened
    const total = await work.total(opened)
    const version = counts.versionOf(model)
    if (query.offset <= total * FROM_END || query.offset >= total) return read(page)
    const rows = await read(fromEnd(total))
    await work.total(opened)
    // A record that came or went meanwhile would move the page.
    return counts.versionOf(model) === version ? rows : read(page)
  }

  /**
   * Reads a page of a range by its index, or among the first records of the table if these are probably fewer than the
   * records of the range.
   */
  async function rangedWay<T>(
    opened: Opened,
    plan: PagePlan,
    { count, among, byRange }: RangedPage,
    read: (page: Statement) => Promise<T[]>,
  ): Promise<T[]> {
    const { query } = plan
    const total = await work.total(opened)
    const wanted = query.offset + query.limit
    // With so many matches, spread evenly, the page is complete among as many records.
    const even = Math.ceil(Math.sqrt(wanted * total))
    let matches = latestCount(plan)
    if (matches === null) {
      const [row] = await engineOf(opened, plan).all<{ n: number }>(count(even + 1), { scan: true })
      matches = Number(row?.n ?? 0)
    }
    if (matches > even && !incomplete.has(plan)) {
      // A power of two, so that the same statement serves many numbers.
      const walked = 2 ** Math.ceil(Math.log2((2 * wanted * total) / matches))
      const rows = await read(among(walked))
      if (rows.length === query.limit) return rows
      incomplete.add(plan)
    }
    return read(byRange)
  }

  /** The last known number of records that a plan selects, which may be out of date. */
  function latestCount({ count }: PagePlan): number | null {
    const [latest] = ((count && results.latest(count)) ?? []) as { count: number }[]
    return latest ? Number(latest.count) : null
  }

  /**
   * True if few records match a plan, by all that is known; else some are counted.
   *
   * @param returned records that its page had
   * @param ms time that the page took
   */
  async function selectsFew(opened: Opened, plan: PagePlan, returned: number, ms: number): Promise<boolean> {
    const { query, bestIndexOfFew } = plan
    const { engine, context } = opened
    const most = Math.floor((await work.total(opened)) * FEW_SHARE)
    const isLast = returned < query.limit && (returned > 0 || query.offset === 0)
    if (isLast) return query.offset + returned <= most
    const matches = latestCount(plan)
    if (matches !== null) return matches <= most
    const key = `${wholeOf(context).table.id} ${JSON.stringify(bestIndexOfFew)}`
    const known = fewSelected.get(key)
    if (known !== undefined) return known
    const statement = engine.dialect.render(countUpTo(context, query, most + 1))
    const timeUp = AbortSignal.timeout(Math.ceil(Math.max(COUNT_FEW_MS, 2 * ms)))
    const rows = await withinTime(timeUp, () => engine.all<{ n: number }>(statement, { scan: true }))
    // If few matched, the page would have read all records as well, and taken as long as the count.
    const isFew = rows !== null && Number(rows[0]?.n ?? 0) <= most
    fewSelected.set(key, isFew)
    return isFew
  }

  /**
   * True if a page is probably complete among the first records of the table, by the last known number of records that
   * match, Tried once for each plan that turns out to have too few there.
   */
  async function isSoonFull(opened: Opened, plan: PagePlan): Promise<boolean> {
    const { query, count } = plan
    if (!count || incomplete.has(plan)) return false
    const matches = latestCount(plan)
    if (matches === null) return false
    const wanted = query.offset + query.limit
    if (matches < wanted) return false
    // Half as many are expected, because the matching records are not spread evenly.
    return (wanted * (await work.total(opened))) / matches <= WALKED / 2
  }

  /** Runs a read and reports how long it took, if an index could serve it. */
  async function observed<T>(
    opened: Opened,
    { grows, query, ...observable }: Observable,
    isHeavy: boolean,
    run: () => Promise<T>,
    termsAfter: (result: T, ms: number) => Promise<IndexTerm[] | null> = async () => observable.bestIndex,
  ): Promise<T> {
    const { context } = opened
    const model = wholeOf(context)
    if (!grows || !isHeavy || isForeign(model) || context.searchIndex?.filter) return run()
    const isSearch = await wouldAskIndex(opened, query)
    if (!isSearch && !observable.bestIndex && !observable.bestIndexOfFew) return run()
    const startedAt = performance.now()
    const result = await run()
    const ms = performance.now() - startedAt
    const indexes = registry.get(AUTOMATIC_INDEXES)
    if (isSearch) {
      indexes.observeSearch(model, ms)
      return result
    }
    // Other reads only note that the index is in use that may have served them, and send nothing to find out which.
    const { bestIndex, bestIndexOfFew } = observable
    const served = indexes.isSlow(ms) ? [await termsAfter(result, ms)] : [bestIndex, bestIndexOfFew]
    for (const terms of served) if (terms) indexes.observe({ model, terms, ms })
    return result
  }

  /** Reads a page by the shortest way, observed. */
  const observedPage = <T>(
    opened: Opened,
    plan: PagePlan,
    isHeavy: boolean,
    read: (page: Statement) => Promise<T[]>,
  ): Promise<T[]> =>
    observed(
      opened,
      plan,
      isHeavy,
      () => shortestWay(opened, plan, read),
      async ({ length }, ms) =>
        plan.bestIndexOfFew && (await selectsFew(opened, plan, length, ms))
          ? plan.bestIndexOfFew
          : plan.bestIndex,
    )

  /** True for a filter that looks for a text and would ask the search index, if the table had one for it. */
  async function wouldAskIndex(
    opened: Opened,
    { filter = null, recordIds }: Observable['query'],
  ): Promise<boolean> {
    const { engine, context } = opened
    if (recordIds || context.narrow || context.leading) return false
    const texts = filteredTexts(context, filter)
    if (texts === null) return false
    if (context.searchIndex && filteredTexts(context, filter, context.searchIndex) !== null) return false
    return searchIndexes.mayBuildFor(engine, wholeOf(context), texts, await work.total(opened))
  }

  /** As `listGroups`, through the cache of results. */
  async function groups(given: Opened, request: GroupRequest): Promise<GroupPage> {
    const { selection, summaries } = request
    const opened = await filtered(given, selection)
    const { context } = opened
    const fieldIds = summaries.map(({ fieldId }) => fieldId)
    const bestIndex = bestTerms(wantedForGroups(context, selection, request.groups, fieldIds))
    return observed(opened, { bestIndex, grows: true, query: selection }, await work.isScan(opened), () =>
      listGroups({ engine: results.over(opened), context }, request),
    )
  }

  /**
   * A page of combinations of values, with their number on all pages, which is counted only where the page does not
   * tell it. Null for an offset past the last one.
   */
  async function combinations(
    opened: Opened,
    { query, page, bestIndex, count }: CombinationPlan,
  ): Promise<{ rows: TitledRow[]; total: number } | null> {
    const { limit, offset } = query
    const scan = await work.isScan(opened)
    const rows = await observed(opened, { bestIndex, grows: true, query }, scan, () =>
      results.over(opened).all<TitledRow>(page, { scan: true }),
    )
    if (rows.length === 0 && offset > 0) return null
    const isLast = rows.length < limit
    return { rows, total: isLast ? offset + rows.length : await countCombinations(opened, count) }
  }

  /** The number of combinations of values, given the statement that counts them. */
  async function countCombinations(opened: Opened, count: Statement): Promise<number> {
    const [row] = await results.over(opened).all<{ n: number }>(count, { scan: true })
    return row?.n ?? 0
  }

  /** Pages that read little are not worth caching; random ones must not be. */
  const engineOf = (opened: Opened, { grows, query }: PagePlan): CachedEngine =>
    grows && !query.isShuffled && query.orderViewId === undefined ? results.over(opened) : opened.engine

  /** The number of records on all pages of a plan. */
  async function countPlanned(given: Opened, planned: PagePlan): Promise<number> {
    const { opened, plan } = await byIndex(given, planned, allMatches)
    return countWith(opened, plan.count, plan.query)
  }

  async function countWith(
    opened: Opened,
    statement: Statement | null,
    query: Omit<Selection, 'tableId' | 'viewId'>,
  ): Promise<number> {
    if (statement === null) return work.total(opened)
    const scan = await work.isScan(opened, statement.sql)
    const bestIndex = termsOfCount(opened.context, query)
    return observed(opened, { bestIndex, grows: true, query }, scan, () => runCount(opened, statement))
  }

  const isSorted = ({ context }: Opened, { groups = [], sorts }: Pick<Query, 'groups' | 'sorts'>): boolean =>
    groups.length + (sorts ?? context.view?.sorts ?? []).length > 0

  /** As `summarize`, through the cache of results. */
  async function summarized(
    given: Opened,
    selection: Selection,
    wanted: { fieldId: string; summary: string }[],
  ): Promise<Record<string, CellValue>> {
    const opened = await filtered(given, selection)
    const fieldIds = wanted.map(({ fieldId }) => fieldId)
    const bestIndex = termsOfSummaries(opened.context, selection, fieldIds)
    return observed(opened, { bestIndex, grows: true, query: selection }, await work.isScan(opened), () =>
      summarize(results.over(opened), opened.context, selection, wanted),
    )
  }

  /**
   * The records of a query as rows of values in the order of `fields`, with their ids. In a manual order each row
   * ends with its position.
   *
   * @param links the first record of each link, or all of them
   */
  async function page(
    given: Opened,
    query: Query,
    fields: Field[],
    links: 'first' | 'all' = 'first',
  ): Promise<{ ids: RecordId[]; rows: CellValue[][] }> {
    const sorts = [...(query.groups ?? []), ...(query.sorts ?? given.context.view?.sorts ?? [])]
    const first = { first: query.offset + query.limit }
    const found = await searched(given, query, sorts.length > 0 ? 'all' : first)
    const opened = await filtered(found, query, () => extentOf(given, query))
    const fieldIds = fields.map(({ id }) => id)
    const text = query.recordIds ? null : `page ${links} ${JSON.stringify({ ...query, fieldIds })}`
    const planned = plan(opened, text, () => ({ ...query, fields, shape: { kind: 'rows', links } }))
    const scan = await work.isHeavy(opened, planned)
    const rows = await observedPage(opened, planned, scan, (statement) =>
      engineOf(opened, planned).values(statement, { scan }),
    )
    return decoded(opened, fields, rows)
  }

  /**
   * Reads the records of a query by parts of its ids, e.g. those of `ids`. Records that the query no longer selects are
   * omitted, and links have all their records. The statement is compiled once for each number of ids.
   */
  function partsOf(opened: Opened, query: Omit<Query, 'limit' | 'offset'>, fields: Field[]): RecordParts {
    const plans = new Map<number, ReturnType<typeof planPage>>()
    const { context, model } = opened
    // Tables of a base number their records.
    const keyList = isForeign(model) ? undefined : context.dialect.keyList
    const isListed = keyList?.contains(keyOf(model), sql`${sql.placeholder('keys')}`)
    const listed = isListed && {
      ...context,
      narrow: context.narrow ? sql`${context.narrow} and ${isListed}` : isListed,
    }
    const planFor = ({ length }: readonly RecordId[]): ReturnType<typeof planPage> => {
      const known = plans.get(length)
      if (known) return known
      const recordIds = Array.from({ length }, (_, at) => sql.placeholder(String(at)))
      const planned = planPage(listed ?? context, {
        ...query,
        fields,
        shape: { kind: 'rows', links: 'all' },
        // The ids already have the order.
        isUnordered: true,
        sorts: [],
        groups: undefined,
        recordIds: listed ? undefined : (recordIds as unknown as RecordId[]),
        limit: length,
        offset: 0,
      })
      plans.set(length, planned)
      return planned
    }
    const statementOf = (recordIds: readonly RecordId[]): Statement => {
      const { page } = planFor(recordIds)
      const idFor = (value: unknown) =>
        is(value, Placeholder) ? (keyList?.text(recordIds) ?? recordIds[Number(value.name)]) : value
      return { sql: page.sql, params: page.params.map(idFor) }
    }
    const { engine } = opened
    const { writePage } = engine
    return {
      async rows(recordIds) {
        const scan = await work.isHeavy(opened, planFor(recordIds))
        const { ids, rows } = decoded(opened, fields, await engine.values(statementOf(recordIds), { scan }))
        const byId = new Map(ids.map((id, at) => [id, rows[at] ?? []]))
        return recordIds.flatMap((id) => {
          const row = byId.get(id)
          return row ? [row] : []
        })
      },
      isLarge: () => work.isScan(opened),
      async written() {
        if (!writePage || isForeign(wholeOf(opened.context))) return null
        const isWide = await work.isWide(opened, planFor([]).computedFields > 0)
        return (page) => writePage(statementOf(page.recordIds), { ...page, isWide })
      },
    }
  }

  /** The table with its search index if the query searches and the index makes it faster. */
  async function searched(
    opened: Opened,
    { search }: Pick<Query, 'search'>,
    read: CandidateRead,
  ): Promise<Opened> {
    if (!search) return opened
    await noteSearch(opened)
    return asking(opened, 'search', () =>
      searchIndexes.decideFor(opened, search.text, read, () => work.total(opened)),
    )
  }

  /** The table with its search index if a filter looks for texts and the index makes it faster. */
  async function filtered(
    opened: Opened,
    { filter = null, recordIds }: Pick<Query, 'filter' | 'recordIds'>,
    read: () => CandidateRead = allMatches,
  ): Promise<Opened> {
    const { searchIndex, narrow, leading } = opened.context
    if (!searchIndex || recordIds || narrow || leading) return opened
    const texts = filteredTexts(opened.context, filter, searchIndex)
    if (texts === null) return opened
    await noteSearch(opened)
    return asking(opened, 'filter', () =>
      searchIndexes.decideForFilter(opened, texts, read(), () => work.total(opened)),
    )
  }

  /** Keeps the search index of a table current, and from being dropped as unused. */
  async function noteSearch(opened: Opened): Promise<void> {
    const countRecords = () => work.total(opened)
    searchIndexes.want(opened, countRecords)
    const model = wholeOf(opened.context)
    if (!isForeign(model) && (await countRecords()) >= SCAN_FROM) {
      registry.get(AUTOMATIC_INDEXES).observeSearch(model)
    }
  }

  /** The table whose search index is asked as it should be, for a search or a filter. */
  async function asking(
    opened: Opened,
    by: 'search' | 'filter',
    decide: () => Promise<CandidateUse>,
  ): Promise<Opened> {
    const { context } = opened
    const { searchIndex } = context
    if (!searchIndex) return opened
    const use = await decide()
    if (use === searchIndex[by]) return opened
    return { ...opened, context: { ...context, searchIndex: { ...searchIndex, [by]: use } } }
  }

  function decoded({ engine }: Opened, fields: Field[], rows: unknown[][]) {
    const ids = rows.map((row) => row.pop() as RecordId)
    return { ids, rows: decodeRows(rows, fields, engine.dialect) }
  }

  /** The ids of all records of a query, in its order. */
  async function ids(given: Opened, query: Omit<Query, 'limit' | 'offset'>): Promise<RecordId[]> {
    const { engine, context } = await filtered(given, query)
    return (await engine.column(engine.dialect.render(keysQuery(context, query)))) as RecordId[]
  }

  /** The number of records of a selection. */
  async function count(actor: Actor, selection: Selection): Promise<number> {
    return countOpened(await open(actor, selection.tableId, selection.viewId, selection.timeZone), selection)
  }

  async function countOpened(
    given: Opened,
    selection: Omit<Selection, 'tableId' | 'viewId'>,
  ): Promise<number> {
    const opened = await filtered(await searched(given, selection, 'all'), selection)
    return countWith(opened, countStatement(opened.context, selection), selection)
  }

  /** The same statement for a selection and for all pages of it, so that these find its last known number of records. */
  function countStatement(
    context: PlanContext,
    { filter = null, search = null, recordIds, group = [] }: Omit<Selection, 'tableId' | 'viewId'>,
  ): Statement | null {
    const selection = { filter, search, recordIds, group }
    const text = recordIds ? null : `count ${JSON.stringify(selection)}`
    return compiled(context, text, (watched) => {
      const { query, isFiltered } = countRecords(watched, selection)
      return isFiltered
        ? maintained(watched.dialect.render(query), () => countUpkeep(watched, selection))
        : null
    })
  }

  /** The number of records of an opened view, for its explanation, which is no read of its users. */
  const countUnobserved = (opened: Opened): Promise<number> =>
    runCount(opened, countStatement(opened.context, {}))

  async function runCount(opened: Opened, statement: Statement | null): Promise<number> {
    if (statement === null) return work.total(opened)
    const scan = await work.isScan(opened, statement.sql)
    const [row] = await results.over(opened).all<{ count: number }>(statement, { scan })
    return row?.count ?? 0
  }

  /**
   * One record with every field that is not a system field.
   *
   * @param timeZone of the person who sees it, for its formulas; by default UTC
   * @throws RECORD_NOT_FOUND
   */
  async function get(
    actor: Actor,
    tableId: string,
    recordId: RecordId,
    timeZone?: string,
  ): Promise<{ id: RecordId; values: Record<string, CellValue> }> {
    const opened = await open(actor, tableId, undefined, timeZone)
    const fields = wantedFields(opened.model, undefined)
    const row = await readOne(opened, recordId, fields)
    if (!row) throw notFound('Record', String(recordId))
    return {
      id: recordId,
      values: Object.fromEntries(fields.map((field, index) => [field.id, row[index] ?? null])),
    }
  }

  /** The given fields of one record, or null if it does not exist. */
  async function readOne(opened: Opened, recordId: RecordId, fields: Field[]): Promise<CellValue[] | null> {
    const { engine, model, context } = opened
    if (isKeyless(model)) return null
    const shape = { kind: 'rows', links: 'first' } as const
    const statement = engine.dialect.render(recordsQuery(context, { fields, shape, ids: [recordId] }))
    const rows = await engine.values(statement, { scan: await work.isWide(opened, fields.some(isComputed)) })
    return decoded(opened, fields, rows).rows[0] ?? null
  }

  /** The given fields of records as titled objects, by id; missing records are omitted. */
  async function titledMap(
    opened: Opened,
    recordIds: readonly RecordId[],
    fields: Field[],
  ): Promise<Map<RecordId, TitledRow>> {
    const { engine, context } = opened
    const byId = new Map<RecordId, TitledRow>()
    const shape = { kind: 'titled', withKey: true } as const
    const scan = await work.isWide(opened, fields.some(isComputed))
    for (const ids of chunks(recordIds)) {
      await breathe()
      const statement = engine.dialect.render(recordsQuery(context, { fields, shape, ids }))
      for (const row of await engine.all<TitledRow>(statement, { scan })) byId.set(takeRecordKey(row), row)
    }
    return byId
  }

  /** As `titledMap`, in the order of the ids. */
  async function titledByIds(
    opened: Opened,
    recordIds: readonly RecordId[],
    fields: Field[],
  ): Promise<TitledRow[]> {
    const byId = await titledMap(opened, recordIds, fields)
    return recordIds.map((id) => byId.get(id)).filter((row) => row !== undefined)
  }

  /** The first page of a view, and how the database would read it. */
  async function planView(actor: Actor, tableId: string, viewId: string, limit: number) {
    const given = await open(actor, tableId, viewId)
    const { engine, model } = given
    const groups = given.context.view?.groups.filter(({ fieldId }) => model.field(fieldId))
    const query: Query = { tableId, viewId, groups, limit, offset: 0 }
    const opened = await filtered(given, query, () => extentOf(given, query))
    const { context } = opened
    const planned = plan(opened, `first page ${limit}`, () => ({
      ...query,
      fields: wantedFields(model, undefined),
      shape: { kind: 'rows', links: 'first' },
    }))
    const keys = engine.dialect.render(sql`${keysQuery(context, query)} limit ${sql.raw(String(limit))}`)
    const queryPlan = await engine.explain(planned.ranged?.byRange ?? keys, model.table.tableName)

    /** The numbers of a plan, given the records of the table and of the view. */
    function explained(total: number | null, matches: number | null): ViewExplanation {
      const returns = matches === null ? null : Math.min(limit, matches)
      const reads = recordsRead(queryPlan, { total, matches, returns })
      const { sorts } = queryPlan
      // Sheaf's own tables also have indexes of their keys, which serve other purposes.
      const names = isForeign(model) ? queryPlan.indexes : queryPlan.indexes.filter(isAutomaticIndex)
      const usesSearchIndex = context.searchIndex?.filter != null
      return { reads, returns, matches, sorts, usesIndex: names.length > 0, usesSearchIndex }
    }
    return { opened, planned, explained, isSorted: isSorted(opened, query) }
  }

  /**
   * How the database reads the first page of a view, with the terms of the index that serves it best, the formulas of which
   * there can be no index, and whether a search index of the table would serve it. The page is not read.
   *
   * @param timeUp ends the counting of records, whose number is then null
   * @throws TABLE_NOT_FOUND, VIEW_NOT_FOUND, PERMISSION_DENIED
   */
  async function explainView(
    actor: Actor,
    tableId: string,
    viewId: string,
    limit: number,
    timeUp: AbortSignal,
  ): Promise<
    ViewExplanation & { terms: IndexTerm[] | null; unindexed: UnindexedFormula[]; wantsSearchIndex: boolean }
  > {
    const { opened, planned, explained, isSorted } = await planView(actor, tableId, viewId, limit)
    const total = await withinTime(timeUp, () => work.total(opened))
    const matches = await withinTime(timeUp, () => countUnobserved(opened))
    const wantsSearchIndex = (await withinTime(timeUp, () => wouldAskIndex(opened, {}))) ?? false
    const { bestIndex, bestIndexOfFew } = planned
    // Of a view whose count takes long, that takes less time by its conditions as well.
    const isFew = matches === null || total === null ? !isSorted : matches <= total * FEW_SHARE
    const terms = (isFew ? bestIndexOfFew : null) ?? bestIndex
    const unindexed = unindexedFormulas(opened.context)
    return { ...explained(total, matches), terms, unindexed, wantsSearchIndex }
  }

  /** Reads the first page of a view, past the cache of results, and takes the time. @throws as `explainView`; QUERY_TIMEOUT */
  async function measureView(
    actor: Actor,
    tableId: string,
    viewId: string,
    limit: number,
  ): Promise<ViewMeasurement> {
    const { opened, planned, explained } = await planView(actor, tableId, viewId, limit)
    const scan = await work.isHeavy(opened, planned)
    const startedAt = performance.now()
    await shortestWay(opened, planned, (page) => opened.engine.values(page, { scan }))
    const ms = performance.now() - startedAt
    return { ...explained(await work.total(opened), await countUnobserved(opened)), ms }
  }

  /** The position of a record in a query, from 0; null if it is not included. */
  async function position(actor: Actor, query: Query, recordId: RecordId): Promise<number | null> {
    const [row] = await ranked(actor, query, [recordId])
    return row === undefined ? null : Number(row.n)
  }

  /** As `position`, for several records; those not included are omitted. */
  async function positions(
    actor: Actor,
    query: Query,
    recordIds: readonly RecordId[],
  ): Promise<{ recordId: RecordId; offset: number }[]> {
    const rows = await ranked(actor, query, recordIds)
    const asked = new Map(recordIds.map((recordId) => [String(recordId), recordId]))
    return rows.flatMap(({ k, n }) => {
      const recordId = asked.get(String(k))
      return recordId === undefined ? [] : [{ recordId, offset: Number(n) }]
    })
  }

  /** The rows of `positionsQuery`. */
  async function ranked(
    actor: Actor,
    query: Query,
    recordIds: readonly RecordId[],
  ): Promise<{ k: RecordId; n: number }[]> {
    const given = await open(actor, query.tableId, query.viewId, query.timeZone)
    const ordered = await withOrder(given, query)
    if (recordIds.length === 0) return []
    const opened = await filtered(given, ordered)
    const { engine, context } = opened
    const statement = engine.dialect.render(positionsQuery(context, ordered, recordIds))
    const scan = await work.isScan(opened, statement.sql)
    return engine.all<{ k: RecordId; n: number }>(statement, { scan })
  }

  /** As `versionsQuery`, read in the order of the versions. */
  async function versions(opened: Opened, { given, ...request }: VersionsRequest): Promise<RecordVersion[]> {
    const { engine, context } = opened
    const { fields, filters } = request
    const found: RecordVersion[] = []
    for (let start = 0; start < given.length; start += VERSIONS) {
      await breathe()
      const part = given.slice(start, start + VERSIONS)
      const statement = engine.dialect.render(
        versionsQuery(engine.dialect, context, { ...request, given: part }),
      )
      const scan = await work.isWide(opened, fields.some(isComputed))
      const rows = await engine.all<TitledRow>(statement, { scan })
      found.push(...takeVersions(rows, part.length, filters.length))
    }
    return found
  }

  return {
    open,
    openForFollowUp,
    versions,
    openNames,
    openForm,
    list,
    page,
    plan,
    groups,
    summarized,
    combinations,
    countCombinations,
    /** The table with its search index if that finds all records of a selection faster. */
    withSearchIndex: (opened: Opened, selection: Pick<Selection, 'filter' | 'recordIds'>): Promise<Opened> =>
      filtered(opened, selection),
    explainView,
    measureView,
    titled,
    titledMap,
    titledByIds,
    /** The number of records of a table, without an access check. */
    total: (engine: Engine, model: TableModel): Promise<number> => {
      const moment = { now: new Date(nowMs()) }
      return work.total({
        engine,
        model,
        context: { model, models: new Map(), view: null, dialect: engine.dialect, moment },
      })
    },
    ids,
    partsOf,
    count,
    countOpened,
    countPlanned,
    get,
    readOne,
    position,
    positions,
  }
}

const allMatches = (): CandidateRead => 'all'

/** True if a filter may need the names of people. */
const showsPeople = perModel((model) =>
  model.fields.some((field) => !field.isSystem && setOf(field) === 'user'),
)

/** Records that are read for a page; null if that depends on a number that is unknown. */
function recordsRead(
  { readsAll, sorts }: QueryPlan,
  { total, matches, returns }: { total: number | null; matches: number | null; returns: number | null },
): number | null {
  if (sorts && !readsAll) return matches
  if (sorts) return total
  if (!readsAll || total === null || matches === null || returns === null) return readsAll ? null : returns
  // A walk ends with the page; the matching records are assumed to be spread evenly.
  const walked = matches > returns ? Math.ceil((returns * total) / matches) : total
  return Math.max(returns, Math.min(total, walked))
}

/** Limit of records on one page for the grid. REST has its own, lower limit. */
const MAX_PAGE = 1000
