import type { ShareKind, ShareSettings } from '../../src/core/shares.ts'
import type { Columns } from '../../src/db/columns.ts'

/** Accounts, their sessions and tokens, and who is a member of what. */
export function defineAuthTables(c: Columns) {
  const users = c.table(
    'users',
    {
      id: c.text('id').primaryKey(),
      /** As typed; `emailKey` is what is compared. */
      email: c.text('email').notNull(),
      emailKey: c.text('email_key').notNull(),
      /** argon2id; null until an invited person has signed up. */
      passwordHash: c.text('password_hash'),
      displayName: c.text('display_name'),
      /** What the profile keeps for the screens: picture, colours. */
      meta: c.json('meta').$type<Record<string, unknown>>(),
      /** Comma list of organisation roles. */
      roles: c.text('roles').notNull(),
      /** A JWT that carries another version is void: 80 hex characters. */
      tokenVersion: c.text('token_version').notNull(),
      /** Set while an invited person has not signed up. */
      inviteToken: c.text('invite_token'),
      /** Who invited them: besides super admins, the only one who is shown the invite token. */
      invitedBy: c.text('invited_by'),
      /** 1 for the first user and null for all others: the index lets one in, however many try at once. */
      founder: c.integer('founder'),
      createdAt: c.text('created_at').notNull(),
      updatedAt: c.text('updated_at').notNull(),
      /** Set once deleted. The row stays so that history can still name its author. */
      deletedAt: c.text('deleted_at'),
    },
    (t) => [c.uniqueIndex('users_email_key').on(t.emailKey), c.uniqueIndex('users_founder').on(t.founder)],
  )
  const sessions = c.table(
    'sessions',
    {
      /** SHA-256 of the refresh token: the token itself is only in the browser's cookie. */
      id: c.text('id').primaryKey(),
      userId: c
        .text('user_id')
        .notNull()
        .references(() => users.id, { onDelete: 'cascade' }),
      /** The user's token version at sign-in: once it moves on, the session is void with it. */
      tokenVersion: c.text('token_version').notNull(),
      /** Milliseconds since 1970. */
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
      /** Milliseconds since 1970. */
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
      /** SHA-256 of the token; it is shown once, when it is made. */
      tokenHash: c.text('token_hash').notNull(),
      /** Its last characters, by which a person knows it again. */
      hint: c.text('hint').notNull(),
      createdAt: c.text('created_at').notNull(),
      /** From then on it is refused; null: it does not expire. */
      expiresAt: c.text('expires_at'),
    },
    (t) => [c.uniqueIndex('api_tokens_hash').on(t.tokenHash), c.index('api_tokens_user').on(t.userId)],
  )
  /** Who holds which role where: `scopeId` is a base, or the workspace. */
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
  /** Public links: each lets whoever has it see one view, one base or one diagram. */
  const shares = c.table(
    'shares',
    {
      /** What stands in the link. */
      id: c.text('id').primaryKey(),
      kind: c.text('kind').$type<ShareKind>().notNull(),
      baseId: c.text('base_id').notNull(),
      /** The view, the base or the source (of a diagram). */
      targetId: c.text('target_id').notNull(),
      /** What a visitor of a base may do there. */
      role: c.text('role').$type<'viewer' | 'editor'>().notNull(),
      /** argon2id; null: open to whoever has the link. */
      passwordHash: c.text('password_hash'),
      /** ISO; null: until it is closed. */
      expiresAt: c.text('expires_at'),
      settings: c.json('settings').$type<ShareSettings>().notNull(),
      createdBy: c.text('created_by'),
      createdAt: c.text('created_at').notNull(),
      updatedAt: c.text('updated_at').notNull(),
      lastVisitAt: c.text('last_visit_at'),
      /** Answers that came in by way of it. */
      answers: c.integer('answers').notNull(),
    },
    (t) => [c.uniqueIndex('shares_target').on(t.kind, t.targetId), c.index('shares_base').on(t.baseId)],
  )
  const settings = c.table('settings', { key: c.text('key').primaryKey(), value: c.json('value').notNull() })
  return { users, sessions, passwordResets, apiTokens, memberships, shares, settings }
}
