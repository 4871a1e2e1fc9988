import { type Choice, matchTitle } from '../../../../src/core/fields/choices.ts'
import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import { type FilterMoment, fieldsOf, filterTester } from '../../../../src/core/filters/index.ts'
import type { Field } from '../../../../src/core/model.ts'
import type { RowColoring } from '../../../../src/core/views/index.ts'
import type { GridRow } from '../../../grid/contract.ts'
import { barColor, groundColor } from '../../layout/readable-color.ts'
import { completeFilter } from '../filter/filter-edit.ts'

/** The colour of a record, for a bar or the whole background. Text is legible on it. */
export interface RowColor {
  color: string
  isBackground: boolean
}

/** Returns the colour of a record; equal colours are the same object. */
export type ColorOf = (row: Pick<GridRow, 'values'>) => RowColor | null

/** Function that returns a record's colour; null if the view has no colouring or its field is missing. */
export function rowColors(
  coloring: RowColoring | null,
  fields: readonly Field[],
  moment: FilterMoment,
): ColorOf | null {
  if (coloring === null) return null
  if (coloring.mode === 'select') {
    const field = fields.find(({ id }) => id === coloring.fieldId)
    return field ? bySelect(field, coloring.isBackground) : null
  }
  const field = (fieldId: string) => fields.find(({ id }) => id === fieldId)
  const rules = coloring.rules.flatMap(({ color, isBackground, filter }) => {
    // An incomplete condition must not colour all records.
    const complete = completeFilter(filter, fields)
    if (complete === null) return []
    const test = filterTester(complete, { ...moment, field })
    return [{ test, fieldIds: fieldsOf(complete), color: readable(color, isBackground) }]
  })
  if (rules.length === 0) return null
  return (row) => {
    const met = rules.find(({ test, fieldIds }) =>
      test(Object.fromEntries(fieldIds.map((fieldId) => [fieldId, row.values(fieldId)]))),
    )
    return met?.color ?? null
  }
}

function bySelect(field: Field, isBackground: boolean): ColorOf {
  const { choices = [] } = field.options as { choices?: Choice[] }
  const known = new Map<CellValue, RowColor | null>()
  const find = (value: CellValue): RowColor | null => {
    const title = typeof value === 'string' ? matchTitle(choices, value) : null
    const choice = choices.find((one) => one.title === title)
    return choice ? readable(choice.color, isBackground) : null
  }
  return (row) => {
    const value = row.values(field.id)
    if (!known.has(value)) known.set(value, find(value))
    return known.get(value) ?? null
  }
}

const readable = (color: string, isBackground: boolean): RowColor | null => {
  const shown = isBackground ? groundColor(color) : barColor(color)
  return shown === null ? null : { color: shown, isBackground }
}
