import type { ViewKind } from '../../../src/core/model.ts'
import type { Share } from '../../../src/core/shares.ts'
import { collectsAnswers } from '../../../src/core/views/index.ts'
import { formAddress, paths, sharedAddress } from '../../navigation/paths.ts'

/** Full URL of a public link; of its survey page for forms that show one question at a time. */
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

/** The part before the link's id, e.g. `https://host/#/nc/view/`. */
export const addressPrefix = (address: string, shareId: string): string =>
  address.slice(0, address.lastIndexOf(shareId))
