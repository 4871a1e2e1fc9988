import type { CellValue } from '../../src/core/fields/field-type.ts'
import { checkFormula, evaluateFormula, type FormulaField } from '../../src/core/formula/index.ts'

/** A field of a form, its id made of its title. */
export const field = (
  title: string,
  form: FormulaField['form'],
  id = `c${title.toLowerCase()}`,
): FormulaField => ({
  id,
  title,
  type: form,
  form,
  isComputed: false,
  isBroken: false,
})

/** One field of every form that matters. */
export const FIELDS = [
  field('Title', 'text'),
  field('Price', 'real'),
  field('Done', 'boolean'),
  field('Due', 'date'),
  field('At', 'datetime'),
  { ...field('Broken', 'real'), isBroken: true },
]

/** The formula checked against `FIELDS`. */
export const check = (text: string, client = 'pg') => checkFormula(text, { fields: FIELDS, client })

/** The problems of a formula as `TYPE from..to message`. */
export function problems(text: string, client?: string): string[] {
  const checked = check(text, client)
  return checked.ok
    ? []
    : checked.problems.map(({ type, message, from, to }) => `${type} ${from}..${to} ${message}`)
}

/** What a formula gives over some cells. */
export function value(text: string, cells: Record<string, CellValue> = {}, zone = 'UTC'): CellValue {
  const checked = check(text)
  if (!checked.ok) throw new Error(checked.problems[0]?.message)
  return evaluateFormula(checked.expression, {
    now: Date.UTC(2024, 0, 1),
    zone,
    recordId: 7,
    cell: (id) => cells[id] ?? null,
  })
}
