import { createHash } from 'node:crypto'
import { Elysia } from 'elysia'
import { z } from 'zod'
import type { Authenticator } from '../../../src/caller.ts'
import type { Actor } from '../../../src/core/actor.ts'
import { badRequest, notFound } from '../../../src/core/errors.ts'
import { type Filter, type FilterGroup, isGroup } from '../../../src/core/filters/index.ts'
import { createId } from '../../../src/core/ids.ts'
import { isRowColor, MAX_COLOR_RULES, notRowColor, type RowColoring } from '../../../src/core/views/index.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import { scalar } from '../../../src/wire/answer.ts'
import { wireFlag } from '../../../src/wire/body-values.ts'
import { readBody, restBase } from '../../../src/wire/rest-base.ts'
import { getField, type TableModel } from '../../schema/index.ts'
import { liveColoring, type ViewRow } from '../model/index.ts'
import type { ViewsService } from '../service.ts'
import { toNodes, type WireNode } from './filter-list.ts'
import { readWholeFilter } from './filter-routes.ts'
import { type FilterOwner, ownedByView, presentNodes } from './present.ts'

type Rule = Extract<RowColoring, { mode: 'filter' }>['rules'][number]

/** The colours of a view's rows, by the names of NocoDB's clients. */
export function rowColorsRest(prefix: string, views: ViewsService, kernel: Kernel, auth: Authenticator) {
  const info = async (actor: Actor, viewId: string) => {
    const { row, model } = await views.openRow(actor, 'view.list', viewId)
    return presentColoring(model, row, liveColoring(model, row))
  }
  /** Replaces the rules by what `decide` returns; a colouring by a select has none. */
  const change = async (
    actor: Actor,
    viewId: string,
    decide: (rules: readonly Rule[], model: TableModel) => Rule[],
  ) => {
    await views.change(actor, viewId, ['view.arrange'], ({ coloring }, model) => ({
      coloring: { mode: 'filter', rules: decide(coloring?.mode === 'filter' ? coloring.rules : [], model) },
    }))
  }
  const one = async (actor: Actor, viewId: string, conditionId: string) => {
    const { row, model } = await views.openRow(actor, 'view.list', viewId)
    const coloring = liveColoring(model, row)
    const rules = coloring?.mode === 'filter' ? coloring.rules : []
    const found = presentRules(model, row, rules).find((rule) => rule.id === conditionId)
    if (!found) throw unknownRule(conditionId)
    return found
  }

  return new Elysia({ prefix: `${prefix}/views/:viewId` })
    .use(restBase(kernel, auth))
    .get('/row-color', ({ actor, params }) => info(actor, params.viewId))
    .delete('/row-color', async ({ actor, params }) => {
      await views.change(actor, params.viewId, ['view.arrange'], () => ({ coloring: null }))
      return scalar(true)
    })
    .post('/row-color-select', async ({ actor, params, body }) => {
      await views.openRow(actor, 'view.arrange', params.viewId)
      const { fk_column_id: fieldId, is_set_as_background: isBackground } = readBody(SelectBody, body)
      await views.change(actor, params.viewId, ['view.arrange'], () => ({
        coloring: { mode: 'select', fieldId, isBackground: isBackground ?? false },
      }))
      return info(actor, params.viewId)
    })
    .post('/row-color-conditions', async ({ actor, params, body }) => {
      const { model } = await views.openRow(actor, 'view.arrange', params.viewId)
      const input = readBody(RuleBody, body)
      const id = createId('filter')
      const added: Rule = {
        color: input.color,
        isBackground: input.is_set_as_background ?? false,
        filter: identified(id, input.filter == null ? null : readWholeFilter(model, input.filter)),
      }
      await change(actor, params.viewId, (rules) => {
        if (rules.length >= MAX_COLOR_RULES)
          throw badRequest(m.views_error_colour_rules({ max: MAX_COLOR_RULES }))
        return rules.toSpliced(positionOf(input.nc_order) ?? rules.length, 0, added)
      })
      return one(actor, params.viewId, id)
    })
    .patch('/row-color-conditions/:conditionId', async ({ actor, params, body }) => {
      const { model } = await views.openRow(actor, 'view.arrange', params.viewId)
      const { color, is_set_as_background: isBackground, nc_order: order, filter } = readBody(RulePatch, body)
      const wanted = filter == null ? null : readWholeFilter(model, filter)
      await change(actor, params.viewId, (rules) => {
        const index = indexOf(rules, params.conditionId)
        const before = rules[index] as Rule
        const after: Rule = {
          ...before,
          ...(color !== undefined && { color }),
          ...(isBackground != null && { isBackground }),
          filter: identified(params.conditionId, filter === undefined ? before.filter : wanted),
        }
        return rules.toSpliced(index, 1).toSpliced(positionOf(order) ?? index, 0, after)
      })
      return one(actor, params.viewId, params.conditionId)
    })
    .delete('/row-color-conditions/:conditionId', async ({ actor, params }) => {
      await change(actor, params.viewId, (rules) => rules.toSpliced(indexOf(rules, params.conditionId), 1))
      return scalar(true)
    })
}

