import { z } from 'zod'
import { member, reader, router } from '../../src/trpc.ts'
import {
  BaseId,
  BaseRef,
  CreateInput,
  InviteInput,
  MemberRef,
  MemberRoleInput,
  UpdateInput,
} from './input.ts'
import type { BasesService } from './service.ts'

/** `trpc.bases.*` */
export const basesRouter = (bases: BasesService) =>
  router({
    list: member
      .input(z.object({ trash: z.boolean().optional() }).optional())
      .query(({ ctx, input }) => bases.list(ctx.actor, input)),

    get: reader.input(BaseRef).query(({ ctx, input }) => bases.get(ctx.actor, input.baseId)),

    create: member.input(CreateInput).mutation(({ ctx, input }) => bases.create(ctx.actor, input)),

    update: member
      .input(UpdateInput.extend({ baseId: BaseId }))
      .mutation(({ ctx, input: { baseId, ...patch } }) => bases.update(ctx.actor, baseId, patch)),

    reorder: member
      .input(BaseRef.extend({ before: BaseId.nullable() }))
      .mutation(({ ctx, input }) => bases.reorder(ctx.actor, input)),

    delete: member.input(BaseRef).mutation(({ ctx, input }) => bases.delete(ctx.actor, input.baseId)),

    restore: member.input(BaseRef).mutation(({ ctx, input }) => bases.restore(ctx.actor, input.baseId)),

    members: member.input(BaseRef).query(({ ctx, input }) => bases.members.people(ctx.actor, input.baseId)),

    invite: member
      .input(InviteInput)
      .mutation(({ ctx, input: { baseId, emails, role } }) =>
        bases.members.inviteEach(ctx.actor, baseId, emails, role),
      ),

    resendInvite: member
      .input(MemberRef)
      .mutation(({ ctx, input }) => bases.members.resendInvite(ctx.actor, input.baseId, input.userId)),

    updateMember: member
      .input(MemberRoleInput)
      .mutation(({ ctx, input: { baseId, userId, role } }) =>
        bases.members.update(ctx.actor, baseId, userId, role),
      ),

    removeMember: member
      .input(MemberRef)
      .mutation(({ ctx, input }) => bases.members.remove(ctx.actor, input.baseId, input.userId)),
  })
