import { type BaseRole, roleCan } from '../../../src/core/roles.ts'
import { m } from '../../messages.gen.ts'

/** The view whose public link is shown, and the base around it. */
export interface ShareTarget {
  baseId: string
  /** Absent where no table is on the screen. */
  tableId?: string
  viewId?: string
}

/** The reason why a person may not share; null if they may. */
export const shareRefusal = (role: BaseRole | null): string | null =>
  roleCan(role, 'base.share') || roleCan(role, 'view.share') ? null : m.shares_only_creators_owners_share()
