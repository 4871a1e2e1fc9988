import type { FieldOptions } from '../../../src/core/fields/field-type.ts'
import { type FieldTypeName, fieldType } from '../../../src/core/fields/index.ts'
import type { RollupFunction } from '../../../src/core/fields/rollup.ts'
import { m } from '../../../src/messages.gen.ts'
import type { Candidate, ComputedPlan } from '../source.ts'
import { type FormulaDialect, type TranslatedFormula, translateFormula } from './formula-translator.ts'
import { scalar, type ValueType } from './value-types.ts'

type Group = ComputedPlan['group']

/** A field that is computed there and keeps its values here. */
export const keptValues = (
  group: Group,
  plain: ValueType,
  problem: string,
  dependsOn: string[] = [],
): ComputedPlan => ({ as: 'computed', group, plain, candidates: [], dependsOn, problem })

/** A computed field that is broken in the source. */
export const brokenField = (group: Group, plain: ValueType): ComputedPlan =>
  keptValues(group, plain, m.base_imports_reason_invalid_there())

/** A formula, shown as its values are there. Of several dialects, the first that gives all values counts. */
export function formulaPlan(
  text: string,
  dialects: readonly FormulaDialect[],
  shown: ValueType,
): ComputedPlan {
  const translations: TranslatedFormula[] = []
  for (const dialect of dialects) {
    const translated = translateFormula(text, dialect)
    if ('problem' in translated) return keptValues('formulas', shown, translated.problem)
    translations.push(translated)
  }
  // Values that are converted here, such as fractions, are shown as they are: the formula gives those of the source.
  const display = shown.cell === scalar ? { type: shown.type, options: shown.options } : null
  const isNumber = fieldType(shown.type).isAmount === true
  const candidates = translations.flatMap(({ formula }): Candidate[] => {
    const write = (pattern: string, shownAs: typeof display): Candidate => ({
      type: 'Formula',
      options: (idOf) => ({
        formula: pattern.replace('@', () => formula(idOf)),
        ...(shownAs && { display: shownAs }),
      }),
    })
    // A truth is a number in some products.
    const asNumber = isNumber ? [write('IF(@, 1, 0)', display)] : []
    return [write('@', display), ...asNumber, write('@', null)]
  })
  return {
    as: 'computed',
    group: 'formulas',
    plain: shown,
    dependsOn: [...new Set(translations.flatMap(({ fieldIds }) => fieldIds))],
    readsClock: translations.some(({ readsClock }) => readsClock),
    candidates,
  }
}

/** A field of this type over a link and a field of the linked table. */
const overLink = (
  type: FieldTypeName,
  relationId: string,
  targetId: string | null,
  more: FieldOptions = {},
): Candidate => ({
  type,
  options: (idOf) => ({
    relationFieldId: idOf(relationId),
    ...(targetId !== null && { targetFieldId: idOf(targetId) }),
    ...more,
  }),
})

/** The values of a field of the linked records. Opaque ones are ids in the source, which cannot be compared. */
export const lookupPlan = (
  relationId: string,
  targetId: string,
  plain: ValueType,
  isOpaque = false,
): ComputedPlan => ({
  as: 'computed',
  group: 'lookups',
  plain,
  dependsOn: [relationId, targetId],
  ...(isOpaque && { notCompared: m.base_imports_note_not_compared() }),
  candidates: [overLink('Lookup', relationId, targetId)],
})

/** An aggregate over a field of the linked records, by the first of the functions that gives all values. */
export const rollupPlan = (
  relationId: string,
  targetId: string,
  functions: readonly RollupFunction[],
  plain: ValueType,
  options: FieldOptions = {},
): ComputedPlan => ({
  as: 'computed',
  group: 'rollups',
  plain,
  dependsOn: [relationId, targetId],
  emptyIsZero: true,
  candidates: functions.map((name) =>
    overLink('Rollup', relationId, targetId, { function: name, ...options }),
  ),
})

/** The number of linked records. */
export const countPlan = (relationId: string, plain: ValueType): ComputedPlan => ({
  as: 'computed',
  group: 'rollups',
  plain,
  dependsOn: [relationId],
  candidates: [overLink('Count', relationId, null)],
})

/** The time at which records were created. */
export const createdTimePlan = (shown: ValueType): ComputedPlan => ({
  as: 'computed',
  group: 'formulas',
  dependsOn: [],
  plain: shown,
  candidates: [{ type: 'CreatedTime', options: () => shown.options }],
})
