import type { Action } from './actions.ts'
import type { RecordId } from './model.ts'

/** What the activity of a base can be limited to. */
export const ACTIVITY_KINDS = ['records', 'imports', 'schema', 'views', 'comments', 'access'] as const
export type ActivityKind = (typeof ACTIVITY_KINDS)[number]

/** What happened to the base itself, its members and its public links (spec §3, audit operation types). */
export const AUDIT_KINDS = [
  'base.create',
  'base.update',
  'base.delete',
  'base.restore',
  'member.invite',
  'member.update',
  'member.remove',
  'share.create',
  'share.update',
  'share.delete',
] as const
export type AuditKind = (typeof AUDIT_KINDS)[number]

/** What an audit says besides its kind; names are those of its time. */
export interface AuditDetail {
  /** The person's address, the title of the base, view or plugin, or the description of the token. */
  name?: string
  /** The role that a person got. */
  role?: string
  /**
   * What a link leads to (`view`, `base` or `erd`), the changed settings, the id of the plugin or removed base, or the time
   * of the restored backup.
   */
  target?: string
}

interface Happened {
  /** Unique within a base. */
  id: string
  at: string
  /** Null for visitors of public links. */
  actorId: string | null
}

/** An entry of the activity of a base. */
export type ActivityItem =
  | (Happened & {
      kind: 'change'
      /** Whether the action was done, taken back, or done again. */
      step: 'did' | 'undid' | 'redid'
      action: Action
    })
  | (Happened & {
      kind: 'comment'
      tableId: string
      tableTitle: string
      recordId: RecordId
      recordTitle: string
      text: string
      isReply: boolean
      /** As in `RecordComment`. */
      authorName: string | null
    })
  | (Happened & { kind: 'audit'; auditKind: AuditKind; detail: AuditDetail })
