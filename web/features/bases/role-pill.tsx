import type { BaseRole } from '../../../src/core/roles.ts'
import { t } from '../../i18n.ts'
import styles from './role-pill.module.css'

/** A base role in its colour (spec §6) and in words. */
export function RolePill({ role }: { role: BaseRole }) {
  return (
    <span className={styles.pill} style={{ color: `var(--color-role-${role})` }}>
      {roleName(role)}
    </span>
  )
}

/** The role in the language of the interface. */
export function roleName(role: BaseRole): string {
  const names: Record<BaseRole, string> = {
    owner: t('Owner'),
    creator: t('Creator'),
    editor: t('Editor'),
    commenter: t('Commenter'),
    viewer: t('Viewer'),
    'no-access': t('No access'),
  }
  return names[role]
}
