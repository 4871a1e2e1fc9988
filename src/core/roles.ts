/** Base roles in ascending order; each includes the rights of those before it (spec §6). */
export const BASE_ROLES = ['no-access', 'viewer', 'commenter', 'editor', 'creator', 'owner'] as const
export type BaseRole = (typeof BASE_ROLES)[number]

/** Roles that a view can be hidden from; creators and owners see all views. */
export const HIDEABLE_ROLES = ['editor', 'commenter', 'viewer'] as const satisfies readonly BaseRole[]
export type HideableRole = (typeof HIDEABLE_ROLES)[number]

/** True if a view is listed for users with this role. */
export const isListedFor = (
  role: BaseRole | null,
  { hiddenFrom }: { hiddenFrom: readonly HideableRole[] },
): boolean => !hiddenFrom.some((hidden) => hidden === role)

/** Organisation roles. `super` has every right; viewers can only open bases shared with them. */
export const ORG_ROLES = ['org-level-viewer', 'org-level-creator', 'super'] as const
export type OrgRole = (typeof ORG_ROLES)[number]

export const WORKSPACE_ROLES = [
  'workspace-level-no-access',
  'workspace-level-viewer',
  'workspace-level-commenter',
  'workspace-level-editor',
  'workspace-level-creator',
  'workspace-level-owner',
] as const
export type WorkspaceRole = (typeof WORKSPACE_ROLES)[number]

/** The base role of the same name, which a workspace role grants in every base of the workspace. */
export const asBaseRole = (role: WorkspaceRole): BaseRole => role.replace('workspace-level-', '') as BaseRole

/**
 * All rights, each with its minimum role. Each service operation names one; an unknown right does not
 * compile, and an unused one fails the access test.
 */
