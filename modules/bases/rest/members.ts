import { Elysia } from 'elysia'
import { z } from 'zod'
import { badRequest } from '../../../src/core/errors.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { wholeListInfo } from '../../../src/wire/lists.ts'
import { readBody, restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import { MAX_INVITATIONS, MemberRole } from '../input.ts'
import type { BasesService } from '../service.ts'
import { presentMember } from './present.ts'

const InviteBody = z.object({ email: z.string().max(65_536).nullish(), roles: MemberRole })
const RoleBody = z.object({ roles: MemberRole })

/** The members of a base (wire §5.1). */
export const membersRest = (prefix: string, bases: BasesService, kernel: Kernel, auth: AuthService) =>
  new Elysia({ prefix: `${prefix}/:baseId/users` })
    .use(restBase(kernel, auth))

    .get('/', async ({ actor, params }) => {
      const everyone = await bases.members.everyone(actor, params.baseId)
      const list = everyone.map((listed) => presentMember(listed, params.baseId))
      return { users: { list, pageInfo: wholeListInfo(list.length) } }
    })

    .post('/', async ({ actor, params, body }) => {
      await bases.enter(actor, 'member.create', params.baseId)
      const { email, roles } = readBody(InviteBody, body)
      const emails = (email ?? '')
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== '')
      const [only] = emails
      if (only === undefined) throw badRequest('Email is required')
      if (emails.length > MAX_INVITATIONS) throw badRequest(`Up to ${MAX_INVITATIONS} addresses at once`)
      if (emails.length === 1) {
        const { inviteToken, email } = await bases.members.invite(actor, params.baseId, only, roles)
        const msg = 'The user has been invited successfully'
        return inviteToken === null ? { msg } : { msg, invite_token: inviteToken, email }
      }
      const outcomes = await bases.members.inviteEach(actor, params.baseId, emails, roles)
      const invited = outcomes.filter(({ problem }) => problem === null)
      const error = outcomes.flatMap(({ email, problem }) =>
        problem === null ? [] : [{ email, error: problem }],
      )
      return {
        invite_token: invited.find(({ inviteToken }) => inviteToken !== null)?.inviteToken ?? null,
        emails,
        error,
        // Each person has a token of their own: one for all would let any of them sign up as another.
        invites: invited.map(({ email, inviteToken }) => ({ email, invite_token: inviteToken })),
      }
    })

    .patch('/:userId', async ({ actor, params, body }) => {
      await bases.enter(actor, 'member.update', params.baseId)
      await bases.members.update(actor, params.baseId, params.userId, readBody(RoleBody, body).roles)
      return { msg: 'The user has been updated successfully' }
    })

    .delete('/:userId', async ({ actor, params }) => {
      await bases.members.remove(actor, params.baseId, params.userId)
      return { msg: 'The user has been deleted successfully' }
    })

    .post('/:userId/resend-invite', async ({ actor, params }) => {
      await bases.enter(actor, 'member.update', params.baseId)
      await bases.members.resendInvite(actor, params.baseId, params.userId)
      return { msg: 'The invitation has been sent to the user' }
    })
