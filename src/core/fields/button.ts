import * as z from 'zod/mini'
import { parseJsonText } from '../json-text.ts'
import { m } from '../messages.gen.ts'
import { type CellValue, defineFieldType, type FieldOptions } from './field-type.ts'
import { formulaText } from './formula.ts'
import { computedValue } from './system-value.ts'

/** Button style: filled, light background, or text only. */
export const BUTTON_THEMES = ['solid', 'light', 'text'] as const

/** Colours of buttons by the names that clients know. */
export const BUTTON_COLORS = [
  'brand',
  'red',
  'green',
  'maroon',
  'blue',
  'orange',
  'pink',
  'purple',
  'yellow',
  'gray',
] as const

const shortText = z.string().check(z.maxLength(255))

/** An enum whose error message lists the accepted values. */
const oneOf = <const T extends readonly string[]>(property: string, values: T) =>
  z.enum(values, { error: () => m.field_error_button({ option: property, values: values.join(', ') }) })

/** Fields that one press may change. */
const MAX_VALUES = 50

/** Opens the URL of the formula, calls a webhook, or writes values into the record. */
const BUTTON_KINDS = ['url', 'webhook', 'update'] as const

/** A button in each record. */
export const button = defineFieldType({
  ...computedValue,
  name: 'Button',
  label: m.field_type_button,
  help: m.field_type_button_help,
  example: 'Open',
  groupable: false,
  storage: 'text',
  options: z.object({
    kind: z._default(oneOf('type', BUTTON_KINDS), 'url'),
    label: z._default(shortText, ''),
    theme: z._default(oneOf('theme', BUTTON_THEMES), 'solid'),
    color: z._default(oneOf('colour', BUTTON_COLORS), 'brand'),
    /** Name of the icon; null for no icon. */
    icon: z._default(z.nullable(shortText), null),
    /** Formula text with `{{fieldId}}` references; its result is the URL. */
    formula: formulaText,
    /** For `webhook`: one of the table that is triggered by hand. */
    webhookId: z._default(z.nullable(z.string().check(z.maxLength(64))), null),
    /** For `update`: the values that a press writes, by field id; `@now` and `@me` are those of the press. */
    values: z._default(
      z
        .record(z.string().check(z.maxLength(64)), z.union([z.string(), z.number(), z.boolean(), z.null()]))
        .check(z.refine((values) => Object.keys(values).length <= MAX_VALUES)),
      {},
    ),
    /** The question to confirm before anything happens; empty: none. */
    confirmation: z._default(z.string().check(z.maxLength(500)), ''),
  }),
  computed: 'button',
})

/** Value of a button's cell. */
interface ButtonValue {
  label: string
  /** URL that a click opens; null if the formula gives none. */
  url: string | null
}

/** Parses a button's cell; null if it is not one. */
export function readButton(value: unknown): ButtonValue | null {
  if (typeof value !== 'string') return null
  try {
    const { label, url } = (parseJsonText(value) ?? {}) as { label?: unknown; url?: unknown }
    return { label: String(label ?? ''), url: url == null || url === '' ? null : String(url) }
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** The values that a press of this button writes, by field id; empty for other buttons. */
export const valuesOfButton = ({ options }: { options: FieldOptions }): Record<string, CellValue> =>
  options.kind === 'update' ? ((options.values ?? {}) as Record<string, CellValue>) : {}
