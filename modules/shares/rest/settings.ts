import { z } from 'zod'
import { parseJsonText } from '../../../src/core/json-text.ts'
import { SHARE_PASSWORD_MASK, type ShareSettings } from '../../../src/core/shares.ts'
import { plainObject } from '../../../src/input.ts'
import type { SharePatch } from '../../auth/index.ts'
import { customAddress, password } from '../input.ts'

/** A password, null or nothing for none, or the mask that clients have read, which means the one that is there. */
const WirePassword = z.union([z.literal(SHARE_PASSWORD_MASK), z.literal(''), password]).nullish()

const Flag = z.union([z.boolean(), z.literal(0), z.literal(1)]).transform(Boolean)

const WireSettings = plainObject(16_384).pipe(
  z.looseObject({
    allowCSVDownload: Flag.nullish(),
    surveyMode: Flag.nullish(),
    rtl: Flag.nullish(),
    language: z.string().max(20).nullish(),
    theme: z.looseObject({ primaryColor: z.string().nullish() }).nullish(),
  }),
)

/** What a client sends to change the link of a view (wire reference §9.2); `meta` may be JSON text. */
export const ViewShareBody = z.object({
  password: WirePassword,
  meta: z.union([WireSettings, z.string().max(16_384).transform(parseMeta).pipe(WireSettings)]).nullish(),
  uuid: customAddress.nullish(),
})

/** The same of a base (wire reference §5.2), whose passwords have eight characters at least. */
export const BaseShareBody = z.object({
  roles: z.enum(['viewer', 'editor']).optional(),
  password: z.union([z.literal(SHARE_PASSWORD_MASK), z.literal(''), password.min(8)]).nullish(),
  fk_custom_url_id: z.null().optional(),
})

/** What a body changes of a link. */
export function readShareBody(body: z.output<typeof ViewShareBody>): SharePatch {
  const { uuid, meta } = body
  return { ...passwordPatch(body), ...(uuid && { id: uuid }), ...(meta && { settings: settingsOf(meta) }) }
}

export const passwordPatch = ({
  password,
}: {
  password?: string | null | undefined
}): Pick<SharePatch, 'password'> =>
  password === undefined || password === SHARE_PASSWORD_MASK ? {} : { password: password || null }

/** Only what the body names, and what is a colour and a language. */
function settingsOf(meta: z.output<typeof WireSettings>): Partial<ShareSettings> {
  const { allowCSVDownload, surveyMode, rtl, language, theme } = meta
  const color = theme?.primaryColor
  return {
    ...(allowCSVDownload != null && { allowDownload: allowCSVDownload }),
    ...(surveyMode != null && { survey: surveyMode }),
    ...(rtl != null && { rtl }),
    ...(language !== undefined && { language }),
    ...(color !== undefined && { themeColor: color && /^#[0-9a-f]{6}$/i.test(color) ? color : null }),
  }
}

function parseMeta(text: string): unknown {
  try {
    return parseJsonText(text)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}
