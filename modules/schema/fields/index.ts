/**
 * Creating and updating fields, and converting their type.
 */

export { fillNumbers } from './auto-numbers.ts'
export type { FieldChangeContext, FieldDecision } from './conversion.ts'
export { hasConvertedValues, previewType } from './convert-column.ts'
export { becomesLink, convertToLink } from './convert-to-link.ts'
export { createField, setDisplayField } from './create.ts'
export {
  checkFormulaDraft,
  clientOf,
  type DraftedFormula,
  draftFormula,
  type FormulaDraft,
  type FormulaVerdict,
} from './formula-input.ts'
export { addChoices, rewriteCells, updateField, writeField } from './update.ts'
