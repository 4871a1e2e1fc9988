import { Elysia } from 'elysia'
import { z } from 'zod'
import type { Authenticator } from '../../../src/caller.ts'
import type { Actor } from '../../../src/core/actor.ts'
import { AppError, notFound } from '../../../src/core/errors.ts'
import {
  arityFor,
  type Condition,
  DATE_OPERANDS,
  type Filter,
  findOperator,
  MAX_DEPTH,
  operatorsFor,
  setOf,
} from '../../../src/core/filters/index.ts'
import { createId } from '../../../src/core/ids.ts'
import type { Sort } from '../../../src/core/model.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { defineSlot } from '../../../src/registry.ts'
import { scalar } from '../../../src/wire/answer.ts'
import { wireFlag } from '../../../src/wire/body-values.ts'
import { conditionFromWire, toWireOperator, type WireFilter } from '../../../src/wire/filters.ts'
import { readBody, restBase } from '../../../src/wire/rest-base.ts'
import { getField, refuseUnstorable, type TableModel } from '../../schema/index.ts'
import type { ViewsService } from '../service.ts'
import { changeNode, fromNodes, toNodes, type WireNode, withNode } from './filter-list.ts'
import {
  type FilterOwner,
  filterList,
  filterText,
  operatorOf,
  ownedByView,
  presentFilters,
  presentSort,
} from './present.ts'

/** The filters and sorts of views (wire §10). */
export function filtersRest(prefix: string, views: ViewsService, kernel: Kernel, auth: Authenticator) {
  return new Elysia()
    .use(sortRoutes(prefix, views, kernel, auth))
    .use(filterRoutes(prefix, views, kernel, auth))
}

function sortRoutes(prefix: string, views: ViewsService, kernel: Kernel, auth: Authenticator) {
  const list = async (actor: Actor, viewId: string) => {
    const { row, model } = await views.openRow(actor, 'view.list', viewId)
    return listed(row.sorts, model).map((sort, index) => presentSort(model.table, row, sort, index + 1))
  }
  const one = async (actor: Actor, sortId: string) => {
    const sort = (await list(actor, await views.viewHolding('Sort', sortId))).find(({ id }) => id === sortId)
    if (!sort) throw notFound('Sort', sortId)
    return sort
  }
  const change = async (
    actor: Actor,
    sortId: string,
    decide: (sorts: Sort[], index: number, model: TableModel) => Sort[],
  ) => {
    const viewId = await views.viewHolding('Sort', sortId)
    await views.change(actor, viewId, ['view.arrange'], ({ sorts }, model) => {
      const index = sorts.findIndex((sort) => sort.id === sortId)
      if (index < 0) throw notFound('Sort', sortId)
      return { sorts: decide(sorts, index, model) }
    })
  }
  return new Elysia({ prefix })
    .use(restBase(kernel, auth))
    .get('/views/:viewId/sorts', async ({ actor, params }) => ({ list: await list(actor, params.viewId) }))
    .post('/views/:viewId/sorts', async ({ actor, params, body }) => {
      await views.openRow(actor, 'view.arrange', params.viewId)
      const input = readBody(SortBody, body)
      const added = { id: createId('sort'), fieldId: input.fk_column_id, direction: input.direction }
      await views.change(actor, params.viewId, ['view.arrange'], ({ sorts }, model) => ({
        sorts: sorts.toSpliced(input.push_to_top ? 0 : indexOf(input.order, sorts, model), 0, added),
      }))
      return one(actor, added.id)
    })
    .get('/sorts/:sortId', ({ actor, params }) => one(actor, params.sortId))
    .patch('/sorts/:sortId', async ({ actor, params, body }) => {
      await views.openRow(actor, 'view.arrange', await views.viewHolding('Sort', params.sortId))
      const { fk_column_id: fieldId, direction, order } = readBody(SortPatch, body)
      await change(actor, params.sortId, (sorts, index, model) => {
        const patched = sorts.map((sort, at) =>
          at === index ? { ...sort, ...(fieldId && { fieldId }), ...(direction && { direction }) } : sort,
        )
        if (order == null || listed(sorts, model)[positionOf(order)]?.id === params.sortId) return patched
        const moved = patched.splice(index, 1)
        return patched.toSpliced(indexOf(order, patched, model), 0, ...moved)
      })
      return scalar(1)
    })
    .delete('/sorts/:sortId', async ({ actor, params }) => {
      await change(actor, params.sortId, (sorts, index) => sorts.toSpliced(index, 1))
      return scalar(true)
    })
}

