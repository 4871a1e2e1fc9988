import * as z from 'zod/mini'
import { isEmail } from '../fields/checked-text.ts'
import type { CellValue } from '../fields/field-type.ts'
import { type Filter, filterSchema } from '../filters/index.ts'
import { m } from '../messages.gen.ts'
import type { ViewKindDefinition } from './view-kind.ts'

/** Rich text in the Markdown subset of long text cells. Never HTML. */
const richText = z.string().check(z.maxLength(20_000))

/** Path of an uploaded image, as in attachment cells, or null. */
const picture = z.nullable(z.string().check(z.maxLength(500)))

export const formOptions = z.strictObject({
  /** Null: the view's title. */
  heading: z._default(z.nullable(z.string().check(z.maxLength(500))), null),
  subheading: z._default(z.nullable(richText), null),
  submitLabel: z._default(z.nullable(z.string().check(z.maxLength(100))), null),
  /** Shown after submitting. */
  successMessage: z._default(z.nullable(richText), null),
  /** Redirect URL after submission, http(s). `{record_id}` is replaced. */
  redirectUrl: z._default(z.nullable(z.string().check(z.maxLength(2083))), null),
  redirectAfterSeconds: z._default(z.int().check(z.minimum(0), z.maximum(60)), 3),
  /** Offers to submit another response. */
  submitAnother: z._default(z.boolean(), false),
  /** Shows the empty form again 5 seconds after submitting. */
  showBlankForm: z._default(z.boolean(), false),
  /** Comma-separated e-mail addresses that receive each response; null for no mail. */
  emailTo: z._default(z.nullable(z.string().check(z.maxLength(1000))), null),
  hideBanner: z._default(z.boolean(), false),
  bannerPath: z._default(picture, null),
  logoPath: z._default(picture, null),
  hideBranding: z._default(z.boolean(), false),
  /** `#RRGGBB`; null: the theme's. */
  backgroundColor: z._default(z.nullable(z.string().check(z.regex(/^#[0-9A-F]{6}$/i))), null),
  /** Closing time in ISO form; null: stays open. */
  closesAt: z._default(z.nullable(z.iso.datetime({ offset: true })), null),
  /** Maximum number of responses; null: unlimited. */
  maxAnswers: z._default(z.nullable(z.int().check(z.minimum(1))), null),
  onePerPerson: z._default(z.boolean(), false),
})
export type FormOptions = z.output<typeof formOptions>

/** A validation rule of a form's field; see `form-rules.ts` for the rules per type. */
const formRule = z.strictObject({
  rule: z.string().check(z.maxLength(40)),
  value: z._default(z.union([z.string().check(z.maxLength(2000)), z.number(), z.boolean(), z.null()]), null),
  /** Error message; null: the rule's default message. */
  message: z._default(z.nullable(z.string().check(z.maxLength(500))), null),
})
export type FormRule = z.output<typeof formRule>

/** A field's settings in a form, besides visibility and order. */
export const formField = z.strictObject({
  /** Null: the field's title. */
  label: z._default(z.nullable(z.string().check(z.maxLength(1000))), null),
  help: z._default(z.nullable(richText), null),
  required: z._default(z.boolean(), false),
  /** Condition on earlier fields of the form for showing this one; null: always shown. */
  showIf: z._default(z.nullable(filterSchema), null) as z.ZodMiniType<Filter | null>,
  /** Presentation of select options. */
  layout: z._default(z.enum(['dropdown', 'list']), 'dropdown'),
  /** Titles of the offered options; null: all. */
  limitOptions: z._default(
    z.nullable(z.array(z.string().check(z.maxLength(1000))).check(z.maxLength(1000))),
    null,
  ),
  rules: z._default(z.array(formRule).check(z.maxLength(50)), []),
  /** Initial value; null: the field's own default. */
  defaultValue: z._default(
    z.union([z.string(), z.number(), z.boolean(), z.null()]),
    null,
  ) as z.ZodMiniType<CellValue>,
  /** Offers the camera for bar and QR codes. */
  enableScanner: z._default(z.boolean(), false),
  /** Data of API clients; the web app ignores it. */
  meta: z.optional(
    z.record(z.string().check(z.maxLength(64)), z.unknown()).check(
      z.refine((value) => JSON.stringify(value).length <= 10_000, {
        error: () => m.form_error_meta_size(),
      }),
    ),
  ),
})
export type FormField = z.output<typeof formField>

/** A form, whose responses become records. */
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
  // Only members may see the notification recipients.
  publicOptions: (options) => ({ ...options, emailTo: null }),
  hasManualOrder: false,
  shownAtFirst: null,
}

/** Maximum number of notification recipients. */
export const MAX_ANSWER_RECIPIENTS = 10

/** The distinct addresses of a form's `emailTo`. */
export function answerRecipients(emailTo: string | null): string[] {
  const byKey = new Map<string, string>()
  for (const part of (emailTo ?? '').split(',')) {
    const address = part.trim()
    if (isEmail(address) && !byKey.has(address.toLowerCase())) byKey.set(address.toLowerCase(), address)
  }
  return [...byKey.values()].slice(0, MAX_ANSWER_RECIPIENTS)
}

/** Error message for an invalid `emailTo`; null if it is valid. */
function recipientsProblem(emailTo: string | null): string | null {
  if (emailTo === null || emailTo.trim() === '') return null
  const parts = emailTo.split(',').map((part) => part.trim())
  const wrong = parts.find((part) => !isEmail(part))
  if (wrong !== undefined) return `“${wrong.slice(0, 60)}” is not a valid email address`
  return parts.length > MAX_ANSWER_RECIPIENTS
    ? `Responses can be emailed to up to ${MAX_ANSWER_RECIPIENTS} addresses`
    : null
}
