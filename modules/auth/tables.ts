import type { ShareKind, ShareSettings } from '../../src/core/shares.ts'
import type { Columns } from '../../src/db/columns.ts'

/** Accounts, sessions, tokens, memberships and public links. */
export function defineAuthTables(c: Columns) {
  const users = c.table(
    'users',
    {
      id: c.text('id').primaryKey(),
      /** As typed; `emailKey` is compared. */
      email: c.text('email').notNull(),
      emailKey: c.text('email_key').notNull(),
      /** argon2id; null until an invited person signs up. */
      passwordHash: c.text('password_hash'),
      displayName: c.text('display_name'),
      /** Kept for clients (picture, colours). */
      meta: c.json('meta').$type<Record<string, unknown>>(),
      /** Comma list of organisation roles. */
      roles: c.text('roles').notNull(),
      /** 80 hex characters. Tokens with another version are void. */
      tokenVersion: c.text('token_version').notNull(),
      /** Set until an invited person signs up. */
      inviteToken: c.text('invite_token'),
      /** The inviter may see the invite token, as super admins may. */
      invitedBy: c.text('invited_by'),
      /** 1 for the first user, else null: the unique index admits one, even if several sign up at once. */
      founder: c.integer('founder'),
      createdAt: c.text('created_at').notNull(),
      updatedAt: c.text('updated_at').notNull(),
      /** Deleted accounts keep their row, so that history can name its author. */
      deletedAt: c.text('deleted_at'),
    },
    (t) => [c.uniqueIndex('users_email_key').on(t.emailKey), c.uniqueIndex('users_founder').on(t.founder)],
  )
  const sessions = c.table(
    'sessions',
    {
      /** SHA-256 of the refresh token, which only the browser's cookie holds. */
      id: c.text('id').primaryKey(),
      userId: c
        .text('user_id')
        .notNull()
        .references(() => users.id, { onDelete: 'cascade' }),
      /** The user's token version at sign-in: another one voids the session. */
      tokenVersion: c.text('token_version').notNull(),
      /** Unix time in milliseconds. */
      expiresAt: c.bigInteger('expires_at').notNull(),
    },
    (t) => [c.index('sessions_user').on(t.userId)],
  )
  const passwordResets = c.table(
    'password_resets',
    {
      /** SHA-256 of the token in the link. */
      id: c.text('id').primaryKey(),
      userId: c
        .text('user_id')
        .notNull()
        .references(() => users.id, { onDelete: 'cascade' }),
      /** Unix time in milliseconds. */
      expiresAt: c.bigInteger('expires_at').notNull(),
    },
    (t) => [c.index('password_resets_user').on(t.userId)],
  )
  const apiTokens = c.table(
    'api_tokens',
    {
      id: c.serial('id'),
      userId: c
        .text('user_id')
        .notNull()
        .references(() => users.id, { onDelete: 'cascade' }),
      description: c.text('description'),
      /** SHA-256 of the token, which is shown once. */
      tokenHash: c.text('token_hash').notNull(),
      /** The token's last characters, shown in lists. */
      hint: c.text('hint').notNull(),
      createdAt: c.text('created_at').notNull(),
      /** ISO; null: never. */
      expiresAt: c.text('expires_at'),
    },
    (t) => [c.uniqueIndex('api_tokens_hash').on(t.tokenHash), c.index('api_tokens_user').on(t.userId)],
  )
  /** Roles by scope: `scopeId` is a base, or the workspace. */
  const memberships = c.table(
    'memberships',
    {
      scope: c.text('scope').$type<'base' | 'workspace'>().notNull(),
      scopeId: c.text('scope_id').notNull(),
      userId: c
        .text('user_id')
        .notNull()
        .references(() => users.id, { onDelete: 'cascade' }),
      role: c.text('role').notNull(),
      createdAt: c.text('created_at').notNull(),
    },
    (t) => [
      c.primaryKey({ columns: [t.scope, t.scopeId, t.userId] }),
      c.index('memberships_user').on(t.userId),
    ],
  )
  /** Public links to a view, a base or a diagram. */
  const shares = c.table(
    'shares',
    {
      /** The random or custom address. */
      id: c.text('id').primaryKey(),
      kind: c.text('kind').$type<ShareKind>().notNull(),
      baseId: c.text('base_id').notNull(),
      /** The view, the base, or the diagram's source. */
      targetId: c.text('target_id').notNull(),
      /** Role of visitors of a base. */
      role: c.text('role').$type<'viewer' | 'editor'>().notNull(),
      /** argon2id; null: no password. */
      passwordHash: c.text('password_hash'),
      /** ISO; null: never. */
      expiresAt: c.text('expires_at'),
      settings: c.json('settings').$type<ShareSettings>().notNull(),
      createdBy: c.text('created_by'),
      createdAt: c.text('created_at').notNull(),
      updatedAt: c.text('updated_at').notNull(),
      lastVisitAt: c.text('last_visit_at'),
      /** Form answers received by this link. */
      answers: c.integer('answers').notNull(),
    },
    (t) => [c.uniqueIndex('shares_target').on(t.kind, t.targetId), c.index('shares_base').on(t.baseId)],
  )
  const settings = c.table('settings', { key: c.text('key').primaryKey(), value: c.json('value').notNull() })
  /** What happened to accounts, the server, bases, their members and public links: written with the action. */
  const audits = c.table(
    'audits',
    {
      id: c.serial('id'),
      /** Chosen before it is stored. */
      key: c.text('key').notNull(),
      at: c.text('at').notNull(),
      /** Null for accounts and the server. */
      baseId: c.text('base_id'),
      /** An `AuditKind` or `AccountAuditKind`. */
      kind: c.text('kind').notNull(),
      /** Null if nobody was signed in. */
      actorId: c.text('actor_id'),
      /** The user whom it concerns. */
      userId: c.text('user_id'),
      /** IP address and `User-Agent` of the request. */
      address: c.text('address'),
      userAgent: c.text('user_agent'),
      /** An `AuditDetail`. */
      detail: c.json('detail').notNull(),
    },
    (table) => [
      c.index('audits_base').on(table.baseId, table.id),
      // For the retention.
      c.index('audits_at').on(table.at),
    ],
  )
  return { audits, users, sessions, passwordResets, apiTokens, memberships, shares, settings }
}
