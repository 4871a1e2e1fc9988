import { badRequest } from '../../../src/core/errors.ts'
import { hasSingleChoice } from '../../../src/core/fields/traits.ts'
import { checkFilter } from '../../../src/core/filters/index.ts'
import { MAX_GROUPS, type Sort, type ViewKind } from '../../../src/core/model.ts'
import {
  groupingProblem,
  notSingleSelect,
  type RowColoring,
  viewKind,
} from '../../../src/core/views/index.ts'
import { m } from '../../../src/messages.gen.ts'
import { getField, type TableModel } from '../../schema/index.ts'
import { liveOptions, type ViewRow } from '../model/index.ts'

/**
 * The parsed options of a kind of view, with every key.
 *
 * @throws BAD_REQUEST naming the problem, FIELD_NOT_FOUND
 */
export function checkOptions(model: TableModel, kind: ViewKind, options: object): object {
  const definition = viewKind(kind)
  const parsed = definition.options.safeParse(options)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    throw badRequest(`${issue?.path.join('.') || 'options'}: ${issue?.message ?? 'is not understood'}`)
  }
  for (const fieldId of definition.fieldIds(parsed.data)) getField(model, fieldId)
  const problem = definition.problem(parsed.data, (id) => model.field(id))
  if (problem !== null) throw badRequest(problem)
  return parsed.data
}

/** The options of a new view: the kind's defaults for this table, overridden by the given ones. */
export const newOptions = (model: TableModel, kind: ViewKind, options: object = {}): object =>
  checkOptions(model, kind, { ...viewKind(kind).defaults(model.fields), ...options })

/**
 * The options of a view after an update. Clients never see options on fields in the trash or of an unfit type, so these
 * stay stored, unless the update sets the same keys.
 *
 * @throws as `checkOptions`
 */
export function changedOptions(
  model: TableModel,
  row: Pick<ViewRow, 'kind' | 'options'>,
  options: object,
): object {
  const checked: Record<string, unknown> = { ...checkOptions(model, row.kind, options) }
  const stored: Record<string, unknown> = { ...viewKind(row.kind).options.parse(row.options ?? {}) }
  const shown: Record<string, unknown> = { ...liveOptions(model, row) }
  const hiddenKeys = Object.keys(stored).filter((key) => !Bun.deepEquals(stored[key], shown[key]))
  const isReplaced = hiddenKeys.some((key) => !Bun.deepEquals(checked[key], shown[key]))
  if (isReplaced) return checked
  return { ...checked, ...Object.fromEntries(hiddenKeys.map((key) => [key, stored[key]])) }
}

/**
 * @throws FIELD_NOT_FOUND; BAD_REQUEST for too many levels, a field used twice, or a field that cannot be grouped by
 */
export function checkGroups(model: TableModel, groups: Sort[]): Sort[] {
  if (groups.length > MAX_GROUPS) throw badRequest(m.views_error_too_many_groups({ max: MAX_GROUPS }))
  const names = new Set<string>()
  for (const { fieldId } of groups) {
    const field = getField(model, fieldId)
    const problem = groupingProblem(field)
    if (problem !== null) throw badRequest(problem)
    if (names.has(fieldId)) throw badRequest(m.views_error_grouped_twice({ field: field.title }))
    names.add(fieldId)
  }
  return groups.map(({ fieldId, direction }) => ({ fieldId, direction }))
}

/**
 * Checks a coloring, except for rules that the view already has: a field of theirs may be in the trash, or of another type.
 *
 * @throws FIELD_NOT_FOUND; BAD_REQUEST, INVALID_FILTER for a coloring that does not fit the fields
 */
export function checkColoring(
  model: TableModel,
  coloring: RowColoring | null,
  before: RowColoring | null,
): RowColoring | null {
  if (coloring === null) return null
  if (coloring.mode === 'select') {
    const field = getField(model, coloring.fieldId)
    if (!hasSingleChoice(field)) throw badRequest(notSingleSelect({ field: field.title }))
    return coloring
  }
  const known = before?.mode === 'filter' ? before.rules : []
  for (const { filter } of coloring.rules) {
    if (known.some((rule) => Bun.deepEquals(rule.filter, filter))) continue
    const problem = checkFilter(filter, (id) => model.field(id))[0]
    if (problem) throw problem
  }
  return coloring
}
