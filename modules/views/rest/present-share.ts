import { SHARE_PASSWORD_MASK, type ShareSettings } from '../../../src/core/shares.ts'
import type { ViewShare } from '../shown-view.ts'

/** A view's public link, as REST clients read it in the view. A password shows as a mask: only its hash is kept. */
export const presentShare = (share: ViewShare | null) => ({
  uuid: share?.id ?? null,
  password: share?.hasPassword ? SHARE_PASSWORD_MASK : null,
  meta: share ? pageSettings(share.settings) : {},
})

/** The settings of a public page, by their names in the `meta` of a view. */
const pageSettings = ({ allowDownload, survey, rtl, language, themeColor }: ShareSettings) => ({
  allowCSVDownload: allowDownload,
  ...(survey && { surveyMode: true }),
  ...(rtl && { rtl: true }),
  ...(language !== null && { language }),
  ...(themeColor !== null && { theme: { primaryColor: themeColor } }),
})
