import * as z from 'zod/mini'
import type { ViewKind } from './model.ts'
import type { ShareKind } from './share-headers.ts'
import type { BaseTheme } from './theme.ts'

export {
  passwordHeader,
  readPasswordHeader,
  SHARE_HEADERS,
  SHARE_KINDS,
  SHARE_PASSWORD_HEADER,
  type ShareKind,
} from './share-headers.ts'

/** Names the answers to a form; the same for every attempt to send these, so that they become one record. */
export const SUBMISSION_HEADER = 'x-submission-id'

/** Header with the time zone of the person who answers a form, for default values such as today. */
export const TIME_ZONE_HEADER = 'x-time-zone'

/** A link's address that a person has chosen: letters, digits, `-` and `_`. */
export const CUSTOM_ADDRESS = /^[A-Za-z0-9_-]{3,64}$/

/** Placeholder that REST clients read instead of a link's password. */
export const SHARE_PASSWORD_MASK = '********'

/** Fewest characters of a link's password. */
export const MIN_SHARE_PASSWORD = 4

export type PasswordStrength = 'short' | 'weak' | 'fair' | 'strong'

/** Rough strength of a password, from its length and the kinds of characters in it: a hint while typing, not a rule. */
export function passwordStrength(password: string): PasswordStrength {
  const characters = [...password]
  if (characters.length < MIN_SHARE_PASSWORD) return 'short'
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^a-zA-Z\d]/].filter((kind) => kind.test(password)).length
  // "aaaaaaaaaaaa" is long and is no better than "aa".
  const bits = Math.min(characters.length, 2 * new Set(characters).size) * (2 + kinds)
  if (bits < 32) return 'weak'
  return bits < 52 ? 'fair' : 'strong'
}

/** Languages that a public page can be shown in: English and every catalogue in `web/messages`. */
export const PAGE_LANGUAGES: readonly string[] = ['en']

const settings = {
  /** Offers CSV, Excel and JSON of what is shown. */
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

/** How a public page looks, and what it offers beside reading. */
export const shareSettings = z.strictObject({
  allowDownload: z._default(settings.allowDownload, true),
  survey: z._default(settings.survey, false),
  language: z._default(settings.language, null),
  rtl: z._default(settings.rtl, false),
  themeColor: z._default(settings.themeColor, null),
})

/** A page language that can be chosen now; stored ones may be of another version of Sheaf. */
export const pageLanguage = settings.language.check(
  z.refine((code) => code === null || PAGE_LANGUAGES.includes(code), {
    error: `Public pages are available in these languages: ${PAGE_LANGUAGES.join(', ')}`,
  }),
)

/** Settings to change; those left out stay. */
export const shareSettingsPatch = z.partial(z.strictObject({ ...settings, language: pageLanguage }))
export type ShareSettings = z.output<typeof shareSettings>

/** A public link as those see it who may share. */
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
  /** Answers that came in by it, for a form. */
  answers: number
  /** True while it shows nothing, because a field that the view filters by is gone or broken. */
  isBlocked: boolean
}

/** Facts about a link that a visitor's page loads first. */
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
  /** The colours of the base; null: the product's. The link's own colour goes first. */
  theme: BaseTheme | null
  /** Whether a form takes answers now, and if not why; null for all other links. */
  form: FormState | null
}

/**
 * `closed`: its day has passed. `full`: it has had as many answers as it takes. `answered`: it takes one from
 * each person, and this one has given theirs.
 */
export type FormState = 'open' | 'closed' | 'full' | 'answered'
