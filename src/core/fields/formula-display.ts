import type { ScalarType } from '../formula/index.ts'
import type { FieldResult } from './field.ts'
import type { FormulaDisplay } from './formula.ts'
import { type FieldTypeName, isFieldTypeName, readOptions } from './index.ts'

/** Field types that can display each result type, the default first. */
const DISPLAYS: Record<ScalarType, readonly FieldTypeName[]> = {
  number: ['Decimal', 'Number', 'Currency', 'Percent', 'Duration', 'Rating'],
  text: ['SingleLineText', 'LongText', 'URL', 'Email', 'PhoneNumber'],
  boolean: ['Checkbox'],
  date: ['Date'],
  datetime: ['DateTime'],
  null: ['SingleLineText'],
}

/** Field types that can display a formula result of that type, the default first. */
export const displaysOf = (type: ScalarType): readonly FieldTypeName[] => DISPLAYS[type]

/** True if results of that type can be displayed that way. */
export const fitsDisplay = (type: ScalarType, display: FormulaDisplay | null): boolean =>
  display === null || DISPLAYS[type].some((name) => name === display.type)

/**
 * The display of a formula's result. Ignores a display that no longer fits, for example after the formula
 * changed; by default, numbers show all decimals.
 *
 * @throws BAD_REQUEST for invalid display options
 */
export function formulaResult(type: ScalarType, display: FormulaDisplay | null): FieldResult {
  const [defaultType = 'SingleLineText'] = DISPLAYS[type]
  const chosen = display && fitsDisplay(type, display) && isFieldTypeName(display.type) ? display : null
  const name = chosen && isFieldTypeName(chosen.type) ? chosen.type : defaultType
  const options = chosen?.options ?? (name === 'Decimal' ? { precision: null } : {})
  return { type: name, options: readOptions(name, options), isList: false }
}
