import { Elysia } from 'elysia'
import { z } from 'zod'
import type { Actor } from '../../../src/core/actor.ts'
import type { RecordComment } from '../../../src/core/comments.ts'
import { AppError, badRequest } from '../../../src/core/errors.ts'
import { mentionOf, mentionsIn, readableMention, replaceMentions } from '../../../src/core/mentions.ts'
import type { Person } from '../../../src/core/model.ts'
import type { Kernel } from '../../../src/kernel.ts'
import { m } from '../../../src/messages.gen.ts'
import { json, scalar } from '../../../src/wire/answer.ts'
import { listed, wireTime } from '../../../src/wire/lists.ts'
import { readBody, restBase } from '../../../src/wire/rest-base.ts'
import type { AuthService } from '../../auth/index.ts'
import { parseRecordId } from '../../records/index.ts'
import type { SchemaReader } from '../../schema/index.ts'
import { CommentText } from '../input.ts'
import type { CommentsService } from '../service.ts'

const PREFIXES = ['/api/v1/db/meta', '/api/v2/meta']
const TAGS = ['Comments']
/** Records whose comments are counted in one call. */
const MAX_COUNTED = 1_000

interface Services {
  comments: CommentsService
  schema: Pick<SchemaReader, 'load'>
  auth: AuthService
}

const id = z.string().min(1).max(64)
const recordId = z.union([z.string().min(1).max(255), z.int()]).transform(String)
const NewBody = z.object({
  fk_model_id: id,
  row_id: recordId,
  comment: CommentText,
  parent_comment_id: id.nullish(),
})
const PatchBody = z.object({ comment: CommentText })
const ResolveBody = z.object({ is_resolved: z.boolean().default(true) })
/** The bodies of earlier clients (spec §7), which call the text a description. */
const EarlierBody = z
  .object({
    fk_model_id: id,
    row_id: recordId,
    description: CommentText.optional(),
    comment: CommentText.optional(),
  })
  .transform(({ description, comment, ...place }) => ({ ...place, comment: comment ?? description }))
const EarlierPatch = z
  .object({ description: CommentText.optional(), comment: CommentText.optional() })
  .transform(({ description, comment }) => ({ comment: comment ?? description }))

/** Comments over REST (wire §12), and the calls of earlier clients (spec §7). */
export function commentsRest(kernel: Kernel, services: Services) {
  const app = new Elysia()
  for (const prefix of PREFIXES) {
    app.use(commentRoutes(prefix, kernel, services)).use(earlierRoutes(prefix, kernel, services))
  }
  return app
}

/** What the routes share. */
function createCalls({ comments, schema, auth }: Services) {
  const baseOf = async (tableId: string) => (await schema.load(tableId)).table
  const presentOne = async (comment: RecordComment) => {
    const { createdBy, resolvedBy, tableId } = comment
    const named = [createdBy, ...(resolvedBy === null ? [] : [resolvedBy]), ...mentionsIn(comment.text)]
    const people = await auth.people([...new Set(named)])
    return presentComment(comment, await baseOf(tableId), people)
  }
  return {
    presentOne,
    async list(actor: Actor, query: URLSearchParams) {
      const tableId = required(query, 'fk_model_id')
      const row = required(query, 'row_id')
      const model = await schema.load(tableId)
      const { comments: found, people } = await comments.list(actor, tableId, parseRecordId(model, row))
      return found.map((comment) => presentComment(comment, model.table, people))
    },
    async counts(actor: Actor, query: URLSearchParams) {
      const tableId = required(query, 'fk_model_id')
      const ids = listed(query, 'ids').items
      if (ids.length > MAX_COUNTED) throw badRequest(m.comments_error_too_many_ids({ max: MAX_COUNTED }))
      const counts = await comments.counts(actor, tableId, ids)
      return counts.map(({ recordId: row, count }) => ({ count, row_id: row }))
    },
    async create(
      actor: Actor,
      {
        fk_model_id: tableId,
        row_id: row,
        comment,
        parent_comment_id: parentId = null,
      }: z.output<typeof NewBody>,
    ): Promise<RecordComment> {
      const model = await schema.load(tableId)
      return comments.create(actor, { tableId, recordId: parseRecordId(model, row), text: comment, parentId })
    },
    update: (actor: Actor, commentId: string, comment: string) =>
      asOwner(comments.update(actor, commentId, comment)),
    remove: (actor: Actor, commentId: string) => asOwner(comments.remove(actor, commentId)),
  }
}

