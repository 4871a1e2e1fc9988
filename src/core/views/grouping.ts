import { isGroupable } from '../group-key.ts'
import type { Field } from '../model.ts'

/** Why a view cannot group its records by a field, in words that name it; null: it can. */
export function groupingProblem(field: Field): string | null {
  if (field.error !== null) return `Field "${field.title}" cannot be grouped by: ${field.error}`
  if (isGroupable(field)) return null
  return `Field "${field.title}" is of the type ${field.type}, by which records cannot be grouped`
}
