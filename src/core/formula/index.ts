/** Everything about formulas that the rest of the program uses. */
export type { CellForm, FormulaField, Problem, ProblemType, ScalarType } from './ast.ts'
export { type CheckContext, type CheckedFormula, checkFormula } from './check.ts'
export { compileFormula, type FormulaCompileContext } from './compile.ts'
export { type EvaluateContext, evaluateFormula } from './evaluate.ts'
export { formulaField } from './fields.ts'
export { type FormulaHelp, formulaFunctions, signatureAt } from './help.ts'
export { inlinedWords, LEAF, type Size, sizeOfFormula } from './measure.ts'
export { readsClock } from './operators.ts'
export { type ParsedFormula, parseFormula } from './parse.ts'
export { storedReferences, toShown, toStored } from './rewrite.ts'
export {
  type FormulaToken,
  formulaTokens,
  MAX_FORMULA_LENGTH,
  readReference,
  readString,
  type TokenKind,
} from './tokens.ts'
export type { FormulaWords } from './words.ts'
