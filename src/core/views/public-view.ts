import { shownType } from '../fields/field.ts'
import type { FieldOptions } from '../fields/field-type.ts'
import { type FieldTypeName, fieldType } from '../fields/index.ts'
import { linkOf } from '../fields/link-options.ts'
import { showsPeople } from '../fields/traits.ts'
import { type Condition, type Filter, isGroup } from '../filters/index.ts'
import type { Field, Table, TableSchema, View, ViewKind } from '../model.ts'
import type { RowColoring } from './coloring.ts'
import { offeredChoices } from './form-answers.ts'
import { collectsAnswers, stacksOf, viewKind } from './index.ts'

/** Error shown to visitors for a broken field; the real reason may name hidden fields. */
export const BROKEN = 'This field can’t be shown at the moment'

/**
 * The options of a computed field that describe its values, without their source: the formula, the path of a lookup
 * and the table of a link may reveal hidden fields, and the name of linked records that of their table. Every computed
 * kind has an entry, so that a new one does not compile without.
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
 * The fields that a link to a view lets see: those that the view shows, the one that names a record, its
 * key, and those that a view of its kind is made of (a kanban's stacks, a calendar's dates, a map's places, the
 * cover), without which it could not be drawn. A form shows no record, and so only what it asks for.
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
 * The field that holds the key of the link that makes a kanban's stacks; null for any other field. The records of
 * a stack are found by it, and the link tells the same keys.
 */
function stackKeyOf(view: View | null, field: Field): string | null {
  if (view === null || stacksOf(view)?.fieldId !== field.id) return null
  return linkOf(field)?.keyFieldId ?? null
}

/** A table as a link to one of its views shows it: nothing of it speaks of what the view does not show. */
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

/** Names in the database, what members are told of the table and what clients keep with it stay inside. */
export const publicTable = (table: Table): Table => ({
  ...table,
  tableName: '',
  description: null,
  meta: {},
})

/**
 * A field without what speaks of other fields and tables, or of the database it is in.
 *
 * @param view the one that shows it; null for a field of a table that is only linked
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
    // Default values are only for members who create records.
    defaultValue: view && collectsAnswers(view) ? field.defaultValue : null,
    databaseType: null,
    readOnlyReason: null,
    result: result && { ...result, options: publicOptions(result.type, result.options) },
    error: error === null ? null : BROKEN,
  }
}

/** The options of a type without what speaks of other fields and tables. */
function publicOptions(type: FieldTypeName, options: FieldOptions): FieldOptions {
  const { computed } = fieldType(type)
  if (computed === undefined) return options
  const shown: readonly string[] = SHOWN_OPTIONS[computed]
  const kept = Object.entries(options).filter(([key]) => shown.includes(key))
  return fieldType(type).options.parse(Object.fromEntries(kept)) as FieldOptions
}

/** A form that offers some of the options does not name the others. */
function offeredOnly(field: Field, view: View | null): FieldOptions {
  const said = view && collectsAnswers(view) && view.fields.find((line) => line.fieldId === field.id)?.form
  return said && said.limitOptions !== null
    ? { ...field.options, choices: offeredChoices(field, said) }
    : field.options
}

/**
 * A view without what it says of fields that are hidden, of who made it and of who is told of answers, and without
 * the addresses by which it finds people.
 *
 * @param visible the fields that it lets see
 */
export function publicView(view: View, visible: readonly Field[]): View {
  const { fields, filter, sorts, groups, coloring } = view
  const byId = new Map(visible.map((field) => [field.id, field]))
  const isShown = ({ fieldId }: { fieldId: string }) => byId.has(fieldId)
  const isTold: IsTold = (condition) => {
    const field = byId.get(condition.fieldId)
    if (!field) return false
    const namesPeople = showsPeople({ type: shownType(field).type.name })
    return !namesPeople || ![condition.value].flat().some((value) => /[^\s,]@/.test(String(value)))
  }
  return {
    ...view,
    meta: {},
    ownerId: null,
    hiddenFrom: [],
    fields: fields.filter(isShown).map((line) => ({
      ...line,
      form: line.form && { ...line.form, showIf: withoutHidden(line.form.showIf, isTold) },
    })),
    filter: withoutHidden(filter, isTold),
    sorts: sorts.filter(isShown),
    groups: groups.filter(isShown),
    coloring: coloring && publicColoring(coloring, isShown, isTold),
    options: withPublicOptions(view).options,
  }
}

/** A view without the options that are for members alone. */
export function withPublicOptions<V extends { kind: ViewKind; options: object | null }>(view: V): V {
  const { publicOptions: limit, options } = viewKind(view.kind)
  return limit && view.options !== null ? { ...view, options: limit(options.parse(view.options)) } : view
}

/** True for a condition that visitors may know of. */
type IsTold = (condition: Condition) => boolean

function publicColoring(
  coloring: RowColoring,
  isShown: (of: { fieldId: string }) => boolean,
  isTold: IsTold,
): RowColoring | null {
  if (coloring.mode === 'select') return isShown(coloring) ? coloring : null
  const rules = coloring.rules.filter(({ filter }) => isToldWhole(filter, isTold))
  return rules.length === 0 ? null : { ...coloring, rules }
}

const isToldWhole = (filter: Filter, isTold: IsTold): boolean =>
  isGroup(filter) ? filter.children.every((child) => isToldWhole(child, isTold)) : isTold(filter)

function withoutHidden(filter: Filter | null, isTold: IsTold): Filter | null {
  if (filter === null) return null
  if (!isGroup(filter)) return isTold(filter) ? filter : null
  const children = filter.children
    .map((child) => withoutHidden(child, isTold))
    .filter((child) => child !== null)
  return children.length === 0 ? null : { ...filter, children }
}
