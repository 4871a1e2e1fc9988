import { BASE_ROLES, type BaseRole, holdsBaseRole } from '../../../src/core/roles.ts'
import { t } from '../../i18n.ts'
import styles from './members.module.css'
import { roleName } from './role-pill.tsx'

/** The roles that someone with `own` may give, the highest first. */
export const rolesToGive = (own: BaseRole): BaseRole[] =>
  BASE_ROLES.filter((role) => holdsBaseRole(own, role)).toReversed()

/** What a role lets one do, in a sentence. */
export function roleHint(role: BaseRole): string {
  const hints: Record<BaseRole, string> = {
    owner: t('Full access, including deleting the base'),
    creator: t('Can also manage tables, fields, views, sharing and members'),
    editor: t('Can also add, edit and delete records'),
    commenter: t('Can view all tables and views'),
    viewer: t('Can view all tables and views'),
    'no-access': t('Can’t open the base'),
  }
  return hints[role]
}

/** A role of those that `own` may give, each with what it lets one do. */
export function RoleChoice(props: { own: BaseRole; role: BaseRole; onChange: (role: BaseRole) => void }) {
  const { own, role, onChange } = props
  return (
    <fieldset className={styles.roles}>
      <legend>{t('Role')}</legend>
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
