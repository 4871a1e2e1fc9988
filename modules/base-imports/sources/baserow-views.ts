import type { Condition, DateOperand } from '../../../src/core/filters/filter.ts'
import type { RowHeight, Sort } from '../../../src/core/model.ts'
import { type RowColoring, viewKind } from '../../../src/core/views/index.ts'
import { m } from '../../../src/messages.gen.ts'
import type { SourceTable, SourceView } from '../source.ts'
import { type BaserowFields, choicesById, fieldKey } from './baserow-fields.ts'
import {
  type BaserowConditions,
  type BaserowField,
  type BaserowTable,
  type BaserowView,
  baserowConditions,
} from './baserow-types.ts'
import { choiceTitles, isRecord, namedColor, type Options } from './value-types.ts'
import { filterOf, NO_COUNTERPART, optionsOfKind, viewKindOf } from './view-settings.ts'

/** A table with its fields and views in the terms of an import. */
export function toTable(table: BaserowTable, fields: BaserowFields): SourceTable {
  const primary = table.fields.find((field) => field.primary)
  return {
    id: String(table.id),
    title: table.name,
    description: null,
    primaryFieldId: primary ? fieldKey(primary.id) : null,
    fields: [...table.fields.map((field) => fields.toField(table, field)), ...fields.innerLookups(table)],
    views: table.views.map((view) => toView(view, table)),
    recordCount: null,
  }
}

const levels = (list: readonly { field: number; order?: string | null | undefined }[] | null | undefined) =>
  (list ?? []).map(
    ({ field, order }): Sort => ({
      fieldId: fieldKey(field),
      direction: order?.toUpperCase() === 'DESC' ? 'desc' : 'asc',
    }),
  )

/** Sizes of rows; the smallest is the default here. */
const HEIGHTS: Record<string, RowHeight> = { medium: 'medium', large: 'tall' }

function toView({ view, fieldOptions }: BaserowTable['views'][number], table: BaserowTable): SourceView {
  const notes: string[] = []
  const kind = viewKindOf(view.type, notes)
  const { collectsAnswers } = viewKind(kind)
  const byId = new Map(table.fields.map((field) => [field.id, field]))
  const shownOptions = (id: number) => fieldOptions[String(id)]
  const ordered = table.fields.toSorted(
    (a, b) =>
      Number(b.primary ?? false) - Number(a.primary ?? false) ||
      (shownOptions(a.id)?.order ?? 0) - (shownOptions(b.id)?.order ?? 0),
  )
  const isShown = ({ id, primary }: BaserowField) => {
    const { hidden, enabled } = shownOptions(id) ?? {}
    return collectsAnswers ? enabled === true : primary === true || hidden !== true
  }
  if (collectsAnswers) notes.push(m.base_imports_note_form())
  const isOff = view.filters_disabled === true && (view.filters ?? []).length > 0
  if (isOff) notes.push(m.base_imports_note_filter_off())
  const rowHeight = HEIGHTS[String(view.row_height_size)]
  const { card_cover_image_field: cover, single_select_field: stack, date_field: date } = view
  return {
    id: String(view.id),
    title: view.name,
    kind,
    visible: ordered.filter(isShown).map(({ id }) => fieldKey(id)),
    widths: Object.fromEntries(
      Object.entries(fieldOptions).flatMap(([id, { width }]) => (width ? [[fieldKey(id), width]] : [])),
    ),
    filter: isOff ? null : conditionsOf(view, view.filter_type, byId, notes),
    sorts: levels(view.sortings),
    groups: levels(view.group_bys),
    coloring: coloringOf(view, byId, notes),
    ...(rowHeight !== undefined && { rowHeight }),
    ...optionsOfKind(kind, {
      stackFieldId: stack ? fieldKey(stack) : null,
      coverFieldId: cover ? fieldKey(cover) : null,
      ranges: date ? [{ fromFieldId: fieldKey(date), toFieldId: null }] : null,
    }),
    notes,
  }
}

/** Conditions as a filter: each names its group, and each group the one around it. */
function conditionsOf(
  { filters, filter_groups: groups }: BaserowConditions,
  conjunction: unknown,
  byId: ReadonlyMap<number, BaserowField>,
  notes: string[],
) {
  // Each group once, so that repeated ids do not multiply it.
  const unique = [...new Map((groups ?? []).map((group) => [group.id, group])).values()]
  const inGroup = (id: unknown, join: unknown, depth: number): Options => ({
    conjunction: join,
    filterSet: [
      ...(filters ?? []).filter(({ group }) => (group ?? null) === id),
      ...unique
        .filter(({ parent_group: parent }) => (parent ?? null) === id && depth < MAX_GROUPS)
        .map((group) => inGroup(group.id, group.filter_type, depth + 1)),
    ],
  })
  return filterOf(inGroup(null, conjunction, 0), (condition) => toCondition(condition, byId), notes)
}

/** Deepest groups that are looked at; the filter is cut before. */
const MAX_GROUPS = 10

