import { useEffect } from 'react'
import { commentKey, type Reaction, type RecordComment } from '../../../../src/core/comments.ts'
import type { Person, RecordId } from '../../../../src/core/model.ts'
import { messageOf } from '../../../errors.ts'
import { m } from '../../../messages.gen.ts'
import { useMe } from '../../../session/use-me.ts'
import { onComment, onReconnect } from '../../../socket.ts'
import { trpc } from '../../../trpc.ts'
import { toast } from '../../../ui/toast.ts'

/** A thread: the comment that begins it, and its replies, oldest first. */
export interface Thread {
  comment: RecordComment
  replies: RecordComment[]
}

/** The comments of a record. What one writes shows at once, and is taken back if the server refuses it. */
export function useComments(tableId: string, recordId: RecordId, members: readonly Person[]) {
  const key = { tableId, recordId }
  const { user } = useMe()
  const utils = trpc.useUtils()
  const query = trpc.comments.list.useQuery(key, { staleTime: 0 })
  const { refetch } = query
  useEffect(() => {
    const read = () => void refetch()
    const stop = [
      onComment((news) => {
        if (news.tableId === tableId && news.recordId === commentKey(recordId)) read()
      }),
      onReconnect(read),
    ]
    return () => {
      for (const end of stop) end()
    }
  }, [tableId, recordId, refetch])

  /** Shows a change, sends it, and reads again; false if it was refused, which a message says. */
  async function change(
    show: (comments: RecordComment[]) => RecordComment[],
    send: () => Promise<unknown>,
  ): Promise<boolean> {
    await utils.comments.list.cancel(key)
    utils.comments.list.setData(key, (data) => data && { ...data, comments: show(data.comments) })
    try {
      await send()
      return true
    } catch (error) {
      toast.error({ text: messageOf(error) })
      return false
    } finally {
      void refetch()
    }
  }
  const edit =
    (commentId: string, patch: (comment: RecordComment) => Partial<RecordComment>) =>
    (comments: RecordComment[]): RecordComment[] =>
      comments.map((one) => (one.id === commentId ? { ...one, ...patch(one) } : one))
  const { client } = utils

  const people = new Map<string, Person>(
    [...members, ...(query.data?.people ?? [])].map((person) => [person.id, person]),
  )
  if (user) people.set(user.id, user)
  return {
    query,
    me: user?.id ?? null,
    people,
    /** Those who can be mentioned. */
    members,
    threads: threadsOf(query.data?.comments ?? []),
    /** Stores a comment once, however often it is sent under its id. */
    write: (
      id: string,
      text: string,
      more: { parentId?: string; fieldId?: string | null } = {},
    ): Promise<boolean> => {
      const { parentId = null, fieldId = null } = more
      const comment: RecordComment = {
        id,
        tableId,
        recordId: commentKey(recordId),
        fieldId,
        parentId,
        text,
        createdBy: user?.id ?? '',
        authorName: null,
        createdAt: new Date().toISOString(),
        updatedAt: null,
        resolvedBy: null,
        reactions: [],
      }
      return change(
        (comments) => [...comments.filter((one) => one.id !== id), comment],
        () => client.comments.create.mutate({ id, tableId, recordId, text, parentId, fieldId }),
      )
    },
    update: (commentId: string, text: string): Promise<boolean> =>
      change(
        edit(commentId, () => ({ text, updatedAt: new Date().toISOString() })),
        () => client.comments.update.mutate({ commentId, text }),
      ),
    remove: (commentId: string): Promise<boolean> =>
      change(
        (comments) => comments.filter(({ id, parentId }) => id !== commentId && parentId !== commentId),
        () => client.comments.remove.mutate({ commentId }),
      ),
    resolve: (commentId: string, isResolved: boolean): Promise<boolean> =>
      change(
        edit(commentId, () => ({ resolvedBy: isResolved ? (user?.id ?? null) : null })),
        () => client.comments.resolve.mutate({ commentId, isResolved }),
      ),
    react: (commentId: string, emoji: Reaction, isOn: boolean): Promise<boolean> =>
      change(
        edit(commentId, ({ reactions }) => ({
          reactions: withReaction(reactions, emoji, user?.id ?? '', isOn),
        })),
        () => client.comments.react.mutate({ commentId, emoji, isOn }),
      ),
    /** The name of a person; of somebody unknown, a word. */
    nameOf: (userId: string): string => {
      const person = people.get(userId)
      return person ? person.displayName || person.email : m.records_someone()
    },
  }
}

export type Comments = ReturnType<typeof useComments>

function threadsOf(comments: readonly RecordComment[]): Thread[] {
  const replies = Map.groupBy(comments, ({ parentId }) => parentId)
  return (replies.get(null) ?? []).map((comment) => ({ comment, replies: replies.get(comment.id) ?? [] }))
}

function withReaction(
  reactions: RecordComment['reactions'],
  emoji: Reaction,
  userId: string,
  isOn: boolean,
): RecordComment['reactions'] {
  const others = reactions.filter((one) => one.emoji !== emoji)
  const before = reactions.find((one) => one.emoji === emoji)?.userIds ?? []
  const userIds = isOn ? [...new Set([...before, userId])] : before.filter((id) => id !== userId)
  return userIds.length === 0 ? others : [...others, { emoji, userIds }]
}
