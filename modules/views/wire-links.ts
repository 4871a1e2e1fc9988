import { SHARE_PASSWORD_MASK, type ShareSettings, shareSettings } from '../../src/core/shares.ts'
import type { AuthService, ShareRow } from '../auth/index.ts'
import type { WireLink } from './kinds/wire-kind.ts'

/**
 * What REST clients read of the public links of a base's views, by view. A password is kept as a hash, so that
 * nobody can read it back: clients that showed it show that there is one.
 */
export async function linksOfViews(
  shares: Pick<AuthService['shares'], 'ofBase'>,
  baseId: string,
): Promise<ReadonlyMap<string, WireLink>> {
  const rows = await shares.ofBase(baseId)
  return new Map(
    rows
      .filter(({ kind }) => kind === 'view')
      .map(({ id, targetId, passwordHash, settings }) => [
        targetId,
        {
          uuid: id,
          password: passwordHash === null ? null : SHARE_PASSWORD_MASK,
          meta: wireSettings(shareSettings.parse(settings)),
        },
      ]),
  )
}

/** The same of the one link by which someone came: they have given its password, and are not told of it. */
export const linkOfVisitor = ({ id, settings }: Pick<ShareRow, 'id' | 'settings'>): WireLink => ({
  uuid: id,
  password: null,
  meta: wireSettings(shareSettings.parse(settings)),
})

/** How a public page looks, under the names by which clients find it in the `meta` of a view. */
const wireSettings = ({ allowDownload, survey, rtl, language, themeColor }: ShareSettings) => ({
  allowCSVDownload: allowDownload,
  ...(survey && { surveyMode: true }),
  ...(rtl && { rtl: true }),
  ...(language !== null && { language }),
  ...(themeColor !== null && { theme: { primaryColor: themeColor } }),
})