export const RIGHTS = {
  // The user's own account.
  'account.read': { scope: 'signed-in' },
  'account.update': { scope: 'signed-in' },
  // A leaked API token must not be able to create a permanent one or lock its owner out.
  'account.password': { scope: 'signed-in', sessionOnly: true },
  'token.list': { scope: 'signed-in', sessionOnly: true },
  'token.create': { scope: 'signed-in', sessionOnly: true },
  'token.delete': { scope: 'signed-in', sessionOnly: true },
  // The organisation.
  'base.list': { scope: 'signed-in' },
  'base.create': { scope: 'organisation', least: 'org-level-creator' },
  'user.list': { scope: 'organisation', least: 'org-level-creator' },
  'user.create': { scope: 'organisation', least: 'org-level-creator' },
  'user.update': { scope: 'organisation', least: 'org-level-creator' },
  'user.delete': { scope: 'organisation', least: 'org-level-creator' },
  // Grants access to every base, so it requires full access.
  'user.workspace-role': { scope: 'organisation', least: 'super' },
  'user.reset-password': { scope: 'organisation', least: 'super', sessionOnly: true },
  'settings.read': { scope: 'organisation', least: 'super' },
  'settings.update': { scope: 'organisation', least: 'super' },
  'storage.list': { scope: 'organisation', least: 'super' },
  'plugin.read': { scope: 'organisation', least: 'super' },
  'plugin.update': { scope: 'organisation', least: 'super' },
  'audit.list': { scope: 'organisation', least: 'super' },
  'backup.read': { scope: 'organisation', least: 'super' },
  'backup.update': { scope: 'organisation', least: 'super' },
  'backup.restore': { scope: 'organisation', least: 'super' },
  'instance.report': { scope: 'organisation', least: 'super' },
  // Bases.
  'base.read': { scope: 'base', least: 'viewer', shared: true },
  // What was done in the base, as far as the user sees what it concerns.
  'base.activity': { scope: 'base', least: 'viewer' },
  'base.update': { scope: 'base', least: 'creator' },
  'base.share': { scope: 'base', least: 'creator' },
  'base.duplicate': { scope: 'base', least: 'creator' },
  // A file with everything in the base, also what views hide.
  'base.export': { scope: 'base', least: 'creator' },
  // The user's own list of bases: position, star, hidden.
  'base.reorder': { scope: 'base', least: 'viewer' },
  'base.delete': { scope: 'base', least: 'owner' },
  'base.restore': { scope: 'base', least: 'owner' },
  // Deletes permanently from the trash.
  'base.purge': { scope: 'base', least: 'owner' },
  // Storage usage and history retention of a base.
  'base.storage': { scope: 'base', least: 'owner' },
  'base.tokens': { scope: 'base', least: 'creator', sessionOnly: true },
  'member.list': { scope: 'base', least: 'viewer' },
  // The operation limits the assigned role to the caller's own.
  'member.create': { scope: 'base', least: 'creator' },
  'member.update': { scope: 'base', least: 'creator' },
  'member.delete': { scope: 'base', least: 'creator' },
  // The names of the chat services and channels that webhooks can post to.
  'plugin.use': { scope: 'base', least: 'creator' },
  // The databases of a base.
  'source.list': { scope: 'base', least: 'creator' },
  'source.create': { scope: 'base', least: 'creator' },
  'source.update': { scope: 'base', least: 'creator' },
  'source.delete': { scope: 'base', least: 'creator' },
  // Tables and fields.
  'table.list': { scope: 'base', least: 'viewer', shared: true },
  'table.read': { scope: 'base', least: 'viewer', shared: true },
  'table.create': { scope: 'base', least: 'creator' },
  'table.update': { scope: 'base', least: 'creator' },
  'table.duplicate': { scope: 'base', least: 'creator' },
  'table.delete': { scope: 'base', least: 'creator' },
  'table.restore': { scope: 'base', least: 'creator' },
  // Indexes, and how the views of a table are read.
  'table.indexes': { scope: 'base', least: 'creator' },
  'field.create': { scope: 'base', least: 'creator' },
  'field.update': { scope: 'base', least: 'creator' },
  'field.duplicate': { scope: 'base', least: 'creator' },
  'field.delete': { scope: 'base', least: 'creator' },
  // Deletes permanently from the trash.
  'table.purge': { scope: 'base', least: 'creator' },
  'field.purge': { scope: 'base', least: 'creator' },
  'view.purge': { scope: 'base', least: 'creator' },
  // Views.
  'view.list': { scope: 'base', least: 'viewer', shared: true },
  'view.create': { scope: 'base', least: 'creator' },
  'view.update': { scope: 'base', least: 'creator' },
  'view.delete': { scope: 'base', least: 'creator' },
  'view.share': { scope: 'base', least: 'creator' },
  // Display settings of a view: fields, their order and width, filter and sorts.
  'view.arrange': { scope: 'base', least: 'editor' },
  // Records.
  'record.list': { scope: 'base', least: 'viewer', shared: true },
  'record.export': { scope: 'base', least: 'viewer', shared: true },
  'record.create': { scope: 'base', least: 'editor', shared: true },
  'record.update': { scope: 'base', least: 'editor', shared: true },
  'record.delete': { scope: 'base', least: 'editor', shared: true },
  // Comments. Members without more rights read them.
  'comment.list': { scope: 'base', least: 'viewer' },
  'comment.create': { scope: 'base', least: 'commenter' },
  // Comments of other users.
  'comment.moderate': { scope: 'base', least: 'creator' },
  // The user's own notifications, and how they want them.
  'notification.read': { scope: 'signed-in' },
  'notification.update': { scope: 'signed-in' },
  'record.history': { scope: 'base', least: 'viewer' },
  'record.undo': { scope: 'base', least: 'editor' },
  // Actions of other users.
  'record.undo-others': { scope: 'base', least: 'creator' },
  // Lists and restores deleted records, or deletes them permanently.
  'record.restore': { scope: 'base', least: 'editor' },
  'record.purge': { scope: 'base', least: 'creator' },
  // Gives a whole table the state of an earlier time, whoever changed it since.
  'record.rewind': { scope: 'base', least: 'creator' },
  // Files of attachment cells: the user's own uploads, and others through the bases that contain them.
  'file.create': { scope: 'signed-in' },
  'file.read': { scope: 'signed-in' },
  // Webhooks. Their settings may contain passwords of other services.
  'hook.list': { scope: 'base', least: 'creator' },
  'hook.create': { scope: 'base', least: 'creator' },
  'hook.update': { scope: 'base', least: 'creator' },
  'hook.delete': { scope: 'base', least: 'creator' },
  // Triggers a webhook by hand for a record.
  'hook.trigger': { scope: 'base', least: 'editor' },
  // Imports. Editors can fill a table; only creators can create one.
  'import.create': { scope: 'base', least: 'creator' },
  'import.append': { scope: 'base', least: 'editor' },
} as const satisfies Record<string, Rule>

/** Minimum role of a right. `sessionOnly`: not available with API tokens. */
export type Rule = (
  | { scope: 'signed-in' }
  | { scope: 'organisation'; least: OrgRole }
  | { scope: 'base'; least: BaseRole }
) & {
  sessionOnly?: true
  /** Also granted to visitors of a shared base, within the link's role. */
  shared?: true
}

export type Right = keyof typeof RIGHTS

/** Rights that apply within one base. */
export type BaseRight = {
  [R in Right]: (typeof RIGHTS)[R] extends { scope: 'base' } ? R : never
}[Right]

/** True if `role` is `least` or higher. */
export const holdsBaseRole = (role: BaseRole | null, least: BaseRole): boolean =>
  role !== null && BASE_ROLES.indexOf(role) >= BASE_ROLES.indexOf(least)

/** True if any of the roles is `least` or higher. */
export const holdsOrgRole = (roles: readonly string[], least: OrgRole): boolean =>
  ORG_ROLES.slice(ORG_ROLES.indexOf(least)).some((role) => roles.includes(role))

/** Whether a base role has a right; screens use it to show or hide controls. */
export const roleCan = (role: BaseRole | null, right: BaseRight): boolean =>
  holdsBaseRole(role, RIGHTS[right].least)