function commentRoutes(prefix: string, kernel: Kernel, services: Services) {
  const { comments } = services
  const calls = createCalls(services)
  return new Elysia({ prefix, tags: TAGS })
    .use(restBase(kernel, services.auth))
    .get('/comments', async ({ actor, request }) => ({ list: await calls.list(actor, queryOf(request)) }), {
      detail: { summary: 'List the comments of a record' },
    })
    .post(
      '/comments',
      async ({ actor, body }) => {
        const comment = await calls.create(actor, readBody(NewBody, body))
        const {
          id,
          row_id,
          comment: text,
          fk_model_id,
          source_id,
          base_id,
          created_by,
          created_by_email,
          parent_comment_id,
        } = await calls.presentOne(comment)
        const created = {
          fk_model_id,
          row_id,
          comment: text,
          created_by,
          created_by_email,
          source_id,
        }
        return json({ ...created, id, base_id, ...(parent_comment_id && { parent_comment_id }) }, 200)
      },
      { detail: { summary: 'Comment on a record' } },
    )
    .get('/comments/count', ({ actor, request }) => calls.counts(actor, queryOf(request)), {
      detail: { summary: 'Count the comments of records' },
    })
    .patch(
      '/comment/:commentId',
      async ({ actor, params, body }) => {
        await asOwner(comments.get(actor, params.commentId))
        const comment = await calls.update(actor, params.commentId, readBody(PatchBody, body).comment)
        return json(await calls.presentOne(comment), 200)
      },
      { detail: { summary: 'Change a comment' } },
    )
    .delete(
      '/comment/:commentId',
      async ({ actor, params }) => {
        await calls.remove(actor, params.commentId)
        return scalar(true)
      },
      { detail: { summary: 'Delete a comment' } },
    )
    .post(
      '/comment/:commentId/resolve',
      async ({ actor, params, body }) => {
        await comments.resolve(actor, params.commentId, readBody(ResolveBody, body ?? {}).is_resolved)
        return json(await calls.presentOne(await comments.get(actor, params.commentId)), 200)
      },
      { detail: { summary: 'Resolve a thread, or open it again with `is_resolved: false`' } },
    )
}

/** The audit of comments, as earlier clients call it. */
function earlierRoutes(prefix: string, kernel: Kernel, services: Services) {
  const calls = createCalls(services)
  return new Elysia({ prefix, tags: TAGS })
    .use(restBase(kernel, services.auth))
    .get(
      '/audits/comments',
      async ({ actor, request }) => ({ list: (await calls.list(actor, queryOf(request))).map(asAudit) }),
      { detail: { summary: 'List the comments of a record, for earlier clients' } },
    )
    .post(
      '/audits/comments',
      async ({ actor, body }) => {
        const { comment, ...place } = readBody(EarlierBody, body)
        if (comment === undefined) throw badRequest(m.comments_error_text_missing())
        return json(asAudit(await calls.presentOne(await calls.create(actor, { ...place, comment }))), 200)
      },
      { detail: { summary: 'Comment on a record, for earlier clients' } },
    )
    .get('/audits/comments/count', ({ actor, request }) => calls.counts(actor, queryOf(request)), {
      detail: { summary: 'Count the comments of records, for earlier clients' },
    })
    .patch(
      '/audits/:auditId/comment',
      async ({ actor, params, body }) => {
        const { comment } = readBody(EarlierPatch, body)
        if (comment === undefined) throw badRequest(m.comments_error_text_missing())
        return json(asAudit(await calls.presentOne(await calls.update(actor, params.auditId, comment))), 200)
      },
      { detail: { summary: 'Change a comment, for earlier clients' } },
    )
}

type WireComment = ReturnType<typeof presentComment>

function presentComment(
  comment: RecordComment,
  { baseId, sourceId }: { baseId: string; sourceId: string },
  people: readonly Person[],
) {
  const personOf = (userId: string | null) => people.find(({ id }) => id === userId)
  const emailOf = (userId: string | null) => personOf(userId)?.email ?? null
  return {
    id: comment.id,
    row_id: comment.recordId,
    comment: replaceMentions(comment.text, (userId) => {
      const person = personOf(userId)
      return person ? readableMention(person) : mentionOf(userId)
    }),
    created_by: comment.createdBy,
    created_by_email: emailOf(comment.createdBy),
    ...(comment.authorName !== null && { author_name: comment.authorName }),
    resolved_by: comment.resolvedBy,
    resolved_by_email: emailOf(comment.resolvedBy),
    parent_comment_id: comment.parentId,
    source_id: sourceId,
    base_id: baseId,
    fk_model_id: comment.tableId,
    is_deleted: null,
    created_at: wireTime(comment.createdAt),
    updated_at: wireTime(comment.updatedAt ?? comment.createdAt),
  }
}

const asAudit = ({
  id,
  row_id,
  comment,
  created_by_email,
  source_id,
  base_id,
  fk_model_id,
  created_at,
  updated_at,
}: WireComment) => ({
  id,
  user: created_by_email,
  source_id,
  base_id,
  fk_model_id,
  row_id,
  op_type: 'COMMENT',
  op_sub_type: 'INSERT',
  status: null,
  description: comment,
  created_at,
  updated_at,
})

/** A comment of somebody else is a 401 in REST (wire §12). */
async function asOwner<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    const isForeign =
      error instanceof AppError && error.code === 'PERMISSION_DENIED' && error.details === undefined
    throw isForeign ? new AppError('AUTHENTICATION_REQUIRED', error.message) : error
  }
}

const queryOf = (request: Request): URLSearchParams => new URL(request.url).searchParams

function required(query: URLSearchParams, name: string): string {
  const value = query.get(name)
  if (value === null || value === '') throw badRequest(m.comments_error_parameter_missing({ name }))
  return value.slice(0, 255)
}
