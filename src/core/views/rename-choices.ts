import type { CellValue } from '../fields/field-type.ts'
import { type Condition, type Filter, isGroup } from '../filters/filter.ts'
import type { RowColoring } from './coloring.ts'
import type { FormField } from './form.ts'

/** Operators that match part of a title. */
const PARTIAL_MATCH: ReadonlySet<string> = new Set(['like', 'nlike'])

type Rename = (title: string) => string

/** Updates a filter after select options were renamed, so that it matches the same options. */
export function renameInFilter(filter: Filter, fieldId: string, rename: Rename): Filter {
  if (isGroup(filter)) {
    return { ...filter, children: filter.children.map((child) => renameInFilter(child, fieldId, rename)) }
  }
  const isAbout = filter.fieldId === fieldId && !PARTIAL_MATCH.has(filter.operator)
  return isAbout ? { ...filter, value: renamedValue(filter.value, rename) } : filter
}

/** Updates a colouring after select options were renamed. */
export const renameInColoring = (coloring: RowColoring, fieldId: string, rename: Rename): RowColoring =>
  coloring.mode === 'select'
    ? coloring
    : {
        ...coloring,
        rules: coloring.rules.map((rule) => ({
          ...rule,
          filter: renameInFilter(rule.filter, fieldId, rename),
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
  rename: Rename,
  isOwn: boolean,
): FormField => ({
  ...form,
  showIf: form.showIf && renameInFilter(form.showIf, fieldId, rename),
  ...(isOwn && {
    limitOptions: form.limitOptions?.map(rename) ?? null,
    defaultValue: renamedText(form.defaultValue, rename),
  }),
})

const renamedValue = (value: Condition['value'], rename: Rename): Condition['value'] =>
  Array.isArray(value) ? value.map((part) => renamedText(part, rename)) : renamedText(value, rename)

/** Renames one title or a comma-separated list of titles. */
export function renamedText(value: CellValue, rename: Rename): CellValue {
  if (typeof value !== 'string') return value
  const whole = rename(value)
  return whole !== value || !value.includes(',') ? whole : value.split(',').map(rename).join(',')
}
