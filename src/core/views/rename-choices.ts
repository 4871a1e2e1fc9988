import type { CellValue } from '../fields/field-type.ts'
import { type Condition, type Filter, isGroup } from '../filters/filter.ts'
import type { RowColoring } from './coloring.ts'
import type { FormField } from './form.ts'

/** Operators whose value is a part of a title, and not the title. */
const LOOKING_INTO: ReadonlySet<string> = new Set(['like', 'nlike'])

type Rename = (title: string) => string

/** The filter after options of a select field have got other titles: it means the same options as before. */
export function renameInFilter(filter: Filter, fieldId: string, rename: Rename): Filter {
  if (isGroup(filter)) {
    return { ...filter, children: filter.children.map((child) => renameInFilter(child, fieldId, rename)) }
  }
  const isAbout = filter.fieldId === fieldId && !LOOKING_INTO.has(filter.operator)
  return isAbout ? { ...filter, value: renamedValue(filter.value, rename) } : filter
}

/** The colouring after such a change: rules are filters. */
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
 * A field's form settings after such a change.
 *
 * @param isOwn true where it is the select field itself: its offered options and its default are titles
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

/** One title, or several as multi selects and lists of clients write them: parted by commas. */
function renamedText(value: CellValue, rename: Rename): CellValue {
  if (typeof value !== 'string') return value
  const whole = rename(value)
  return whole !== value || !value.includes(',') ? whole : value.split(',').map(rename).join(',')
}
