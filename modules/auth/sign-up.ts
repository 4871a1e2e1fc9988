import { and, eq, exists, isNull, type SQL } from 'drizzle-orm'
import { nowIso } from '../../src/clock.ts'
import type { Actor } from '../../src/core/actor.ts'
import { AppError, badRequest } from '../../src/core/errors.ts'
import { createId } from '../../src/core/ids.ts'
import { createMutex } from '../../src/db/mutex.ts'
import type { Kernel } from '../../src/kernel.ts'
import { m } from '../../src/messages.gen.ts'
import { NOTICES } from '../../src/notices.ts'
import { requireUser } from './access.ts'
import type { Accounts, UserRow } from './accounts.ts'
import type { Audits } from './audits.ts'
import { emailKey, hashPassword, isUuid, randomHex80 } from './credentials.ts'
import type { Settings } from './server-setup.ts'
import { defineAuthTables } from './tables.ts'

/** Organisation roles of the first user, and of all later ones. */
const FOUNDER_ROLES = 'org-level-creator,super'
export const NEWCOMER_ROLES = 'org-level-viewer'

export interface SignUpInput {
  email: string
  password: string
  inviteToken?: string
}

export type SignUp = ReturnType<typeof createSignUp>

/** Creates accounts. */
export function createSignUp(
  { meta, registry }: Pick<Kernel, 'meta' | 'registry'>,
  accounts: Accounts,
  settings: Settings,
  audits: Audits,
) {
  const { users } = meta.tables(defineAuthTables)

  /** True once the first user has signed up; a super admin cannot be deleted. */
  async function hasUsers(): Promise<boolean> {
    const rows = await meta.db.select({ id: users.id }).from(users).where(eq(users.founder, 1))
    return rows.length > 0
  }

  async function insert(
    input: SignUpInput,
    passwordHash: string,
    founder: 1 | null,
  ): Promise<UserRow | undefined> {
    const now = nowIso()
    const row = {
      id: createId('user'),
      email: input.email.trim(),
      emailKey: emailKey(input.email),
      passwordHash,
      roles: founder ? FOUNDER_ROLES : NEWCOMER_ROLES,
      tokenVersion: randomHex80(),
      founder,
      createdAt: now,
      updatedAt: now,
    }
    const isNew = eq(users.id, row.id)
    const isInserted = exists(meta.db.select({ id: users.id }).from(users).where(isNew))
    const welcome = await welcomeOf(row.id, isInserted)
    // Two unique indexes: a second founder and a second account of an address are not inserted.
    const insertion = meta.db.insert(users).values(row).onConflictDoNothing()
    await meta.atomically([
      insertion,
      ...welcome.statements,
      ...audits.recordOwn('user.sign-up', row, isInserted),
    ])
    const [inserted] = await meta.db.select().from(users).where(isNew)
    if (inserted) welcome.stored()
    return inserted
  }

  /** The first notification of an account, for the transaction that makes it one. */
  const welcomeOf = (userId: string, isDone: SQL) =>
    registry.get(NOTICES).prepare([{ kind: 'welcome', userId, key: 'welcome', actorId: null }], isDone)

  async function acceptInvite(input: SignUpInput, token: string): Promise<UserRow> {
    const isInvited = and(
      eq(users.inviteToken, token),
      eq(users.emailKey, emailKey(input.email)),
      isNull(users.deletedAt),
    )
    const invalid = badRequest(m.wire_error_invite_url())
    if (!isUuid(token)) throw invalid
    const [invited] = await meta.db.select({ id: users.id, email: users.email }).from(users).where(isInvited)
    if (!invited) throw invalid
    const passwordHash = await hashPassword(input.password)
    const updatedAt = nowIso()
    const tokenVersion = randomHex80()
    const hasJoined = and(eq(users.id, invited.id), eq(users.tokenVersion, tokenVersion))
    const isAccepted = exists(meta.db.select({ id: users.id }).from(users).where(hasJoined))
    const welcome = await welcomeOf(invited.id, isAccepted)
    const acceptance = meta.db
      .update(users)
      .set({ passwordHash, inviteToken: null, tokenVersion, updatedAt })
      .where(isInvited)
    await meta.atomically([
      acceptance,
      ...welcome.statements,
      ...audits.recordOwn('user.accept-invite', invited, isAccepted),
    ])
    const [joined] = await meta.db.select().from(users).where(hasJoined)
    if (!joined) throw invalid
    welcome.stored()
    accounts.changed(joined.id)
    return joined
  }

  return {
    hasUsers,

    /** The address of an open invitation; null if it is unknown, used or withdrawn. */
    async findInvited(token: string): Promise<string | null> {
      if (!isUuid(token)) return null
      const isOpen = and(eq(users.inviteToken, token), isNull(users.deletedAt))
      const [invited] = await meta.db.select({ email: users.email }).from(users).where(isOpen)
      return invited?.email ?? null
    },

    /**
     * Creates an account: the first with all rights, later ones as viewers, invited ones with the roles of
     * their invitation.
     * @throws BAD_REQUEST if the address is taken, the invitation is for another one, or sign-up needs an
     * invitation
     */
    async signUp(input: SignUpInput): Promise<{ user: UserRow; isFirst: boolean }> {
      if (input.inviteToken) return { user: await acceptInvite(input, input.inviteToken), isFirst: false }
      if (!(await hasUsers())) {
        const founder = await insert(input, await hashPassword(input.password), 1)
        if (founder) return { user: founder, isFirst: true }
      }
      if (await settings.isInviteOnly()) throw badRequest(m.wire_error_sign_up_closed())
      const taken = badRequest(m.wire_error_user_exists())
      if (await accounts.findByEmail(input.email)) throw taken
      const user = await insert(input, await hashPassword(input.password), null)
      if (!user) throw taken
      return { user, isFirst: false }
    },
  }
}

