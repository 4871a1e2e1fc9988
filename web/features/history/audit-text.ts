import type { AuditDetail, AuditKind } from '../../../src/core/activity.ts'
import { m } from '../../messages.gen.ts'

/** What happened to a base, its members or public links, as a sentence. */
export function auditText(kind: AuditKind, { name = '', role = '' }: AuditDetail): string {
  switch (kind) {
    case 'base.create':
      return m.history_audit_base_create({ name })
    case 'base.update':
      return m.history_audit_base_update({ name })
    case 'base.delete':
      return m.history_audit_base_delete()
    case 'base.restore':
      return m.history_audit_base_restore()
    case 'member.invite':
      return m.history_audit_member_invite({ name, role })
    case 'member.update':
      return m.history_audit_member_update({ name, role })
    case 'member.remove':
      return m.history_audit_member_remove({ name })
    case 'share.create':
      return m.history_audit_share_create({ name })
    case 'share.update':
      return m.history_audit_share_update({ name })
    case 'share.delete':
      return m.history_audit_share_delete({ name })
  }
}
