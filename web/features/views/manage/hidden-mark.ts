import type { View } from '../../../../src/core/model.ts'
import type { HideableRole } from '../../../../src/core/roles.ts'
import { m } from '../../../messages.gen.ts'

/** Plural label of a role. */
export function rolesLabel(role: HideableRole): string {
  if (role === 'editor') return m.views_editors()
  return role === 'commenter' ? m.views_commenters() : m.views_viewers()
}

/** Text with the roles that a view is hidden from; null if it is visible to all. */
export function hiddenMark({ hiddenFrom }: Pick<View, 'hiddenFrom'>): string | null {
  if (hiddenFrom.length === 0) return null
  return m.views_hidden_from_roles({ roles: hiddenFrom.map(rolesLabel).join(', ') })
}
