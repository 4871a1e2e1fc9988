import { z } from 'zod'
import { AppError } from '../../src/core/errors.ts'
import { member, router } from '../../src/trpc.ts'
import {
  CommentRef,
  CommentText,
  CountInput,
  InboxInput,
  NewComment,
  ReactionInput,
  RecordRef,
} from './input.ts'
import type { CommentsService } from './service.ts'

function emptyIfMissing(error: unknown): [] {
  if (error instanceof AppError && error.code === 'TABLE_NOT_FOUND') return []
  throw error
}

/** `trpc.comments.*`: comments on records and cells. */
export const commentsRouter = (comments: CommentsService) =>
  router({
    list: member
      .input(RecordRef)
      .query(({ ctx, input }) => comments.list(ctx.actor, input.tableId, input.recordId)),
    counts: member
      .input(CountInput)
      // The grid asks in the background, perhaps for a table that somebody has just deleted.
      .query(({ ctx, input }) =>
        comments.counts(ctx.actor, input.tableId, input.recordIds).catch(emptyIfMissing),
      ),
    inbox: member.input(InboxInput).query(({ ctx, input }) => comments.inbox(ctx.actor, input)),
    create: member.input(NewComment).mutation(({ ctx, input }) => comments.create(ctx.actor, input)),
    update: member
      .input(CommentRef.extend({ text: CommentText }))
      .mutation(({ ctx, input }) => comments.update(ctx.actor, input.commentId, input.text)),
    remove: member
      .input(CommentRef)
      .mutation(({ ctx, input }) => comments.remove(ctx.actor, input.commentId)),
    resolve: member
      .input(CommentRef.extend({ isResolved: z.boolean() }))
      .mutation(({ ctx, input }) => comments.resolve(ctx.actor, input.commentId, input.isResolved)),
    react: member
      .input(ReactionInput)
      .mutation(({ ctx, input }) => comments.react(ctx.actor, input.commentId, input.emoji, input.isOn)),
  })
