/**
 * Creating and updating fields, and changing their type.
 */

export { fillNumbers } from './auto-numbers.ts'
export {
  checkFormulaDraft,
  type DraftedFormula,
  draftFormula,
  type FormulaDraft,
  type FormulaVerdict,
} from './check-formula.ts'
export { isAsConverted, previewType } from './convert-column.ts'
export { becomesLink } from './convert-to-link.ts'
export { createField, setDisplayField } from './create.ts'
export { clientOf, hasFormula } from './formula-input.ts'
export type { FieldAtItsTurn, FieldDecision } from './turn.ts'
export { updateField, writeField } from './update.ts'
