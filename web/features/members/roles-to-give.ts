import { BASE_ROLES, type BaseRole, holdsBaseRole } from '../../../src/core/roles.ts'
import { m } from '../../messages.gen.ts'

/** Roles that a member with role `own` may assign, highest first. */
export const rolesToGive = (own: BaseRole): BaseRole[] =>
  BASE_ROLES.filter((role) => holdsBaseRole(own, role)).toReversed()

/** One sentence on the rights of a role. */
export function roleHint(role: BaseRole): string {
  const hints: Record<BaseRole, string> = {
    owner: m.bases_full_access_including_deleting_base(),
    creator: m.bases_also_manage_tables_fields_views(),
    editor: m.bases_also_add_edit_delete_records(),
    commenter: m.bases_also_comment_on_records(),
    viewer: m.bases_view_all_tables_views(),
    'no-access': m.bases_cant_open_the_base(),
  }
  return hints[role]
}
