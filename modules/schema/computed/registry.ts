import type { ComputedKind } from '../../../src/core/fields/field-type.ts'
import { FIELD_TYPE_NAMES, fieldType } from '../../../src/core/fields/index.ts'
import type { Field } from '../../../src/core/model.ts'
import { buttonRules } from './button.ts'
import { codeRules, formulaRules } from './formula.ts'
import { countRules, linkRules, lookupRules, rollupRules } from './linked-kinds.ts'
import type { ComputedRules, Reference } from './rules.ts'

/** The rules of each kind of computed field. */
const RULES: Record<ComputedKind, ComputedRules> = {
  link: linkRules,
  lookup: lookupRules,
  rollup: rollupRules,
  count: countRules,
  formula: formulaRules,
  button: buttonRules,
  code: codeRules,
}

/** The names of all computed types. */
export const COMPUTED_TYPES = FIELD_TYPE_NAMES.filter((name) => fieldType(name).computed !== undefined)

/** The rules of a computed field; undefined for a stored one. */
export function rulesOf({ type }: Pick<Field, 'type'>): ComputedRules | undefined {
  const { computed } = fieldType(type)
  return computed && RULES[computed]
}

/** The fields and tables that a field reads; empty for a stored field. */
export const referencesOf = (field: Field): Reference[] => rulesOf(field)?.references(field) ?? []
