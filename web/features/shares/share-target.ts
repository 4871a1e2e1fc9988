import { type BaseRole, roleCan } from '../../../src/core/roles.ts'
import { m } from '../../messages.gen.ts'

/** The base, and the view if one is open, to share. */
export interface ShareTarget {
  baseId: string
  /** Absent if no table is open. */
  tableId?: string
  viewId?: string
}

/** Why a role may not share, or null. */
export const shareRefusal = (role: BaseRole | null): string | null =>
  roleCan(role, 'base.share') || roleCan(role, 'view.share') ? null : m.shares_not_allowed()
