import * as z from 'zod/mini'
import { fieldsOf, filterSchema } from '../filters/index.ts'
import { m } from '../messages.gen.ts'

/** Colours of rows and cards: `#RRGGBB`. */
const color = z.string().check(z.regex(/^#[0-9A-Fa-f]{6}$/, { error: () => m.view_error_colour() }))

/** True for a colour of rows: `#RRGGBB`. */
export const isRowColor = (text: string): boolean => color.safeParse(text).success

/** Colours rows like the option of a single select. */
const bySelect = z.strictObject({
  mode: z.literal('select'),
  fieldId: z.string().check(z.minLength(1), z.maxLength(64)),
  /** True: the whole row; false: a bar at its start. */
  isBackground: z._default(z.boolean(), false),
})

/** Maximum rules of a colouring. */
export const MAX_COLOR_RULES = 20

/** Colours rows by the first rule whose condition they meet. */
const byFilter = z.strictObject({
  mode: z.literal('filter'),
  rules: z
    .array(z.strictObject({ color, isBackground: z._default(z.boolean(), false), filter: filterSchema }))
    .check(z.maxLength(MAX_COLOR_RULES)),
})

/** Colouring of a view's records. */
export const rowColoring = z.discriminatedUnion('mode', [bySelect, byFilter])
export type RowColoring = z.output<typeof rowColoring>

/** The message for text that is no colour of rows. */
export const notRowColor = m.view_error_colour

/** The message for a field without options that colours records by them. */
export const notSingleSelect = m.view_error_not_single_select

/** Ids of the fields that a colouring depends on. */
export const coloringFields = (coloring: RowColoring): string[] =>
  coloring.mode === 'select' ? [coloring.fieldId] : coloring.rules.flatMap(({ filter }) => fieldsOf(filter))