const SelectBody = z.object({ fk_column_id: z.string().max(64), is_set_as_background: wireFlag.nullish() })

const color = z.string().refine(isRowColor, { error: () => notRowColor() })
const order = z.number().nullish()

const RuleBody = z.object({
  color,
  is_set_as_background: wireFlag.nullish(),
  nc_order: order,
  filter: z.unknown().optional(),
})
const RulePatch = z.object({
  color: color.optional(),
  is_set_as_background: wireFlag.nullish(),
  nc_order: order,
  filter: z.unknown().optional(),
})

/** The index that an `nc_order` means, which counts from 1; null without one. */
const positionOf = (order: number | null | undefined): number | null =>
  order == null ? null : Math.max(0, Math.round(order) - 1)

/** The filter of a rule as a group, whose id is that of the rule. */
function identified(id: string, filter: Filter | null): FilterGroup {
  if (filter === null) return { id, join: 'and', children: [] }
  if (isGroup(filter) && !filter.id) return { ...filter, id }
  return filter.id === id && isGroup(filter) ? filter : { id, join: 'and', children: [filter] }
}

/**
 * The ids of rules: those of their filters. A rule of the web app has none until it is changed here; its conditions give
 * one. Of two rules with one id, the second gets another.
 */
function idsOf(rules: readonly Rule[]): string[] {
  const taken = new Set<string>()
  return rules.map(({ filter }) => {
    let id = (isGroup(filter) && filter.id) || hashedId(JSON.stringify(filter))
    while (taken.has(id)) id = hashedId(id)
    taken.add(id)
    return id
  })
}

const hashedId = (text: string): string => `fi${createHash('sha256').update(text).digest('hex').slice(0, 14)}`

/** @throws GENERIC_NOT_FOUND */
function indexOf(rules: readonly Rule[], conditionId: string): number {
  const index = idsOf(rules).indexOf(conditionId)
  if (index < 0) throw unknownRule(conditionId)
  return index
}

const unknownRule = (conditionId: string) => notFound('Filter', conditionId)

/** The colouring as `RowColoringInfo` of the SDK; without one, its `mode` is null. */
function presentColoring(model: TableModel, row: ViewRow, coloring: RowColoring | null) {
  const place = { fk_model_id: row.tableId, fk_view_id: row.id, mode: coloring?.mode ?? null }
  if (coloring === null) return { ...place, conditions: [] }
  if (coloring.mode === 'filter') return { ...place, conditions: presentRules(model, row, coloring.rules) }
  const { options } = getField(model, coloring.fieldId)
  const choices = Array.isArray(options.choices)
    ? (options.choices as { title: string; color?: string }[])
    : []
  return {
    ...place,
    fk_column_id: coloring.fieldId,
    options: choices.map(({ title, color }) => ({ title, color: color ?? null })),
    is_set_as_background: coloring.isBackground,
  }
}

function presentRules(model: TableModel, row: ViewRow, rules: readonly Rule[]) {
  const owner: FilterOwner = { ...ownedByView(row), viewId: null }
  const ids = idsOf(rules)
  return rules.map((rule, index) => {
    const id = ids[index] ?? ''
    const conditions = presentNodes(model, owner, named(id, toNodes(rule.filter))).map((filter) => ({
      ...filter,
      fk_row_color_condition_id: id,
    }))
    return {
      id,
      color: rule.color,
      is_set_as_background: rule.isBackground,
      nc_order: index + 1,
      conditions,
      nestedConditions: nested(conditions, null),
    }
  })
}

/** The filters of a rule, each with an id that no other has: those of the web app have none. */
function named(ruleId: string, nodes: readonly WireNode[]): WireNode[] {
  const taken = new Set([ruleId])
  const name = (node: WireNode, place: string): WireNode => {
    const id = node.id && !taken.has(node.id) ? node.id : hashedId(place)
    taken.add(id)
    if ('condition' in node.content) return { ...node, id }
    const children = node.content.children.map((child, at) => name(child, `${place} ${at}`))
    return { ...node, id, content: { children } }
  }
  return nodes.map((node, at) => name(node, `${ruleId} ${at}`))
}

type Presented = Pick<ReturnType<typeof presentNodes>[number], 'id' | 'fk_parent_id' | 'is_group'>

/** The filters of a group, each with its own. */
const nested = (filters: readonly Presented[], parentId: string | null): object[] =>
  filters
    .filter(({ fk_parent_id: parent }) => parent === parentId)
    .map((filter) => (filter.is_group ? { ...filter, children: nested(filters, filter.id) } : filter))