/** What holds a filter: a view, or something of a later module. Both methods check access. */
export interface FilterHolder {
  read(actor: Actor): Promise<{ owner: FilterOwner; model: TableModel; filter: Filter | null }>
  /** Replaces the filter by what `decide` returns. */
  change(actor: Actor, decide: (filter: Filter | null, model: TableModel) => Filter | null): Promise<void>
}

/** The webhook whose condition has a node of this id; null if there is none. */
export const HOOK_FILTERS =
  defineSlot<(filterId: string) => Promise<FilterHolder | null>>('views.hookFilters')

function filterRoutes(prefix: string, views: ViewsService, kernel: Kernel, auth: Authenticator) {
  const ofView = (viewId: string): FilterHolder => ({
    async read(actor) {
      const { row, model } = await views.openRow(actor, 'view.list', viewId)
      return { owner: ownedByView(row), model, filter: row.filter }
    },
    change: (actor, decide) =>
      views.change(actor, viewId, ['view.arrange'], (row, model) => ({ filter: decide(row.filter, model) })),
  })
  const holderOf = async (filterId: string): Promise<FilterHolder> => {
    const ofHook = await kernel.registry.get(HOOK_FILTERS)(filterId)
    return ofHook ?? ofView(await views.viewHolding('Filter', filterId))
  }
  /** Every filter of a holder. */
  const all = async (actor: Actor, holder: FilterHolder) => {
    const { owner, model, filter } = await holder.read(actor)
    return presentFilters(model, owner, filter)
  }
  const one = async (actor: Actor, filterId: string, holder: FilterHolder) => {
    const filter = (await all(actor, holder)).find(({ id }) => id === filterId)
    if (!filter) throw notFound('Filter', filterId)
    return filter
  }
  const change = async (
    actor: Actor,
    filterId: string,
    decide: (node: WireNode, model: TableModel) => WireNode | null,
  ) => {
    await (await holderOf(filterId)).change(actor, (filter, model) => {
      const nodes = changeNode(toNodes(filter), filterId, (node) => decide(node, model))
      if (!nodes) throw notFound('Filter', filterId)
      return fromNodes(nodes)
    })
  }
  return new Elysia({ prefix })
    .use(restBase(kernel, auth))
    .get('/views/:viewId/filters', async ({ actor, params, query }) =>
      filterList(await all(actor, ofView(params.viewId)), query),
    )
    .post('/views/:viewId/filters', async ({ actor, params, body }) => {
      const { model } = await views.openRow(actor, 'view.arrange', params.viewId)
      const { id, addTo } = readFilter(model, body)
      await views.change(actor, params.viewId, ['view.arrange'], (row) => ({ filter: addTo(row.filter) }))
      return one(actor, id, ofView(params.viewId))
    })
    .get('/filters/:filterId', async ({ actor, params }) =>
      one(actor, params.filterId, await holderOf(params.filterId)),
    )
    .get('/filters/:filterId/children', async ({ actor, params }) => {
      const holder = await holderOf(params.filterId)
      await one(actor, params.filterId, holder)
      return { list: (await all(actor, holder)).filter((filter) => filter.fk_parent_id === params.filterId) }
    })
    .patch('/filters/:filterId', async ({ actor, params, body }) => {
      await change(actor, params.filterId, (node, model) => {
        const patch = readBody(FilterBody.partial(), body)
        refuseUnstorable(patch)
        const { logical_op: operator, is_group: _, children: __, fk_parent_id: ___, ...change } = patch
        // “Or not” is shown as “not”, so an operator that comes back unchanged leaves the node as it is.
        const joined: WireNode =
          operator === undefined || operator === operatorOf(node)
            ? node
            : { ...node, join: operator === 'or' ? 'or' : 'and', not: operator === 'not' }
        const before = 'condition' in node.content ? asWire(node.content.condition) : null
        // The text of a condition does not tell a list from commas, or “%” from a wildcard, so it is not parsed again.
        const shown = before && { ...before, value: filterText(before.value) }
        const isUnchanged = (Object.keys(change) as (keyof typeof change)[]).every(
          (key) => change[key] === shown?.[key],
        )
        const isEmptyGroup = 'children' in node.content && node.content.children.length === 0
        const becomesCondition = before !== null || (isEmptyGroup && change.fk_column_id)
        if (isUnchanged || !becomesCondition) return joined
        const condition =
          'condition' in node.content
            ? changedCondition(model, node.content.condition, change)
            : readCondition(model, change)
        return { ...joined, content: { condition } }
      })
      return scalar(1)
    })
    .delete('/filters/:filterId', async ({ actor, params }) => {
      await change(actor, params.filterId, () => null)
      return scalar(true)
    })
}

