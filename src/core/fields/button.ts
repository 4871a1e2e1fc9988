import * as z from 'zod/mini'
import { parseJsonText } from '../json-text.ts'
import { m } from '../messages.gen.ts'
import { defineFieldType } from './field-type.ts'
import { formulaText } from './formula.ts'
import { computedValue } from './system-value.ts'

/** Button style: filled, light background, or text only. */
export const BUTTON_THEMES = ['solid', 'light', 'text'] as const
/** Colours of buttons by the names that clients know. */
export const BUTTON_COLORS = [
  ...(['brand', 'red', 'green', 'maroon', 'blue', 'orange', 'pink', 'purple', 'yellow', 'gray'] as const),
] as const

const shortText = z.string().check(z.maxLength(255))

/** An enum whose error message lists the accepted values. */
const oneOf = <const T extends readonly string[]>(property: string, values: T) =>
  z.enum(values, { error: () => m.field_error_button({ option: property, values: values.join(', ') }) })

/** A button in each record that opens a URL computed by a formula, or triggers a webhook. */
export const button = defineFieldType({
  ...computedValue,
  name: 'Button',
  label: m.field_type_button,
  help: m.field_type_button_help,
  example: 'Open',
  groupable: false,
  storage: 'text',
  options: z.object({
    /** Whether a click opens the URL of the formula or triggers a webhook for the record. */
    kind: z._default(oneOf('type', ['url', 'webhook']), 'url'),
    label: z._default(shortText, ''),
    theme: z._default(oneOf('theme', BUTTON_THEMES), 'solid'),
    color: z._default(oneOf('colour', BUTTON_COLORS), 'brand'),
    /** Name of the icon; null for no icon. */
    icon: z._default(z.nullable(shortText), null),
    /** Formula text with `{{fieldId}}` references; its result is the URL. */
    formula: formulaText,
    webhookId: z._default(z.nullable(z.string().check(z.maxLength(64))), null),
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
