import { shownType } from '../fields/field.ts'
import type { FieldOptions } from '../fields/field-type.ts'
import { type FieldTypeName, fieldType } from '../fields/index.ts'
import { linkOf } from '../fields/link-options.ts'
import { showsPeople } from '../fields/traits.ts'
import { type Condition, type Filter, isGroup } from '../filters/index.ts'
import { m } from '../messages.gen.ts'
import type { Field, Table, TableSchema, View, ViewKind } from '../model.ts'
import type { RowColoring } from './coloring.ts'
import { collectsAnswers, stacksOf, viewKind } from './index.ts'
import { offeredChoices } from './question.ts'

/** Error shown to visitors for a broken field; the real reason may name hidden fields. */
export const brokenField = (): string => m.view_error_broken_field()

/**
 * Public options of computed fields, which describe values but not their source: formulas, lookup paths and
 * linked tables may reveal hidden fields, and the linked records' label may reveal their table. A new
 * computed kind does not compile without an entry.
 */
const SHOWN_OPTIONS = {
  link: ['kind'],
  lookup: [],
  rollup: ['function', 'precision', 'thousands'],
  count: [],
  formula: ['display'],
  code: ['format'],
  button: ['kind', 'label', 'theme', 'color', 'icon'],
} as const satisfies Record<NonNullable<ReturnType<typeof fieldType>['computed']>, readonly string[]>

/**
 * Ids of the fields visible through a view's public link: those that the view shows, the display field, the
 * primary key, and those that the view's layout needs (a kanban's stacks, a calendar's dates, a map's
 * locations, the cover). A form includes only its questions.
 */
export function visibleFieldIds(view: View, fields: readonly Field[]): ReadonlySet<string> {
  const shown = new Set(view.fields.filter((line) => line.show).map((line) => line.fieldId))
  for (const field of fields) {
    if (field.isPrimaryKey || (field.isDisplay && !collectsAnswers(view))) shown.add(field.id)
  }
  for (const id of viewKind(view.kind).fieldIds(view.options)) shown.add(id)
  for (const field of fields) {
    const keyFieldId = stackKeyOf(view, field)
    if (keyFieldId !== null) shown.add(keyFieldId)
  }
  return shown
}

/**
 * The foreign key field of the link that forms a kanban's stacks; null for other fields. Records of a stack
 * are queried by it; the link exposes the same keys.
 */
function stackKeyOf(view: View | null, field: Field): string | null {
  if (view === null || stacksOf(view)?.fieldId !== field.id) return null
  return linkOf(field)?.keyFieldId ?? null
}

/** A table as visible through a view's public link, without traces of hidden fields. */
export function publicSchema({ table, fields }: TableSchema, view: View): TableSchema {
  const ids = visibleFieldIds(view, fields)
  const visible = fields.filter(({ id }) => ids.has(id))
  return {
    table: publicTable(table),
    fields: visible.map((field) => publicField(field, view)),
    views: [publicView(view, visible)],
    readOnlyReason: null,
  }
}

/** Removes the database name, the description and client metadata. */
export const publicTable = (table: Table): Table => ({
  ...table,
  tableName: '',
  description: null,
  meta: {},
})

/**
 * A field without references to other fields, tables or its database.
 *
 * @param view the shared view; null for a field of a linked table
 */
export function publicField(field: Field, view: View | null): Field {
  const { result, error } = field
  const keyFieldId = stackKeyOf(view, field)
  return {
    ...field,
    columnName: '',
    options: {
      ...publicOptions(field.type, offeredOnly(field, view)),
      ...(keyFieldId !== null && { keyFieldId }),
    },
    // Only forms expose default values.
    defaultValue: view && collectsAnswers(view) ? field.defaultValue : null,
    databaseType: null,
    readOnlyReason: null,
    result: result && { ...result, options: publicOptions(result.type, result.options) },
    error: error === null ? null : brokenField(),
  }
}

/** Options without references to other fields and tables. */
function publicOptions(type: FieldTypeName, options: FieldOptions): FieldOptions {
  const { computed } = fieldType(type)
  if (computed === undefined) return options
  const shown: readonly string[] = SHOWN_OPTIONS[computed]
  const publicEntries = Object.entries(options).filter(([key]) => shown.includes(key))
  return fieldType(type).options.parse(Object.fromEntries(publicEntries)) as FieldOptions
}

/** Omits select options that the form does not offer. */
function offeredOnly(field: Field, view: View | null): FieldOptions {
  const settings =
    view && collectsAnswers(view) && view.fields.find((line) => line.fieldId === field.id)?.form
  return settings && settings.limitOptions !== null
    ? { ...field.options, choices: offeredChoices(field, settings) }
    : field.options
}

