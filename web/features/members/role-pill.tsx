import type { BaseRole } from '../../../src/core/roles.ts'
import { m } from '../../messages.gen.ts'
import styles from './role-pill.module.css'

/** A base role in its colour (spec §6). */
export function RolePill({ role }: { role: BaseRole }) {
  return (
    <span className={styles.pill} style={{ color: `var(--color-role-${role})` }}>
      {roleName(role)}
    </span>
  )
}

/** Localized name of a base role. */
export function roleName(role: BaseRole): string {
  const names: Record<BaseRole, string> = {
    owner: m.bases_owner(),
    creator: m.bases_creator(),
    editor: m.bases_editor(),
    commenter: m.bases_commenter(),
    viewer: m.bases_viewer(),
    'no-access': m.bases_no_access(),
  }
  return names[role]
}
