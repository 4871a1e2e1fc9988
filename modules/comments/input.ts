import { z } from 'zod'
import { MAX_COMMENT_LENGTH, REACTIONS } from '../../src/core/comments.ts'
import { plainText, timeZone } from '../../src/input.ts'

const id = z.string().min(1).max(64)
const recordId = z.union([z.int(), z.string().min(1).max(255)])

export const CommentText = plainText(MAX_COMMENT_LENGTH).trim().min(1)
export const RecordRef = z.strictObject({ tableId: id, recordId })
export const CommentRef = z.strictObject({ commentId: id })
export const CountInput = z.strictObject({ tableId: id, recordIds: z.array(recordId).max(1_000) })
export const NewComment = RecordRef.extend({
  text: CommentText,
  fieldId: id.nullish(),
  parentId: id.nullish(),
  /** Chosen by the client, which shows the comment before it is stored; a second call with it changes nothing. */
  id: z
    .string()
    .regex(/^com[a-z0-9]{14}$/)
    .optional(),
})
export const ReactionInput = CommentRef.extend({ emoji: z.enum(REACTIONS), isOn: z.boolean() })
export const InboxInput = z.strictObject({
  baseId: id,
  /** The `next` of the page before. */
  cursor: z.string().max(64).nullish(),
  /** Sent by the client of infinite lists. */
  direction: z.enum(['forward', 'backward']).optional(),
  timeZone,
})
