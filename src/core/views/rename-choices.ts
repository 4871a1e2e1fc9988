import type { ChoiceTitles } from '../fields/choice-titles.ts'
import type { CellValue } from '../fields/field-type.ts'
import { type Condition, type Filter, isGroup } from '../filters/filter.ts'
import type { RowColoring } from './coloring.ts'
import type { FormField } from './form.ts'

/** Operators that match part of a title. */
const PARTIAL_MATCH: ReadonlySet<string> = new Set(['like', 'nlike'])

/** Updates a filter after select options were renamed, so that it matches the same options. */
export function renameInFilter(filter: Filter, fieldId: string, titles: ChoiceTitles): Filter {
  if (isGroup(filter)) {
    return { ...filter, children: filter.children.map((child) => renameInFilter(child, fieldId, titles)) }
  }
  const isAbout = filter.fieldId === fieldId && !PARTIAL_MATCH.has(filter.operator)
  return isAbout ? { ...filter, value: renamedValue(filter.value, titles) } : filter
}

/** Updates a colouring after select options were renamed. */
export const renameInColoring = (
  coloring: RowColoring,
  fieldId: string,
  titles: ChoiceTitles,
): RowColoring =>
  coloring.mode === 'select'
    ? coloring
    : {
        ...coloring,
        rules: coloring.rules.map((rule) => ({
          ...rule,
          filter: renameInFilter(rule.filter, fieldId, titles),
        })),
      }

/**
 * Updates a field's form settings after select options were renamed.
 *
 * @param isOwn true for the select field itself, whose offered options and default are titles
 */
export const renameInForm = (
  form: FormField,
  fieldId: string,
  titles: ChoiceTitles,
  isOwn: boolean,
): FormField => ({
  ...form,
  showIf: form.showIf && renameInFilter(form.showIf, fieldId, titles),
  ...(isOwn && {
    limitOptions: form.limitOptions?.map((title) => titles.get(title) ?? title) ?? null,
    defaultValue: renamedText(form.defaultValue, titles),
  }),
})

const renamedValue = (value: Condition['value'], titles: ChoiceTitles): Condition['value'] =>
  Array.isArray(value) ? value.map((part) => renamedText(part, titles)) : renamedText(value, titles)

/** Renames one title, which may have commas, or a comma-separated list of titles. */
export function renamedText(value: CellValue, titles: ChoiceTitles): CellValue {
  if (typeof value !== 'string') return value
  const renamed = (title: string) => titles.get(title) ?? title
  return titles.get(value) ?? value.split(',').map(renamed).join(',')
}
