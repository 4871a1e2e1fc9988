import * as z from 'zod/mini'
import { m } from '../messages.gen.ts'
import { defineFieldType, type FieldOptions } from './field-type.ts'
import { computedValue } from './system-value.ts'

/** Overrides how the result is displayed: a field type with its options. */
const formulaDisplay = z.object({
  type: z.string().check(z.maxLength(64)),
  options: z._default(z.record(z.string().check(z.maxLength(64)), z.unknown()), {}),
})

/** A formula's display setting; `formula-display.ts` lists the types that fit each result. */
export type FormulaDisplay = z.output<typeof formulaDisplay>

/** Text of a formula; `checkFormula` reports the length limit. */
export const formulaText = z._default(z.string().check(z.maxLength(100_000)), '')

/** A value computed from the record's other fields. */
export const formula = defineFieldType({
  ...computedValue,
  name: 'Formula',
  label: m.field_type_formula,
  help: m.field_type_formula_help,
  example: '{Price} * {Amount}',
  storage: 'text',
  options: z.object({
    /** Formula text, with `{{fieldId}}` instead of the `{Title}` that users type. */
    formula: formulaText,
    display: z._default(z.nullable(formulaDisplay), null),
  }),
  computed: 'formula',
})

const formulaOptions = formula.options

/** The formula of a field; of a button, the formula of its URL. */
export const formulaOf = (field: { options: FieldOptions }): z.output<typeof formulaOptions> =>
  formulaOptions.parse({ formula: field.options.formula, display: field.options.display })

/** Extracts the URL from a result of the function URL, `URI::( https://… )`; null for any other text. */
export const readFormulaLink = (text: string): string | null =>
  /^URI::\( ([\s\S]*) \)$/.exec(text)?.[1] ?? null
