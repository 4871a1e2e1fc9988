import { AUDIT_KINDS, type AuditDetail, type AuditKind } from './activity.ts'

/** What happened to accounts and the server (spec §3, audit operation types). */
const ACCOUNT_AUDITS = {
  sessions: ['user.sign-in', 'user.sign-in-failed', 'user.sign-out'],
  passwords: ['user.password-change', 'user.reset-link', 'user.password-reset'],
  accounts: ['user.sign-up', 'user.invite', 'user.resend-invite', 'user.accept-invite', 'user.delete'],
  roles: ['user.roles', 'user.workspace-role'],
  tokens: ['token.create', 'token.delete'],
  server: ['settings.update', 'plugin.update', 'plugin.deactivate', 'base.purge', 'server.restore'],
} as const

export type AccountAuditKind = (typeof ACCOUNT_AUDITS)[keyof typeof ACCOUNT_AUDITS][number]

/** The kinds of the audit log by subject, by which it is filtered. Those of bases are in the history of their base as well. */
export const AUDIT_GROUPS = { ...ACCOUNT_AUDITS, bases: AUDIT_KINDS } as const
export type AuditGroup = keyof typeof AUDIT_GROUPS
export const AUDIT_GROUP_NAMES = Object.keys(AUDIT_GROUPS) as AuditGroup[]

/** An entry of the audit log of super admins. Names and addresses are those of its time. */
export interface AuditEntry {
  id: number
  at: string
  kind: AuditKind | AccountAuditKind
  /** Null if nobody was signed in, or the server acted by itself. */
  actorId: string | null
  /** The user whom it concerns. */
  userId: string | null
  baseId: string | null
  /** IP address and `User-Agent` of the request; null for background work, and after `AUDIT_DAYS`. */
  address: string | null
  userAgent: string | null
  detail: AuditDetail
}