/**
 * A view without references to hidden fields, its owner, notification recipients, and e-mail addresses in filters.
 *
 * @param visible fields that visitors may see
 */
export function publicView(view: View, visible: readonly Field[]): View {
  const { fields, filter, sorts, groups, coloring } = view
  const byId = new Map(visible.map((field) => [field.id, field]))
  const isShown = ({ fieldId }: { fieldId: string }) => byId.has(fieldId)
  const isPublic = publicConditions(visible)
  return {
    ...view,
    meta: {},
    ownerId: null,
    hiddenFrom: [],
    fields: fields.filter(isShown).map((line) => withPublicQuestion(line, isPublic)),
    ...publicFilter(filter, isPublic),
    sorts: sorts.filter(isShown),
    groups: groups.filter(isShown),
    coloring: coloring && publicColoring(coloring, isShown, isPublic),
    options: withPublicOptions(view).options,
  }
}

/** A view without options that only members may see. */
export function withPublicOptions<V extends { kind: ViewKind; options: object | null }>(view: V): V {
  const { publicOptions: limit, options } = viewKind(view.kind)
  return limit && view.options !== null ? { ...view, options: limit(options.parse(view.options)) } : view
}

/**
 * Prepares the views of a table for visitors of its base, who see all fields: removes options for members only, and
 * conditions with e-mail addresses of people.
 *
 * @param fields of the table
 */
export function viewsForVisitors(fields: readonly Field[]) {
  const isPublic = publicConditions(fields)
  /** The conditions of a view, stored or shown. */
  const conditions = <V extends Pick<View, 'filter' | 'coloring'>>(view: V): V => ({
    ...view,
    filter: withoutHidden(view.filter, isPublic),
    coloring: view.coloring && publicColoring(view.coloring, () => true, isPublic),
  })
  /** A field of a view, as a question of a form. */
  const question = <L extends Pick<View['fields'][number], 'form'>>(line: L): L =>
    withPublicQuestion(line, isPublic)
  return {
    conditions,
    question,
    view: (view: View): View => ({
      ...withPublicOptions(conditions(view)),
      ...publicFilter(view.filter, isPublic),
      fields: view.fields.map(question),
    }),
  }
}

/** True for a condition that visitors may see. */
type IsPublic = (condition: Condition) => boolean

/** Conditions on these fields that do not compare people with an e-mail address or a part of one. */
function publicConditions(fields: readonly Field[]): IsPublic {
  const byId = new Map(fields.map((field) => [field.id, field]))
  return ({ fieldId, value }) => {
    const field = byId.get(fieldId)
    if (!field) return false
    const namesPeople = showsPeople({ type: shownType(field).type.name })
    return !namesPeople || ![value].flat().some((one) => /[^\s,]@/.test(String(one)))
  }
}

const withPublicQuestion = <L extends Pick<View['fields'][number], 'form'>>(
  line: L,
  isPublic: IsPublic,
): L => ({ ...line, form: line.form && { ...line.form, showIf: withoutHidden(line.form.showIf, isPublic) } })

function publicColoring(
  coloring: RowColoring,
  isShown: (of: { fieldId: string }) => boolean,
  isPublic: IsPublic,
): RowColoring | null {
  if (coloring.mode === 'select') return isShown(coloring) ? coloring : null
  const rules = coloring.rules.filter(({ filter }) => isFullyPublic(filter, isPublic))
  return rules.length === 0 ? null : { ...coloring, rules }
}

const isFullyPublic = (filter: Filter, isPublic: IsPublic): boolean =>
  isGroup(filter) ? filter.children.every((child) => isFullyPublic(child, isPublic)) : isPublic(filter)

/** The filter of a view as visitors see it, and whether the server has to apply more of it. */
function publicFilter(filter: Filter | null, isPublic: IsPublic): Pick<View, 'filter' | 'isFilterPartial'> {
  const isPartial = filter !== null && !isFullyPublic(filter, isPublic)
  return { filter: withoutHidden(filter, isPublic), ...(isPartial && { isFilterPartial: true }) }
}

/** What visitors may see of a filter: never narrower than the filter, so that both together are the filter. */
function withoutHidden(filter: Filter | null, isPublic: IsPublic): Filter | null {
  if (filter === null || isFullyPublic(filter, isPublic)) return filter
  // Without one of its parts, a negation or an alternative would let fewer records through.
  if (!isGroup(filter) || filter.not) return null
  const children = filter.children.map((child) => withoutHidden(child, isPublic))
  const shown = children.filter((child) => child !== null)
  if (shown.length === 0 || (filter.join === 'or' && shown.length < children.length)) return null
  return { ...filter, children: shown }
}
