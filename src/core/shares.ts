import * as z from 'zod/mini'
import { m } from './messages.gen.ts'
import type { Field, View, ViewKind } from './model.ts'
import type { ShareKind } from './share-headers.ts'
import type { BaseTheme } from './theme.ts'
import type { FormOptions } from './views/form.ts'
import type { Question } from './views/question.ts'

export {
  passwordHeader,
  readPasswordHeader,
  SHARE_HEADERS,
  SHARE_KINDS,
  SHARE_PASSWORD_HEADER,
  type ShareKind,
  SUBMISSION_HEADER,
  TIME_ZONE_HEADER,
} from './share-headers.ts'

/** A custom link address: letters, digits, `-` and `_`. */
export const CUSTOM_ADDRESS = /^[A-Za-z0-9_-]{3,64}$/

/** Placeholder that REST clients read instead of a link's password. */
export const SHARE_PASSWORD_MASK = '********'

/** Minimum length of a link's password. */
export const MIN_SHARE_PASSWORD = 4

export type PasswordStrength = 'short' | 'weak' | 'fair' | 'strong'

/** Estimates a password's strength from its length and character classes; only a hint while typing. */
export function passwordStrength(password: string): PasswordStrength {
  const characters = [...password]
  if (characters.length < MIN_SHARE_PASSWORD) return 'short'
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^a-zA-Z\d]/].filter((kind) => kind.test(password)).length
  // Repeated characters add no strength: "aaaaaaaaaaaa" is as weak as "aa".
  const bits = Math.min(characters.length, 2 * new Set(characters).size) * (2 + kinds)
  if (bits < 32) return 'weak'
  return bits < 52 ? 'fair' : 'strong'
}

/** Languages of public pages: English and every catalogue in `web/messages`. */
export const PAGE_LANGUAGES: readonly string[] = ['en']

const settings = {
  /** Offers downloads of the shown records as CSV, Excel and JSON. */
  allowDownload: z.boolean(),
  /** Forms: one question at a time. */
  survey: z.boolean(),
  /** Language of the page; null: the visitor's. */
  language: z.nullable(z.string().check(z.maxLength(20))),
  /** Right to left, whatever the language. */
  rtl: z.boolean(),
  /** `#RRGGBB` of buttons and links; null: the base's. */
  themeColor: z.nullable(z.string().check(z.regex(/^#[0-9A-F]{6}$/i))),
}

/** Appearance and features of a public page. */
export const shareSettings = z.strictObject({
  allowDownload: z._default(settings.allowDownload, true),
  survey: z._default(settings.survey, false),
  language: z._default(settings.language, null),
  rtl: z._default(settings.rtl, false),
  themeColor: z._default(settings.themeColor, null),
})

/** A supported page language; stored ones may come from another version of Sheaf. */
export const pageLanguage = settings.language.check(
  z.refine((code) => code === null || PAGE_LANGUAGES.includes(code), {
    error: () => m.share_error_language({ languages: PAGE_LANGUAGES.join(', ') }),
  }),
)

/** A partial update; absent settings are unchanged. */
export const shareSettingsPatch = z.partial(z.strictObject({ ...settings, language: pageLanguage }))
export type ShareSettings = z.output<typeof shareSettings>

/** A public link as shown to users who may share. */
export interface Share {
  id: string
  kind: ShareKind
  baseId: string
  targetId: string
  role: 'viewer' | 'editor'
  hasPassword: boolean
  expiresAt: string | null
  settings: ShareSettings
  createdAt: string
  lastVisitAt: string | null
  /** Number of responses to a form. */
  answers: number
  /** True while it shows no records because the view filters by a deleted or broken field. */
  isBlocked: boolean
}

/** Properties of a link that the public page loads first. */
export interface OpenedShare {
  kind: ShareKind
  baseId: string
  /** The table of a shared view; null for bases and diagrams. */
  tableId: string | null
  viewId: string | null
  viewKind: ViewKind | null
  title: string
  role: 'viewer' | 'editor'
  settings: ShareSettings
  /** Theme of the base; null: the default theme. The link's own colour takes precedence. */
  theme: BaseTheme | null
  /** State of a form; null for all other links. */
  form: FormState | null
  /** The form, if it is open; else null. */
  definition: FormDefinition | null
}

/** A form as visitors see it, complete with defaults, so that a browser draws it without the schemas of the options. */
export interface FormDefinition {
  view: View
  options: FormOptions
  /** The fields of the questions, and the primary key. */
  fields: Field[]
  /** All questions in order, whether or not their conditions are met. */
  questions: Question[]
}

/**
 * `closed`: past its closing time. `full`: its response limit is reached. `answered`: it accepts one response
 * per person, and this person has responded.
 */
export type FormState = 'open' | 'closed' | 'full' | 'answered'
