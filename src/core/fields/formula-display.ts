import type { ValueType } from '../formula/index.ts'
import type { FieldResult } from './field.ts'
import type { FormulaDisplay } from './formula.ts'
import { type FieldTypeName, isFieldTypeName, readOptions } from './index.ts'

/** The field types as which each kind of result can be shown, the usual one first. */
const DISPLAYS: Record<ValueType, readonly FieldTypeName[]> = {
  number: ['Decimal', 'Number', 'Currency', 'Percent', 'Duration', 'Rating'],
  text: ['SingleLineText', 'LongText', 'URL', 'Email', 'PhoneNumber'],
  boolean: ['Checkbox'],
  date: ['Date'],
  datetime: ['DateTime'],
  null: ['SingleLineText'],
}

/** The field types as which a formula of that type can be shown, the usual one first. */
export const displaysOf = (type: ValueType): readonly FieldTypeName[] => DISPLAYS[type]

/** True where values of that type can be shown so. */
export const fitsDisplay = (type: ValueType, display: FormulaDisplay | null): boolean =>
  display === null || DISPLAYS[type].some((name) => name === display.type)

/**
 * The display of a formula's result. A display that does not fit, which is what is left when the formula becomes
 * another, is passed over; numbers without one are shown as they are.
 *
 * @throws BAD_REQUEST for options that the shown type cannot have
 */
export function formulaResult(type: ValueType, display: FormulaDisplay | null): FieldResult {
  const [usual = 'SingleLineText'] = DISPLAYS[type]
  const chosen = display && fitsDisplay(type, display) && isFieldTypeName(display.type) ? display : null
  const name = chosen && isFieldTypeName(chosen.type) ? chosen.type : usual
  const options = chosen?.options ?? (name === 'Decimal' ? { precision: null } : {})
  return { type: name, options: readOptions(name, options), isList: false }
}
