import { BASE_ROLES, type BaseRole, holdsBaseRole } from '../../../src/core/roles.ts'
import { m } from '../../messages.gen.ts'
import styles from './members.module.css'
import { roleName } from './role-pill.tsx'

/** The roles that someone with `own` may give, the highest first. */
export const rolesToGive = (own: BaseRole): BaseRole[] =>
  BASE_ROLES.filter((role) => holdsBaseRole(own, role)).toReversed()

/** What a role lets one do, in a sentence. */
export function roleHint(role: BaseRole): string {
  const hints: Record<BaseRole, string> = {
    owner: m.bases_full_access_including_deleting_base(),
    creator: m.bases_also_manage_tables_fields_views(),
    editor: m.bases_also_add_edit_delete_records(),
    commenter: m.bases_view_all_tables_views(),
    viewer: m.bases_view_all_tables_views(),
    'no-access': m.bases_cant_open_the_base(),
  }
  return hints[role]
}

/** A role of those that `own` may give, each with what it lets one do. */
export function RoleChoice(props: { own: BaseRole; role: BaseRole; onChange: (role: BaseRole) => void }) {
  const { own, role, onChange } = props
  return (
    <fieldset className={styles.roles}>
      <legend>{m.bases_role()}</legend>
      {rolesToGive(own).map((each) => (
        <label key={each} className={styles.role}>
          <input type="radio" name="role" checked={each === role} onChange={() => onChange(each)} />
          <span>
            <span style={{ color: `var(--color-role-${each})` }}>{roleName(each)}</span>
            <small>{roleHint(each)}</small>
          </span>
        </label>
      ))}
    </fieldset>
  )
}