/** Limit per inviter, so that the server cannot be used to send spam. */
const MAX_INVITES_PER_HOUR = 100

export type InviteMails = ReturnType<typeof createInviteMails>

/** Mails invitations to people who have not signed up yet. */
export function createInviteMails(
  { mail, log, meta }: Pick<Kernel, 'mail' | 'log' | 'meta'>,
  audits: Audits,
) {
  const exclusively = createMutex()

  /** False if the hourly limit is reached. */
  async function send(inviter: Actor, { email, inviteToken }: UserRow): Promise<boolean> {
    const { id, email: by } = requireUser(inviter)
    const topic = `invite ${id}`
    if ((await mail.countEvents(topic)) >= MAX_INVITES_PER_HOUR) return false
    // The inviter chooses nothing but the address: the recipient has not asked for this mail.
    const text = m.mail_invite_text({ inviter: by, host: new URL(mail.addressOf('/')).host, email })
    await mail.send({
      topic,
      event: createId('mail'),
      recipients: [email],
      content: {
        subject: m.mail_invite_subject({ inviter: by }),
        blocks: [
          { kind: 'text', text },
          { kind: 'link', label: m.mail_invite_link(), url: mail.addressOf(`/signup/${inviteToken}`) },
        ],
      },
    })
    return true
  }

  /** @throws BAD_REQUEST without a mail server */
  function requireMail(): void {
    if (!mail.isConfigured) throw badRequest(m.wire_error_no_mail())
  }

  return {
    requireMail,

    /** Mails a new invitation. Failures are only logged: the link can be passed on by hand. */
    async invited(inviter: Actor, row: UserRow): Promise<void> {
      if (!mail.isConfigured || row.inviteToken === null) return
      try {
        await exclusively(() => send(inviter, row))
      } catch (error) {
        log.error('an invitation could not be mailed', error, { userId: row.id })
      }
    },

    /**
     * Sends an invitation again. Does not check access.
     * @throws BAD_REQUEST without a mail server and for people who have signed up; TOO_MANY_REQUESTS
     */
    async again(inviter: Actor, row: UserRow): Promise<void> {
      requireMail()
      if (row.inviteToken === null) throw badRequest(m.auth_error_signed_up_already({ email: row.email }))
      if (!(await exclusively(() => send(inviter, row))))
        throw new AppError('TOO_MANY_REQUESTS', m.auth_error_too_many_invitations(), {
          retryAfterSeconds: 3600,
        })
      const audit = { kind: 'user.resend-invite', userId: row.id, detail: { name: row.email } } as const
      await meta.atomically(audits.record(inviter, audit))
    },
  }
}
