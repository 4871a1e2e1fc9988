import type { Field } from '../fields/field.ts'
import { isGroupable } from '../group-key.ts'

/** Why a view cannot group its records by a field, in words that name it; null: it can. */
export function groupingProblem(field: Field): string | null {
  if (field.error !== null) return `Can’t group by field "${field.title}": ${field.error}`
  if (isGroupable(field)) return null
  return `Can’t group by field "${field.title}": ${field.type} fields don’t support grouping`
}
