import type { Field, Person } from '../../../../src/core/model.ts'
import type { RowColoring } from '../../../../src/core/views/index.ts'
import { m } from '../../../messages.gen.ts'
import { describeCondition } from '../filter/describe-condition.ts'
import { completeFilter, conditionsOf } from '../filter/filter-edit.ts'

/** Describes a colouring: one text per rule that has an effect. */
export function describeColoring(
  coloring: RowColoring | null,
  fields: ReadonlyMap<string, Field>,
  people: readonly Person[],
): string[] {
  if (coloring === null) return []
  if (coloring.mode === 'select') {
    const field = fields.get(coloring.fieldId)
    return field ? [m.views_by_field({ field: field.title })] : []
  }
  const all = [...fields.values()]
  return coloring.rules.flatMap(({ filter }) => {
    const sentences = conditionsOf(completeFilter(filter, all)).flatMap(({ condition }) => {
      const field = fields.get(condition.fieldId)
      return field ? [describeCondition(condition, field, people)] : []
    })
    return sentences.length > 0 ? [sentences.join(', ')] : []
  })
}
