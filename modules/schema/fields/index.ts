/**
 * Creating and updating fields, and changing their type.
 */

export { fillNumbers } from './auto-numbers.ts'
export { isAsConverted, previewType } from './convert-column.ts'
export { becomesLink, type FieldAtItsTurn, type FieldDecision } from './convert-to-link.ts'
export { createField, setDisplayField } from './create.ts'
export {
  checkFormulaDraft,
  clientOf,
  type DraftedFormula,
  draftFormula,
  type FormulaDraft,
  type FormulaVerdict,
  hasFormula,
} from './formula-input.ts'
export { updateField, writeField } from './update.ts'
