import { z } from 'zod'
import { isEmail } from '../fields/checked-text.ts'
import type { CellValue } from '../fields/field-type.ts'
import { type Filter, filterSchema } from '../filters/index.ts'
import type { ViewKindDefinition } from './view-kind.ts'

/** Rich text of forms: the markdown that long text cells know. Never HTML. */
const richText = z.string().max(20_000)

/** The path of an uploaded picture (as an attachment cell names one), or null. */
const picture = z.string().max(500).nullable()

export const formOptions = z.strictObject({
  /** Null: the view's title. */
  heading: z.string().max(500).nullable().default(null),
  subheading: richText.nullable().default(null),
  submitLabel: z.string().max(100).nullable().default(null),
  /** Shown after submitting. */
  successMessage: richText.nullable().default(null),
  /** Where the browser goes after submitting, some seconds later: an http(s) address. `{record_id}` is filled in. */
  redirectUrl: z.string().max(2083).nullable().default(null),
  redirectAfterSeconds: z.int().min(0).max(60).default(3),
  /** Offers another answer after submitting. */
  submitAnother: z.boolean().default(false),
  /** Shows the empty form again 5 seconds after submitting. */
  showBlankForm: z.boolean().default(false),
  /** Addresses that each answer is mailed to, parted by commas; null: nobody. */
  emailTo: z.string().max(1000).nullable().default(null),
  hideBanner: z.boolean().default(false),
  bannerPath: picture.default(null),
  logoPath: picture.default(null),
  hideBranding: z.boolean().default(false),
  /** `#RRGGBB`; null: the theme's. */
  backgroundColor: z
    .string()
    .regex(/^#[0-9A-F]{6}$/i)
    .nullable()
    .default(null),
  /** No answers from this moment on (ISO); null: never. */
  closesAt: z.iso.datetime({ offset: true }).nullable().default(null),
  /** No answers past this many; null: any number. */
  maxAnswers: z.int().min(1).nullable().default(null),
  onePerPerson: z.boolean().default(false),
})
export type FormOptions = z.output<typeof formOptions>

/** One rule for the values of a form's field; which rules a type has, `form-rules.ts` says. */
export const formRule = z.strictObject({
  rule: z.string().max(40),
  value: z.union([z.string().max(2000), z.number(), z.boolean(), z.null()]).default(null),
  /** Error message; null: the rule's default message. */
  message: z.string().max(500).nullable().default(null),
})
export type FormRule = z.output<typeof formRule>

/** A field's settings in a form, besides visibility and order. */
export const formField = z.strictObject({
  /** Null: the field's title. */
  label: z.string().max(1000).nullable().default(null),
  help: richText.nullable().default(null),
  required: z.boolean().default(false),
  /** Asked only where the answers so far meet this; null: always. Fields of this form ahead of it. */
  showIf: filterSchema.nullable().default(null) as z.ZodType<Filter | null>,
  /** How choices are offered. */
  layout: z.enum(['dropdown', 'list']).default('dropdown'),
  /** The options that are offered, by title; null: all. */
  limitOptions: z.array(z.string().max(1000)).max(1000).nullable().default(null),
  rules: z.array(formRule).max(50).default([]),
  /** Initial value; null: the field's own default. */
  defaultValue: z
    .union([z.string(), z.number(), z.boolean(), z.null()])
    .default(null) as z.ZodType<CellValue>,
  /** Offers the camera for bar and QR codes. */
  enableScanner: z.boolean().default(false),
  /** Data of API clients; the web app ignores it. */
  meta: z
    .record(z.string().max(64), z.unknown())
    .refine((value) => JSON.stringify(value).length <= 10_000, { error: 'Too much data' })
    .optional(),
})
export type FormField = z.output<typeof formField>

/** Questions, whose answers are records. */
export const form: ViewKindDefinition<FormOptions> = {
  kind: 'form',
  wireNumber: 1,
  label: 'Form',
  options: formOptions,
  defaults: () => formOptions.parse({}),
  fieldIds: () => [],
  prune: (options) => options,
  problem: ({ redirectUrl, emailTo }) =>
    redirectUrl === null || /^https?:\/\/[^\s]+$/i.test(redirectUrl)
      ? recipientsProblem(emailTo)
      : 'The redirect URL must start with http:// or https://',
  collectsAnswers: true,
  filePaths: ({ bannerPath, logoPath }) => [bannerPath, logoPath],
  // The addresses that answers are mailed to are for members alone.
  publicOptions: (options) => ({ ...options, emailTo: null }),
  hasManualOrder: false,
  shownAtFirst: null,
}

/** Most addresses that each answer to a form is mailed to. */
export const MAX_ANSWER_RECIPIENTS = 10

/** The addresses of a form's `emailTo`, each once. */
export function answerRecipients(emailTo: string | null): string[] {
  const byKey = new Map<string, string>()
  for (const part of (emailTo ?? '').split(',')) {
    const address = part.trim()
    if (isEmail(address) && !byKey.has(address.toLowerCase())) byKey.set(address.toLowerCase(), address)
  }
  return [...byKey.values()].slice(0, MAX_ANSWER_RECIPIENTS)
}

/** Error message for an invalid `emailTo`; null if it is valid. */
export function recipientsProblem(emailTo: string | null): string | null {
  if (emailTo === null || emailTo.trim() === '') return null
  const parts = emailTo.split(',').map((part) => part.trim())
  const wrong = parts.find((part) => !isEmail(part))
  if (wrong !== undefined) return `“${wrong.slice(0, 60)}” is not a valid email address`
  return parts.length > MAX_ANSWER_RECIPIENTS
    ? `Responses can be emailed to up to ${MAX_ANSWER_RECIPIENTS} addresses`
    : null
}
