import { z } from 'zod'
import { fieldsOf, filterSchema } from '../filters/index.ts'

/** Colours of rows and cards: `#RRGGBB`. */
const color = z.string().regex(/^#[0-9A-Fa-f]{6}$/, { error: 'A colour must have the form #RRGGBB' })

/** Rows in the colour of the option that a single select holds. */
const bySelect = z.strictObject({
  mode: z.literal('select'),
  fieldId: z.string().min(1).max(64),
  /** True: the whole row; false: a bar at its start. */
  isBackground: z.boolean().default(false),
})

/** Rows in the colour of the first rule whose condition they meet. */
const byFilter = z.strictObject({
  mode: z.literal('filter'),
  rules: z
    .array(z.strictObject({ color, isBackground: z.boolean().default(false), filter: filterSchema }))
    .max(20),
})

/** How a view colours its records. */
export const rowColoring = z.discriminatedUnion('mode', [bySelect, byFilter])
export type RowColoring = z.output<typeof rowColoring>

/** The fields that a colouring looks at. */
export const coloringFields = (coloring: RowColoring): string[] =>
  coloring.mode === 'select' ? [coloring.fieldId] : coloring.rules.flatMap(({ filter }) => fieldsOf(filter))
