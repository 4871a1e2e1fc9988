import type { View } from '../../../../src/core/model.ts'
import type { HideableRole } from '../../../../src/core/roles.ts'
import { t } from '../../../i18n.ts'

/** What the people of a role are called together. */
export function rolesLabel(role: HideableRole): string {
  if (role === 'editor') return t('Editors')
  return role === 'commenter' ? t('Commenters') : t('Viewers')
}

/** From whom a view is hidden, in words, for those who see it all the same; null: from nobody. */
export function hiddenMark({ hiddenFrom }: Pick<View, 'hiddenFrom'>): string | null {
  if (hiddenFrom.length === 0) return null
  return t('Hidden from: {roles}', { roles: hiddenFrom.map(rolesLabel).join(', ') })
}