/**
 * Reads a new filter.
 *
 * @returns its id, and how it is added to a filter (which throws GENERIC_NOT_FOUND for a group that is not there)
 * @throws INVALID_REQUEST_BODY; as `readNode`
 */
export function readFilter(
  model: TableModel,
  body: unknown,
): { id: string; addTo(filter: Filter | null): Filter | null } {
  const input = readBody(FilterBody, body)
  refuseUnstorable(input)
  const node = readNode(model, input, MAX_DEPTH)
  return {
    id: node.id,
    addTo(filter) {
      const nodes = withNode(toNodes(filter), input.fk_parent_id ?? null, node)
      if (!nodes) throw notFound('Filter', input.fk_parent_id ?? '')
      return fromNodes(nodes)
    },
  }
}

/**
 * Reads a filter by itself, such as that of a coloured row.
 *
 * @throws INVALID_REQUEST_BODY; as `readNode`
 */
export function readWholeFilter(model: TableModel, body: unknown): Filter | null {
  const input = readBody(FilterBody, body)
  refuseUnstorable(input)
  return fromNodes([readNode(model, input, MAX_DEPTH - 1)])
}

const id = z.string().max(64)
const COMPARISONS = [
  'allof',
  'anyof',
  'blank',
  'btw',
  'checked',
  'empty',
  'endsWith',
  'eq',
  'ge',
  'gt',
  'gte',
  'in',
  'is',
  'isWithin',
  'isnot',
  'le',
  'like',
  'lt',
  'lte',
  'nallof',
  'nanyof',
  'nbtw',
  'neq',
  'nlike',
  'not',
  'notblank',
  'notchecked',
  'notempty',
  'notnull',
  'null',
  'startsWith',
]

/** A filter as clients send it. Its children are parsed by `readNode`, which limits the depth. */
const FilterBody = z.object({
  fk_column_id: id.nullish(),
  comparison_op: z.enum(COMPARISONS).nullish(),
  comparison_sub_op: z.enum(DATE_OPERANDS).nullish(),
  value: z.unknown().optional(),
  logical_op: z.enum(['and', 'or', 'not']).nullish(),
  fk_parent_id: id.nullish(),
  is_group: wireFlag.nullish(),
  children: z.array(z.unknown()).max(500).nullish(),
})

const direction = z.enum(['asc', 'desc'])

const SortBody = z.object({
  fk_column_id: id,
  direction: direction.default('asc'),
  push_to_top: wireFlag.nullish(),
  order: z.number().nullish(),
})
const SortPatch = z
  .looseObject({ fk_column_id: id.optional(), direction: direction.optional(), order: z.number().nullish() })
  .refine((body) => Object.keys(body).length > 0, {
    error: 'must NOT have fewer than 1 properties',
    params: { keyword: 'minProperties', limit: 1 },
  })