/** Colours by the options of a select or by conditions: the first decoration counts. */
function coloringOf(
  { decorations }: BaserowView,
  byId: ReadonlyMap<number, BaserowField>,
  notes: string[],
): RowColoring | null {
  const [decoration, ...others] = decorations ?? []
  if (!decoration) return null
  if (others.length > 0) notes.push(m.base_imports_note_colors())
  const isBackground = decoration.type === 'background_color'
  const { field_id: fieldId, colors } = decoration.value_provider_conf ?? {}
  if (decoration.value_provider_type === 'single_select_color' && typeof fieldId === 'number')
    return { mode: 'select', fieldId: fieldKey(fieldId), isBackground }
  if (decoration.value_provider_type !== 'conditional_color' || !Array.isArray(colors)) return null
  const rules = colors.filter(isRecord).flatMap((rule) => {
    const conditions = baserowConditions.safeParse(rule)
    const filter = conditions.success && conditionsOf(conditions.data, rule.operator, byId, notes)
    const color = namedColor(rule.color)
    if (!filter || color === undefined) {
      notes.push(m.base_imports_note_condition())
      return []
    }
    return [{ color, isBackground, filter }]
  })
  return rules.length === 0 ? null : { mode: 'filter', rules: rules.slice(0, 20) }
}

/** Operators with one value by ours. */
const OPERATORS: Record<string, string> = {
  equal: 'eq',
  not_equal: 'neq',
  contains: 'like',
  contains_not: 'nlike',
  higher_than: 'gt',
  higher_than_or_equal: 'gte',
  lower_than: 'lt',
  lower_than_or_equal: 'lte',
}
/** Operators on the options of selects, which they name by ids. */
const OF_CHOICES: Record<string, string> = {
  single_select_equal: 'eq',
  single_select_not_equal: 'neq',
  single_select_is_any_of: 'anyof',
  single_select_is_none_of: 'nanyof',
  multiple_select_has: 'anyof',
  multiple_select_has_not: 'nanyof',
}
/** Comparisons with days. */
const OF_DATES: Record<string, string> = {
  date_is: 'eq',
  date_is_not: 'neq',
  date_is_before: 'lt',
  date_is_on_or_before: 'lte',
  date_is_after: 'gt',
  date_is_on_or_after: 'gte',
  // In versions before 1.24, with a day as the value.
  date_equal: 'eq',
  date_not_equal: 'neq',
  date_before: 'lt',
  date_before_or_equal: 'lte',
  date_after: 'gt',
  date_after_or_equal: 'gte',
}
/** Days that they name. */
const OPERANDS: Record<string, DateOperand> = {
  today: 'today',
  tomorrow: 'tomorrow',
  yesterday: 'yesterday',
  nr_days_ago: 'daysAgo',
  nr_days_from_now: 'daysFromNow',
  exact_date: 'exactDate',
}

function toCondition(
  { field: id, type, value }: Options,
  byId: ReadonlyMap<number, BaserowField>,
): Condition | typeof NO_COUNTERPART {
  const field = byId.get(Number(id))
  const operator = String(type)
  if (!field) return NO_COUNTERPART
  const fieldId = fieldKey(field.id)
  const given = String(value ?? '')
  if (operator === 'empty' || operator === 'not_empty')
    return { fieldId, operator: operator === 'empty' ? 'blank' : 'notblank', value: null }
  if (operator === 'boolean') {
    const isTrue = ['1', 'true', 't', 'yes', 'on'].includes(given.toLowerCase())
    return { fieldId, operator: isTrue ? 'checked' : 'notchecked', value: null }
  }
  const ofDate = OF_DATES[operator]
  if (ofDate) return dateCondition(fieldId, ofDate, given)
  const ofChoices = OF_CHOICES[operator]
  if (ofChoices) {
    const titles = choicesById(field, given.split(',').filter(Boolean))
    if (titles === null || titles.length === 0) return NO_COUNTERPART
    const isOne = titles.length === 1 && operator.startsWith('single')
    return { fieldId, operator: ofChoices, value: isOne ? titles[0]! : choiceTitles(titles) }
  }
  const plain = OPERATORS[operator]
  return plain && given !== '' ? { fieldId, operator: plain, value: given } : NO_COUNTERPART
}

/** A comparison with `Europe/Berlin?3?nr_days_ago`, or with a day alone. */
function dateCondition(fieldId: string, operator: string, given: string): Condition | typeof NO_COUNTERPART {
  const parts = given.split('?')
  const [value = '', name = 'exact_date'] = parts.length >= 3 ? parts.slice(1) : parts.slice(-1)
  const operand = OPERANDS[name]
  if (!operand) return NO_COUNTERPART
  const base = { fieldId, operator, operand }
  if (operand === 'exactDate') return value === '' ? NO_COUNTERPART : { ...base, value: value.slice(0, 10) }
  if (!name.startsWith('nr_')) return { ...base, value: null }
  return /^\d{1,5}$/.test(value) ? { ...base, value: Number(value) } : NO_COUNTERPART
}
