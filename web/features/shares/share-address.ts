import type { ViewKind } from '../../../src/core/model.ts'
import { MIN_SHARE_PASSWORD, type Share } from '../../../src/core/shares.ts'
import { collectsAnswers } from '../../../src/core/views/index.ts'
import { formAddress, paths, sharedAddress } from '../../navigation/paths.ts'

/** The full address that a public link is given out as; of a form that asks one question at a time, that page. */
export function addressOfShare(
  share: Pick<Share, 'id' | 'kind' | 'settings'>,
  viewKind: ViewKind | null,
): string {
  const { id, kind, settings } = share
  if (kind === 'base') return sharedAddress(paths.sharedBase(id))
  if (kind === 'erd') return sharedAddress(paths.sharedDiagram(id))
  if (viewKind !== null && collectsAnswers({ kind: viewKind }))
    return formAddress(id, { survey: settings.survey })
  return sharedAddress(paths.sharedView(id))
}

/** What stands ahead of the link's own part, e.g. `https://host/#/nc/view/`. */
export const addressPrefix = (address: string, shareId: string): string =>
  address.slice(0, address.lastIndexOf(shareId))

/** HTML that shows a public page within another site. */
export const embedCode = (address: string, title: string): string =>
  `<iframe src="${escapeHtml(address)}" title="${escapeHtml(title)}" width="100%" height="700" ` +
  'style="border: 1px solid #e3e6eb; border-radius: 8px" allow="clipboard-write" loading="lazy"></iframe>'

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

export type PasswordStrength = 'short' | 'weak' | 'fair' | 'strong'

/**
 * How well a password withstands being tried, roughly: by its length, and by how many kinds of characters one
 * would have to try. A hint while typing, no rule.
 */
export function passwordStrength(password: string): PasswordStrength {
  const characters = [...password]
  if (characters.length < MIN_SHARE_PASSWORD) return 'short'
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^a-zA-Z\d]/].filter((kind) => kind.test(password)).length
  // "aaaaaaaaaaaa" is long and is no better than "aa".
  const bits = Math.min(characters.length, 2 * new Set(characters).size) * (2 + kinds)
  if (bits < 32) return 'weak'
  return bits < 52 ? 'fair' : 'strong'
}