/**
 * Reads a filter with its children.
 *
 * @throws FIELD_NOT_FOUND, INVALID_FILTER, FILTER_VERIFICATION_FAILED
 */
function readNode(model: TableModel, body: z.output<typeof FilterBody>, depth: number): WireNode {
  if (depth === 0) throw new AppError('INVALID_FILTER', 'Filters are nested too deeply')
  const children = (body.children ?? []).map((child) => {
    const parsed = FilterBody.safeParse(child)
    if (!parsed.success) throw new AppError('INVALID_FILTER', 'A filter must be an object')
    return readNode(model, parsed.data, depth - 1)
  })
  // Without a field or children it is an unfinished filter, stored as an empty group.
  const isCondition = !body.is_group && children.length === 0 && body.fk_column_id != null
  return {
    id: createId('filter'),
    join: body.logical_op === 'or' ? 'or' : 'and',
    not: body.logical_op === 'not',
    content: isCondition ? { condition: readCondition(model, body) } : { children },
  }
}

/** Reads a condition; without an operator it takes the field's first one. */
function readCondition(model: TableModel, body: WireFilter): Condition {
  const field = getField(model, body.fk_column_id ?? '')
  const [first] = operatorsFor(setOf(field))
  return conditionFromWire(body, field, body.comparison_op ?? first?.key ?? 'eq')
}

/**
 * A condition after a partial update. A value that the client leaves out, or sends back as it was shown, keeps its
 * meaning: the text does not tell a list from commas, or “%” from a wildcard.
 */
function changedCondition(model: TableModel, before: Condition, change: WireFilter): Condition {
  const wire = asWire(before)
  const shown = filterText(before.value)
  if (change.value !== undefined && change.value !== shown)
    return readCondition(model, { ...wire, ...change })
  const field = getField(model, change.fk_column_id ?? before.fieldId)
  const operator = findOperator(change.comparison_op ?? before.operator)
  const arity = operator && arityFor(operator, setOf(field))
  const isList = Array.isArray(before.value)
  const value = isList && arity !== 'many' && arity !== 'two' ? shown : before.value
  const after = readCondition(model, { ...wire, ...change, value })
  // The value waits for an operator that needs one, as in NocoDB.
  if (arity === 'none' && field.id === before.fieldId)
    return { ...after, value: before.value, ...(before.operand && { operand: before.operand }) }
  const literal = LITERAL.get(after.operator)
  return literal && LITERAL_OPERATORS.has(before.operator) ? { ...after, operator: literal, value } : after
}

/** The operators that take every character literally, by those that REST reads where the text has wildcards. */
const LITERAL = new Map([
  ['pattern', 'like'],
  ['npattern', 'nlike'],
])
const LITERAL_OPERATORS = new Set(LITERAL.values())

/** A condition in the form of a client's body, the base of a partial update. */
const asWire = ({ fieldId, operator, operand, value }: Condition): WireFilter => ({
  fk_column_id: fieldId,
  comparison_op: toWireOperator(operator),
  comparison_sub_op: operand ?? null,
  value,
})

/** Sorts that clients see: sorts of fields in the trash are kept for the return of the field. */
const listed = (sorts: readonly Sort[], model: TableModel): Sort[] =>
  sorts.filter(({ fieldId }) => model.field(fieldId))

/** The position in the list that an `order` means, which counts from 1. */
const positionOf = (order: number): number => Math.max(0, Math.round(order) - 1)

/** The index among the other sorts of a view that an `order` means: the last one without it. */
function indexOf(order: number | null | undefined, others: readonly Sort[], model: TableModel): number {
  const next = order == null ? undefined : listed(others, model)[positionOf(order)]
  return next ? others.indexOf(next) : others.length
}
