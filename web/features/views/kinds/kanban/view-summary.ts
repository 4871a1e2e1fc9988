import { summarySetOf } from '../../../../../src/core/fields/field.ts'
import type { Field, View } from '../../../../../src/core/model.ts'
import { findSummary } from '../../../../../src/core/summaries.ts'
import { summaryOf } from '../../../records/screen/use-grid-columns.ts'
import type { StackSummary } from './create-board.ts'
import type { Stack } from './stacks.ts'

/** The summary that the stacks of a view show: that of its first field with one. */
export function summaryOfView(view: Pick<View, 'fields'>, fields: readonly Field[]): StackSummary | null {
  for (const { fieldId, summary } of view.fields.toSorted((a, b) => a.order - b.order)) {
    const field = fields.find(({ id }) => id === fieldId)
    const known = summary === null ? null : findSummary(summary)
    if (field && known?.sets.includes(summarySetOf(field))) return { fieldId, summary: known.key }
  }
  return null
}

/** A stack's summary in words; null where none is shown, or the stack is empty. */
export function summaryText(
  fields: readonly Field[],
  wanted: StackSummary | null,
  { numbers }: Stack,
): { label: string; value: string } | null {
  const field = fields.find(({ id }) => id === wanted?.fieldId)
  if (!wanted || !field || !numbers || numbers.count === 0) return null
  const shown = summaryOf(field, wanted.summary, { [`${field.id} ${wanted.summary}`]: numbers.summary })
  return shown ? { label: `${field.title}: ${shown.label}`, value: shown.value } : null
}
