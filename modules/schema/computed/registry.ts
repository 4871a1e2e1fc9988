import type { FieldTypeName } from '../../../src/core/fields/index.ts'
import type { Field } from '../../../src/core/model.ts'
import { codeRules } from './code.ts'
import { countRules } from './count.ts'
import { formulaRules } from './formula.ts'
import { linkRules } from './link.ts'
import { lookupRules } from './lookup.ts'
import { rollupRules } from './rollup.ts'
import type { ComputedRules, Reference } from './rules.ts'

/** The rules of each type of field that is computed from other fields. */
const RULES: Partial<Record<FieldTypeName, ComputedRules>> = {
  Links: linkRules,
  LinkToAnotherRecord: linkRules,
  Lookup: lookupRules,
  Rollup: rollupRules,
  Count: countRules,
  Formula: formulaRules,
  Button: formulaRules,
  QrCode: codeRules,
  Barcode: codeRules,
}

/** Names of the types that have rules here. */
export const COMPUTED_TYPES = Object.keys(RULES) as FieldTypeName[]

/** The rules of a field; undefined for one that is computed from nothing else. */
export const rulesOf = (field: Pick<Field, 'type'>): ComputedRules | undefined => RULES[field.type]

/** What a field reads; nothing for one with values of its own. */
export const referencesOf = (field: Field): Reference[] => rulesOf(field)?.references(field) ?? []
